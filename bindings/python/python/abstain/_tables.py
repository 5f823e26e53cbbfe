"""Reports as frames of pandas, or lists where there is no pandas."""

from __future__ import annotations

from typing import Any


def _frame(lines: list[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        return lines
    return pandas.DataFrame(lines)


def _bounds(name: str, interval: dict[str, Any] | None) -> dict[str, Any]:
    keys = {name: "estimate", f"{name}_low": "low", f"{name}_high": "high"}
    return {own: None if interval is None else interval[key] for own, key in keys.items()}


def methods_table(report: dict[str, Any]) -> Any:
    """A line for each method that was tuned."""
    choice = report["choice"]
    chosen = "MSP" if choice["estimator"] == {"method": "MSP"} else choice["method"]
    lines = []
    for line in report["methods"]:
        estimator = line["estimator"] or {}
        if "terms" in estimator:
            numbers = {"terms": len(estimator["terms"])}
        else:
            numbers = {key: own for key, own in estimator.items() if key != "method"}
        # A method that was given up has become MSP: its numbers say nothing of it.
        lines.append(
            {
                "method": line["method"],
                "chosen": line["method"] == chosen,
                "numbers": {} if line["fell_back"] else numbers,
                "fell_back": line["fell_back"],
                **_bounds("naurc", line["naurc"]["interval"]),
                **_bounds("gain", line["gain"]["interval"]),
                **_bounds("aurc", line["aurc"]["interval"]),
                **_bounds("auroc", line["auroc"]["interval"]),
                **_bounds("kept", line["kept"]["interval"]),
                "problem": line["problem"],
            }
        )
    return _frame(lines)


def metrics_table(report: dict[str, Any]) -> Any:
    """A line for each metric of each contender."""
    lines = []
    for line in report["metrics"]:
        for index, contender in enumerate(report["contenders"]):
            lines.append(
                {
                    "metric": line["metric"],
                    "contender": contender,
                    **_bounds("value", line["values"][index]),
                    **_bounds("difference", line["differences"][index]),
                }
            )
    return _frame(lines)
