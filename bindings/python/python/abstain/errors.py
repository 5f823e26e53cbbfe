"""Exceptions and warnings.

Errors of the input are a :class:`ValueError`, those of files an :class:`OSError`.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from . import _abstain

__all__ = ["DataWarning", "InfeasibleError", "InputError", "NoThresholdWarning", "UndefinedError"]


class InputError(ValueError):
    """Invalid input: a value, a shape, a name, a parameter.

    Attributes
    ----------
    row, column : int or None
        The place of the invalid value, counted from 0, if it has one.
    value : object
        The invalid value, if there is one.

    Examples
    --------
    >>> import abstain
    >>> try:
    ...     abstain.score("MSP", [[1.0, 2.0], [0.5, float("nan")]])
    ... except abstain.InputError as error:
    ...     print(error)
    ...     print(error.row, error.column, error.value)
    row 1, column 1: logit NaN is not a finite number
    1 1 nan
    """

    def __init__(
        self,
        message: str,
        row: int | None = None,
        column: int | None = None,
        value: Any = None,
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.value = value


class UndefinedError(InputError):
    """A metric that is undefined for valid input, such as the AUROC of a classifier without errors.

    Examples
    --------
    >>> import abstain
    >>> abstain.auroc([0.9, 0.8], [0, 0])
    Traceback (most recent call last):
        ...
    abstain.errors.UndefinedError: undefined: no row is wrong
    """


class InfeasibleError(ValueError):
    """A valid request without a solution: no threshold meets or certifies the target."""


class DataWarning(UserWarning):
    """Something about rows that looks wrong, although they can be read.

    Logits that look like probabilities, predictions that agree with the labels no more often than by
    chance, rows that tuned the estimator among those that measure it, and the like. The report of a
    result lists them under ``"warnings"``.

    Examples
    --------
    >>> import warnings, abstain
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", abstain.DataWarning)
    ...     evaluation = abstain.Estimator("MSP").evaluate([[1.0, 0.0]] * 30, [0, 1] * 15)
    >>> [warning["kind"] for warning in evaluation.report["warnings"]]
    ['looks-like-probabilities', 'chance-accuracy', 'constant-confidence']
    """


def warn_of(found: list[dict[str, Any]], stacklevel: int) -> None:
    """Warn of what looks wrong with rows."""
    for warning in found:
        text = _abstain.warning_text(json.dumps(warning))
        warnings.warn(text, DataWarning, stacklevel=stacklevel)


class NoThresholdWarning(UserWarning):
    """A threshold was requested of :func:`abstain.tune` and does not exist."""
