"""What can go wrong. Everything that input can cause is a :class:`ValueError`; files are
:class:`OSError`."""

from __future__ import annotations

from typing import Any

__all__ = ["InfeasibleError", "InputError", "NoThresholdWarning", "UndefinedError"]


class InputError(ValueError):
    """Input that is not what it should be: a value, a shape, a name, a parameter.

    Attributes
    ----------
    row, column : int or None
        Where it is, counted from 0, if it is in one place.
    value : object
        What is there.

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
    """A metric of sound input that does not exist, as the AUROC of a classifier without errors.

    Examples
    --------
    >>> import abstain
    >>> abstain.auroc([0.9, 0.8], [0, 0])
    Traceback (most recent call last):
        ...
    abstain.errors.UndefinedError: undefined: no row is wrong
    """


class InfeasibleError(ValueError):
    """No threshold does what was asked, or none can be certified on these rows."""


class NoThresholdWarning(UserWarning):
    """Tuning was asked for a threshold, and there is none."""
