"""Many models at once: `bench` and `study` find what the program finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import simulated

import abstain

QUICK: dict[str, Any] = {"splits": 2, "holdout": 150, "smaller": [80], "replicates": 20}
FLAGS = "--splits 2 --holdout 150 --smaller 80 --replicates 20 --quiet --json".split()


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on the same rows, one of them with a broken MSP."""
    folder = tmp_path_factory.mktemp("zoo")
    logits, labels = simulated(400, 4)
    plain = logits / np.abs(logits).max(1, keepdims=True)
    for name, rows in [("broken", logits), ("plain", plain), ("labels", labels)]:
        np.save(folder / f"{name}.npy", rows)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_bench_equals_the_program(zoo: Path, tmp_path: Path, program: Callable[..., str]) -> None:
    steps: list[tuple[int, int, str]] = []
    page = tmp_path / "zoo.html"
    found = abstain.bench(
        zoo, page=page, progress=lambda *step: steps.append(step), **QUICK
    )
    assert found == json.loads(program("bench", zoo, *FLAGS))
    assert [line["model"] for line in found["models"]] == ["broken", "plain"]
    assert steps[-1][1] == 2000 and "model 2 of 2, plain" in steps[-1][2]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    one = abstain.bench(str(zoo), models="plain", target_accuracy=0.9, **QUICK)
    assert [line["model"] for line in one["models"]] == ["plain"] and one["target"] == 0.9


def test_study_writes_what_the_program_writes(
    zoo: Path, tmp_path: Path, program: Callable[..., str]
) -> None:
    found = abstain.study("methods", zoo, output=tmp_path / "here", show=["plain"], **QUICK)
    there = tmp_path / "there"
    printed = program("study", "methods", zoo, "-o", there, "--show", "plain", *FLAGS)
    assert found == json.loads(printed) and list(found) == ["methods"]
    written = files(there)
    assert files(tmp_path / "here") == written and "methods.md" in written
    # Nothing is written without a folder.
    assert abstain.study("methods", zoo, show="plain", **QUICK) == found


def test_wrong_requests_are_refused(zoo: Path, tmp_path: Path) -> None:
    for wrong, message in [
        (lambda: abstain.bench(tmp_path / "none"), "no such file"),
        (lambda: abstain.bench(zoo, models="other"), "no model is called 'other'; there are broken"),
        (lambda: abstain.bench(zoo, epsilon=2), "epsilon"),
        (lambda: abstain.bench(zoo, target_accuracy=1), "target accuracy"),
        (lambda: abstain.bench(zoo, delta=0), "delta"),
        (lambda: abstain.bench(zoo, holdout=400), "hold-out"),
        (lambda: abstain.bench(zoo, splits=0), "splits"),
        (lambda: abstain.study("all of it", zoo), "no study is called 'all of it'"),
        (lambda: abstain.study("shift", zoo), "no further sets"),
    ]:
        with pytest.raises(abstain.InputError, match=message):
            wrong()


def test_an_interrupted_study_leaves_no_record(zoo: Path, tmp_path: Path) -> None:
    def stop(done: int, total: int, task: str) -> None:
        if "tuning" in task:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        abstain.bench(zoo, output=tmp_path / "out", progress=stop, **QUICK)
    assert not files(tmp_path / "out")
    assert abstain.bench(zoo, output=tmp_path / "out", **QUICK) == abstain.bench(zoo, **QUICK)
