"""Charts with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._threshold import Threshold


def _axes(ax: Axes | None) -> Axes:
    """The axes to draw on: the current ones by default."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("a plot needs matplotlib: pip install matplotlib") from None
    return plt.gca()


def plot_monitor(report: dict[str, Any], history: dict[str, Any], ax: Axes | None) -> Axes:
    """Draw the risk so far with its limits, the target and the alarm; or the coverage."""
    ax = _axes(ax)
    risk, points = report["risk"], history["labels"]
    if risk is not None and points:
        points = [*points, {**risk, "labels": risk["test"]["observations"]}]
        across, name = [point["labels"] for point in points], "risk among accepted rows"
        middle = [point["mean"] for point in points]
        wanted, at = ("target", risk["target"]), None
        ax.set_xlabel("labels of accepted rows")
    else:
        points = history["rows"]
        across, name = [point["row"] for point in points], "coverage"
        middle = [point["accepted"] / point["row"] for point in points]
        wanted = ("certifying rows", report["coverage"]["certified"])
        rows = [alarm["row"] for alarm in report["alarms"] if alarm["test"] != "risk"]
        at = min(rows, default=None)
        ax.set_xlabel("rows")
    ax.plot(across, middle, label=name)
    low, high = ([point["interval"][end] for point in points] for end in (0, 1))
    ax.fill_between(across, low, high, alpha=0.2, label=f"{1 - report['alpha']:.0%} at all times")
    if wanted[1] is not None:
        ax.axhline(wanted[1], color="grey", linestyle=":", label=f"{wanted[0]}: {wanted[1]:.3g}")
    if at is not None:
        ax.axvline(at, color="red", linestyle="--", label=f"alarm at row {at}")
    ax.set_ylabel(name)
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def plot_tuning(report: dict[str, Any], threshold: Threshold | None, ax: Axes | None) -> Axes:
    """Draw the curves of MSP and of the chosen estimator, the target, and the threshold."""
    ax = _axes(ax)
    curves = {"MSP": report["before"]}
    if report["choice"]["estimator"] != {"method": "MSP"}:
        curves[report["choice"]["method"]] = report["after"]
    for (name, curve), style in zip(curves.items(), ["--", "-"]):
        ax.plot(curve["coverage"], curve["selective_risk"], style, label=name)
    (kind, target), = report["target"].items()
    risk = 1 - target if kind == "accuracy" else target
    ax.axhline(risk, color="grey", linestyle=":", label=f"target: {kind} {target:g}")
    if threshold is not None and threshold.coverage and threshold.selective_risk is not None:
        label = f"{threshold.basis}: coverage {threshold.coverage:.1%}"
        ax.plot([threshold.coverage], [threshold.selective_risk], "o", color="black", label=label)
    ax.set_xlabel("coverage")
    ax.set_ylabel("selective risk")
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left")
    return ax
