"""Each kind of invalid input: the right exception, with its row and its value."""

from __future__ import annotations

import errno
import math
import pickle
import re
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import simulated

import abstain

LOGITS, LABELS = simulated(40, 4)
LOSS = (LOGITS.argmax(axis=1) != LABELS).astype(float)
MSP = abstain.Estimator("MSP")


def changed(array: np.ndarray, row: Any, value: Any) -> np.ndarray:
    copy = array.astype(float)
    copy[row] = value
    return copy


PROBABILITIES = np.full((3, 4), 0.25)

#: A call, the message, and the row, column and value that the exception names.
PLACES: list[tuple[Callable[[], Any], str, int, int | None, float]] = [
    (
        lambda: abstain.score("MSP", changed(LOGITS, (7, 2), np.nan)),
        "row 7, column 2: logit NaN is not a finite number", 7, 2, math.nan,
    ),
    (
        lambda: abstain.score("MSP", changed(LOGITS, (7, 2), -np.inf)),
        "row 7, column 2: logit -inf is not a finite number", 7, 2, -math.inf,
    ),
    (
        lambda: abstain.tune(changed(LOGITS, (39, 0), np.inf), LABELS),
        "row 39, column 0: logit inf is not a finite number", 39, 0, math.inf,
    ),
    (
        lambda: abstain.label_free(changed(LOGITS, (39, 0), np.inf)),
        "row 39, column 0: logit inf is not a finite number", 39, 0, math.inf,
    ),
    (
        lambda: abstain.score("MSP", changed(LOGITS, (1, 3), 1e200)),
        "row 1, column 3: logit 1e200 is beyond 1e100 in magnitude", 1, 3, 1e200,
    ),
    (
        lambda: abstain.score("MSP", changed(PROBABILITIES, (2, 1), 1.5), input="probabilities"),
        "row 2, column 1: 1.5 is not a probability (tolerance 0.001)", 2, 1, 1.5,
    ),
    (
        lambda: abstain.score("MSP", changed(PROBABILITIES, (2, 1), 0.5), input="probabilities"),
        "row 2: the probabilities sum to 1.25, not to 1 (tolerance 0.001)", 2, None, 1.25,
    ),
    (
        lambda: abstain.tune(LOGITS, changed(LABELS, 5, 9)),
        "row 5: label 9 is not between 0 and 3", 5, None, 9,
    ),
    (
        lambda: abstain.tune(LOGITS, changed(LABELS, 5, -1)),
        "row 5: label -1 is not between 0 and 3", 5, None, -1,
    ),
    (
        lambda: abstain.tune(LOGITS, changed(LABELS, 5, 1.5)),
        "row 5: label 1.5 is not a whole number", 5, None, 1.5,
    ),
    (
        lambda: abstain.aurc(changed(LOSS, 3, np.nan), LOSS),
        "row 3: the confidence is NaN", 3, None, math.nan,
    ),
    (
        lambda: abstain.aurc(LOSS, changed(LOSS, 3, -1)),
        "row 3: loss -1e0 is not between 0 and 1e100", 3, None, -1,
    ),
    (
        lambda: abstain.losses(LOGITS, LABELS, loss=changed(np.ones((4, 4)), (1, 2), -3)),
        "label 1, prediction 2: cost -3e0 is not between 0 and 1e100", 1, 2, -3,
    ),
]


@pytest.mark.parametrize("act, message, row, column, value", PLACES, ids=[p[1] for p in PLACES])
def test_invalid_values_are_named_with_their_place(
    act: Callable[[], Any], message: str, row: int, column: int | None, value: float
) -> None:
    with pytest.raises(abstain.InputError) as caught:
        act()
    error = caught.value
    assert isinstance(error, ValueError)
    assert (str(error), error.row, error.column) == (message, row, column)
    assert error.value == value or (math.isnan(value) and math.isnan(error.value))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.row, again.column) == (message, row, column)


INPUTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: abstain.score("MSP", LOGITS[0]), "got (4,); for a single row use logits[None, :]"),
    (lambda: abstain.score("MSP", LOGITS[None]), "expected shape (rows, classes), got (1, 40, 4)"),
    (lambda: abstain.score("MSP", np.zeros((4, 0))), "0 class"),
    (lambda: abstain.score("MSP", np.zeros((4, 1))), "1 class"),
    (lambda: abstain.score("MSP", [[1.0, 2.0], [1.0]]), "the rows have different lengths"),
    (lambda: abstain.score("MSP", [["a", "b"]]), "row 0, column 0: 'a' is not a number"),
    (lambda: abstain.score("MSP", [[1.0, None]]), "row 0, column 1: None is not a number"),
    (lambda: abstain.score("MSP", LOGITS + 1j), "expected numbers, got complex128"),
    (lambda: abstain.score("MSPP", LOGITS), "did you mean 'MSP'?"),
    (lambda: abstain.score("MaxLogit-TS", LOGITS, T=2), "use MaxLogit"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS), "needs the parameter p"),
    (lambda: abstain.score("MSP", LOGITS, p=3), "does not take the parameter p"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS, p=-1), "p is -1"),
    (lambda: abstain.score("MaxLogit-pNorm(p=5)", LOGITS, p=5), "given twice"),
    (lambda: abstain.score("MSP", LOGITS, input="logit"), "no encoding is called 'logit'"),
    (lambda: abstain.score("MSP", LOGITS, floor=0.1), "must be left out for logits"),
    (lambda: abstain.Estimator("MSP", input="probabilities"), "needs a floor"),
    (lambda: abstain.metric("AURK", LOSS, LOSS), "did you mean 'AURC'?"),
    (lambda: abstain.metric("SAC", LOSS, LOSS), "needs the parameter accuracy"),
    (lambda: abstain.sac(LOSS, LOSS, 1.5), "accuracy is 1.5"),
    (lambda: abstain.partial_aurc(LOSS, LOSS, 0.8, 0.2), "larger than the first"),
    (lambda: abstain.aurc(LOSS[:-1], LOSS), "confidences: 39 rows where 40 were expected"),
    (lambda: abstain.aurc(LOGITS, LOSS), "expected one number per row, got shape (40, 4)"),
    (lambda: abstain.aurc([], []), "there are no rows"),
    (lambda: abstain.interval("AURC", LOSS, LOSS, replicates=1), "replicates is 1"),
    (lambda: abstain.interval("AURC", LOSS, LOSS, level=1), "level is 1"),
    (lambda: abstain.aurc(LOSS, LOSS, convention="other"), "no convention is called 'other'"),
    (lambda: abstain.tune(LOGITS, LABELS[:-1]), "labels: 39 rows where 40 were expected"),
    (lambda: abstain.tune(LOGITS, np.eye(5)[LABELS]), "one-hot labels have a column for each class"),
    (lambda: abstain.tune(LOGITS, LABELS, methods=["MSP", "x"]), "no method is called 'x'"),
    (lambda: abstain.tune(LOGITS, LABELS, objective="accuracy"), "the same for every estimator"),
    (lambda: abstain.tune(LOGITS, LABELS, fallback="x"), "x"),
    (lambda: abstain.tune(LOGITS, LABELS, space="x"), "x"),
    (lambda: abstain.tune(LOGITS, LABELS, loss="x"), 'loss is "x"'),
    (lambda: abstain.tune(LOGITS, LABELS, loss=np.ones((2, 4))), "(classes, classes) costs"),
    (lambda: abstain.tune(LOGITS, LABELS, loss=np.ones((3, 3))), "cost"),
    (lambda: abstain.tune(LOGITS, LABELS, holdout=40), "cannot be split into tuning and test rows"),
    (lambda: abstain.tune(LOGITS, LABELS, holdout=-3), "holdout is -3"),
    (lambda: abstain.tune(LOGITS, LABELS, delta=0.05), "delta needs a target"),
    (lambda: abstain.tune(LOGITS, LABELS, target_accuracy=2), "target accuracy is 2"),
    (lambda: abstain.tune(LOGITS, LABELS, target_accuracy=0.9, delta=0), "delta is 0"),
    (lambda: abstain.tune(LOGITS, LABELS, target_accuracy=0.9, target_risk=0.1), "not both"),
    (lambda: abstain.tune(LOGITS, LABELS, target_risk=1, delta=0.1, procedure="x"), "procedure"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS, LABELS)), "the test rows are the rows"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS[:, :3], LABELS)), "3"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS[:, :3], LABELS % 3)), "the same classifier"),
    (lambda: abstain.tune(LOGITS[:1], LABELS[:1], holdout=0.5), "1 row(s) cannot be split"),
    (lambda: abstain.tune(LOGITS[:3], LABELS[:3]), "too few to tune and measure: give four rows"),
    (lambda: abstain.tune(LOGITS, LABELS, folds=1), "folds is 1"),
    (lambda: abstain.tune(LOGITS, LABELS, folds=1001), "folds is 1001"),
    (lambda: abstain.tune(LOGITS, LABELS, max_rows=0), "max_rows is 0"),
    (lambda: abstain.tune(LOGITS, LABELS, replicates=1), "replicates is 1"),
    (lambda: abstain.tune(LOGITS, LABELS, replicates=-1), "replicates is -1"),
    (lambda: abstain.tune(LOGITS, LABELS, unlabelled=LOGITS[:, :3]), "the same classifier"),
    (lambda: abstain.tune(LOGITS, LABELS, unlabelled=LOGITS[:0]), "there are no rows"),
    (lambda: abstain.tune(LOGITS, LABELS, unlabelled=LABELS), "unlabelled logits: expected shape"),
    (
        lambda: abstain.tune(LOGITS, LABELS).with_threshold(target_accuracy=0.5, delta=0.1),
        "tune with delta, or certify on other rows with Estimator.certify",
    ),
    (lambda: abstain.label_free(LOGITS[:0]), "there are no rows"),
    (lambda: abstain.label_free(LOGITS, max_rows=0), "max_rows is 0"),
    (lambda: abstain.label_free(LOGITS, floor=0.1), "must be left out for logits"),
    (lambda: abstain.label_free(LOGITS, input="logit"), "no encoding is called 'logit'"),
    (lambda: MSP.predict(LOGITS), "no threshold"),
    (lambda: MSP.with_threshold(), "give one of"),
    (lambda: MSP.with_threshold(at=1, value=0.5), "give at or value"),
    (lambda: MSP.with_threshold(at=math.nan), "threshold is NaN"),
    (lambda: MSP.with_threshold(value=2), "value is 2"),
    (lambda: MSP.with_threshold(target_accuracy=0.9), "a target needs logits and labels"),
    (lambda: MSP.with_threshold(LOGITS, target_risk=0.9), "a target needs logits and labels"),
    (
        lambda: MSP.with_threshold(LOGITS, LABELS, target_accuracy=0.9, target_risk=0.1),
        "target_accuracy or target_risk, not both",
    ),
    (
        lambda: MSP.with_threshold(LOGITS, LABELS, target_accuracy=0.9, coverage=0.5),
        "coverage cannot be combined with a target",
    ),
    (lambda: MSP.with_threshold(LOGITS, coverage=2), "coverage is 2"),
    (lambda: MSP.with_threshold(coverage=0.5), "needs rows"),
    (lambda: MSP.with_threshold(LOGITS, LABELS, coverage=0.5), "labels cannot be combined"),
    (lambda: MSP.with_threshold(LOGITS, at=1), "logits cannot be combined with at or value"),
    (lambda: abstain.Estimator("Stack"), "fitted, or read from JSON"),
    (lambda: abstain.Estimator.from_dict({"format": "x"}), "abstain-estimator"),
    (lambda: abstain.reliability([0.5, 0.5], [0, 1], bins=0), "bins is 0"),
    (lambda: abstain.nll(LOGITS, LABELS, temperature=0), "0"),
    (lambda: abstain.tune(LOGITS, LABELS[:, None]), "for a single column use .ravel()"),
    (lambda: abstain.tune(LOGITS, LABELS, methods=[]), "methods is empty"),
    (lambda: abstain.aurc({1: 2}, LOSS), "expected an array, got dict"),
    (lambda: abstain.score("MSP", LOGITS, input="probabilities", floor=0), "floor is 0"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS, p=1e19), "p is 1"),
    (lambda: abstain.nll(LOGITS, LABELS, temperature="x"), "temperature is 'x'"),
    (lambda: abstain.interval("AURC", LOSS, LOSS, replicates=-1), "replicates is -1"),
    (lambda: abstain.interval("AURC", LOSS, LOSS, replicates=2.5), "replicates is 2.5"),
    (lambda: abstain.interval("AURC", LOSS, LOSS, seed=-1), "seed is -1"),
    (lambda: abstain.interval("AURC", LOSS, LOSS, seed=2**70), "must fit 64 bits"),
    (lambda: abstain.difference("AURC", LOSS, LOSS, LOSS, replicates="9"), "replicates is '9'"),
    (lambda: abstain.ece([0.5], [0], bins=-1), "bins is -1"),
    (lambda: abstain.sac(LOSS, LOSS, "x"), "accuracy is 'x'"),
    (lambda: abstain.score(5, LOGITS), "name is 5"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS, p="x"), "p is 'x'"),
    (lambda: abstain.score("MSP", [[10**400, 1]]), "row 0, column 0"),
    (lambda: abstain.losses(LOGITS, np.full(40, 2**63 + 5, np.uint64)), "9223372036854775813"),
    (lambda: abstain.tune(LOGITS, LABELS, splits=0), "splits is 0"),
    (lambda: abstain.tune(LOGITS, LABELS, procedure="sgr"), "give delta"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS, LABELS), splits=2), "with test"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS, LABELS), holdout=9), "with test"),
    (lambda: abstain.tune(LOGITS, LABELS, test=LOGITS), "test must be a pair"),
    (lambda: MSP.with_threshold(at=1, loss="x"), "loss cannot be combined with at or value"),
    (lambda: MSP.with_threshold(LOGITS, coverage=0.5, delta=0.1), "delta cannot be combined"),
    (
        lambda: MSP.with_threshold(LOGITS, LABELS, target_accuracy=0.5, procedure="sgr"),
        "procedure is for certificates: give delta",
    ),
    (
        lambda: MSP.with_threshold(LOGITS, LABELS, target_accuracy=0.5, tried=2),
        "tried is for certificates: give delta",
    ),
    (lambda: MSP.certify(LOGITS, LABELS), "give target_accuracy or target_risk"),
    (lambda: MSP.certify(LOGITS, LABELS, target_accuracy=0.5, delta=None), "delta is None"),
    (lambda: MSP.certify(LOGITS, LABELS, target_accuracy=0.5, delta=1), "delta is 1"),
    (lambda: MSP.certify(LOGITS, LABELS, target_accuracy=0.5, tried=0), "tried is 0"),
    (lambda: MSP.certify(LOGITS, LABELS, target_risk=0), "target risk is 0"),
    (lambda: MSP.predict(LOGITS, abstention=-0.5), "abstention is -0.5"),
    (lambda: MSP.evaluate(LOGITS, LABELS, target_accuracy=2), "accuracy is 2"),
    (lambda: MSP.evaluate(LOGITS, LABELS, replicates=1), "replicates is 1"),
    (lambda: abstain.score("MSP", [[-np.inf] * 2], input="masked"), "every class is masked"),
]


@pytest.mark.parametrize("act, message", INPUTS, ids=[text for _, text in INPUTS])
def test_other_invalid_input_is_refused(act: Callable[[], Any], message: str) -> None:
    with pytest.raises(abstain.InputError, match=re.escape(message)) as caught:
        act()
    assert not isinstance(caught.value, abstain.UndefinedError)


UNDEFINED: list[tuple[Callable[[], Any], str]] = [
    (lambda: abstain.auroc([0.5, 0.6], [0, 0]), "no row is wrong"),
    (lambda: abstain.auroc([0.5, 0.6], [1, 1]), "no row is right"),
    (lambda: abstain.naurc([0.5, 0.6], [1, 1]), "all losses are equal"),
    (lambda: abstain.auroc([0.5, 0.6], [0.5, 1]), "a loss is neither 0 nor 1"),
    (lambda: abstain.ece([0.5, 1.5], [0, 1]), "row 1 has 1.5, which is not a probability"),
    (lambda: abstain.pearson([1, 1], [1, 2]), "one variable is constant"),
    (lambda: abstain.interval("AUROC", [0.5, 0.6], [0, 0], replicates=10), "no row is wrong"),
]


@pytest.mark.parametrize("act, message", UNDEFINED, ids=[text for _, text in UNDEFINED])
def test_undefined_metrics_raise(act: Callable[[], Any], message: str) -> None:
    with pytest.raises(abstain.UndefinedError, match=re.escape(message)):
        act()


def test_files_that_cannot_be_read_or_written_raise_os_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        abstain.load(tmp_path / "none.json")
    assert caught.value.errno == errno.ENOENT
    assert caught.value.filename == str(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError):
        abstain.Estimator("MSP").save(tmp_path / "no" / "folder.json")
    with pytest.raises(OSError):
        abstain.load(tmp_path)
    for text in ["", "x", "{}", '{"format": "abstain-estimator", "version": 9}']:
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(abstain.InputError, match="bad.json"):
            abstain.load(tmp_path / "bad.json")


def test_a_page_that_fails_leaves_the_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("as it was")
    result = abstain.tune(LOGITS, LABELS, replicates=20)
    with pytest.raises(abstain.InputError, match="class_names: 1 names for 4 classes"):
        result.page(path, class_names=["one"])
    with pytest.raises(abstain.InputError, match="class_names must be a list"):
        result.page(path, class_names="abcd")
    assert path.read_text() == "as it was"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_unreachable_targets_are_infeasible() -> None:
    with pytest.raises(abstain.InfeasibleError, match="cannot certify this target"):
        MSP.certify(LOGITS, LABELS, target_accuracy=0.999)
    with pytest.raises(abstain.InfeasibleError, match="no threshold reaches the target"):
        MSP.with_threshold(LOGITS, 3 - LOGITS.argmax(axis=1), target_accuracy=0.999)
    assert not issubclass(abstain.InfeasibleError, abstain.InputError)


def test_tune_warns_if_the_requested_threshold_does_not_exist() -> None:
    with pytest.warns(abstain.NoThresholdWarning, match="cannot certify this target") as caught:
        result = abstain.tune(LOGITS, LABELS, target_accuracy=0.999, delta=0.05, replicates=20)
    assert result.refusal == str(caught[0].message)
    assert result.estimator.threshold is None
    with pytest.raises(abstain.InputError, match="no threshold"):
        result.estimator.predict(LOGITS)
    with pytest.raises(abstain.InfeasibleError, match="cannot certify this target"):
        result.with_threshold(target_accuracy=0.999, delta=0.05)
