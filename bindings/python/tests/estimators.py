"""Estimators of every method, and artifacts of them."""

from __future__ import annotations

import itertools
from typing import Any

from abstain import _abstain

#: Parameters of scores, and of each family: usual ones, and the ends of formulas.
GRID: dict[str, list[Any]] = {
    "T": [0.07, 2.5],
    "p": [0.0, 0.5, 1.0, 4.0, 80.0, "inf"],
    "tau": [0.3],
    "gamma": [-1.5, 0.7],
}
FAMILIES: dict[str, list[dict[str, float]]] = {
    "BK": [{"a": 1.0, "b": 0.5}, {"a": -1.0, "b": 1.0}, {"a": 0.3, "b": -2.0}],
    "ETS": [{"T": 2.0, "w": 0.3}, {"T": 0.1, "w": 0.0}, {"T": 0.4, "w": 1.0}],
    "HTS": [{"b": -1.0, "w": 0.7}, {"b": 0.5, "w": 0.0}, {"b": 0.0, "w": -1.0}],
    "CMD": [{"T": 1.0}, {"T": 0.06}],
    "LogitGap": [{"N": 1.0}, {"N": 3.0}, {"N": 1e9}],
    "GEN": [{"gamma": 0.1, "M": 100.0}, {"gamma": 0.01, "M": 1.0}, {"gamma": 1.0, "M": 3.0}],
}


def estimators() -> list[dict[str, Any]]:
    """Every method that the package lists, with parameters; a new one is without, and fails."""
    found: list[dict[str, Any]] = []
    for method, names in _abstain.methods():
        if method in ("Stack", "LabelFree") or method.endswith(("-NLL", "-AURC")):
            continue  # Fitted; or the name of a search, whose result is a plain -TS.
        points = FAMILIES.get(method) or [
            dict(zip(names, values)) for values in itertools.product(*(GRID[n] for n in names))
        ]
        found.extend({"method": method, **point} for point in points)
    return found


ESTIMATORS = estimators()


def artifact(estimator: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "format": "abstain-estimator",
        "version": 2,
        "written_by": "a test",
        "estimator": estimator,
        "input": {"kind": "logits"},
        **more,
    }
