"""Ctrl-C ends long calls soon, and later calls work."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import abstain


@pytest.fixture(autouse=True)
def _handle_ctrl_c() -> Iterator[None]:
    """Python does not handle Ctrl-C where the shell that started it ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(act: Callable[[], Any], after: float = 0.4) -> float:
    """The time that a call goes on after Ctrl-C."""
    sent = 0.0

    def send() -> None:
        nonlocal sent
        sent = time.perf_counter()
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            act()
        return time.perf_counter() - sent
    finally:
        timer.cancel()
        timer.join()


@pytest.fixture(scope="module")
def million() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 30, 1_000_000)
    logits = rng.standard_normal((1_000_000, 30), dtype=np.float32)
    logits[np.arange(len(labels)), labels] += 2
    return logits, labels


def test_tune_is_interrupted(million: tuple[np.ndarray, np.ndarray]) -> None:
    # All calls here, except scoring, would take minutes.
    interrupted(lambda: abstain.tune(*million, holdout=0.5, space="fine"), after=1.0)
    # The next call works.
    assert abstain.accuracy([1, 2], [0, 0]) == 1


def test_interval_is_interrupted() -> None:
    rng = np.random.default_rng(0)
    confidence, loss = rng.normal(size=1_000_000), rng.random(1_000_000) < 0.1
    interrupted(lambda: abstain.interval("AURC", confidence, loss, replicates=100_000))


def test_evaluate_is_interrupted(million: tuple[np.ndarray, np.ndarray]) -> None:
    estimator = abstain.Estimator("MaxLogit-pNorm", p=3)
    interrupted(lambda: estimator.evaluate(*million, replicates=100_000), after=1.0)


def test_score_is_interrupted(million: tuple[np.ndarray, np.ndarray]) -> None:
    def score() -> None:
        abstain.score("NegativeEntropy-pNorm", million[0], p=2.5)

    began = time.perf_counter()
    score()
    whole = time.perf_counter() - began
    # Both are times of the same call on the same machine.
    assert interrupted(score, after=0.1 * whole) < 0.6 * whole


def test_a_progress_function_that_raises_ends_the_call() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 2000)
    logits = rng.normal(size=(2000, 5)) + np.eye(5)[labels]
    seen: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, task: str) -> None:
        seen.append((done, total, task))
        if len(seen) == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        abstain.tune(logits, labels, progress=progress)
    assert len(seen) == 2 and seen[0] == (0, 2000, "reading")


def test_a_monitor_is_interrupted_and_counts_nothing_of_the_call() -> None:
    estimator = abstain.Estimator("MSP").with_threshold(at=1)
    monitor = abstain.Monitor(estimator, target_risk=0.1).update([2.0])
    before = monitor.to_json()
    many = np.full(20_000_000, 2.0)
    interrupted(lambda: monitor.update(many, loss=np.zeros(len(many))), after=1.0)
    assert monitor.to_json() == before
    assert monitor.update([2.0]).records == 2
