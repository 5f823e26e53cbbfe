"""Answers as frames, thresholds as files, monitors as pictures; and work that is done once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import simulated

import abstain

LOGITS, LABELS = simulated(600, 4)
NAMES = ["dog", "cat", "emu", "ant"]


class Counted:
    """An artifact that counts how often it is serialised."""

    def __init__(self, artifact: Any) -> None:
        self.artifact, self.calls = artifact, 0

    def __getattr__(self, name: str) -> Any:
        self.calls += name in ("json", "threshold")
        return getattr(self.artifact, name)


def test_an_estimator_is_serialised_once() -> None:
    estimator = abstain.Estimator("MSP").certify(LOGITS, LABELS, target_accuracy=0.8)
    counted = Counted(estimator._artifact)
    estimator._artifact = counted  # type: ignore[assignment]
    for _ in range(3):
        assert estimator.threshold is estimator.threshold
        assert hash(estimator) == hash(estimator)
    assert counted.calls == 2
    assert estimator == abstain.Estimator("MSP").certify(LOGITS, LABELS, target_accuracy=0.8)
    assert estimator != abstain.Estimator("MSP")
    assert counted.calls == 2


def test_equal_estimators_have_equal_hashes() -> None:
    first = abstain.tune(LOGITS, LABELS, methods="MaxLogit-pNorm").estimator
    second = abstain.tune(LOGITS, LABELS, methods="MaxLogit-pNorm").estimator
    assert first == second and hash(first) == hash(second)
    assert first != first.with_threshold(at=1) and first != abstain.Estimator("MSP")
    assert first != "MSP"
    result = abstain.tune(LOGITS, LABELS, methods="MSP")
    assert result.estimator is result.estimator


def test_answers_have_the_index_of_the_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LOGITS, columns=NAMES)
    frame.index = [f"row {k}" for k in range(len(frame))]
    estimator = abstain.tune(LOGITS, LABELS, class_names=NAMES, methods="MSP").estimator
    found = estimator.answers(frame[100:200], names=True).to_frame()
    assert list(found.columns) == ["prediction", "confidence"]
    assert found.index.equals(frame.index[100:200])
    assert found["prediction"].tolist() == np.array(NAMES)[LOGITS[100:200].argmax(1)].tolist()
    accepted = estimator.with_threshold(at=0.5).answers(frame).to_frame()
    assert frame.join(accepted)["accept"].tolist() == (accepted["confidence"] >= 0.5).tolist()
    plain = estimator.answers(LOGITS.tolist()).to_frame()
    assert plain.index.equals(pandas.RangeIndex(len(LOGITS)))
    prediction, confidence, accept = estimator.answers(LOGITS)
    assert accept is None and len(prediction) == len(confidence) == len(LOGITS)


def test_a_threshold_is_a_file_for_python_and_the_program(tmp_path: Path, program: Any) -> None:
    confidence = abstain.score("MSP", LOGITS)
    correct = LOGITS.argmax(1) == LABELS
    threshold = abstain.certify(confidence, correct, target_accuracy=0.8)
    path = tmp_path / "threshold.json"
    threshold.save(path)
    loaded = abstain.load(path)
    assert loaded.threshold == threshold and loaded.name == "confidence"
    records = tmp_path / "records.csv"
    lines = [f"{value},{int(right)}" for value, right in zip(confidence, correct, strict=True)]
    records.write_text("\n".join(["confidence,correct", *lines]))
    printed = json.loads(program("monitor", path, records, "--json"))
    watched = abstain.Monitor(path).update(confidence, correct=correct)
    assert repr(watched).startswith("Monitor('confidence', 600 rows")
    assert printed["report"]["risk"] == watched.report()["risk"]


def test_a_label_of_a_row_counts_once() -> None:
    estimator = abstain.Estimator("MSP").with_threshold(at=0)
    confidence = abstain.score("MSP", LOGITS)
    correct = LOGITS.argmax(1) == LABELS
    monitor = abstain.Monitor(estimator, target_risk=0.5).update(confidence[:400])
    rows = np.arange(50, 150)
    monitor.update_labels(rows, confidence[rows], correct=correct[rows])
    before = monitor.report()
    with pytest.warns(abstain.DataWarning, match="100 of 100 labels"):
        monitor.update_labels(rows, confidence[rows], correct=correct[rows])
    with pytest.warns(abstain.DataWarning, match="1 of 2 labels"):
        monitor.update_labels([149, 150], confidence[[149, 150]], correct=correct[[149, 150]])
    assert monitor.labels == before["labels"] + 1
    # Within one call, after a pickle, and beside the rows.
    with pytest.warns(abstain.DataWarning, match="1 of 2 labels"):
        monitor.update_labels([7, 7], confidence[[7, 7]], correct=[1, 0])
    stored = abstain.Monitor.from_json(monitor.to_json())
    with pytest.warns(abstain.DataWarning, match="1 of 1 labels"):
        stored.update_labels([7], confidence[[7]], correct=[1])
    stored.update(confidence[400:], correct=correct[400:])
    with pytest.warns(abstain.DataWarning, match="200 of 200 labels"):
        rows = np.arange(400, 600)
        stored.update_labels(rows, confidence[rows], correct=correct[rows])
    assert stored.labels == 302
    # Rows that follow each other take no more memory than one.
    assert len(stored.to_json()) < len(monitor.to_json()) + 12_000


def test_a_monitor_is_drawn_and_written_as_a_page(tmp_path: Path) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    confidence = abstain.score("MSP", LOGITS)
    correct = LOGITS.argmax(1) == LABELS
    estimator = abstain.Estimator("MSP").certify(LOGITS, LABELS, target_accuracy=0.8)
    monitor = abstain.Monitor(estimator).update(confidence, LOGITS.argmax(1))
    axes = monitor.plot(plt.figure().gca())
    assert axes.get_ylabel() == "coverage"
    last = axes.lines[0].get_ydata()[-1]
    assert last == pytest.approx(monitor.report()["coverage"]["share"])
    monitor.update_labels(np.arange(600), confidence, correct=correct)
    axes = monitor.plot(plt.figure().gca())
    assert axes.get_ylabel() == "risk among accepted rows"
    assert axes.lines[0].get_ydata()[-1] == pytest.approx(monitor.report()["risk"]["mean"])
    plt.close("all")
    history = monitor.history()
    assert history["rows"][-1]["row"] == 600
    assert 2 < len(history["labels"]) <= 128
    monitor.page(tmp_path / "stream.html", title="Fruit, watched")
    page = (tmp_path / "stream.html").read_text()
    assert "Fruit, watched" in page and "<svg" in page
    assert "600" in str(monitor)
    assert monitor._repr_html_().count("<svg") >= 1


def test_offsets_are_of_classes_by_their_names() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 2000)
    logits = rng.normal(size=(2000, 4)) + 2 * np.eye(4)[labels]
    # Answers of the first class are rarely right.
    logits[:, 0] += 3
    named = abstain.tune(logits, labels, class_names=NAMES).estimator
    assert "offset" in str(named)
    assert "(dog)" in str(named) and "(class " not in str(named)
    unnamed = abstain.tune(logits, labels).estimator
    assert "(class 0)" in str(unnamed)


def test_the_scale_of_an_artifact_is_the_documented_one(tmp_path: Path, program: Any) -> None:
    """Of the rows that are looked at: the first 1,024, and then every sixteenth."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 5000)
    logits = (rng.normal(size=(5000, 3)) + 2 * np.eye(3)[labels]) * np.linspace(1, 9, 5000)[:, None]
    logits[3] = 2.0
    np.save(tmp_path / "logits.npy", logits)
    np.save(tmp_path / "labels.npy", labels)
    places = np.arange(5000)
    seen = logits[(places < 1024) | (places % 16 == 0)]
    expected = np.exp(np.log(seen.std(axis=1)[seen.std(axis=1) > 0]).mean())
    for more in ({}, {"holdout": 1000}, {"target_accuracy": 0.8, "delta": 0.1}):
        options: Any = {"methods": ["MSP", "MaxLogit-pNorm"], **more}
        found = abstain.tune(logits, labels, **options).estimator.to_dict()["tuning"]["scale"]
        assert found == pytest.approx(expected, rel=1e-12)
        arguments = ["--method", "MSP,MaxLogit-pNorm"]
        arguments += [word for key, value in more.items() for word in
                      (f"--{key.replace('_', '-')}", str(value))]
        artifact = tmp_path / "artifact.json"
        program("tune", tmp_path / "logits.npy", tmp_path / "labels.npy", "-o", artifact, *arguments)
        assert json.loads(artifact.read_text())["tuning"]["scale"] == found
        artifact.unlink()
