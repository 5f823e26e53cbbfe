#!/usr/bin/env python3
"""abstain beside numpy, in one run on one machine: the same arrays, alternating, best of several.

    python3 crates/bench/compare.py [--rows 50000] [--classes 1000] [--repetitions 7]

Needs Python 3 with venv and cargo; numpy is installed into target/bench-venv. Both programs may use every core.
The loops of numpy use one core; the column "numpy, threads" is the same code over chunks of rows on a pool of threads,
which is faster on several cores and more than most people write.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import TARGET, build, inside_venv


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=1_000)
    parser.add_argument("--repetitions", type=int, default=7)
    args = parser.parse_args()
    inside_venv()

    import concurrent.futures

    import numpy as np

    def msp(z):
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return 1 / e.sum(axis=1)

    def max_logit_pnorm(z, p=5):
        c = z - z.mean(axis=1, keepdims=True)
        return c.max(axis=1) / np.linalg.norm(c, ord=p, axis=1)

    def aurc(confidences, losses):
        """What people write: ties in whatever order the sort leaves them."""
        order = np.argsort(-confidences)
        return float((np.cumsum(losses[order]) / np.arange(1, len(losses) + 1)).mean())

    def aurc_with_ties(confidences, losses):
        """The same number as abstain's: in expectation over the order of ties."""
        order = np.argsort(-confidences)
        sorted_confidences, sorted_losses = confidences[order], losses[order]
        starts = np.flatnonzero(np.r_[True, sorted_confidences[1:] != sorted_confidences[:-1]])
        sizes = np.diff(np.r_[starts, len(losses)])
        expected = np.repeat(np.add.reduceat(sorted_losses, starts) / sizes, sizes)
        return float((np.cumsum(expected) / np.arange(1, len(losses) + 1)).mean())

    def bootstrap(confidences, losses, replicates):
        n = len(losses)
        draws = (rng.integers(0, n, n) for _ in range(replicates))
        return np.std([aurc(confidences[rows], losses[rows]) for rows in draws])

    def threaded(function):
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

        def run(z):
            chunks = [z[i : i + 500] for i in range(0, len(z), 500)]
            return np.concatenate(list(pool.map(function, chunks)))

        return run

    def clock(function, *arguments):
        seconds = []
        function(*arguments)
        for _ in range(args.repetitions):
            start = time.perf_counter()
            result = function(*arguments)
            seconds.append(time.perf_counter() - start)
        return seconds, float(np.sum(result, dtype=np.float64))

    print(f"building, and writing {args.rows} × {args.classes} float32 logits …", file=sys.stderr)
    build()
    rng = np.random.default_rng(0)
    logits = 2 * rng.standard_normal((args.rows, args.classes), dtype=np.float32)
    confidences = rng.random(args.rows)
    losses = (rng.random(args.rows) > confidences).astype(np.float64)

    with tempfile.TemporaryDirectory() as folder:
        for name, array in [("logits", logits), ("confidences", confidences), ("losses", losses)]:
            np.save(Path(folder) / f"{name}.npy", array)
        command = [TARGET / "release/abstain-bench", folder, str(args.classes), str(args.repetitions)]
        ours = [json.loads(subprocess.check_output(command))]
        theirs = {
            "MSP": (clock(msp, logits), clock(threaded(msp), logits)),
            "MaxLogit-pNorm(p=5)": (clock(max_logit_pnorm, logits), clock(threaded(max_logit_pnorm), logits)),
            "AURC": (clock(aurc_with_ties, confidences, losses), None),
            "AURC, ties ignored": (clock(aurc, confidences, losses), None),
        }
        start = time.perf_counter()
        spread = bootstrap(confidences, losses, 50)
        bootstrap_seconds = 20 * (time.perf_counter() - start)
        # Once more after numpy, so that neither side has the quieter machine to itself.
        ours.append(json.loads(subprocess.check_output(command)))

    print(f"numpy {np.__version__}, {os.cpu_count()} cores, {args.rows} × {args.classes} float32, best of {args.repetitions}")
    print(f"{'':22}{'abstain':>10}{'numpy':>10}{'ratio':>8}{'numpy, threads':>17}{'ratio':>8}")
    for name, (plain, pool) in theirs.items():
        key = name.split(",")[0]
        abstain_time = 1e3 * min(second for run in ours for second in run[key]["seconds"])
        check = ours[0][key]["check"]
        tolerance = 1e-12 if key == "AURC" else 1e-4  # numpy computes the scores in float32
        assert abs(check - plain[1]) <= tolerance * abs(check), (name, check, plain[1])
        plain_ms = 1e3 * min(plain[0])
        line = f"{name:22}{abstain_time:8.1f}ms{plain_ms:8.1f}ms{plain_ms / abstain_time:7.1f}x"
        if pool:
            pool_ms = 1e3 * min(pool[0])
            line += f"{pool_ms:15.1f}ms{pool_ms / abstain_time:7.1f}x"
        print(line)
    abstain_time = min(second for run in ours for second in run["bootstrap"]["seconds"])
    assert abs(ours[0]["bootstrap"]["check"] / spread - 1) < 0.5, spread
    print(
        f"bootstrap of AURC, 1,000 replicates: abstain {abstain_time:.2f} s, numpy {bootstrap_seconds:.2f} s"
        f" (50 replicates, scaled up), ratio {bootstrap_seconds / abstain_time:.0f}x"
    )
    read = 1e3 * min(second for run in ours for second in run["read"]["seconds"])
    print(f"Reading the logits from memory takes {read:.1f} ms ({ours[0]['instructions']}).")
    print("abstain also checks every value for NaN and infinities, within the times above; numpy does not.")


if __name__ == "__main__":
    main()
