#!/usr/bin/env python3
"""Compares abstain with numpy and torch in one run: the same logits, the same grids, the same
figures.

    python3 bindings/python/benches/compare.py [--rows 50000] [--stride 30]

It needs abstain (a release build: pip install .) and numpy; torch is measured if it is installed.
Numpy and torch evaluate every stride-th value of T, and every (10 × stride)-th point of p × tau,
and their times are scaled up; everything else runs in full. Each time is the best of several runs.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable

import numpy as np

import abstain

try:
    import torch
except ImportError:
    torch = None

CLASSES = 1000
TEMPERATURES = np.arange(1, 301) / 100


def clock(function: Callable[[], Any], least: float = 1.0) -> tuple[float, Any]:
    """The shortest time of several calls, and the result.

    Calls are repeated for at least a second and at least three times, but not beyond three seconds.
    """
    best, result, spent, calls = float("inf"), None, 0.0, 0
    while calls < 1 or spent < least or (calls < 3 and spent < 3.0):
        start = time.perf_counter()
        result = function()
        seconds = time.perf_counter() - start
        best, spent, calls = min(best, seconds), spent + seconds, calls + 1
    return best, result


class Numpy:
    """The usual implementation."""

    name = "numpy"

    def __init__(self, logits: np.ndarray, loss: np.ndarray) -> None:
        self.z, self.loss = logits, loss.astype(np.float64)
        self.ranks = np.arange(1, len(loss) + 1)

    def aurc(self, confidence: Any, rows: Any = None) -> float:
        loss = self.loss if rows is None else self.loss[rows]
        drawn = confidence if rows is None else confidence[rows]
        return float((np.cumsum(loss[np.argsort(-drawn)]) / self.ranks).mean())

    def msp(self, u: Any = None) -> Any:
        u = self.z if u is None else u
        return 1 / np.exp(u - u.max(axis=1, keepdims=True)).sum(axis=1)

    def entropy(self) -> Any:
        shifted = self.z - self.z.max(axis=1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=1)
        return (e * shifted).sum(axis=1) / total - np.log(total)

    def centred(self) -> Any:
        return self.z - self.z.mean(axis=1, keepdims=True)

    def norm(self, c: Any, p: float) -> Any:
        return np.ones(len(c), np.float32) if p == 0 else np.linalg.norm(c, ord=p, axis=1)

    def pnorm(self, p: float = 5) -> Any:
        c = self.centred()
        return c.max(axis=1) / self.norm(c, p)

    def draw(self, generator: Any) -> Any:
        return generator.integers(0, len(self.loss), len(self.loss))

    def generator(self) -> Any:
        return np.random.default_rng(0)

    def tune_p(self) -> float:
        c = self.centred()
        top = c.max(axis=1)
        return min(self.aurc(top / self.norm(c, p)) for p in range(11))

    def tune_t(self, stride: int) -> float:
        return min(self.aurc(self.msp(self.z / float(t))) for t in TEMPERATURES[::stride])

    def tune_p_tau(self, stride: int) -> float:
        c = self.centred()
        best = 9.0
        for p, t in [(p, t) for p in range(11) for t in TEMPERATURES][::stride]:
            n = self.norm(c, p)
            best = min(best, self.aurc(self.msp(c / (float(t) * n / n.mean())[:, None])))
        return best

    def bootstrap(self, replicates: int) -> tuple[float, float]:
        confidence, generator = self.msp(), self.generator()
        values = [self.aurc(confidence, self.draw(generator)) for _ in range(replicates)]
        low, high = np.quantile(values, [0.025, 0.975])
        return float(low), float(high)


class Torch(Numpy):
    """The same on tensors."""

    name = "torch"

    def __init__(self, logits: np.ndarray, loss: np.ndarray) -> None:
        self.z, self.loss = torch.from_numpy(logits), torch.from_numpy(loss.astype(np.float64))
        self.ranks = torch.arange(1, len(loss) + 1)

    def aurc(self, confidence: Any, rows: Any = None) -> float:
        loss = self.loss if rows is None else self.loss[rows]
        drawn = confidence if rows is None else confidence[rows]
        return float((torch.cumsum(loss[torch.argsort(-drawn)], 0) / self.ranks).mean())

    def msp(self, u: Any = None) -> Any:
        return torch.softmax(self.z if u is None else u, dim=1).max(dim=1).values

    def entropy(self) -> Any:
        log = torch.log_softmax(self.z, dim=1)
        return (log.exp() * log).sum(dim=1)

    def centred(self) -> Any:
        return self.z - self.z.mean(dim=1, keepdim=True)

    def norm(self, c: Any, p: float) -> Any:
        return torch.ones(len(c)) if p == 0 else torch.linalg.vector_norm(c, ord=p, dim=1)

    def pnorm(self, p: float = 5) -> Any:
        c = self.centred()
        return c.max(dim=1).values / self.norm(c, p)

    def draw(self, generator: Any) -> Any:
        return torch.randint(0, len(self.loss), (len(self.loss),), generator=generator)

    def generator(self) -> Any:
        return torch.Generator().manual_seed(0)

    def tune_p(self) -> float:
        c = self.centred()
        top = c.max(dim=1).values
        return min(self.aurc(top / self.norm(c, p)) for p in range(11))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--stride", type=int, default=30)
    parser.add_argument("--replicates", type=int, default=1000)
    arguments = parser.parse_args()
    rows, stride = arguments.rows, arguments.stride

    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, rows)
    z = rng.standard_normal((rows, CLASSES), dtype=np.float32)
    z[np.arange(rows), labels] += 2 + 4 * rng.random(rows, dtype=np.float32)
    z *= np.exp(0.4 * rng.standard_normal((rows, 1), dtype=np.float32))
    loss = abstain.losses(z, labels)
    msp = abstain.score("MSP", z)
    # With test rows, and few of them, nearly all of the time is tuning, as that of the others.
    test = (z[:200] + 1, labels[:200])

    def tuned(method: str) -> float:
        result = abstain.tune(
            z, labels, test=test, methods=method, space="paper", fallback="none", max_rows=rows
        )
        return float(result.estimator.to_dict()["tuning"]["value"])

    def interval() -> tuple[float, float]:
        found = abstain.interval("AURC", abstain.score("MSP", z), loss, replicates=replicates)
        return found.low, found.high

    replicates = arguments.replicates
    tasks: list[tuple[str, Callable[[], Any], Callable[[Numpy], Any], int]] = [
        ("score: MSP", lambda: abstain.score("MSP", z), lambda other: other.msp(), 1),
        (
            "score: MaxLogit-pNorm, p = 5",
            lambda: abstain.score("MaxLogit-pNorm", z, p=5),
            lambda other: other.pnorm(),
            1,
        ),
        (
            "score: NegativeEntropy",
            lambda: abstain.score("NegativeEntropy", z),
            lambda other: other.entropy(),
            1,
        ),
        ("AURC of a confidence", lambda: abstain.aurc(msp, loss), lambda other: None, 1),
        ("tune p (11 values)", lambda: tuned("MaxLogit-pNorm"), lambda other: other.tune_p(), 1),
        (
            "tune T (300 values)",
            lambda: tuned("MSP-TS-AURC"),
            lambda other: other.tune_t(stride),
            stride,
        ),
        (
            "tune p × tau (3,300 points)",
            lambda: tuned("MSP-pNorm"),
            lambda other: other.tune_p_tau(10 * stride),
            10 * stride,
        ),
        (
            f"bootstrap of AURC, {replicates} replicates",
            interval,
            lambda other: other.bootstrap(replicates),
            1,
        ),
    ]
    others: list[Numpy] = [Numpy(z, loss)]
    if torch is not None:
        others.append(Torch(z, loss))
    versions = f"abstain {abstain.__version__}, numpy {np.__version__}"
    if torch is not None:
        versions += f", torch {torch.__version__} ({torch.get_num_threads()} threads)"
    print(f"{versions}; {rows} × {CLASSES} float32")
    head = "".join(f"{other.name:>12}{'ratio':>8}" for other in others)
    print(f"{'':34}{'abstain':>10}{head}   results")
    for title, ours, theirs, scale in tasks:
        seconds, value = clock(ours)
        line, values = f"{title:34}{seconds:9.4f}s", [value]
        for other in others:
            if title.startswith("AURC"):
                confidence = other.msp()
                took, found = clock(lambda: other.aurc(confidence))
            else:
                took, found = clock(lambda: theirs(other))
            line += f"{took * scale:11.3f}s{took * scale / seconds:7.1f}x"
            values.append(found)
        print(line + "   " + "; ".join(shown(value) for value in values), flush=True)


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, tuple):
        return " to ".join(f"{end:.6f}" for end in value)
    return "" if value is None else f"mean {float(value.mean()):.4f}"


if __name__ == "__main__":
    main()
