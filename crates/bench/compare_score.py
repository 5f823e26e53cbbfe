#!/usr/bin/env python3
"""`abstain score` beside a numpy script, whole process against whole process, on the same file.

    python3 crates/bench/compare_score.py [--rows 50000] [--classes 1000] [--repetitions 9] [--times 10]

Both load the file, compute prediction and confidence of every row and write them as npy. Times are medians of alternating runs, with
the file in the page cache; memory is the peak of the process. A second file, `--times` as large, shows that abstain's does not grow.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from common import ROOT, TARGET, inside_venv

NUMPY = """
import sys
import numpy as np
z = np.load(sys.argv[1])
out = np.empty(len(z), dtype=[("prediction", "<u4"), ("confidence", "<f8")])
out["prediction"] = z.argmax(axis=1)
if sys.argv[3] == "MSP":
    out["confidence"] = 1 / np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1)
else:
    c = z - z.mean(axis=1, keepdims=True)
    out["confidence"] = c.max(axis=1) / np.linalg.norm(c, ord=5, axis=1)
np.save(sys.argv[2], out)
"""


MAKE = """
import sys
import numpy as np
rows, classes, times = (int(word) for word in sys.argv[1:])
z = np.random.default_rng(0).normal(scale=3, size=(rows, classes)).astype(np.float32)
np.save("logits.npy", z)
large = np.lib.format.open_memmap("large.npy", mode="w+", dtype=np.float32, shape=(times * rows, classes))
for k in range(times):
    large[k * rows : (k + 1) * rows] = z
"""


def run(command):
    """Seconds and peak memory in MB of a command."""
    start = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command])
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{command[0]} failed")
    return seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=1_000)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    inside_venv()

    import numpy as np

    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    abstain = TARGET / "release" / "abstain"
    with tempfile.TemporaryDirectory(dir=TARGET) as folder:
        folder = Path(folder)
        (folder / "score.py").write_text(NUMPY)
        # In a separate process: a child's peak memory is never below what its parent had.
        (folder / "make.py").write_text(MAKE)
        numbers = [str(n) for n in (args.rows, args.classes, args.times)]
        subprocess.run([sys.executable, folder / "make.py", *numbers], cwd=folder, check=True)
        size = (folder / "logits.npy").stat().st_size / 1e6
        print(f"{args.rows} x {args.classes} float32, {size:.0f} MB; medians of {args.repetitions} runs")
        for name, text in [("MSP", "MSP"), ("MaxLogit-pNorm", "MaxLogit-pNorm(p=5)")]:
            ours = [abstain, "score", text, folder / "logits.npy", "-q", "-o", folder / "abstain.npy"]
            theirs = [sys.executable, folder / "score.py", folder / "logits.npy", folder / "np.npy", name]
            times = [(run(ours), run(theirs)) for _ in range(args.repetitions + 1)][1:]
            abstain_seconds, other = (median(pair[k][0] for pair in times) for k in range(2))
            memory = [max(pair[k][1] for pair in times) for k in range(2)]
            print(
                f"{name:15} abstain {abstain_seconds:.3f} s, {memory[0]:.0f} MB   numpy {other:.3f} s, {memory[1]:.0f} MB   "
                f"ratio {other / abstain_seconds:.1f}"
            )
            ranks = [np.load(folder / file)["confidence"].argsort().argsort() for file in ("abstain.npy", "np.npy")]
            same = np.corrcoef(*ranks)[0, 1]
            if same < 0.9999:
                sys.exit(f"{name}: the two rank the rows differently (correlation {same})")
        command = [abstain, "score", "MSP", folder / "large.npy", "-q", "-o", folder / "abstain.npy"]
        run(command)
        seconds, memory = run(command)
        print(f"{args.times * size:.0f} MB: abstain {seconds:.2f} s, {memory:.0f} MB")


if __name__ == "__main__":
    main()
