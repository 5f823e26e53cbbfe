"""The golden corpus (testdata/golden.toml), with figures of an independent oracle in exact
arithmetic."""

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

CORPUS = tomllib.loads((PROJECT / "testdata" / "golden.toml").read_text())


def named(cases: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case["name"])


def encoding(case: dict[str, Any]) -> dict[str, Any]:
    if case["kind"] == "probabilities":
        return {"input": "probabilities", "floor": case.get("floor")}
    return {"input": "masked"} if "masked" in case else {"input": "logits"}


def agree(compute: Any, expected: Any, tolerance: float) -> bool:
    """Whether a call returns the number of the oracle, or raises where the oracle is undefined."""
    try:
        value = compute()
    except abstain.InputError:
        return bool(expected == "undefined")
    if expected == "undefined":
        return False
    return abs(value - expected) <= max(tolerance * abs(expected), 1e-15)


@named(CORPUS["case"])
def test_cases_agree(case: dict[str, Any]) -> None:
    rows, labels = np.array(case["rows"], dtype=float), case["labels"]
    how = encoding(case)
    assert abstain.predictions(rows, **how).tolist() == case["predictions"]
    loss = {"0/1": "zero-one", "given": case.get("losses"), "cost": case.get("cost")}.get(
        case["loss"], case["loss"]
    )
    losses = abstain.losses(rows, labels, loss=loss, **how)
    assert losses.tolist() == case["expected_losses"]
    assert agree(lambda: abstain.nll(rows, labels, **how), case["nll"], 1e-12)
    for expected in case["estimator"]:
        name = expected["name"]
        confidence = abstain.score(name, rows, **how)
        values = abstain.score(name, rows, values=True, **how)
        np.testing.assert_allclose(values, expected["values"], rtol=1e-9, atol=1e-15, err_msg=name)
        ranks = np.unique(confidence, return_inverse=True)[1]
        assert ranks.tolist() == expected["ranks"], name
        for metric, value in expected["metrics"].items():
            assert agree(lambda: abstain.metric(metric, confidence, losses), value, 1e-12), (
                name,
                metric,
            )
        if "ece" in expected:
            assert agree(lambda: abstain.ece(values, losses), expected["ece"], 1e-9), name


def test_functions_equal_the_metrics_by_name() -> None:
    case = CORPUS["case"][0]
    losses = case["expected_losses"]
    functions = {
        "AURC": abstain.aurc,
        "E-AURC": abstain.e_aurc,
        "NAURC": abstain.naurc,
        "AUROC": abstain.auroc,
        "AUGRC": abstain.augrc,
        "Accuracy": abstain.accuracy,
        "SAC@0.9": lambda *columns: abstain.sac(*columns, 0.9),
        "CoverageAtRisk@0.2": lambda *columns: abstain.coverage_at_risk(*columns, 0.2),
        "RiskAtCoverage@0.5": lambda *columns: abstain.risk_at_coverage(*columns, 0.5),
        "PartialAURC@0.2..0.8": lambda *columns: abstain.partial_aurc(*columns, 0.2, 0.8),
    }
    assert {name.split("@")[0] for name in abstain.metric_names()} == {
        name.split("@")[0] for name in functions
    }
    for expected in case["estimator"]:
        confidence = abstain.score(expected["name"], case["rows"])
        assert set(functions) == set(expected["metrics"])
        for name, function in functions.items():
            assert agree(lambda: function(confidence, losses), expected["metrics"][name], 1e-12)


@named(CORPUS["compat"])
def test_conventions_of_other_projects_agree(case: dict[str, Any]) -> None:
    names = set(case) - {"name", "confidences", "losses"}
    assert len(names) == 5
    for name in names:
        def aurc() -> float:
            return abstain.aurc(case["confidences"], case["losses"], convention=name)

        assert agree(aurc, case[name], 1e-12), name


def test_correlations_and_average_positive_gain_agree() -> None:
    for case in CORPUS["correlation"]:
        assert agree(lambda: abstain.pearson(case["x"], case["y"]), case["pearson"], 1e-12)
        assert agree(lambda: abstain.spearman(case["x"], case["y"]), case["spearman"], 1e-12)
    for case in CORPUS["apg"]:
        def gain() -> float:
            return abstain.average_positive_gain(
                case["baseline"], case["method"], epsilon=case["epsilon"]
            )

        assert agree(gain, case["apg"], 1e-12)
