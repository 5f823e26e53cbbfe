"""The result of :func:`abstain.tune`."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any, NoReturn, Sequence, cast

from . import _abstain, _arrays
from ._estimator import Estimator
from ._thresholds import refuse, threshold_costs, threshold_options
from ._types import Procedure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TuneResult"]


class TuneResult:
    """What :func:`abstain.tune` found: the estimator to use, and the report behind the choice.

    ``result.estimator`` is the estimator: it scores rows and is what to save. The result shows the
    verdict and the risk-coverage curve in a notebook, and everything when printed. It is immutable.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 2000)
    >>> logits = rng.normal(size=(2000, 10)) + 2 * np.eye(10)[labels]
    >>> result = abstain.tune(logits, labels, methods="MaxLogit-pNorm")
    >>> [line["method"] for line in result.report["methods"]]
    ['MSP', 'MaxLogit-pNorm']
    >>> result.with_threshold(target_accuracy=0.9).estimator.threshold.basis
    'risk'
    """

    __slots__ = ("_estimator", "_report", "_tuning")

    def __init__(self, tuning: _abstain.Tuning) -> None:
        self._tuning = tuning
        self._estimator: Estimator | None = None
        self._report: dict[str, Any] | None = None

    @property
    def estimator(self) -> Estimator:
        """The estimator to use, with its threshold if one was requested and exists."""
        if self._estimator is None:
            self._estimator = Estimator._of(self._tuning.artifact())
        return self._estimator

    @property
    def report(self) -> dict[str, Any]:
        """Everything that was measured, as ``abstain tune --json`` prints it."""
        if self._report is None:
            self._report = cast("dict[str, Any]", json.loads(self._tuning.json()))
        return self._report

    @property
    def verdict(self) -> str:
        """One sentence: which estimator to use, and what it gains over MSP."""
        return self._tuning.verdict()

    @property
    def refusal(self) -> str | None:
        """Why the requested threshold does not exist; None if it does, or if none was requested."""
        return self._tuning.refusal()

    def with_threshold(
        self,
        *,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        coverage: float | None = None,
        cost_error: float | None = None,
        cost_abstain: float | None = None,
        delta: float | None = None,
        procedure: Procedure | None = None,
        tried: int | None = None,
    ) -> TuneResult:
        """Return the result with another threshold, found on the rows that were measured.

        These are the test rows, or all rows, each measured by estimators that have not seen it. The
        estimator stays the same. With `delta` the result must have test rows: it is one of
        :func:`abstain.tune` with `delta`, `holdout`, `splits` or `test`.

        Parameters
        ----------
        target_accuracy, target_risk, coverage, cost_error, cost_abstain, delta, procedure, tried
            As in :meth:`abstain.Estimator.with_threshold`.

        Returns
        -------
        TuneResult

        Raises
        ------
        InfeasibleError
            If no threshold meets the target, or none can be certified; the message says what is
            missing.
        InputError
            If a certificate is requested, and every row tuned the estimator.
        """
        costs = threshold_costs(cost_error, cost_abstain)
        targets = {"target_accuracy": target_accuracy, "target_risk": target_risk}
        certified = {"delta": delta, "procedure": procedure, "tried": tried}
        if coverage is not None:
            refuse("coverage", cost_error=cost_error, **targets, **certified)
            share = _arrays.number(coverage, "coverage")
            return TuneResult(self._tuning.with_coverage(share))
        if costs is not None:
            refuse("costs", **targets, **certified)
            return TuneResult(self._tuning.with_costs(costs))
        options = threshold_options(target_accuracy, target_risk, delta, procedure, tried)
        return TuneResult(self._tuning.with_threshold(options))

    def table(self) -> Any:
        """Return one line per method, as measured on rows that did not tune it.

        Returns
        -------
        pandas.DataFrame or list of dict
            A frame if pandas is installed, otherwise a list. ``gain`` is the NAURC of MSP minus
            that of the method, ``coverage`` the coverage at the target; columns that end in
            ``_low`` and ``_high`` are 95 % intervals.
        """
        from ._tables import methods_table

        return methods_table(self.report)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the risk-coverage curves of MSP and of the estimator, as measured by tuning.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on (default: the current ones).

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ._plot import plot_tuning

        return plot_tuning(self.report, self.estimator.threshold, ax)

    def page(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "logits",
        class_names: Sequence[str] | None = None,
    ) -> None:
        """Write the result as an HTML page: one file that also opens offline.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        title : str, default "logits"
            The name of the rows.
        class_names : sequence of str, optional
            The names of the classes, in their order (default: those of the estimator).
        """
        names = _arrays.class_names(class_names)
        self._tuning.page(os.fsdecode(path), _arrays.text(title, "title"), names)

    def __copy__(self) -> TuneResult:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> TuneResult:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a TuneResult cannot be pickled; keep its .estimator and its .report")

    def __str__(self) -> str:
        return self._tuning.text()

    def __repr__(self) -> str:
        return f"TuneResult({self.estimator!r})"

    def _repr_html_(self) -> str:
        sentences = [f"<b>{html.escape(self.verdict)}</b>"]
        for sentence in (self._tuning.certified(), self._tuning.few_rows()):
            if sentence is not None:
                sentences.append(html.escape(sentence))
        return f"<div><p>{'<br>'.join(sentences)}</p>{self._tuning.svg()}</div>"
