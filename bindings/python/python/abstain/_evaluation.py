"""The result of :meth:`abstain.Estimator.evaluate`."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Sequence, cast

from . import _abstain, _arrays
from ._metrics import Interval
from ._types import Comparison
from .errors import InputError, UndefinedError

__all__ = ["Evaluation"]


class Evaluation:
    """Metrics of an estimator on a set of rows, compared with MSP.

    ``evaluation["NAURC"]`` is a metric with its interval, ``evaluation.difference("NAURC")`` its
    difference from MSP; ``print(evaluation)`` shows everything.
    """

    def __init__(
        self, evaluation: _abstain.Evaluation, class_names: list[str] | None = None
    ) -> None:
        self._evaluation = evaluation
        self._class_names = class_names
        #: Everything that was measured, as ``abstain eval --json`` prints it.
        self.report: dict[str, Any] = json.loads(evaluation.json())

    @property
    def rows(self) -> int:
        """The number of rows."""
        return cast(int, self.report["rows"])

    @property
    def accuracy(self) -> float:
        """The accuracy on all rows, or one minus their mean loss."""
        return cast(float, self.report["accuracy"])

    @property
    def metrics(self) -> list[str]:
        """The metrics that were measured."""
        return [line["metric"] for line in self.report["metrics"]]

    @property
    def contenders(self) -> list[str]:
        """The confidences that were measured: the estimator, the further ones, and MSP last."""
        return list(self.report["contenders"])

    @property
    def name(self) -> str:
        """The name of the estimator."""
        return self.contenders[self._evaluation.place()]

    @property
    def verdict(self) -> Comparison | None:
        """The comparison with MSP by NAURC, at 95 %.

        ``"better"``, ``"worse"``, ``"unclear"`` if the interval contains 0, ``"same"`` if both rank
        the rows alike, None for MSP itself.
        """
        verdicts, place = self.report["verdicts"], self._evaluation.place()
        return cast(Comparison, verdicts[place]) if place < len(verdicts) else None

    @property
    def gate(self) -> dict[str, Any] | None:
        """Whether what was required is met: ``passed``, and ``checks`` with the ``value``, the
        ``limits`` and the ``bound`` of each; None if nothing was required."""
        return cast("dict[str, Any] | None", self.report.get("verdict"))

    @property
    def at_threshold(self) -> dict[str, Any] | None:
        """What the threshold accepts: ``accepted``, ``coverage``, ``selective_risk`` and
        ``risk_bounds``; None without a threshold."""
        return cast("dict[str, Any] | None", self.report["threshold"])

    @property
    def ece(self) -> float | None:
        """The expected calibration error, if the values of the estimator are probabilities."""
        return cast("float | None", self.report["ece"][self._evaluation.place()])

    @property
    def notes(self) -> list[str]:
        """Reservations, such as that the estimator was tuned on these rows."""
        return self._evaluation.notes()

    def __getitem__(self, metric: str) -> Interval:
        return self.value(metric)

    def value(self, metric: str, contender: str | None = None) -> Interval:
        """Return a metric of the estimator, or of another contender, with its interval."""
        return self._interval("values", metric, contender)

    def difference(self, metric: str, contender: str | None = None) -> Interval:
        """Return the metric minus that of MSP, with the interval of the difference."""
        return self._interval("differences", metric, contender)

    def _interval(self, field: str, metric: str, contender: str | None) -> Interval:
        lines = {line["metric"].lower(): line for line in self.report["metrics"]}
        line = lines.get(metric.lower())
        if line is None:
            raise InputError(f"{metric!r} was not measured; there are {', '.join(self.metrics)}")
        index = self._evaluation.place()
        if contender is not None:
            if contender not in self.contenders:
                names = ", ".join(self.contenders)
                raise InputError(f"no contender is called {contender!r}; there are {names}")
            index = self.contenders.index(contender)
        interval = line[field][index]
        if interval is None:
            raise UndefinedError(line["undefined"] or "undefined")
        return Interval(**interval)

    def table(self) -> Any:
        """Return one line per metric and contender.

        Returns
        -------
        pandas.DataFrame or list of dict
            A frame if pandas is installed, otherwise a list. ``difference`` is the value minus
            that of MSP.
        """
        from ._tables import metrics_table

        return metrics_table(self.report)

    def page(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        class_names: Sequence[str] | None = None,
    ) -> None:
        """Write the evaluation as an HTML page: one file that also opens offline.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        title : str, optional
            The name of the rows (default: the one that was given to `evaluate`).
        class_names : sequence of str, optional
            The names of the classes, in their order (default: those that the estimator or the
            labels have).
        """
        names = self._class_names if class_names is None else _arrays.class_names(class_names)
        title = _arrays.text(self.report["name"] if title is None else title, "title")
        self._evaluation.page(os.fsdecode(path), title, names)

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([self._evaluation.text().rstrip(), *notes])

    def __repr__(self) -> str:
        verdict = "" if self.verdict is None else f": {self.verdict}"
        return f"<Evaluation of {self.name} on {self.rows} rows{verdict}>"

    def _repr_html_(self) -> str:
        # Long sentences wrap; the lines of tables are short enough not to.
        return f'<pre style="white-space: pre-wrap">{html.escape(str(self))}</pre>'
