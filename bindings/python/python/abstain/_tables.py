"""Reports as pandas frames, or as lists where pandas is not installed."""

from __future__ import annotations

from typing import Any


def _frame(lines: list[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        return lines
    return pandas.DataFrame(lines)


def _bounds(name: str, interval: dict[str, Any] | None) -> dict[str, Any]:
    fields = {name: "estimate", f"{name}_low": "low", f"{name}_high": "high"}
    return {
        column: None if interval is None else interval[field] for column, field in fields.items()
    }


def _parameters(line: dict[str, Any]) -> dict[str, Any]:
    """The tuned parameters of a method; after a fallback they would be those of MSP."""
    estimator = line["estimator"]
    if estimator is None or line["fell_back"]:
        return {}
    if "terms" in estimator:
        return {"terms": len(estimator["terms"])}
    return {key: value for key, value in estimator.items() if key != "method"}


def methods_table(report: dict[str, Any]) -> Any:
    """One line per method."""
    choice = report["choice"]
    chosen = "MSP" if choice["estimator"] == {"method": "MSP"} else choice["method"]
    lines = []
    for line in report["methods"]:
        lines.append(
            {
                "method": line["method"],
                "chosen": line["method"] == chosen,
                "parameters": _parameters(line),
                "fell_back": line["fell_back"],
                **_bounds("naurc", line["naurc"]["interval"]),
                **_bounds("gain", line["gain"]["interval"]),
                **_bounds("aurc", line["aurc"]["interval"]),
                **_bounds("auroc", line["auroc"]["interval"]),
                **_bounds("coverage", line["kept"]["interval"]),
                "problem": line["problem"],
            }
        )
    return _frame(lines)


def metrics_table(report: dict[str, Any]) -> Any:
    """One line per metric and contender."""
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
