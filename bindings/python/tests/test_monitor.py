"""Monitors and audits: the same as core's, promises kept, wrong input refused."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import simulated

import abstain


def given(at: float = 0.5) -> abstain.Estimator:
    """An estimator whose threshold is not certified: nothing but the risk is tested."""
    return abstain.Estimator("MSP").with_threshold(at=at)


@pytest.fixture(scope="module")
def certified() -> abstain.Estimator:
    logits, labels = simulated(4000, 5)
    return abstain.Estimator("MSP").certify(logits, labels, target_accuracy=0.9)


def stream(
    estimator: abstain.Estimator, rows: int, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    logits, labels = simulated(rows, 5, seed)
    prediction, confidence, _ = estimator.answers(logits)
    return confidence, prediction, prediction == labels


def state(monitor: abstain.Monitor) -> dict[str, Any]:
    """The state of core."""
    found = json.loads(monitor.to_json())["stream"]["monitor"]
    assert found["format"] == "abstain-monitor"
    return found


def counts(report: dict[str, Any]) -> tuple[Any, ...]:
    """What does not depend on the order of labels, or on how a stream is divided."""
    risk = report["risk"]
    return (
        *(report[key] for key in ("records", "accepted", "labels")),
        *(risk["mean"], risk["interval"], risk["test"]["observations"]),
        report["coverage"]["interval"],
    )


# What is counted.


def test_a_report_says_what_plain_counting_says(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 3000)
    monitor = abstain.Monitor(certified).update(confidence, prediction, correct=correct)
    report, accept = monitor.report(), confidence >= float(certified.threshold)
    assert (report["records"], report["accepted"]) == (3000, accept.sum())
    assert report["labels"] == monitor.labels == monitor.records == 3000
    assert report["risk"]["mean"] == pytest.approx(1 - correct[accept].mean(), abs=1e-8)
    assert report["risk"]["target"] == pytest.approx(0.1)
    assert report["coverage"]["share"] == accept.mean()
    assert report["coverage"]["certified"] == certified.threshold.coverage
    assert report["confidences"]["test"]["observations"] == 3000
    assert report["predictions"]["test"]["observations"] == 3000
    assert not monitor.alarm and monitor.alarms == []
    assert monitor.threshold == certified.threshold


def test_a_report_is_that_of_the_state(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 2000)
    monitor = abstain.Monitor(certified, seed=3)
    monitor.update(confidence, prediction, correct=correct, groups=prediction % 3)
    report, found = monitor.report(), state(monitor)
    assert {key: found[key] for key in ("records", "accepted", "labels")} == {
        key: report[key] for key in ("records", "accepted", "labels")
    }
    assert found["settings"]["seed"] == 3
    assert sum(found["confidences"]["counts"]) == 2000
    assert [group["group"] for group in report["groups"]] == list(found["groups"])
    assert sum(group["records"] for group in report["groups"]) == 2000
    again = abstain.Monitor.from_json(monitor.to_json())
    assert again.report() == report and again.to_json() == monitor.to_json()


def test_rows_one_by_one_are_counted_as_all_at_once(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 300)
    whole = abstain.Monitor(certified).update(confidence, prediction, correct=correct)
    single = abstain.Monitor(certified)
    for row in range(300):
        part = slice(row, row + 1)
        single.update(confidence[part], prediction[part], correct=correct[part])
    found, expected = state(single), state(whole)
    # Labels are compared with rows at each call, if there are enough new ones: the counts are the same.
    for counted in (found, expected):
        counted["selection"] = counted["selection"]["blocks"]
    assert found == expected
    assert state(abstain.Monitor(certified).update([])) == state(abstain.Monitor(certified))


def test_the_program_counts_the_same(
    certified: abstain.Estimator, program: Any, tmp_path: Path
) -> None:
    confidence, prediction, correct = stream(certified, 500)
    certified.save(tmp_path / "estimator.json")
    lines = ["id,confidence,prediction,correct"]
    lines += [
        f"{row},{x!r},{y},{int(z)}"
        for row, (x, y, z) in enumerate(zip(confidence.tolist(), prediction, correct))
    ]
    (tmp_path / "records.csv").write_text("\n".join(lines) + "\n")
    files = (tmp_path / "estimator.json", tmp_path / "records.csv")
    printed = json.loads(program("monitor", *files, "--json"))
    monitor = abstain.Monitor(tmp_path / "estimator.json")
    monitor.update(confidence, prediction, correct=correct)
    assert printed["report"] == monitor.report()


@pytest.mark.parametrize(
    "flags",
    [
        [1, None, 0, None, 1],
        [True, None, False, None, True],
        [1.0, float("nan"), 0.0, float("nan"), 1.0],
        np.array([1, np.nan, 0, np.nan, 1], dtype=np.float32),
        np.ma.masked_array([True, True, False, True, True], [0, 1, 0, 1, 0]),
        np.ma.masked_array([1.0, np.nan, 0.0, 7.0, 1.0], [0, 1, 0, 1, 0]),
    ],
)
def test_labels_may_be_missing(flags: Any) -> None:
    monitor = abstain.Monitor(given(), target_risk=0.1)
    report = monitor.update([1.0, 2.0, 3.0, 0.0, 0.0], correct=flags).report()
    assert (report["records"], report["labels"]) == (5, 3)
    assert report["risk"]["test"]["observations"] == 2
    assert report["risk"]["mean"] == 0.5


def test_columns_of_pandas_are_taken_with_their_nulls() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "confidence": [1.0, 2.0, 0.0],
            "correct": pandas.array([True, None, False], dtype="boolean"),
            "loss": pandas.array([0, None, 1], dtype="Int64"),
            "group": pandas.Categorical(["a", None, "b"]),
        },
        index=[7, 8, 9],
    )
    for column in ("correct", "loss"):
        monitor = abstain.Monitor(given(), target_risk=0.1)
        columns = {column: frame[column], "groups": frame["group"]}
        report = monitor.update(frame["confidence"], **columns).report()
        assert (report["records"], report["labels"]) == (3, 2)
        assert [group["group"] for group in report["groups"]] == ["a", "b"]


def test_losses_are_on_their_scale() -> None:
    monitor = abstain.Monitor(given(), target_risk=2.0, max_loss=10)
    report = monitor.update([1.0, 1.0], loss=[0, 5.0]).report()
    assert report["risk"]["mean"] == pytest.approx(2.5)
    assert report["risk"]["target"] == pytest.approx(2.0)
    assert report["risk"]["interval"][1] > 2.5


def test_groups_have_their_own_risk() -> None:
    monitor = abstain.Monitor(given(), target_risk=0.05, groups=2)
    names = np.array(["good", "bad"] * 400)
    monitor.update(np.ones(800), correct=names == "good", groups=names)
    alarms = {alarm["group"]: alarm["row"] for alarm in monitor.alarms}
    assert alarms.keys() == {None, "bad"}
    monitor.update(np.ones(3), groups=["third", None, "good"])
    report = monitor.report()
    assert {group["group"]: group["records"] for group in report["groups"]} == {
        "bad": 400, "good": 401,
    }  # fmt: skip
    assert report["ungrouped"] == 1


def test_a_stack_says_how_probable_right_answers_are() -> None:
    logits, labels = simulated(3000, 5)
    result = abstain.tune(logits, labels, methods="Stack", target_accuracy=0.9, delta=0.05)
    estimator = result.estimator
    rows, _ = simulated(500, 5, 2)
    prediction, confidence, accept = estimator.answers(rows)
    report = abstain.Monitor(result).update(confidence, prediction).report()
    expected = estimator.confidence(rows, values=True)[accept].mean()
    assert report["estimates"]["probability"] == pytest.approx(expected, abs=1e-6)
    assert report["estimates"]["thresholded_confidence"] is not None
    plain = abstain.Monitor(given()).update([1.0]).report()["estimates"]
    assert plain == {"thresholded_confidence": None, "probability": None}


def test_predictions_may_be_names() -> None:
    logits, labels = simulated(2000, 3)
    names = ["cat", "dog", "emu"]
    estimator = abstain.Estimator("MSP").certify(
        logits, labels, target_accuracy=0.8, class_names=names
    )
    number, confidence, _ = estimator.answers(logits)
    name = estimator.answers(logits, names=True).prediction
    by_number = abstain.Monitor(estimator).update(confidence, number)
    assert state(abstain.Monitor(estimator).update(confidence, name)) == state(by_number)
    with pytest.raises(abstain.InputError, match="row 0: the label 'cow' is none of the classes"):
        by_number.update([1.0], ["cow"])


def test_every_kind_of_artifact_is_taken(certified: abstain.Estimator, tmp_path: Path) -> None:
    certified.save(tmp_path / "estimator.json")
    confidence, _, correct = stream(certified, 500)
    expected = counts(abstain.Monitor(certified).update(confidence, correct=correct).report())
    path = tmp_path / "estimator.json"
    for artifact in (path, str(path), abstain.load(path), certified.threshold):
        monitor = abstain.Monitor(artifact).update(confidence, correct=correct)
        assert counts(monitor.report()) == expected
        assert monitor.report()["confidences"]["test"]["observations"] == 500


def test_a_bare_confidence_is_watched_as_an_estimator_is() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(size=4000)
    correct = rng.uniform(size=4000) < confidence
    threshold = abstain.certify(confidence, correct, target_accuracy=0.9)
    for one in (threshold, pickle.loads(pickle.dumps(threshold))):
        monitor = abstain.Monitor(one).update(rng.uniform(size=1000) ** 3)
        assert {"confidences", "coverage-low"} <= {alarm["test"] for alarm in monitor.alarms}
    assert abstain.Monitor(abstain.threshold(confidence, coverage=0.5)).report()["risk"] is None


# Promises.


def test_false_alarms_at_the_boundary_are_as_rare_as_promised() -> None:
    rng, streams, alpha = np.random.default_rng(7), 200, 0.1
    alarms = 0
    for _ in range(streams):
        monitor = abstain.Monitor(given(), target_risk=0.05, alpha=alpha)
        alarms += monitor.update(np.ones(2000), correct=rng.uniform(size=2000) >= 0.05).alarm
    # The probability of more, at exactly alpha, is below 1e-3.
    assert alarms <= 35


def test_shifts_need_no_labels(certified: abstain.Estimator) -> None:
    confidence, prediction, _ = stream(certified, 1500)
    monitor = abstain.Monitor(certified).update(confidence, prediction)
    assert not monitor.alarm
    monitor.update(0.5 * confidence - 1, np.zeros(1500))
    tests = {alarm["test"] for alarm in monitor.alarms}
    assert {"confidences", "predictions", "coverage-low"} <= tests
    assert all(alarm["row"] >= 1500 for alarm in monitor.alarms)


def test_an_alarm_is_never_taken_back() -> None:
    monitor = abstain.Monitor(given(), target_risk=0.05)
    alarms = monitor.update(np.ones(100), correct=np.zeros(100)).alarms
    assert monitor.alarm and alarms[0]["row"] < 20
    for same in (monitor, pickle.loads(pickle.dumps(monitor)), copy.deepcopy(monitor)):
        same.update(np.ones(10_000), correct=np.ones(10_000))
        assert same.alarm and same.alarms == alarms
    fresh = abstain.Monitor(given(), target_risk=0.05)
    fresh.update(np.ones(1000), correct=np.ones(1000))
    assert not fresh.alarm
    assert fresh.merge(monitor).alarm and fresh.alarms == alarms


def test_merged_parts_are_the_whole(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 4000)
    groups = np.array(["a", "b", "c"])[prediction % 3]
    whole = abstain.Monitor(certified, parts=4)
    whole.update(confidence, prediction, correct=correct, groups=groups)
    parts = []
    for first in range(4):
        rows = np.arange(first, 4000, 4)
        part = abstain.Monitor(certified, parts=4)
        part.update(
            confidence[rows], prediction[rows], correct=correct[rows], groups=groups[rows], rows=rows
        )
        parts.append(pickle.loads(pickle.dumps(part)))
    merged = parts[0]
    for part in parts[1:]:
        assert merged.merge(part) is merged
    assert counts(merged.report()) == counts(whole.report())
    assert state(merged)["confidences"]["counts"] == state(whole)["confidences"]["counts"]
    assert state(merged)["risk"]["bets"] == state(whole)["risk"]["bets"]
    assert state(merged)["thresholds"]["records"] == 4000
    for mine, all_rows in zip(merged.report()["groups"], whole.report()["groups"]):
        assert (mine["records"], mine["accepted"]) == (all_rows["records"], all_rows["accepted"])
        assert mine["risk"]["mean"] == all_rows["risk"]["mean"]


def test_labels_may_come_later_in_any_order(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 2000)
    at_once = abstain.Monitor(certified).update(confidence, prediction, correct=correct)
    later = abstain.Monitor(certified).update(confidence, prediction)
    order = np.random.default_rng(3).permutation(2000)
    for rows in np.split(order, 8):
        later = pickle.loads(pickle.dumps(later))
        later.update_labels(rows, confidence[rows], correct=correct[rows])
    assert counts(later.report()) == counts(at_once.report())
    assert state(later)["risk"]["bets"] == state(at_once)["risk"]["bets"]


def test_labels_certify_anew() -> None:
    monitor = abstain.Monitor(given(1), target_risk=0.1)
    with pytest.raises(abstain.InfeasibleError, match="by the 0 labels"):
        monitor.recertified()
    with pytest.raises(abstain.InfeasibleError, match="without a target"):
        abstain.Monitor(given()).recertified()
    monitor.update(np.linspace(0, 3, 900), correct=np.arange(900) % 50 != 0)
    found = monitor.recertified()
    assert isinstance(found, abstain.Estimator)
    threshold = found.threshold
    assert (threshold.basis, float(threshold), threshold.rows) == ("anytime", 1.0, 900)
    assert threshold.certificate == monitor.certified[-1]
    assert threshold.selective_risk == pytest.approx(0.02, abs=0.005)
    assert pickle.loads(pickle.dumps(found)) == found
    assert "anytime" in repr(found)
    # It can be watched in turn, with the target that it states.
    assert abstain.Monitor(found).report()["risk"]["target"] == 0.1
    monitor.restart_certification()
    assert monitor.certified == [] and monitor.report()["certified_since"] == 900


def test_labels_of_sure_rows_certify_nothing() -> None:
    rng = np.random.default_rng(5)
    confidence = rng.uniform(size=3000)
    sure = np.where(confidence > 0.85, 1.0, np.nan)
    monitor = abstain.Monitor(given(0.24), target_risk=0.1)
    monitor.update(confidence, correct=sure)
    with pytest.raises(abstain.InfeasibleError, match="not of a random part of the rows"):
        monitor.recertified()
    found = monitor.report()["selection"]["found"]
    assert found[0]["by"] == "confidences" and found[0]["of_labels"] == 1.0
    assert monitor.certified == []
    # A random part of the same rows certifies.
    part = np.where(rng.uniform(size=3000) < 0.3, 1.0, np.nan)
    random = abstain.Monitor(given(0.24), target_risk=0.1).update(confidence, correct=part)
    assert random.report()["selection"]["found"] == [] and random.certified


def test_a_threshold_on_a_bare_confidence_is_certified_anew_as_such() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(size=4000)
    correct = rng.uniform(size=4000) < confidence
    threshold = abstain.certify(confidence, correct, target_accuracy=0.8)
    stream = rng.uniform(size=4000)
    monitor = abstain.Monitor(threshold).update(stream, correct=np.ones(4000))
    found = monitor.recertified()
    assert isinstance(found, abstain.Threshold) and found.basis == "anytime"
    # Lower ones only where it is stated that rows below have labels as well.
    assert found == threshold
    lower = abstain.Monitor(threshold, abstained_labelled=True)
    assert lower.update(stream, correct=np.ones(4000)).recertified() < threshold
    # The summary in the artifact is of other rows than those that certify now.
    assert abstain.Monitor(found).report()["confidences"] is None


def test_costs_certify_on_their_scale() -> None:
    monitor = abstain.Monitor(given(1), target_risk=2.0, max_loss=10)
    monitor.update(np.full(900, 2.0), loss=np.ones(900))
    threshold = monitor.recertified().threshold
    assert threshold.certificate["risk"] == pytest.approx(2.0)
    assert threshold.selective_risk == pytest.approx(1.0)


# Threads, copies.


def test_copies_go_on_separately() -> None:
    monitor = abstain.Monitor(given()).update([1.0])
    other = copy.copy(monitor)
    other.update([1.0, 2.0])
    assert (monitor.records, other.records) == (1, 3)
    assert repr(other) == "Monitor('MSP', 3 rows, 3 accepted, 0 labels)"


def test_threads_may_update_the_same_monitor() -> None:
    monitor = abstain.Monitor(given(), target_risk=0.1)

    def update() -> None:
        for _ in range(20):
            monitor.update(np.ones(5000), correct=np.ones(5000))
            monitor.report()

    threads = [threading.Thread(target=update) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert monitor.records == monitor.labels == 400_000


def test_a_monitor_may_be_merged_with_itself_and_in_circles() -> None:
    monitor = abstain.Monitor(given()).update([1.0])
    assert monitor.merge(monitor).records == 2
    other = abstain.Monitor(given()).update([1.0])
    pairs = [(monitor, other), (other, monitor)]
    threads = [threading.Thread(target=a.merge, args=(b,)) for a, b in pairs]
    [thread.start() for thread in threads]
    [thread.join(10) for thread in threads]
    assert not any(thread.is_alive() for thread in threads)


# Wrong input.


@pytest.mark.parametrize(
    ("columns", "message", "row", "value"),
    [
        ({"confidence": [1.0, float("nan")]}, "row 1: the confidence is NaN", 1, None),
        ({"confidence": [1.0, None]}, "row 1: None is not a number", 1, None),
        ({"confidence": ["1.0", 2.0]}, "is not a number", 0, "1.0"),
        ({"confidence": [[1.0], [2.0]]}, "expected one number per row", None, None),
        ({"correct": [1, 2]}, "correct: row 1: 2 is not 1 or True", 1, 2.0),
        ({"correct": [1, "no"]}, "is not a number", 0, None),
        ({"correct": [1]}, "loss: 1 rows where 2 were expected", None, None),
        ({"loss": [0.0, 1.5]}, "row 1: the loss 1.5 is not from 0 to 1", 1, 1.5),
        ({"loss": [-0.5, 1]}, "row 0: the loss -0.5 is not from 0 to 1", 0, -0.5),
        ({"loss": [0.5, float("inf")]}, "row 1: the loss inf", 1, float("inf")),
        ({"loss": [0, 0], "correct": [1, 1]}, "not both", None, None),
        ({"prediction": [0, -1]}, "row 1: the prediction -1 is no class: there are 5", 1, -1.0),
        ({"prediction": [0, 5]}, "row 1: the prediction 5 is no class: there are 5", 1, 5.0),
        ({"prediction": [0, 0.5]}, "row 1: label 0.5 is not a whole number", 1, 0.5),
        ({"prediction": [0]}, "prediction: 1 rows where 2", None, None),
        ({"groups": ["a"]}, "groups: 1 rows where 2", None, None),
        ({"groups": [["a"], ["b"]]}, "groups: expected one group per row", None, None),
        ({"rows": [0, -1]}, "row 1: the row -1 is not counted from 0", 1, -1.0),
        ({"rows": [0]}, "rows: 1 rows where 2", None, None),
        ({"propensity": [0.5, 0.5]}, "propensity is for labels", None, None),
        ({"correct": [1, 1], "propensity": [0.5, 0.5]}, "give min_propensity", None, None),
        ({"correct": [1, 1], "min_propensity": 0.5}, "give propensity", None, None),
        (
            {"correct": [1, 1], "propensity": [0.5, 0.2], "min_propensity": 0.3},
            "row 1: the propensity 0.2 is not from the smallest, 0.3, to 1", 1, 0.2,
        ),
        (
            {"correct": [1, 1], "propensity": [0.5, None], "min_propensity": 0.3},
            "row 1: the propensity NaN is not", 1, None,
        ),
        (
            {"correct": [1, 1], "propensity": [1, 1], "min_propensity": 1.5},
            "min_propensity is 1.5", None, 1.5,
        ),
    ],
)  # fmt: skip
def test_wrong_rows_are_refused_and_nothing_is_counted(
    certified: abstain.Estimator, columns: dict[str, Any], message: str, row: Any, value: Any
) -> None:
    monitor = abstain.Monitor(certified)
    before = monitor.to_json()
    with pytest.raises(abstain.InputError) as error:
        monitor.update(**{"confidence": [1.0, 2.0], **columns})
    assert message in str(error.value)
    if row is not None and "is not a number" not in message:
        assert error.value.row == row
    if isinstance(value, float):
        assert error.value.value == value
    assert monitor.to_json() == before


def test_wrong_labels_are_refused() -> None:
    monitor = abstain.Monitor(given(), target_risk=0.1).update(np.ones(5))
    for rows, confidence, columns, message in [
        ([0, 5], [1, 1], {"correct": [1, 1]}, "row 1: the row 5 is not a row of the stream, which"),
        ([0, -1], [1, 1], {"correct": [1, 1]}, "row 1: the row -1 is not"),
        ([0], [1, 1], {"correct": [1]}, "confidence: 2 rows where 1"),
        ([0, 0.5], [1, 1], {"correct": [1, 1]}, "row 1"),
        ([0], [float("nan")], {"correct": [1]}, "row 0: the confidence is NaN"),
        ([0], [1], {}, "give correct or loss"),
    ]:
        with pytest.raises(abstain.InputError) as error:
            monitor.update_labels(rows, confidence, **columns)
        assert message in str(error.value)
    assert monitor.labels == 0
    # Rows of a part have the numbers that they were given.
    part = abstain.Monitor(given(), target_risk=0.1).update([1.0], rows=[70])
    assert part.update_labels([70], [1.0], correct=[True]).labels == 1


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"alpha": 0}, "alpha is 0"),
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"delta": "x"}, "delta is 'x'"),
        ({"target_risk": 1.0}, "target_risk is 1"),
        ({"max_loss": 0}, "max_loss is 0"),
        ({"parts": 0}, "parts is 0"),
        ({"groups": 2**40}, "must fit 32 bits"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_wrong_settings_are_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(abstain.InputError, match=message):
        abstain.Monitor(given(), **keywords)


def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    with pytest.raises(abstain.InputError, match="has no threshold"):
        abstain.Monitor(abstain.Estimator("MSP"))
    for wrong in (3, None, [1.0], "MSP"):
        with pytest.raises((abstain.InputError, FileNotFoundError)):
            abstain.Monitor(wrong)
    monitor = abstain.Monitor(given())
    for other in (given(0.6), abstain.Estimator("MaxLogit").with_threshold(at=0.5)):
        with pytest.raises(abstain.InputError, match="not of the same estimator"):
            monitor.merge(abstain.Monitor(other))
    with pytest.raises(abstain.InputError, match="not of the same estimator"):
        monitor.merge(abstain.Monitor(given(), alpha=0.1))
    with pytest.raises(abstain.InputError, match="expected a Monitor"):
        monitor.merge(3)  # type: ignore[arg-type]


def test_states_of_before_the_stream_go_on(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 300)
    monitor = abstain.Monitor(certified).update(confidence, prediction, correct=correct)
    stored = {"artifact": certified.to_dict(), "monitor": state(monitor), "rows": 300}
    again = abstain.Monitor.from_json(json.dumps(stored))
    # How it went, and which rows have labels, was not stored then.
    assert again.report() == monitor.report() and state(again) == state(monitor)
    assert again.update_labels([299], [1.0], correct=[True]).labels == 301


def test_damaged_states_are_refused() -> None:
    text = abstain.Monitor(given(), target_risk=0.1).update([1.0]).to_json()
    for wrong in ("", "[]", "{}", "null", "3", text[:-10], text.replace('"records"', '"record"')):
        with pytest.raises(abstain.InputError):
            abstain.Monitor.from_json(wrong)
    stored = json.loads(text)
    stored["artifact"]["rule"]["threshold"]["at"] = 0.7
    with pytest.raises(abstain.InputError, match="not of the same estimator"):
        abstain.Monitor.from_json(json.dumps(stored))


# Audits.


def test_an_audit_meets_its_budget_and_stands_for_all_rows(certified: abstain.Estimator) -> None:
    confidence, _, correct = stream(certified, 20_000)
    accept, loss = confidence >= float(certified.threshold), 1.0 - correct
    sizes, means, shares = [], [], []
    for seed in range(60):
        sample = abstain.audit_sample(certified, confidence, 600, seed=seed)
        assert len(sample) == len(sample.rows) == len(sample.propensity)
        assert (sample.propensity >= sample.min_propensity).all() and sample.propensity.max() <= 1
        assert (np.diff(sample.rows) > 0).all()
        sizes.append(len(sample))
        inside = accept[sample.rows]
        shares.append(1 - inside.mean())
        # Divided by the number of all rows, the weighted sum has no bias at all.
        chosen = loss[sample.rows][inside] / sample.propensity[inside]
        means.append(chosen.sum() / accept.sum())
    assert np.mean(sizes) == pytest.approx(600, abs=4 * np.sqrt(600 / 60))
    assert np.mean(shares) == pytest.approx(0.25, abs=0.02)
    error = np.std(means) / np.sqrt(60)
    assert abs(np.mean(means) - loss[accept].mean()) < 4 * error


def test_audited_labels_estimate_the_risk_of_all(certified: abstain.Estimator) -> None:
    confidence, prediction, correct = stream(certified, 20_000)
    monitor = abstain.Monitor(certified).update(confidence, prediction)
    sample = abstain.audit_sample(certified, confidence, 3000, seed=5)
    rows = sample.rows
    monitor.update_labels(
        rows, confidence[rows], correct=correct[rows],
        propensity=sample.propensity, min_propensity=sample.min_propensity,
    )  # fmt: skip
    report, accept = monitor.report(), confidence >= float(certified.threshold)
    assert report["labels"] == len(rows)
    true = 1 - correct[accept].mean()
    low, high = report["risk"]["interval"]
    assert low <= true <= high
    assert report["risk"]["mean"] == pytest.approx(true, abs=0.02)


def test_an_audit_says_what_labels_show(certified: abstain.Estimator) -> None:
    confidence, *_ = stream(certified, 5000)
    sample = abstain.audit_sample(certified, confidence, 500)
    soon, later = sample.labels_to_notice(0.4), sample.labels_to_notice(0.2)
    assert soon.risk == 0.4 and soon.median <= soon.ninety < later.ninety
    confirmed = sample.labels_to_confirm(0.02)
    assert confirmed is not None and 10 < confirmed.median <= confirmed.ninety
    assert sample.labels_to_confirm().risk == pytest.approx(certified.threshold.selective_risk)
    again = pickle.loads(pickle.dumps(sample))
    assert again.labels_to_notice(0.4) == soon and (again.rows == sample.rows).all()
    with pytest.raises(abstain.InputError, match="rise is 0.05, but must be above the target"):
        sample.labels_to_notice(0.05)
    bare = abstain.audit_sample(given(), confidence, 500)
    assert bare.labels_to_confirm(0.1) is None
    with pytest.raises(abstain.InputError, match="no target risk: give target_risk"):
        bare.labels_to_notice(0.2)
    scaled = abstain.audit_sample(given(), confidence, 500, target_risk=1.0, max_loss=10)
    assert scaled.labels_to_notice(4).risk == 4
    same = abstain.audit_sample(given(), confidence, 500, target_risk=0.1)
    assert scaled.labels_to_notice(4)[1:] == same.labels_to_notice(0.4)[1:]
    assert scaled.labels_to_confirm(0.2)[1:] == same.labels_to_confirm(0.02)[1:]


def test_wrong_audits_are_refused(certified: abstain.Estimator) -> None:
    for confidence, budget, keywords, message in [
        ([1.0, float("nan")], 1, {}, "row 1: the confidence is NaN"),
        ([1.0], 0, {}, "budget is 0"),
        ([1.0], "x", {}, "budget is 'x'"),
        ([1.0], 1, {"abstained": 1.5}, "abstained is 1.5"),
        ([], 1, {}, "no rows"),
    ]:
        with pytest.raises(abstain.InputError) as error:
            abstain.audit_sample(certified, confidence, budget, **keywords)
        assert message in str(error.value)
    with pytest.raises(abstain.InputError, match="has no threshold"):
        abstain.audit_sample(abstain.Estimator("MSP"), [1.0], 1)
    assert len(abstain.audit_sample(certified, [1.0, 0.0], 10)) == 2
