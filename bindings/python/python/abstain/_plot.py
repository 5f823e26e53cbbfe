"""Charts with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._threshold import Threshold


def plot_tuning(report: dict[str, Any], threshold: Threshold | None, ax: Axes | None) -> Axes:
    """Draw the curves of MSP and of the chosen estimator, the target, and the threshold."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("a plot needs matplotlib: pip install matplotlib") from None
        ax = plt.gca()
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
