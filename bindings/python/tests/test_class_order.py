"""Names of classes whose order nothing states, where the rows contradict the sorted one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import abstain

ROWS = 400


def fraud() -> tuple[np.ndarray[Any, Any], list[str]]:
    """The probability of fraud, right in nine of ten rows, and the labels."""
    row = np.arange(ROWS)
    is_fraud, right = row % 8 == 3, row * 7919 % 10 != 4
    distance = (row * 104_729 % 89 + 1) / 200.0
    probability = np.where(is_fraud == right, 0.5 + distance, 0.5 - distance)
    return probability, ["fraud" if fraud else "legit" for fraud in is_fraud]


def test_inverted_names_of_two_classes_are_refused() -> None:
    probability, labels = fraud()
    rows = np.stack([1 - probability, probability], axis=1)
    for call in (
        lambda **names: abstain.tune(rows, labels, input="probabilities", methods=["MSP"], **names),
        lambda **names: abstain.Estimator("MSP").evaluate(np.log(rows), labels, **names),
    ):
        with pytest.raises(abstain.InputError, match=r'class_names=\["legit", "fraud"\]'):
            call()
        call(class_names=["legit", "fraud"])
    with pytest.raises(abstain.InputError, match="another order"):
        abstain.losses(np.log(rows), labels)


def test_tables_are_refused_alike() -> None:
    pandas = pytest.importorskip("pandas")
    probability, labels = fraud()
    table = pandas.DataFrame({"p_0": 1 - probability, "p_1": probability, "label": labels})
    with pytest.raises(abstain.InputError, match="class_names="):
        abstain.tune(table, input="probabilities", methods=["MSP"])
    names = ["legit", "fraud"]
    found = abstain.tune(table, input="probabilities", methods=["MSP"], class_names=names)
    assert found.estimator.class_names == names


def test_names_that_are_given_are_only_warned_of() -> None:
    probability, labels = fraud()
    rows = np.log(np.stack([1 - probability, probability], axis=1))
    with pytest.warns(UserWarning):
        report = abstain.Estimator("MSP").evaluate(rows, labels, class_names=["fraud", "legit"])
    assert report.report["accuracy"] == pytest.approx(0.1)


def test_swapped_names_of_several_classes_are_refused() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(0, 4, 500)
    logits = rng.normal(size=(500, 4)) + 3 * np.eye(4)[target]
    labels = np.array(["a", "c", "b", "d"])[target].tolist()
    with pytest.raises(abstain.InputError, match=r'\["a", "c", "b", "d"\]'):
        abstain.Estimator("MSP").evaluate(logits, labels)
