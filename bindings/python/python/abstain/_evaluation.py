"""What :meth:`abstain.Estimator.evaluate` measures."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Sequence, cast

from . import _abstain, _arrays
from ._metrics import Interval
from .errors import InputError, UndefinedError

__all__ = ["Evaluation"]


class Evaluation:
    """Metrics of an estimator on a set of rows, against MSP.

    ``evaluation["NAURC"]`` is a metric with its interval; ``evaluation.difference("NAURC")`` is by how
    much it differs from that of MSP; ``print(evaluation)`` shows everything.
    """

    def __init__(self, found: _abstain.Evaluation) -> None:
        self._found = found
        #: Everything, as the JSON of ``abstain eval --json``.
        self.report_: dict[str, Any] = json.loads(found.json())

    @property
    def rows(self) -> int:
        """How many rows."""
        return cast(int, self.report_["rows"])

    @property
    def accuracy(self) -> float:
        """Their accuracy, or one minus the mean loss."""
        return cast(float, self.report_["accuracy"])

    @property
    def metrics(self) -> list[str]:
        """The metrics that were measured."""
        return [line["metric"] for line in self.report_["metrics"]]

    @property
    def contenders(self) -> list[str]:
        """What was measured: the estimator, further confidences, and MSP last; MSP itself is last only."""
        return list(self.report_["contenders"])

    @property
    def name(self) -> str:
        """The estimator."""
        return self.contenders[self._found.place()]

    @property
    def verdict(self) -> str | None:
        """Whether the estimator is ``"better"`` or ``"worse"`` than MSP by NAURC, surely so at 95 %;
        ``"unclear"`` if neither can be told, ``"same"`` if it ranks alike, None for MSP itself."""
        verdicts, place = self.report_["verdicts"], self._found.place()
        return cast(str, verdicts[place]) if place < len(verdicts) else None

    @property
    def at_threshold(self) -> dict[str, Any] | None:
        """What the estimator's threshold lets through: ``accepted``, ``coverage``, ``selective_risk``
        and ``risk_bounds``."""
        return cast("dict[str, Any] | None", self.report_["threshold"])

    @property
    def ece(self) -> float | None:
        """The expected calibration error of the estimator, if it is meant as a probability."""
        return cast("float | None", self.report_["ece"][self._found.place()])

    @property
    def notes(self) -> list[str]:
        """What else is to be said, such as that the estimator was tuned on these rows."""
        return self._found.notes()

    def __getitem__(self, metric: str) -> Interval:
        return self.value(metric)

    def value(self, metric: str, contender: str | None = None) -> Interval:
        """A metric of the estimator, or of another contender, with its interval."""
        return self._interval("values", metric, contender)

    def difference(self, metric: str, contender: str | None = None) -> Interval:
        """The metric less that of MSP, with the interval of the difference."""
        return self._interval("differences", metric, contender)

    def _interval(self, kind: str, metric: str, contender: str | None) -> Interval:
        lines = {line["metric"].lower(): line for line in self.report_["metrics"]}
        line = lines.get(metric.lower())
        if line is None:
            raise InputError(f"{metric!r} was not measured; there are {', '.join(self.metrics)}")
        index = self._found.place()
        if contender is not None:
            if contender not in self.contenders:
                there = ", ".join(self.contenders)
                raise InputError(f"no contender is called {contender!r}; there are {there}")
            index = self.contenders.index(contender)
        found = line[kind][index]
        if found is None:
            raise UndefinedError(line["undefined"] or "undefined")
        return Interval(**found)

    def table(self) -> Any:
        """Every metric of every contender: a line each.

        Returns
        -------
        pandas.DataFrame or list of dict
            A frame where pandas is installed, a list of dictionaries where it is not. ``difference`` is
            to MSP.
        """
        from ._tables import metrics_table

        return metrics_table(self.report_)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        class_names: Sequence[str] | None = None,
    ) -> None:
        """Writes a page to look at, as :meth:`abstain.Estimator.report` does.

        Parameters
        ----------
        path : str or path
            The file; an earlier one is replaced.
        title : str, optional
            What the rows are called.
        class_names : sequence of str, optional
            The names of the classes, in their order.
        """
        named = _arrays.text(title or self.report_["name"], "title")
        self._found.page(os.fsdecode(path), named, _arrays.names(class_names))

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([self._found.text().rstrip(), *notes])

    def __repr__(self) -> str:
        more = "" if self.verdict is None else f": {self.verdict}"
        return f"<Evaluation of {self.name} on {self.rows} rows{more}>"

    def _repr_html_(self) -> str:
        # Sentences are long, and tables are not to be broken before they must be.
        return f'<pre style="white-space: pre-wrap">{html.escape(str(self))}</pre>'
