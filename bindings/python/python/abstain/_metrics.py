"""Metrics of any confidence."""

from __future__ import annotations

from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays
from ._arrays import Array
from .errors import InputError

__all__ = [
    "Interval",
    "Reliability",
    "RiskCoverageCurve",
    "accuracy",
    "augrc",
    "aurc",
    "auroc",
    "coverage_at_risk",
    "difference",
    "e_aurc",
    "ece",
    "metric",
    "naurc",
    "nll",
    "partial_aurc",
    "reliability",
    "risk_at_coverage",
    "risk_coverage_curve",
    "sac",
]


class Interval(NamedTuple):
    """A value with its percentile-bootstrap interval.

    Examples
    --------
    >>> import abstain
    >>> aurc = abstain.aurc([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1], bootstrap=200)
    >>> aurc.low <= aurc.estimate <= aurc.high
    True
    >>> float(aurc) == aurc.estimate
    True
    """

    #: The value on the rows themselves.
    estimate: float
    #: The lower end.
    low: float
    #: The upper end.
    high: float
    #: The standard deviation over the replicates.
    standard_error: float
    #: The replicates in which the value was defined; they alone count.
    replicates: int

    def __float__(self) -> float:
        return self.estimate


@overload
def metric(
    name: str, confidence: Array, loss: Array, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def metric(
    name: str, confidence: Array, loss: Array, *, bootstrap: int, level: float = ...,
    seed: int = ...,
) -> Interval: ...
def metric(
    name: str,
    confidence: Array,
    loss: Array,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """A metric by its name, such as ``"NAURC"`` or ``"SAC@0.98"``.

    Parameters
    ----------
    name : str
        A name of :func:`abstain.metric_names`, with its numbers after an ``@``.
    confidence : array-like of shape (rows,)
        Any confidence: higher is surer. Infinities are allowed, NaN is not.
    loss : array-like of shape (rows,)
        What each prediction costs: 1 or True where it is wrong, 0 where it is right; or any numbers
        from 0, for the metrics that take them.
    bootstrap : int, optional
        As many replicates are drawn for an interval (True: 1,000).
    level : float, default 0.95
        How often the interval should hold the truth.
    seed : int, default 0
        The seed of the replicates.

    Returns
    -------
    float or Interval
        The value; with `bootstrap`, the value and its interval.

    Raises
    ------
    UndefinedError
        If the metric of these rows does not exist.

    Notes
    -----
    Nothing depends on the order of the rows: no threshold tells rows of equal confidence apart, and where
    a metric asks for the risk among some of them (AURC and what is made of it), it is the mean over all
    their orders.

    Examples
    --------
    >>> import abstain
    >>> abstain.metric("SAC@0.75", [0.9, 0.8, 0.7, 0.6], [0, 1, 0, 0])
    1.0
    """
    name = _arrays.text(name, "name")
    own = _arrays.vector(confidence, "confidence")
    losses = _arrays.vector(loss, "loss")
    if bootstrap is None:
        return _abstain.metric(name, own, losses)
    return Interval(*_abstain.interval(name, own, losses, _resampling(bootstrap, level, seed)))


def _resampling(bootstrap: int, level: float, seed: int) -> tuple[int, float, int]:
    return (
        _arrays.replicates(bootstrap),
        _arrays.number(level, "level"),
        _arrays.count(seed, "seed"),
    )


def difference(
    name: str,
    a: Array,
    b: Array,
    loss: Array,
    *,
    bootstrap: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """A metric of confidence `a` less that of `b`, with the interval of the difference.

    Both are measured on the same replicates, so that the interval is much narrower than two intervals
    side by side: this is how to tell whether one confidence is better than another.

    Parameters
    ----------
    name : str
        The metric, as in :func:`metric`.
    a, b : array-like of shape (rows,)
        Two confidences of the same rows.
    loss, bootstrap, level, seed
        As in :func:`metric`.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import abstain
    >>> loss = [0, 0, 1, 0, 1, 0, 0, 1]
    >>> a = [9, 8, 1, 7, 2, 6, 5, 3]
    >>> gain = abstain.difference("AUROC", a, [1] * 8, loss, bootstrap=200)
    >>> gain.estimate, gain.low > 0
    (0.5, True)
    """
    name = _arrays.text(name, "name")
    first, second = _arrays.vector(a, "confidence"), _arrays.vector(b, "confidence")
    losses, resampling = _arrays.vector(loss, "loss"), _resampling(bootstrap, level, seed)
    return Interval(*_abstain.difference(name, first, second, losses, resampling))


def _measured(
    name: str, confidence: Array, loss: Array, bootstrap: int | None, level: float, seed: int
) -> float | Interval:
    if bootstrap is None:
        return metric(name, confidence, loss)
    return metric(name, confidence, loss, bootstrap=bootstrap, level=level, seed=seed)


@overload
def aurc(
    confidence: Array, loss: Array, *, convention: str | None = ..., bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def aurc(
    confidence: Array, loss: Array, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def aurc(
    confidence: Array,
    loss: Array,
    *,
    convention: str | None = None,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """Area under the risk-coverage curve: the mean selective risk over all coverages. Lower is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.
    convention : str, optional
        Another project's AURC, to reproduce published numbers: ``"geifman-el-yaniv"``,
        ``"fix-selective-classification"``, ``"torch-uncertainty"`` or ``"fd-shifts"``.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.aurc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.1458...
    """
    if convention is not None and bootstrap is None:
        columns = _arrays.vector(confidence, "confidence"), _arrays.vector(loss, "loss")
        return _abstain.aurc_of(_arrays.text(convention, "convention"), *columns)
    if convention is not None:
        raise InputError("a convention of another project has no bootstrap interval")
    return _measured("AURC", confidence, loss, bootstrap, level, seed)


@overload
def e_aurc(
    confidence: Array, loss: Array, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def e_aurc(
    confidence: Array, loss: Array, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def e_aurc(
    confidence: Array,
    loss: Array,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """AURC in excess of that of an ideal confidence. Lower is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.e_aurc([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    0.0
    """
    return _measured("E-AURC", confidence, loss, bootstrap, level, seed)


@overload
def naurc(
    confidence: Array, loss: Array, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def naurc(
    confidence: Array, loss: Array, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def naurc(
    confidence: Array,
    loss: Array,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """AURC scaled so that an ideal confidence has 0 and a random one 1. Lower is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.naurc([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    0.0
    """
    return _measured("NAURC", confidence, loss, bootstrap, level, seed)


@overload
def auroc(
    confidence: Array, loss: Array, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def auroc(
    confidence: Array, loss: Array, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def auroc(
    confidence: Array,
    loss: Array,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """Chance that a right row is surer than a wrong one. Higher is better. Losses must be 0 or 1.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.auroc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.6666...
    """
    return _measured("AUROC", confidence, loss, bootstrap, level, seed)


@overload
def augrc(
    confidence: Array, loss: Array, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def augrc(
    confidence: Array, loss: Array, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def augrc(
    confidence: Array,
    loss: Array,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """Area under the generalised-risk-coverage curve, whose risk is that of answering and being wrong.
    Lower is better. Losses must be 0 or 1.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.09375
    """
    return _measured("AUGRC", confidence, loss, bootstrap, level, seed)


@overload
def accuracy(
    confidence: Array, loss: Array, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def accuracy(
    confidence: Array, loss: Array, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def accuracy(
    confidence: Array,
    loss: Array,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """Share of right rows, whatever the confidence. Losses must be 0 or 1.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.accuracy([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.75
    """
    return _measured("Accuracy", confidence, loss, bootstrap, level, seed)


@overload
def sac(
    confidence: Array, loss: Array, accuracy: float, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def sac(
    confidence: Array, loss: Array, accuracy: float, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def sac(
    confidence: Array,
    loss: Array,
    accuracy: float,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """Selective accuracy constraint: the largest coverage at an accuracy. Higher is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.
    accuracy : float
        The accuracy asked of the answers that are kept.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.sac([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.98)
    0.5
    """
    return _measured(f"SAC@{_arrays.number(accuracy, 'accuracy')!r}", confidence, loss, bootstrap, level, seed)


@overload
def coverage_at_risk(
    confidence: Array, loss: Array, risk: float, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def coverage_at_risk(
    confidence: Array, loss: Array, risk: float, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def coverage_at_risk(
    confidence: Array,
    loss: Array,
    risk: float,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """The largest coverage at a selective risk. Higher is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.
    risk : float
        The selective risk allowed among the answers that are kept.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.coverage_at_risk([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.25)
    1.0
    """
    return _measured(f"CoverageAtRisk@{_arrays.number(risk, 'risk')!r}", confidence, loss, bootstrap, level, seed)


@overload
def risk_at_coverage(
    confidence: Array, loss: Array, coverage: float, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def risk_at_coverage(
    confidence: Array, loss: Array, coverage: float, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def risk_at_coverage(
    confidence: Array,
    loss: Array,
    coverage: float,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """The selective risk at a coverage. Lower is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.
    coverage : float
        The share of rows that are answered.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.risk_at_coverage([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.75)
    0.3333...
    """
    return _measured(f"RiskAtCoverage@{_arrays.number(coverage, 'coverage')!r}", confidence, loss, bootstrap, level, seed)


@overload
def partial_aurc(
    confidence: Array, loss: Array, low: float, high: float, *, bootstrap: None = None, level: float = ...,
    seed: int = ...,
) -> float: ...
@overload
def partial_aurc(
    confidence: Array, loss: Array, low: float, high: float, *, bootstrap: int, level: float = ..., seed: int = ...,
) -> Interval: ...
def partial_aurc(
    confidence: Array,
    loss: Array,
    low: float,
    high: float,
    *,
    bootstrap: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> float | Interval:
    """Mean selective risk over a range of coverages. Lower is better.

    Parameters
    ----------
    confidence, loss, bootstrap, level, seed
        As in :func:`metric`.
    low : float
        The coverages are above this …
    high : float
        … and at most this.

    Returns
    -------
    float or Interval

    Examples
    --------
    >>> import abstain
    >>> abstain.partial_aurc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.5, 1.0)
    0.2916...
    """
    return _measured(f"PartialAURC@{_arrays.number(low, 'low')!r}..{_arrays.number(high, 'high')!r}", confidence, loss, bootstrap, level, seed)


class RiskCoverageCurve(NamedTuple):
    """A risk-coverage curve: one entry for each threshold, from the surest rows to all of them."""

    #: The share of rows with a confidence of at least the threshold; strictly ascending, the last is 1.
    coverage: npt.NDArray[np.float64]
    #: The mean loss among them.
    selective_risk: npt.NDArray[np.float64]
    #: The thresholds; strictly descending.
    threshold: npt.NDArray[np.float64]


def risk_coverage_curve(confidence: Array, loss: Array) -> RiskCoverageCurve:
    """The selective risk at every coverage that some threshold has.

    Parameters
    ----------
    confidence, loss
        As in :func:`metric`.

    Returns
    -------
    RiskCoverageCurve
        ``coverage, selective_risk, threshold``. Rows of equal confidence are one entry, since no
        threshold tells them apart.

    Examples
    --------
    >>> import abstain
    >>> coverage, risk, threshold = abstain.risk_coverage_curve([0.9, 0.8, 0.8, 0.6], [0, 0, 1, 0])
    >>> coverage.tolist(), risk.round(2).tolist(), threshold.tolist()
    ([0.25, 0.75, 1.0], [0.0, 0.33, 0.25], [0.9, 0.8, 0.6])
    """
    columns = _arrays.vector(confidence, "confidence"), _arrays.vector(loss, "loss")
    return RiskCoverageCurve(*_abstain.curve(*columns))


class Reliability(NamedTuple):
    """Confidence against accuracy in bins of equal width: what a reliability diagram shows."""

    #: The confidence of a bin is above this, or in the first bin equal to it …
    lower: npt.NDArray[np.float64]
    #: … and at most this.
    upper: npt.NDArray[np.float64]
    #: The rows of each bin.
    rows: npt.NDArray[np.uintp]
    #: Their mean confidence; NaN where there are none.
    confidence: npt.NDArray[np.float64]
    #: The share of them that is right; NaN where there are none.
    accuracy: npt.NDArray[np.float64]
    #: The expected calibration error.
    ece: float


def reliability(probability: Array, loss: Array, *, bins: int = 15) -> Reliability:
    """Bins a confidence that is meant as a probability of being right.

    Parameters
    ----------
    probability : array-like of shape (rows,)
        Numbers between 0 and 1, such as ``abstain.score("MSP", logits, values=True)``.
    loss : array-like of shape (rows,)
        1 where the prediction is wrong, 0 where it is right.
    bins : int, default 15
        How many bins.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> import abstain
    >>> found = abstain.reliability([0.9, 0.9, 0.8, 0.6], [0, 0, 1, 0], bins=2)
    >>> found.rows.tolist(), found.accuracy.tolist()
    ([0, 4], [nan, 0.75])
    """
    columns = _arrays.vector(probability, "probability"), _arrays.vector(loss, "loss")
    return Reliability(*_abstain.reliability(*columns, _arrays.count(bins, "bins")))


def ece(probability: Array, loss: Array, *, bins: int = 15) -> float:
    """Expected calibration error: the mean distance of accuracy and confidence over bins of equal
    width. Lower is better.

    Parameters
    ----------
    probability, loss, bins
        As in :func:`reliability`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.ece([0.9, 0.9, 0.8, 0.6], [0, 0, 1, 0], bins=2)
    0.05...
    """
    return reliability(probability, loss, bins=bins).ece


def nll(
    logits: Array,
    labels: Array,
    *,
    temperature: float = 1.0,
    input: str = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
) -> float:
    """Mean negative log-likelihood of the labels: what temperature scaling minimises.

    Parameters
    ----------
    logits : array-like of shape (rows, classes)
        The outputs of a classifier.
    labels : array-like of shape (rows,)
        The true classes, counted from 0.
    temperature : float, default 1
        The logits are divided by it.
    input, floor, tolerance
        What the numbers are, as in :func:`abstain.score`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.nll([[0.0, 0.0], [0.0, 0.0]], [0, 1])
    0.6931...
    """
    kind = _arrays.kind(input, floor, tolerance)
    own = _arrays.number(temperature, "temperature")
    return _abstain.nll(_arrays.rows(logits), _arrays.labels(labels), own, kind)
