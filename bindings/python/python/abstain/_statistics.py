"""Statistics over many classifiers."""

from __future__ import annotations

from . import _abstain, _arrays
from ._arrays import Array

__all__ = ["average_positive_gain", "pearson", "spearman"]


def average_positive_gain(baseline: Array, method: Array, *, epsilon: float = 0.01) -> float:
    """Compute the paper's average positive gain (APG) of a method over a baseline.

    Parameters
    ----------
    baseline, method : array-like of shape (classifiers,)
        A metric for which lower is better, such as NAURC, of each classifier.
    epsilon : float, default 0.01
        Gains up to this count as 0.

    Returns
    -------
    float
        The mean over all classifiers of the gain, where gains up to `epsilon` count as 0.

    Examples
    --------
    >>> import abstain
    >>> abstain.average_positive_gain([0.3, 0.2, 0.1], [0.2, 0.25, 0.1])
    0.03333...
    """
    first, second = _arrays.vector(baseline, "baseline"), _arrays.vector(method, "method")
    return _abstain.average_positive_gain(first, second, _arrays.number(epsilon, "epsilon"))


def pearson(x: Array, y: Array) -> float:
    """Compute Pearson's correlation; undefined if a variable is constant.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The two variables.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.pearson([1, 2, 3], [2, 4, 6])
    1.0
    """
    return _abstain.pearson(_arrays.vector(x, "x"), _arrays.vector(y, "y"))


def spearman(x: Array, y: Array) -> float:
    """Compute Spearman's rank correlation; ties have their mean rank.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The two variables.

    Returns
    -------
    float

    Examples
    --------
    >>> import abstain
    >>> abstain.spearman([1, 2, 3], [1, 10, 100])
    1.0
    """
    return _abstain.spearman(_arrays.vector(x, "x"), _arrays.vector(y, "y"))
