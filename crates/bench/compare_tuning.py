#!/usr/bin/env python3
"""Tuning with abstain beside numpy, in one run on one machine: the same logits, the same grids, the same optimum.

    python3 crates/bench/compare_tuning.py [--rows 5000] [--stride 30]

Needs Python 3 with venv and cargo; numpy is installed into target/bench-venv. numpy tries every stride-th point of
p × τ and its time is scaled up; everything else runs in full.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import TARGET, build, inside_venv

CLASSES = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--stride", type=int, default=30)
    args = parser.parse_args()
    inside_venv()

    import numpy as np

    print(f"building, and writing {args.rows} × {CLASSES} float32 logits …", file=sys.stderr)
    build()
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, args.rows)
    z = rng.standard_normal((args.rows, CLASSES), dtype=np.float32)
    z[np.arange(args.rows), labels] += 2 + 4 * rng.random(args.rows, dtype=np.float32)
    z *= np.exp(0.4 * rng.standard_normal((args.rows, 1), dtype=np.float32))
    losses = (z.argmax(axis=1) != labels).astype(np.float64)
    ranks = np.arange(1, args.rows + 1)

    def aurc(confidences):
        return (np.cumsum(losses[np.argsort(-confidences)]) / ranks).mean()

    def msp(u):
        return 1 / np.exp(u - u.max(axis=1, keepdims=True)).sum(axis=1)

    def norm(c, p):
        return np.ones(len(c), np.float32) if p == 0 else np.linalg.norm(c, ord=p, axis=1)

    def tune_p():
        c = z - z.mean(axis=1, keepdims=True)
        top = c.max(axis=1)
        return min((aurc(top / norm(c, p)), p) for p in range(11))

    def tune_p_one_pass():
        c = z - z.mean(axis=1, keepdims=True)
        top = c.max(axis=1)
        a = np.abs(c)
        power = a.copy()
        best = (aurc(top), 0)
        for p in range(1, 11):
            best = min(best, (aurc(top / power.sum(axis=1) ** (1 / p)), p))
            power *= a
        return best

    temperatures = np.arange(1, 301) / 100

    def tune_t():
        return min((aurc(msp(z / np.float32(t))), t) for t in temperatures)

    def tune_p_tau():
        c = z - z.mean(axis=1, keepdims=True)
        best = (9.0, None)
        points = [(p, t) for p in range(11) for t in temperatures]
        for p, t in points[:: args.stride]:
            n = norm(c, p)
            best = min(best, (aurc(msp(c / (np.float32(t) * n / n.mean())[:, None])), (p, t)))
        return best

    def clock(function):
        start = time.perf_counter()
        result = function()
        return time.perf_counter() - start, result

    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "logits.npy", z)
        np.save(Path(folder) / "labels.npy", labels)
        ours = json.loads(subprocess.check_output([TARGET / "release/tuning", folder, str(CLASSES)]))

    print(f"numpy {np.__version__}, {args.rows} × {CLASSES} float32; abstain's times include the pass over the logits")
    print(f"{'':34}{'abstain':>10}{'numpy':>11}{'ratio':>9}   best AURC: abstain, numpy")
    rows = [
        ("p (11 values)", "MaxLogit-pNorm", tune_p, 1),
        ("p, numpy in one pass", "MaxLogit-pNorm", tune_p_one_pass, 1),
        ("T (300 values)", "MSP-TS-AURC", tune_t, 1),
        ("p × τ (3,300 points)", "MSP-pNorm", tune_p_tau, args.stride),
    ]
    for title, name, function, stride in rows:
        seconds, (value, _) = clock(function)
        abstain_seconds = ours[name]["seconds"]
        if stride == 1:
            # numpy computes in float32, where sure rows tie at low temperatures, and can only do worse.
            assert value > ours[name]["value"] - 2e-5, (name, value, ours[name]["value"])
        mark = " (scaled up)" if stride > 1 else ""
        print(
            f"{title:34}{abstain_seconds:9.3f}s{seconds * stride:10.2f}s{seconds * stride / abstain_seconds:8.0f}x"
            f"   {ours[name]['value']:.6f}, {value:.6f}{mark}"
        )
    everything = ours["everything"]
    print(f"every method of the paper and the stack, {len(everything['table'])} methods: {everything['seconds']:.2f} s")
    print("\nhow the cost of p × τ grows:")
    for row in ours["growth"]:
        print(f"  {row['what']:36} profile {row['profile']:.3f} s, search {row['search']:.3f} s")


if __name__ == "__main__":
    main()
