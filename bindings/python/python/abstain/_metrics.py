"""Metrics of any confidence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays, _frames, _labels
from ._arrays import Array
from ._types import Convention, Input
from .errors import InputError

_Floats = npt.NDArray[np.float64]

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
    "interval",
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
    """A value with its interval.

    Examples
    --------
    >>> import abstain
    >>> aurc = abstain.interval("AURC", [0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    >>> aurc.low <= aurc.estimate <= aurc.high
    True
    >>> float(aurc) == aurc.estimate
    True
    """

    #: The value on the rows themselves.
    estimate: float
    #: The lower end of the interval.
    low: float
    #: The upper end of the interval.
    high: float
    #: The standard error: of the influence function, or the standard deviation over the replicates.
    standard_error: float
    #: The number of replicates in which the value is defined; the others are left out. None for a
    #: closed form.
    replicates: int | None

    def __float__(self) -> float:
        return self.estimate


def _columns(confidence: Array, loss: Array | None) -> tuple[_Floats, _Floats]:
    if _frames.is_table(confidence):
        confidence, found = _frames.confidences(confidence, loss=loss)
        loss = found if loss is None or isinstance(loss, str) else loss
        if loss is None:
            raise InputError("table: nothing in it says which predictions are right; give loss=")
    elif loss is None or isinstance(loss, str):
        raise InputError("loss is needed; only a table may hold it itself")
    first, second = _arrays.vector(confidence, "confidence"), _arrays.vector(loss, "loss")
    flags = (first == 0) | (first == 1)
    if flags.all() and len(first) and first.min() < first.max():
        # Losses may be graded, and then a few of them are 0 or 1.
        others = (second != 0) & (second != 1)
        if 2 * others.sum() > len(second):
            raise InputError(
                "confidence holds only 0 and 1, and loss holds other numbers: the arguments look "
                "swapped (the confidence comes first, then the loss); if they are not, use 2 * "
                "confidence, which ranks alike"
            )
    return first, second


def _how(replicates: int | None, level: float, seed: int) -> tuple[int | None, float, int]:
    return (
        _arrays.optional_count(replicates, "replicates"),
        _arrays.number(level, "level"),
        _arrays.count(seed, "seed"),
    )


def metric(
    name: str, confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> float:
    """Compute a metric by its name, such as ``"NAURC"`` or ``"SAC@0.98"``.

    Parameters
    ----------
    name : str
        A name of :func:`abstain.metric_names`, with its parameters after an ``@``.
    confidence : array-like of shape (rows,), or table
        Any confidence: higher is surer. Infinities are allowed, NaN is not. Of a table, the column
        called ``confidence``, ``score`` or the like.
    loss : array-like of shape (rows,), optional
        What each prediction costs: 1 or True where it is wrong, 0 where it is right; or any
        non-negative numbers, for the metrics that take them. Of a table, the name of a column
        (default: what says which predictions are right, as losses, as flags called ``correct`` or
        the like, or as predictions and labels).
    sample_weight : array-like of shape (rows,), optional
        How many rows each row counts as: a weight of 2 is the same as the row twice, and rows of
        weight 0 are ignored.

    Returns
    -------
    float

    Raises
    ------
    UndefinedError
        If the metric is undefined for these rows.

    See Also
    --------
    interval : The same with its interval.
    difference : The difference of two confidences, with its interval.

    Notes
    -----
    The order of the rows does not matter. Rows with equal confidence are accepted together; where a
    metric depends on the order within such a group, as AURC does, it is the mean over all orders.

    AURC, E-AURC, NAURC and PartialAURC are means over the numbers of accepted rows, so that the
    scale of the weights is a number of rows to them. For weights that say only how rows compare,
    use ``weights * len(weights) / weights.sum()``; where the weights of several rows sum to 1 or
    less, these metrics are undefined. To the others the scale does not matter.
    :func:`abstain.interval` counts rows and takes no weights; :func:`abstain.certify` takes them.

    Examples
    --------
    >>> import abstain
    >>> abstain.metric("SAC@0.75", [0.9, 0.8, 0.7, 0.6], [0, 1, 0, 0])
    1.0
    >>> abstain.metric("Accuracy", [0.9, 0.8, 0.7], [0, 1, 0], sample_weight=[1, 2, 1])
    0.5
    """
    name, columns = _arrays.text(name, "name"), _columns(confidence, loss)
    return _abstain.metric(name, *columns, _arrays.weights(sample_weight))


def interval(
    name: str,
    confidence: Array,
    loss: Array | None = None,
    *,
    replicates: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Compute a metric with its interval.

    Parameters
    ----------
    name, confidence, loss
        As in :func:`metric`.
    replicates : int, optional
        The number of resamples of a percentile bootstrap, in place of the closed form. It misses
        what these rows miss, such as a rare confident error, and is too narrow where there are few
        errors.
    level : float, default 0.95
        The coverage probability of the interval.
    seed : int, default 0
        The seed of the resamples.

    Returns
    -------
    Interval

    Notes
    -----
    The closed form takes one sort. It counts one error more than was seen: a few errors among the
    surest rows decide the value, and these rows may have missed one.

    Raises
    ------
    UndefinedError
        If the metric is undefined for these rows.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.interval("NAURC", [9, 8, 1, 7, 2, 6], [0, 0, 1, 0, 1, 1])
    >>> found.low <= found.estimate <= found.high
    True
    """
    name, how = _arrays.text(name, "name"), _how(replicates, level, seed)
    return Interval(*_abstain.interval(name, *_columns(confidence, loss), how))


def difference(
    name: str,
    a: Array,
    b: Array,
    loss: Array,
    *,
    replicates: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Compute the metric of confidence `a` minus that of `b`, with the interval of the difference.

    Both confidences are measured on the same rows, so the interval is much narrower than a
    comparison of two separate intervals. Use it to decide whether one confidence is better than
    another.

    Parameters
    ----------
    name : str
        The metric, as in :func:`metric`.
    a, b : array-like of shape (rows,)
        Two confidences of the same rows.
    loss : array-like of shape (rows,)
        As in :func:`metric`.
    replicates, level, seed
        As in :func:`interval`.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import abstain
    >>> loss = [0, 0, 1, 0, 1, 0, 0, 1]
    >>> a = [9, 8, 1, 7, 2, 6, 5, 3]
    >>> gain = abstain.difference("AUROC", a, [1] * 8, loss)
    >>> gain.estimate, gain.low < gain.estimate < gain.high
    (0.5, True)
    """
    name, how = _arrays.text(name, "name"), _how(replicates, level, seed)
    first, losses = _columns(a, loss)
    second = _arrays.vector(b, "confidence")
    return Interval(*_abstain.difference(name, first, second, losses, how))


def aurc(
    confidence: Array,
    loss: Array | None = None,
    *,
    convention: Convention | None = None,
    sample_weight: Array | None = None,
) -> float:
    """Area under the risk-coverage curve: the mean selective risk over all coverages.

    Lower is better.

    Parameters
    ----------
    confidence, loss
        As in :func:`metric`.
    convention : str, optional
        The AURC of another project, to reproduce published numbers: ``"geifman-el-yaniv"``,
        ``"fix-selective-classification"``, ``"torch-uncertainty"`` or ``"fd-shifts"``.
    sample_weight
        As in :func:`metric`; not with a convention.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.aurc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.1458...
    """
    if convention is None:
        return metric("AURC", confidence, loss, sample_weight=sample_weight)
    if sample_weight is not None:
        raise InputError("sample_weight: a convention of another project takes no weights")
    name = _arrays.text(convention, "convention")
    return _abstain.aurc_of(name, *_columns(confidence, loss))


def e_aurc(
    confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> float:
    """AURC minus that of an ideal confidence.

    Lower is better.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.e_aurc([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    0.0
    """
    return metric("E-AURC", confidence, loss, sample_weight=sample_weight)


def naurc(
    confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> float:
    """AURC scaled so that an ideal confidence has 0 and a random one 1.

    Lower is better.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.naurc([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    0.0
    """
    return metric("NAURC", confidence, loss, sample_weight=sample_weight)


def auroc(
    confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> float:
    """Probability that a correct row has a higher confidence than a wrong one.

    Higher is better. Losses must be 0 or 1.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.auroc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.6666...
    """
    return metric("AUROC", confidence, loss, sample_weight=sample_weight)


def augrc(
    confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> float:
    """Area under the generalised-risk-coverage curve.

    The generalised risk is the probability that a row is accepted and wrong. Lower is better.
    Losses must be 0 or 1.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.09375
    """
    return metric("AUGRC", confidence, loss, sample_weight=sample_weight)


def accuracy(
    confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> float:
    """Share of correct rows, whatever their confidence.

    Losses must be 0 or 1.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.accuracy([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0])
    0.75
    """
    return metric("Accuracy", confidence, loss, sample_weight=sample_weight)


def sac(
    confidence: Array, loss: Array, accuracy: float, *, sample_weight: Array | None = None
) -> float:
    """Selective accuracy constraint: the largest coverage at an accuracy.

    Higher is better.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.
    accuracy : float
        The accuracy required of the accepted rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.sac([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.98)
    0.5
    """
    name = f"SAC@{_arrays.number(accuracy, 'accuracy')!r}"
    return metric(name, confidence, loss, sample_weight=sample_weight)


def coverage_at_risk(
    confidence: Array, loss: Array, risk: float, *, sample_weight: Array | None = None
) -> float:
    """Largest coverage at a selective risk.

    Higher is better.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.
    risk : float
        The selective risk allowed among the accepted rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.coverage_at_risk([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.25)
    1.0
    """
    name = f"CoverageAtRisk@{_arrays.number(risk, 'risk')!r}"
    return metric(name, confidence, loss, sample_weight=sample_weight)


def risk_at_coverage(
    confidence: Array, loss: Array, coverage: float, *, sample_weight: Array | None = None
) -> float:
    """Selective risk at a coverage.

    Lower is better.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.
    coverage : float
        The share of rows that are accepted.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.risk_at_coverage([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.75)
    0.3333...
    """
    name = f"RiskAtCoverage@{_arrays.number(coverage, 'coverage')!r}"
    return metric(name, confidence, loss, sample_weight=sample_weight)


def partial_aurc(
    confidence: Array, loss: Array, low: float, high: float, *, sample_weight: Array | None = None
) -> float:
    """Mean selective risk over a range of coverages.

    Lower is better.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.
    low, high : float
        The range of coverages: above `low`, at most `high`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.partial_aurc([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0], 0.5, 1.0)
    0.2916...
    """
    low, high = _arrays.number(low, "low"), _arrays.number(high, "high")
    name = f"PartialAURC@{low!r}..{high!r}"
    return metric(name, confidence, loss, sample_weight=sample_weight)


class RiskCoverageCurve(NamedTuple):
    """A risk-coverage curve: one point per threshold, from the highest threshold to the lowest."""

    #: The share of rows with a confidence of at least the threshold; strictly ascending, ends at 1.
    coverage: _Floats
    #: Their mean loss.
    selective_risk: _Floats
    #: The thresholds; strictly descending.
    threshold: _Floats


def risk_coverage_curve(
    confidence: Array, loss: Array | None = None, *, sample_weight: Array | None = None
) -> RiskCoverageCurve:
    """Compute the selective risk at every coverage that a threshold can reach.

    Parameters
    ----------
    confidence, loss, sample_weight
        As in :func:`metric`.

    Returns
    -------
    RiskCoverageCurve
        ``coverage, selective_risk, threshold``. Rows with equal confidence are one point, since no
        threshold separates them.

    Examples
    --------
    >>> import abstain
    >>> coverage, risk, threshold = abstain.risk_coverage_curve([0.9, 0.8, 0.8, 0.6], [0, 0, 1, 0])
    >>> coverage.tolist(), risk.round(2).tolist(), threshold.tolist()
    ([0.25, 0.75, 1.0], [0.0, 0.33, 0.25], [0.9, 0.8, 0.6])
    """
    columns = _columns(confidence, loss)
    return RiskCoverageCurve(*_abstain.curve(*columns, _arrays.weights(sample_weight)))


class Reliability(NamedTuple):
    """Confidence against accuracy in bins of equal width, as in a reliability diagram."""

    #: The lower edge of each bin, which the first bin alone includes.
    lower: _Floats
    #: The upper edge of each bin, included.
    upper: _Floats
    #: The number of rows in each bin; their weight if they have one.
    rows: npt.NDArray[np.uintp] | _Floats
    #: Their mean confidence; NaN for an empty bin.
    confidence: _Floats
    #: The share of them that is correct; NaN for an empty bin.
    accuracy: _Floats
    #: The expected calibration error.
    ece: float


def reliability(
    probability: Array, loss: Array, *, bins: int = 15, sample_weight: Array | None = None
) -> Reliability:
    """Bin a confidence that is meant as the probability of being correct.

    Parameters
    ----------
    probability : array-like of shape (rows,)
        Numbers between 0 and 1, such as ``abstain.score("MSP", logits, values=True)``.
    loss : array-like of shape (rows,)
        1 where the prediction is wrong, 0 where it is right.
    bins : int, default 15
        The number of bins.
    sample_weight : array-like of shape (rows,), optional
        As in :func:`metric`.

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
    weights, bins = _arrays.weights(sample_weight), _arrays.count(bins, "bins")
    return Reliability(*_abstain.reliability(*columns, weights, bins))


def ece(
    probability: Array, loss: Array, *, bins: int = 15, sample_weight: Array | None = None
) -> float:
    """Expected calibration error: the mean gap between accuracy and confidence over equal bins.

    Lower is better.

    Parameters
    ----------
    probability, loss, bins, sample_weight
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
    return reliability(probability, loss, bins=bins, sample_weight=sample_weight).ece


def nll(
    logits: Array,
    labels: Array | None = None,
    *,
    temperature: float = 1.0,
    input: Input = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
) -> float:
    """Mean negative log-likelihood of the labels, which temperature scaling minimises.

    Parameters
    ----------
    logits : array-like of shape (rows, classes), or table
        The outputs of a classifier.
    labels : array-like of shape (rows,), optional
        The true classes, or the name of their column in a table, as in :func:`abstain.tune`.
    temperature : float, default 1
        The logits are divided by it.
    input, floor, tolerance
        What the numbers of `logits` are, as in :func:`abstain.score`.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.nll([[0.0, 0.0], [0.0, 0.0]], [0, 1])
    0.6931...
    """
    temperature = _arrays.number(temperature, "temperature")
    encoding = _arrays.encoding(input, floor, tolerance)
    logits, labels, _ = _frames.labelled(logits, labels, None, input)
    rows = _arrays.rows(logits, input=input)
    found, _ = _labels.labels(labels, _arrays.classes(rows, input), None)
    return _abstain.nll(rows, found, temperature, encoding)
