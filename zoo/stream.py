"""A deployment that drifts, for docs/monitoring.md: rows of a network of the zoo, week by week.

    python3 zoo/stream.py make FOLDER     hold-out.npz, and week-1.csv to week-5.csv
    python3 zoo/stream.py label LIST      fills in the column `label` of a list of `abstain audit`

Weeks 1 and 2 are clean images, weeks 3 to 5 are slightly blurred. The labels of the stream
are what a person would enter; they are looked up by the ids.
"""

import csv
import sys
from pathlib import Path

import numpy as np

ZOO = Path(__file__).parent
MODEL = "resnet-ls"
HOLD_OUT = slice(5000, 10000)
# The sets of the zoo that the weeks come from, and their rows.
WEEKS = [
    ("clean", 0, 1500),
    ("clean", 1500, 3000),
    ("shift/blur-1", 3000, 4000),
    ("shift/blur-1", 4000, 5000),
    ("shift/blur-1", 0, 3000),
]


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    labels = np.load(ZOO / "labels.npy")
    logits = np.load(ZOO / "clean" / f"{MODEL}.npy").astype(np.float32)
    np.savez(folder / "hold-out.npz", logits=logits[HOLD_OUT], labels=labels[HOLD_OUT])
    for week, (name, start, end) in enumerate(WEEKS, start=1):
        rows = np.load(ZOO / name / f"{MODEL}.npy").astype(np.float32)[start:end]
        with open(folder / f"week-{week}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id"] + [f"logit_{k}" for k in range(rows.shape[1])])
            for row, values in enumerate(rows, start=start):
                writer.writerow([f"{week}-{row}"] + [repr(float(value)) for value in values])


def label(path):
    labels = np.load(ZOO / "labels.npy")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for row in rows:
            row["label"] = labels[int(row["id"].split("-")[1])]
            writer.writerow(row)


if __name__ == "__main__":
    {"make": make, "label": label}[sys.argv[1]](Path(sys.argv[2]))
