"""Names of methods and metrics; predictions and their losses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays, _frames, _labels
from ._arrays import Array
from ._types import Input

__all__ = ["losses", "methods", "metric_names", "predictions"]


def methods(*, default: bool = False) -> list[str]:
    """List the names of all methods.

    Parameters
    ----------
    default : bool, default False
        Only those that :func:`abstain.tune` tunes by default.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import abstain
    >>> "MaxLogit-pNorm" in abstain.methods()
    True
    """
    if default:
        return _abstain.methods_of_the_paper()
    return [name for name, _ in _abstain.methods()]


def metric_names() -> list[str]:
    """List the names of all metrics, with those of their parameters.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import abstain
    >>> [name for name in abstain.metric_names() if name.startswith("S")]
    ['SAC@accuracy']
    """
    names = []
    for name, parameters, _ in _abstain.metric_kinds():
        names.append(f"{name}@{'..'.join(parameters)}" if parameters else name)
    return names


def predictions(
    logits: Array,
    *,
    input: Input = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
) -> npt.NDArray[np.int64]:
    """Predict the class of each row: that of the largest logit, the first of them if several tie.

    Parameters
    ----------
    logits, input, floor, tolerance
        As in :func:`abstain.score`.

    Returns
    -------
    ndarray of shape (rows,)

    Examples
    --------
    >>> import abstain
    >>> abstain.predictions([[0.0, 2.0], [1.0, 1.0]])
    array([1, 0])
    """
    encoding = _arrays.encoding(input, floor, tolerance)
    rows = _arrays.rows(_frames.logits_of(logits, None, input), input=input)
    return _abstain.predictions(rows, encoding)


def losses(
    logits: Array,
    labels: Array | None = None,
    *,
    loss: Array = "zero-one",
    input: Input = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
) -> npt.NDArray[np.float64]:
    """Compute what each prediction costs: the `loss` argument of the metrics.

    Parameters
    ----------
    logits, input, floor, tolerance
        As in :func:`abstain.score`.
    labels : array-like of shape (rows,), optional
        The true classes, or the name of their column in a table, as in :func:`abstain.tune`.
    loss : str or array-like, default "zero-one"
        As in :func:`abstain.tune`.

    Returns
    -------
    ndarray of shape (rows,)

    Examples
    --------
    >>> import abstain
    >>> abstain.losses([[0.0, 2.0], [1.0, 1.0]], [1, 1])
    array([0., 1.])
    """
    encoding = _arrays.encoding(input, floor, tolerance)
    logits, labels, _ = _frames.labelled(logits, labels, None, input)
    rows = _arrays.rows(logits, input=input)
    found, _ = _labels.labels(labels, _arrays.classes(rows, input), None)
    return _abstain.losses(rows, found, _arrays.loss(loss), encoding)
