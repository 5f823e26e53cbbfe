"""Watching an estimator after deployment, and choosing rows to have labelled."""

from __future__ import annotations

import html
import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Union, cast

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays, _labels
from ._arrays import Array
from ._estimator import Estimator
from ._options import MonitorOptions, Outcomes
from ._result import TuneResult
from ._threshold import Threshold
from ._thresholds import losses_of_flags
from .errors import DataWarning, InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AuditSample", "LabelsNeeded", "Monitor", "audit_sample"]

#: An estimator with a threshold, what made one, its file, or a threshold on a bare confidence.
Watchable = Union[Estimator, TuneResult, Threshold, str, "os.PathLike[str]", Any]


class Monitor:
    """Watch an estimator after deployment: does its promise still hold?

    Rows are counted in their order, as they come, and labels whenever they come. Four tests compare
    them with the rows that certified the threshold: of the risk among accepted rows (it needs
    labels of some of them), of the coverage, of the confidences, and of the predicted classes. The
    risk raises a false alarm with probability `alpha` at most, and so do the other three together,
    however long the stream is and however often one looks. An alarm is never taken back.
    No row is kept: of rows, only which of them have a label, as ranges of their numbers.

    Which labels come, and when, must depend neither on whether answers are right nor on their
    confidence, other than by stated propensities (:func:`audit_sample`).

    Parameters
    ----------
    artifact : Estimator, TuneResult, Threshold, str or path
        What decides which rows are accepted: an estimator with a threshold, or its file; or a
        threshold on a bare confidence, of :func:`abstain.certify`. Confidences and predicted
        classes are tested if the threshold is certified, and the coverage if it was found on rows.
    alpha : float, default 0.05
        The largest probability of a false alarm: of the risk, and of the other tests together.
    target_risk : float, optional
        The largest risk among accepted rows (default: that of the threshold). Without one, risk is
        not tested.
    delta : float, default 0.05
        The probability with which thresholds that are certified anew may fail.
    max_loss : float, default 1
        The largest loss of a row.
    parts : int, default 1
        The number of monitors that will be merged and are each looked at: they share `alpha` and
        `delta`.
    groups : int, default 20
        The largest number of groups that are tested: they share `alpha`.
    abstained_labelled : bool, default False
        Whether rows that were not accepted have labels as accepted ones do, so that thresholds below
        the one in use may be certified.
    seed : int, default 0
        The seed that puts equal confidences in order.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(size=2000)
    >>> correct = rng.uniform(size=2000) < confidence
    >>> threshold = abstain.certify(confidence, correct, target_accuracy=0.9)

    The same rows as those that certified, and then rows whose answers are worse:

    >>> monitor = abstain.Monitor(threshold)
    >>> monitor.update(confidence, correct=correct).alarm
    False
    >>> worse = rng.uniform(size=2000) < confidence - 0.2
    >>> monitor.update(confidence, correct=worse).alarm
    True
    >>> [alarm["test"] for alarm in monitor.alarms]
    ['risk']

    A label may be missing (None or NaN), and come later, for the row of that number:

    >>> monitor = abstain.Monitor(threshold).update([0.9, 0.95, 0.2], correct=[True, None, None])
    >>> monitor.update_labels([1], [0.95], correct=[False]).report()["labels"]
    2
    """

    __slots__ = ("_estimator", "_monitor")

    _monitor: _abstain.Monitor
    _estimator: Estimator

    def __init__(
        self,
        artifact: Watchable,
        *,
        alpha: float = 0.05,
        target_risk: float | None = None,
        delta: float = 0.05,
        max_loss: float = 1.0,
        parts: int = 1,
        groups: int = 20,
        abstained_labelled: bool = False,
        seed: int = 0,
    ) -> None:
        options = _options(alpha, target_risk, delta, max_loss, seed)
        options["parts"] = _small(parts, "parts")
        options["groups"] = _small(groups, "groups")
        options["abstained_labelled"] = bool(abstained_labelled)
        self._estimator = Estimator._of(_artifact_of(artifact))
        self._monitor = _abstain.Monitor(self._estimator._artifact, options)

    @classmethod
    def _of(cls, monitor: _abstain.Monitor, estimator: Estimator) -> Monitor:
        self = cls.__new__(cls)
        self._monitor, self._estimator = monitor, estimator
        return self

    # Counting.

    def update(
        self,
        confidence: Array,
        prediction: Array | None = None,
        *,
        correct: Array | None = None,
        loss: Array | None = None,
        groups: Array | None = None,
        propensity: Array | None = None,
        min_propensity: float | None = None,
        rows: Array | None = None,
    ) -> Monitor:
        """Count new rows, in their order, and the labels that are known already.

        All rows of a call are counted, or none if one of them is invalid or the call is interrupted.

        Parameters
        ----------
        confidence : array-like of shape (rows,)
            The confidence of each row, on the scale of the threshold
            (:meth:`abstain.Estimator.confidence`).
        prediction : array-like of shape (rows,), optional
            The predicted class of each row, accepted or not: its number, or its name if the
            estimator knows the names.
        correct : array-like of shape (rows,), optional
            1 or True where the prediction is right, 0 or False where it is wrong; None, NaN or
            masked where that is not known (yet).
        loss : array-like of shape (rows,), optional
            What each prediction cost, from 0 to `max_loss`, in place of `correct`.
        groups : array-like of shape (rows,), optional
            The group of each row; None or NaN if it has none. The risk of each group is tested.
        propensity : array-like of shape (rows,), optional
            The probability with which each row was chosen for a label, if these differ.
        min_propensity : float, optional
            The smallest probability with which any row could be chosen, whether it was or not;
            required with `propensity`.
        rows : array-like of shape (rows,), optional
            The number of each row in the stream, from 0, where the monitor sees a part of it
            (default: they go on from the rows so far).

        Returns
        -------
        Monitor
            The same monitor.
        """
        column = _arrays.vector(confidence, "confidence")
        classes = None if prediction is None else self._classes(prediction)
        outcomes = None
        if correct is not None or loss is not None:
            outcomes = _outcomes(correct, loss, propensity, min_propensity)
        elif propensity is not None or min_propensity is not None:
            raise InputError("propensity is for labels: give correct or loss")
        numbers = None if rows is None else _arrays.labels(rows, "rows")
        found = None if groups is None else _arrays.group_places(groups)
        self._monitor.update(column, classes, numbers, found, outcomes)
        return self

    def update_labels(
        self,
        rows: Array,
        confidence: Array,
        *,
        correct: Array | None = None,
        loss: Array | None = None,
        groups: Array | None = None,
        propensity: Array | None = None,
        min_propensity: float | None = None,
    ) -> Monitor:
        """Count labels of rows that were counted before, in whatever order they come.

        Give `correct` or `loss`. A row has one label: one that was counted stays, and a second one
        is not counted.

        Parameters
        ----------
        rows : array-like of shape (labels,)
            The numbers of the rows in the stream, from 0.
        confidence : array-like of shape (labels,)
            The confidences of these rows.
        correct, loss, groups, propensity, min_propensity
            Of these rows, as in :meth:`update`. Of an audit, :attr:`AuditSample.propensity` and
            :attr:`AuditSample.min_propensity`.

        Returns
        -------
        Monitor
            The same monitor.

        Warns
        -----
        DataWarning
            If labels of some of the rows were counted before.
        """
        if correct is None and loss is None:
            raise InputError("give correct or loss")
        numbers = _arrays.labels(rows, "rows")
        column = _arrays.vector(confidence, "confidence")
        found = None if groups is None else _arrays.group_places(groups)
        outcomes = _outcomes(correct, loss, propensity, min_propensity)
        repeated = self._monitor.update_labels(numbers, column, found, outcomes)
        if repeated:
            of = f"{repeated} of {len(numbers)} labels are of rows"
            message = f"{of} whose label was counted before; they are not counted again"
            warnings.warn(message, DataWarning, stacklevel=2)
        return self

    def merge(self, other: Monitor) -> Monitor:
        """Add the rows of another part of the stream, watched with the same artifact and settings.

        An alarm of either stays. Where the parts are looked at before they are merged, state their
        number (`parts`). Give each row its number in the whole stream (`rows` of :meth:`update`) if
        alarms shall name it.

        Parameters
        ----------
        other : Monitor
            The other part, which stays as it is.

        Returns
        -------
        Monitor
            The same monitor.
        """
        if not isinstance(other, Monitor):
            raise InputError(f"expected a Monitor, got {type(other).__name__}")
        self._monitor.merge(other._monitor)
        return self

    def _classes(self, prediction: Array) -> npt.NDArray[np.int64]:
        estimator = self.estimator
        array = _arrays.as_numpy(prediction, "prediction")
        # Numbers are places of columns, as `predict` returns them: -1 is no class.
        if estimator.classes is None or array.dtype.kind in "iuf":
            return _arrays.labels(array, "prediction")
        names = estimator.class_names
        return _labels.resolved(array, estimator.classes, names, "prediction").numbers

    # What is known.

    @property
    def alarm(self) -> bool:
        """Whether an alarm stands."""
        return self._monitor.alarm()

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """Every alarm that stands, the earliest first.

        ``test`` is ``"risk"``, ``"coverage-high"``, ``"coverage-low"``, ``"confidences"``,
        ``"predictions"`` or, for a further change after one of these, ``"changed-again"``; ``group``
        the group whose risk it is, or None; ``row`` the row of the stream; ``change`` the row since
        which a change is likeliest, if that is known; ``observations`` what the test had seen by
        then.
        """
        return cast("list[dict[str, Any]]", self.report()["alarms"])

    @property
    def certified(self) -> list[dict[str, Any]]:
        """The thresholds that the labels of the stream certify, from the highest to the lowest."""
        return cast("list[dict[str, Any]]", self.report()["certified"])

    @property
    def records(self) -> int:
        """The number of rows so far."""
        return cast(int, self.report()["records"])

    @property
    def labels(self) -> int:
        """The number of labels so far, those of rows that were not accepted included."""
        return cast(int, self.report()["labels"])

    @property
    def threshold(self) -> Threshold:
        """The threshold in use."""
        return cast(Threshold, self.estimator.threshold)

    @property
    def estimator(self) -> Estimator:
        """What is watched."""
        return self._estimator

    def report(self) -> dict[str, Any]:
        """Return everything that is known now, as ``abstain monitor --json`` has it.

        ``risk["interval"]`` and ``coverage["interval"]`` hold at all times at once with probability
        1 - `alpha`. ``estimates`` need no labels and guarantee nothing.

        Returns
        -------
        dict

        Examples
        --------
        >>> import abstain
        >>> estimator = abstain.Estimator("MSP").with_threshold(at=1)
        >>> monitor = abstain.Monitor(estimator, target_risk=0.1)
        >>> report = monitor.update([2.0, 3.0, 0.5, 2.5], correct=[1, 0, 0, 1]).report()
        >>> report["records"], report["accepted"], report["labels"]
        (4, 3, 4)
        >>> round(report["risk"]["mean"], 3), report["risk"]["target"]
        (0.333, 0.1)
        """
        return cast("dict[str, Any]", json.loads(self._monitor.report()))

    def history(self) -> dict[str, list[dict[str, Any]]]:
        """Return how the stream went, in some hundred points at most.

        Returns
        -------
        dict
            ``rows``: after how many rows how many were accepted, with the interval of the coverage;
            ``labels``: after how many labels of accepted rows what their mean loss was, with its
            interval. The e-values of the tests are natural logarithms. After :meth:`merge` it begins
            anew.
        """
        return cast("dict[str, list[dict[str, Any]]]", json.loads(self._monitor.history()))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the risk among accepted rows by their labels, or the coverage where there are none.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on (default: the current ones).

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ._plot import plot_monitor

        return plot_monitor(self.report(), self.history(), ax)

    def page(self, path: str | os.PathLike[str], *, title: str = "stream, watched") -> None:
        """Write what is known as an HTML page: one file that also opens offline.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        title : str, default "stream, watched"
            The title of the page.
        """
        self._monitor.page(os.fsdecode(path), _arrays.text(title, "title"))

    def __str__(self) -> str:
        return self._monitor.text()

    def _repr_html_(self) -> str:
        text = f'<pre style="white-space: pre-wrap">{html.escape(str(self))}</pre>'
        return f"<div>{text}{''.join(self._monitor.svgs())}</div>"

    def recertified(self) -> Estimator | Threshold:
        """Return the estimator with the lowest threshold that the labels of the stream certify.

        One may look at any time: all of these certificates together fail with probability `delta`
        at most. After an alarm of the risk, only rows that are yet to come certify; after an alarm
        of a shift, only those since the likeliest change. Labels that are not of a random part of
        the accepted rows certify nothing (``report()["selection"]`` says what was found).

        Returns
        -------
        Estimator or Threshold
            A threshold if a bare confidence is watched. Its basis is ``"anytime"``.

        Raises
        ------
        InfeasibleError
            If no threshold is certified yet.

        Examples
        --------
        >>> import numpy as np, abstain
        >>> estimator = abstain.Estimator("MSP").with_threshold(at=1)
        >>> monitor = abstain.Monitor(estimator, target_risk=0.1)
        >>> monitor.update(np.full(500, 2.0), correct=np.ones(500)).recertified().threshold
        Threshold(1, anytime, risk <= 0.1 with probability 0.95, coverage 1.000)
        """
        found = Estimator._of(self._monitor.recertified())
        bare = found._artifact.input() == "confidence"
        return cast(Threshold, found.threshold) if bare else found

    def restart_certification(self) -> Monitor:
        """Discard the evidence for thresholds, after a known change.

        Only rows that are yet to come certify then, at half of what is left of `delta`. Alarms
        stay.

        Returns
        -------
        Monitor
            The same monitor.
        """
        self._monitor.restart_certification()
        return self

    # JSON, pickles, copies.

    def to_json(self) -> str:
        """Return the state as text, from which :meth:`from_json` goes on.

        It holds what is watched, too, and no rows: some kilobytes.
        """
        artifact, state = self.estimator.to_dict(), json.loads(self._monitor.json())
        return json.dumps({"artifact": artifact, "stream": state})

    @classmethod
    def from_json(cls, text: str) -> Monitor:
        """Make a monitor from its state.

        Examples
        --------
        >>> import abstain
        >>> estimator = abstain.Estimator("MSP").with_threshold(at=1)
        >>> monitor = abstain.Monitor(estimator).update([2.0, 0.5])
        >>> abstain.Monitor.from_json(monitor.to_json()).update([3.0])
        Monitor('MSP', 3 rows, 2 accepted, 0 labels)
        """
        try:
            stored = json.loads(_arrays.text(text, "text"))
            # Before there was a stream, the state was that of its monitor.
            artifact, state = stored["artifact"], stored.get("stream") or stored["monitor"]
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"this is not the state of a monitor: {error!r}") from None
        estimator = Estimator.from_dict(artifact)
        found = _abstain.Monitor.of_json(estimator._artifact, json.dumps(state))
        return cls._of(found, estimator)

    def __reduce__(self) -> tuple[Callable[[str], Monitor], tuple[str]]:
        return (Monitor.from_json, (self.to_json(),))

    def __copy__(self) -> Monitor:
        return Monitor._of(self._monitor.copy(), self._estimator)

    def __deepcopy__(self, memo: dict[int, Any]) -> Monitor:
        return self.__copy__()

    def __repr__(self) -> str:
        report = self.report()
        parts = [repr(self.estimator.name)]
        parts += [f"{report['records']} rows", f"{report['accepted']} accepted"]
        parts.append(f"{report['labels']} labels")
        for alarm in report["alarms"]:
            of = "" if alarm["group"] is None else f" of {alarm['group']}"
            parts.append(f"alarm: {alarm['test']}{of} at row {alarm['row']}")
        return f"Monitor({', '.join(parts)})"


class LabelsNeeded(NamedTuple):
    """How many labels of accepted rows it takes."""

    #: The risk among accepted rows.
    risk: float
    #: So many suffice in half of the cases; None if more than 100,000.
    median: int | None
    #: So many suffice in nine of ten.
    ninety: int | None


class AuditSample:
    """Rows to have labelled, chosen by :func:`abstain.audit_sample`."""

    def __init__(
        self,
        rows: npt.NDArray[np.int64],
        propensity: npt.NDArray[np.float64],
        plan: dict[str, Any],
        estimator: Estimator,
        options: MonitorOptions,
    ) -> None:
        #: The rows that were chosen, counted from 0, in their order.
        self.rows = rows
        #: The probability with which each of them was chosen.
        self.propensity = propensity
        #: How rows were chosen: ``strata`` of confidences, each with the propensity of its rows.
        self.plan = plan
        self._estimator = estimator
        self._options = options

    @property
    def min_propensity(self) -> float:
        """The smallest propensity of any row, chosen or not."""
        return cast(float, self.plan["min_propensity"])

    def labels_to_confirm(self, risk: float | None = None) -> LabelsNeeded | None:
        """Simulate how many labels it takes until the threshold is certified anew.

        Parameters
        ----------
        risk : float, optional
            The risk among accepted rows (default: that with which the threshold was found).

        Returns
        -------
        LabelsNeeded or None
            None without a target, or if no risk is given or known.
        """
        return self._needed(None, _arrays.optional_number(risk, "risk"))

    def labels_to_notice(self, rise: float) -> LabelsNeeded:
        """Simulate how many labels it takes until the alarm.

        Parameters
        ----------
        rise : float
            The risk among accepted rows, above the target.

        Returns
        -------
        LabelsNeeded
        """
        return cast(LabelsNeeded, self._needed(_arrays.number(rise, "rise"), None))

    def _needed(self, rise: float | None, risk: float | None) -> LabelsNeeded | None:
        artifact, plan = self._estimator._artifact, json.dumps(self.plan)
        found = json.loads(_abstain.labels_needed(artifact, plan, rise, risk, self._options))
        return None if found is None else LabelsNeeded(**found)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        of = sum(stratum["rows"] for stratum in self.plan["strata"])
        return f"<AuditSample of {len(self)} from {of} rows>"


def audit_sample(
    artifact: Watchable,
    confidence: Array,
    budget: float,
    *,
    abstained: float = 0.25,
    seed: int = 0,
    target_risk: float | None = None,
    alpha: float = 0.05,
    delta: float = 0.05,
    max_loss: float = 1.0,
) -> AuditSample:
    """Choose rows to have labelled, each with a known probability.

    Accepted and abstained rows share the budget. In each of them, rows are chosen more often where
    the certifying rows erred more, but nowhere with less than a quarter of the largest probability.
    :meth:`Monitor.update_labels` takes the propensities, and then its guarantees hold for all rows.

    Parameters
    ----------
    artifact : Estimator, TuneResult, Threshold, str or path
        What decides which rows are accepted, as in :class:`Monitor`.
    confidence : array-like of shape (rows,)
        The confidences of the rows to choose from.
    budget : float
        How many labels to expect. Rows are chosen independently of each other, so that their
        number varies by about the square root of it.
    abstained : float, default 0.25
        The share of the budget for rows that are not accepted.
    seed : int, default 0
        The seed of the choice. Use another one for other rows.
    target_risk, alpha, delta, max_loss
        How the labels will be tested, as in :class:`Monitor`.

    Returns
    -------
    AuditSample

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(size=5000)
    >>> correct = rng.uniform(size=5000) < confidence
    >>> threshold = abstain.certify(confidence, correct, target_accuracy=0.9)
    >>> stream = rng.uniform(size=5000)
    >>> monitor = abstain.Monitor(threshold).update(stream)
    >>> sample = abstain.audit_sample(threshold, stream, budget=200)
    >>> sample
    <AuditSample of ... from 5000 rows>

    Have ``sample.rows`` labelled, and count the labels:

    >>> right = rng.uniform(size=len(sample)) < stream[sample.rows]
    >>> monitor.update_labels(
    ...     sample.rows, stream[sample.rows], correct=right,
    ...     propensity=sample.propensity, min_propensity=sample.min_propensity,
    ... )
    Monitor(..., 5000 rows, ... accepted, ... labels)

    How many labels of accepted rows notice a risk of 20 % where 10 % is allowed?

    >>> sample.labels_to_notice(0.2)
    LabelsNeeded(risk=0.2, median=..., ninety=...)
    """
    found = _artifact_of(artifact)
    column = _arrays.vector(confidence, "confidence")
    share, number = _arrays.number(abstained, "abstained"), _arrays.number(budget, "budget")
    options = _options(alpha, target_risk, delta, max_loss, seed)
    plan, rows, propensity = _abstain.audit(found, column, number, share, options["seed"])
    return AuditSample(rows, propensity, json.loads(plan), Estimator._of(found), options)


def _options(
    alpha: float, target_risk: float | None, delta: float, max_loss: float, seed: int
) -> MonitorOptions:
    return {
        "alpha": _arrays.number(alpha, "alpha"),
        "target_risk": _arrays.optional_number(target_risk, "target_risk"),
        "delta": _arrays.number(delta, "delta"),
        "max_loss": _arrays.number(max_loss, "max_loss"),
        "parts": 1,
        "groups": 20,
        "abstained_labelled": False,
        "seed": _arrays.count(seed, "seed"),
    }


def _small(value: int, name: str) -> int:
    number = _arrays.count(value, name, 1)
    if number >= 2**32:
        raise InputError(f"{name} is {number}, but must fit 32 bits", value=value)
    return number


def _outcomes(
    correct: Array | None,
    loss: Array | None,
    propensity: Array | None,
    min_propensity: float | None,
) -> Outcomes:
    """What answers cost, NaN where that is not known."""
    if correct is not None and loss is not None:
        raise InputError("give correct or loss, not both")
    if correct is not None:
        losses = losses_of_flags(_arrays.optional_vector(correct, "correct"), missing=True)
    else:
        losses = _arrays.optional_vector(cast(Any, loss), "loss")
    return {
        "loss": losses,
        "propensity": (
            None if propensity is None else _arrays.optional_vector(propensity, "propensity")
        ),
        "min_propensity": _arrays.optional_number(min_propensity, "min_propensity"),
    }


def _artifact_of(what: Watchable) -> _abstain.Artifact:
    """The artifact of whatever has one."""
    if isinstance(what, (str, os.PathLike)):
        return Estimator.load(what)._artifact
    if isinstance(what, Threshold):
        return what._artifact()
    # A fitted SelectiveClassifier has an estimator of the confidence, too.
    found = getattr(what, "confidence_estimator_", what)
    if isinstance(found, TuneResult):
        found = found.estimator
    if not isinstance(found, Estimator):
        expected = "an Estimator with a threshold, a Threshold, a TuneResult or a file"
        raise InputError(f"artifact: expected {expected}, got {type(what).__name__}")
    return found._artifact
