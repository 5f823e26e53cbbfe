"""The golden corpus (testdata/golden.toml), whose figures come from an independent oracle in exact
arithmetic, through Python."""

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


def kind(case: dict[str, Any]) -> dict[str, Any]:
    if case["kind"] == "probabilities":
        return {"input": "probabilities", "floor": case.get("floor")}
    return {"input": "masked"} if "masked" in case else {"input": "logits"}


def agree(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether a call gives the oracle's number, or is undefined (or refused, as nothing at all is)
    where the oracle is."""
    try:
        value = found()
    except abstain.InputError:
        return bool(wanted == "undefined")
    if wanted == "undefined":
        return False
    return abs(value - wanted) <= max(tolerance * abs(wanted), 1e-15)


@named(CORPUS["case"])
def test_cases(case: dict[str, Any]) -> None:
    rows, labels = np.array(case["rows"], dtype=float), case["labels"]
    how = kind(case)
    assert abstain.predictions(rows, **how).tolist() == case["predictions"]
    loss = {"0/1": "zero-one", "given": case.get("losses"), "cost": case.get("cost")}.get(
        case["loss"], case["loss"]
    )
    losses = abstain.losses(rows, labels, loss=loss, **how)
    assert losses.tolist() == case["expected_losses"]
    assert agree(lambda: abstain.nll(rows, labels, **how), case["nll"], 1e-12)
    for wanted in case["estimator"]:
        name = wanted["name"]
        confidence = abstain.score(name, rows, **how)
        values = abstain.score(name, rows, values=True, **how)
        np.testing.assert_allclose(values, wanted["values"], rtol=1e-9, atol=1e-15, err_msg=name)
        ranks = np.unique(confidence, return_inverse=True)[1]
        assert ranks.tolist() == wanted["ranks"], name
        for metric, value in wanted["metrics"].items():
            assert agree(lambda: abstain.metric(metric, confidence, losses), value, 1e-12), (
                name,
                metric,
            )
        if "ece" in wanted:
            assert agree(lambda: abstain.ece(values, losses), wanted["ece"], 1e-9), name


def test_functions_are_the_metrics_by_name() -> None:
    case = CORPUS["case"][0]
    losses = case["expected_losses"]
    functions = {
        "AURC": abstain.aurc,
        "E-AURC": abstain.e_aurc,
        "NAURC": abstain.naurc,
        "AUROC": abstain.auroc,
        "AUGRC": abstain.augrc,
        "Accuracy": abstain.accuracy,
        "SAC@0.9": lambda *own: abstain.sac(*own, 0.9),
        "CoverageAtRisk@0.2": lambda *own: abstain.coverage_at_risk(*own, 0.2),
        "RiskAtCoverage@0.5": lambda *own: abstain.risk_at_coverage(*own, 0.5),
        "PartialAURC@0.2..0.8": lambda *own: abstain.partial_aurc(*own, 0.2, 0.8),
    }
    assert {name.split("@")[0] for name in abstain.metric_names()} == {
        name.split("@")[0] for name in functions
    }
    for wanted in case["estimator"]:
        confidence = abstain.score(wanted["name"], case["rows"])
        assert set(functions) == set(wanted["metrics"])
        for name, function in functions.items():
            assert agree(lambda: function(confidence, losses), wanted["metrics"][name], 1e-12)


@named(CORPUS["compat"])
def test_conventions_of_other_projects(case: dict[str, Any]) -> None:
    names = set(case) - {"name", "confidences", "losses"}
    assert len(names) == 5
    for name in names:
        def found() -> float:
            return abstain.aurc(case["confidences"], case["losses"], convention=name)

        assert agree(found, case[name], 1e-12), name


def test_correlations_and_average_positive_gain() -> None:
    for case in CORPUS["correlation"]:
        assert agree(lambda: abstain.pearson(case["x"], case["y"]), case["pearson"], 1e-12)
        assert agree(lambda: abstain.spearman(case["x"], case["y"]), case["spearman"], 1e-12)
    for case in CORPUS["apg"]:
        def found() -> float:
            return abstain.average_positive_gain(
                case["baseline"], case["method"], epsilon=case["epsilon"]
            )

        assert agree(found, case["apg"], 1e-12)
