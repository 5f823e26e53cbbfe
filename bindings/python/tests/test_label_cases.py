"""The corpus of labels (testdata/labels.toml): the classes that the program reads."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from conftest import PROJECT

import abstain

if sys.version_info < (3, 11):
    pytest.skip("the corpus is TOML, which Python reads from 3.11 on", allow_module_level=True)
import tomllib

# Numbers that count from 1 are for their owner to shift.
CASES = [
    case
    for case in tomllib.loads((PROJECT / "testdata" / "labels.toml").read_text())["case"]
    if "first_label" not in case
]


def logits_of(case: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Logits that predict the classes that are expected: all are right, or a label is misread."""
    rows, classes = len(case["labels"]), case["classes"]
    logits = np.tile(np.arange(classes) / 16.0, (rows, 1))
    logits[np.arange(rows), case.get("expected", [0] * rows)] = 4.5 + np.arange(rows)
    return logits


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_labels_are_read_as_the_corpus_says(case: dict[str, Any]) -> None:
    names, labels = case.get("class_names"), case["labels"]

    def accuracy() -> float:
        evaluation = abstain.Estimator("MSP").evaluate(logits_of(case), labels, class_names=names)
        return float(evaluation.report["accuracy"])

    if "error" in case:
        with pytest.raises(abstain.InputError):
            accuracy()
    else:
        assert accuracy() == 1.0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_labels_of_tables_are_read_as_the_corpus_says(case: dict[str, Any]) -> None:
    polars = pytest.importorskip("polars")
    names = case.get("class_names")
    columns = {f"logit_{k}": column for k, column in enumerate(logits_of(case).T)}
    table = polars.DataFrame({**columns, "label": case["labels"]})
    if "error" in case:
        with pytest.raises(abstain.InputError):
            abstain.read_table(table, class_names=names)
    else:
        assert abstain.read_table(table, class_names=names).labels.tolist() == case["expected"]
