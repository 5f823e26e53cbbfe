#!/usr/bin/env python3
"""Measures how many rows a second a monitor counts, and how large its state is.

    python3 bindings/python/benches/monitor.py [--rows 1000000]

It needs abstain (a release build: pip install .) and numpy. Times are those of the processor, the
best of several runs, each in one thread.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable

import numpy as np

import abstain


def clock(function: Callable[[], Any], calls: int = 5) -> float:
    """The least processor time of several calls, which use one thread."""
    best = float("inf")
    for _ in range(calls):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    rng = np.random.default_rng(0)
    classes = 10
    truth = rng.integers(0, classes, 5000)
    logits = rng.normal(size=(5000, classes)) + 2 * np.eye(classes)[truth]
    certified = abstain.Estimator("MSP").certify(logits, truth, target_accuracy=0.9)
    # Rows of the same distribution, so that all tests go on.
    drawn = rng.integers(0, 5000, rows)
    answers = certified.answers(logits)
    confidence = answers.confidence[drawn]
    prediction = answers.prediction[drawn]
    correct = (answers.prediction == truth)[drawn].astype(float)
    some = np.where(rng.uniform(size=rows) < 0.01, correct, np.nan)
    groups = np.array(["north", "south", "east", "west"])[rng.integers(0, 4, rows)]
    empty = abstain.Monitor(certified)
    state = empty.__copy__()

    def count(**columns: Any) -> Callable[[], Any]:
        return lambda: empty.__copy__().update(confidence, **columns)

    for name, call in {
        "confidences": count(),
        "with predicted classes": count(prediction=prediction),
        "with labels of 1 %": count(prediction=prediction, correct=some),
        "with all labels": count(prediction=prediction, correct=correct),
        "with all labels and groups": count(prediction=prediction, correct=correct, groups=groups),
        "audit of 1,000 rows": lambda: abstain.audit_sample(certified, confidence, 1000),
    }.items():
        seconds = clock(call)
        print(f"{name:28} {rows / seconds / 1e6:6.2f} million rows a second")
    one = clock(lambda: [state.update(confidence[i : i + 1]) for i in range(1000)]) / 1000
    print(f"{'a call with one row':28} {one * 1e6:6.1f} microseconds")
    state.update(confidence, prediction, correct=correct, groups=groups)
    whole = state.to_json()
    print(f"{'state, with the artifact':28} {len(whole) / 1000:6.1f} kB")


if __name__ == "__main__":
    main()
