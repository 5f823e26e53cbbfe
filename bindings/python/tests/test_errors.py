"""Each kind of wrong input: the right exception, with its row and its value."""

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


def changed(array: np.ndarray, row: Any, value: Any) -> np.ndarray:
    own = array.astype(float)
    own[row] = value
    return own


PROBABILITIES = np.full((3, 4), 0.25)

#: What is done, the message, and the row, column and value that the exception names.
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
def test_values_are_named_with_their_place(
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
    (lambda: abstain.score("MSP", LOGITS[0]), "(4,), but (rows, classes) is wanted"),
    (lambda: abstain.score("MSP", LOGITS[None]), "(1, 40, 4), but (rows, classes) is wanted"),
    (lambda: abstain.score("MSP", np.zeros((0, 4))), "there are no rows"),
    (lambda: abstain.score("MSP", np.zeros((4, 0))), "0 class"),
    (lambda: abstain.score("MSP", np.zeros((4, 1))), "1 class"),
    (lambda: abstain.score("MSP", [[1.0, 2.0], [1.0]]), "not of one length"),
    (lambda: abstain.score("MSP", [["a", "b"]]), "row 0, column 0: 'a' is not a number"),
    (lambda: abstain.score("MSP", [[1.0, None]]), "row 0, column 1: None is not a number"),
    (lambda: abstain.score("MSP", LOGITS + 1j), "numbers are wanted, not complex128"),
    (lambda: abstain.score("MSPP", LOGITS), "did you mean 'MSP'?"),
    (lambda: abstain.score("MaxLogit-TS", LOGITS, T=2), "use MaxLogit"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS), "needs the parameter p"),
    (lambda: abstain.score("MSP", LOGITS, p=3), "does not take the parameter p"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS, p=-1), "p is -1"),
    (lambda: abstain.score("MaxLogit-pNorm(p=5)", LOGITS, p=5), "given twice"),
    (lambda: abstain.score("MSP", LOGITS, input="logit"), 'input is "logit"'),
    (lambda: abstain.score("MSP", LOGITS, floor=0.1), "floor is for input"),
    (lambda: abstain.Estimator("MSP", input="probabilities"), "needs a floor"),
    (lambda: abstain.metric("AURK", LOSS, LOSS), "did you mean 'AURC'?"),
    (lambda: abstain.metric("SAC", LOSS, LOSS), "needs the parameter accuracy"),
    (lambda: abstain.sac(LOSS, LOSS, 1.5), "accuracy is 1.5"),
    (lambda: abstain.partial_aurc(LOSS, LOSS, 0.8, 0.2), "larger than the first"),
    (lambda: abstain.aurc(LOSS[:-1], LOSS), "confidences: 39 rows where 40 were expected"),
    (lambda: abstain.aurc(LOGITS, LOSS), "one number a row is wanted"),
    (lambda: abstain.aurc([], []), "there are no rows"),
    (lambda: abstain.aurc(LOSS, LOSS, bootstrap=1), "bootstrap is 1"),
    (lambda: abstain.aurc(LOSS, LOSS, bootstrap=10, level=1), "level is 1"),
    (lambda: abstain.aurc(LOSS, LOSS, convention="other"), "no convention is called 'other'"),
    (lambda: abstain.tune(LOGITS, LABELS[:-1]), "labels: 39 rows where 40 were expected"),
    (lambda: abstain.tune(LOGITS, np.eye(4)[LABELS]), "take the argmax"),
    (lambda: abstain.tune(LOGITS, LABELS, methods=["MSP", "x"]), "no method is called 'x'"),
    (lambda: abstain.tune(LOGITS, LABELS, objective="accuracy"), "no estimator changes"),
    (lambda: abstain.tune(LOGITS, LABELS, fallback="x"), "x"),
    (lambda: abstain.tune(LOGITS, LABELS, space="x"), "x"),
    (lambda: abstain.tune(LOGITS, LABELS, loss="x"), 'loss is "x"'),
    (lambda: abstain.tune(LOGITS, LABELS, loss=np.ones((2, 4))), "(classes, classes) costs"),
    (lambda: abstain.tune(LOGITS, LABELS, loss=np.ones((3, 3))), "cost"),
    (lambda: abstain.tune(LOGITS, LABELS, holdout=40), "cannot be split as asked (40)"),
    (lambda: abstain.tune(LOGITS, LABELS, holdout=-3), "holdout is -3"),
    (lambda: abstain.tune(LOGITS, LABELS, delta=0.05), "given together with a target"),
    (lambda: abstain.tune(LOGITS, LABELS, target_accuracy=2), "2"),
    (lambda: abstain.tune(LOGITS, LABELS, target_accuracy=0.9, delta=0), "delta is 0"),
    (lambda: abstain.tune(LOGITS, LABELS, target_accuracy=0.9, target_risk=0.1), "not both"),
    (lambda: abstain.tune(LOGITS, LABELS, target_risk=0.5, delta=0.1, procedure="x"), 'is "x"'),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS, LABELS)), "the very rows"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS[:, :3], LABELS)), "3"),
    (lambda: abstain.tune(LOGITS[:1], LABELS[:1]), "1 row(s) cannot be split"),
    (lambda: abstain.Estimator("MSP").predict(LOGITS), "no threshold"),
    (lambda: abstain.Estimator("MSP").threshold(), "give one of"),
    (lambda: abstain.Estimator("MSP").threshold(at=1, value=0.5), "not 2 of them"),
    (lambda: abstain.Estimator("MSP").threshold(at=math.nan), "the threshold is NaN"),
    (lambda: abstain.Estimator("MSP").threshold(value=2), "no confidence has the value 2"),
    (lambda: abstain.Estimator("MSP").threshold(accuracy=0.9), "give logits and labels"),
    (lambda: abstain.Estimator("MSP").threshold(LOGITS, accuracy=0.9), "no labels"),
    (lambda: abstain.Estimator("MSP").threshold(LOGITS, coverage=2), "coverage is 2"),
    (lambda: abstain.Estimator("MSP").threshold(coverage=0.5), "needs rows"),
    (lambda: abstain.Estimator("MSP").table(), "does not come from abstain.tune"),
    (lambda: abstain.Estimator("Stack"), "fitted, or read from JSON"),
    (lambda: abstain.Estimator.from_dict({"format": "x"}), "abstain-estimator"),
    (lambda: abstain.reliability([0.5, 0.5], [0, 1], bins=0), "bins is 0"),
    (lambda: abstain.nll(LOGITS, LABELS, temperature=0), "0"),
    (lambda: abstain.tune(LOGITS, LABELS[:, None]), "of one column take .ravel()"),
    (lambda: abstain.tune(LOGITS, LABELS, methods=[]), "no methods to tune"),
    (lambda: abstain.aurc({1: 2}, LOSS), "an array is wanted, not dict"),
    (lambda: abstain.score("MSP", LOGITS, input="probabilities", floor=0), "floor is 0"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS, p=1e19), "p is 1"),
    (lambda: abstain.nll(LOGITS, LABELS, temperature="x"), "temperature is 'x'"),
    (lambda: abstain.aurc(LOSS, LOSS, bootstrap=-1), "bootstrap is -1"),
    (lambda: abstain.aurc(LOSS, LOSS, bootstrap=2.5), "bootstrap is 2.5"),
    (lambda: abstain.aurc(LOSS, LOSS, bootstrap=10, seed=-1), "seed is -1"),
    (lambda: abstain.ece([0.5], [0], bins=-1), "bins is -1"),
    (lambda: abstain.sac(LOSS, LOSS, "x"), "accuracy is 'x'"),
    (lambda: abstain.score(5, LOGITS), "name is 5"),
    (lambda: abstain.score("MaxLogit-pNorm", LOGITS, p="x"), "p is 'x'"),
    (lambda: abstain.score("MSP", [[10**400, 1]]), "row 0, column 0"),
    (lambda: abstain.losses(LOGITS, np.full(40, 2**63 + 5, np.uint64)), "9223372036854775813"),
    (lambda: abstain.tune(LOGITS, LABELS, splits=0), "splits is 0"),
    (lambda: abstain.tune(LOGITS, LABELS, procedure="sgr"), "give delta"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS, LABELS), splits=2), "leave them out"),
    (lambda: abstain.tune(LOGITS, LABELS, test=(LOGITS, LABELS), holdout=9), "leave them out"),
    (lambda: abstain.tune(LOGITS, LABELS, test=LOGITS), "test must be a pair"),
    (lambda: abstain.Estimator("MSP").threshold(at=1, loss="x"), "loss is for accuracy or risk"),
    (lambda: abstain.Estimator("MSP").threshold(LOGITS, coverage=0.5, delta=0.1), "delta is for"),
    (
        lambda: abstain.Estimator("MSP").threshold(LOGITS, LABELS, accuracy=0.5, procedure="sgr"),
        "procedure and tried are for certificates",
    ),
    (lambda: abstain.Estimator("MSP").certify(LOGITS, LABELS, accuracy=0.5, delta=None), "a delta"),
    (
        lambda: abstain.Estimator("MSP").certify(LOGITS, LABELS, accuracy=0.5, tried=0),
        "tried is 0",
    ),
    (lambda: abstain.Estimator("MSP").predict(LOGITS, abstention=-0.5), "abstention is -0.5"),
    (lambda: abstain.Estimator("MSP").evaluate(LOGITS, LABELS, accuracy=2), "accuracy is 2"),
    (lambda: abstain.score("MSP", [[-np.inf] * 2], input="masked"), "every class is masked"),
]


@pytest.mark.parametrize("act, message", INPUTS, ids=[text for _, text in INPUTS])
def test_input_that_is_wrong_otherwise(act: Callable[[], Any], message: str) -> None:
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
    (lambda: abstain.auroc([0.5, 0.6], [0, 0], bootstrap=10), "no row is wrong"),
]


@pytest.mark.parametrize("act, message", UNDEFINED, ids=[text for _, text in UNDEFINED])
def test_metrics_that_do_not_exist(act: Callable[[], Any], message: str) -> None:
    with pytest.raises(abstain.UndefinedError, match=re.escape(message)):
        act()


def test_files(tmp_path: Path) -> None:
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


def test_nothing_is_written_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("as it was")
    estimator = abstain.tune(LOGITS, LABELS, bootstrap=20)
    with pytest.raises(abstain.InputError, match="class_names: 1 names for 4 classes"):
        estimator.report(path, class_names=["one"])
    assert path.read_text() == "as it was"
    assert [own.name for own in tmp_path.iterdir()] == ["report.html"]


def test_thresholds_out_of_reach_leave_the_old_one() -> None:
    estimator = abstain.Estimator("MSP")
    estimator.threshold(at=1.5)
    with pytest.raises(abstain.InfeasibleError, match="cannot certify this target"):
        estimator.certify(LOGITS, LABELS, accuracy=0.999)
    assert estimator.threshold_ == 1.5
    assert not issubclass(abstain.InfeasibleError, abstain.InputError)


def test_tuning_without_the_threshold_that_was_asked_for_warns() -> None:
    with pytest.warns(abstain.NoThresholdWarning, match="cannot certify this target"):
        estimator = abstain.tune(LOGITS, LABELS, target_accuracy=0.999, delta=0.05, bootstrap=20)
    assert estimator.threshold_ is None
    with pytest.raises(abstain.InputError, match="no threshold"):
        estimator.predict(LOGITS)
