"""Tables: which columns are the logits and the labels, by the rules of the program."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays
from ._arrays import Array
from .errors import InputError

__all__ = ["Rows", "read_table"]


class Rows(NamedTuple):
    """The logits and labels of a table, as :func:`abstain.read_table` finds them.

    Examples
    --------
    >>> import abstain, pandas
    >>> table = pandas.DataFrame({"p0": [0.5, 0.1], "p1": [0.5, 0.9], "label": [0, 1]})
    >>> rows = abstain.read_table(table, input="probabilities")
    >>> rows.labels
    array([0, 1])
    """

    #: Rows × classes; one number per row for a binary classifier that gives one.
    logits: npt.NDArray[Any]
    #: The labels; None if the table has none.
    labels: npt.NDArray[Any] | None
    #: The names of the classes, where the columns have them.
    class_names: list[str] | None


def is_table(data: Any) -> bool:
    """Whether data are columns with names: of pandas, polars, Arrow or Hugging Face datasets."""
    if isinstance(data, (np.ndarray, list, tuple)):
        return False
    named = hasattr(data, "column_names") or (hasattr(data, "columns") and hasattr(data, "dtypes"))
    return named and not hasattr(data, "collect")


def _names(table: Any) -> list[Any]:
    names = table.column_names if hasattr(table, "column_names") else table.columns
    return list(names)


def _column(table: Any, name: Any) -> npt.NDArray[Any]:
    """A column as an array; lists of one length make two dimensions."""
    column = table[name]
    if hasattr(column, "combine_chunks"):
        # Arrow: nulls must not become NaN unseen.
        if column.null_count:
            row = next(i for i, value in enumerate(column) if not value.is_valid)
            raise InputError(f"row {row}, column {name!r}: the value is missing", row)
        column = column.to_pylist() if "list" in str(column.type) else column.to_numpy()
    elif hasattr(column, "to_numpy"):
        column = column.to_numpy()
    array = np.asarray(column)
    if array.dtype == object and len(array) and isinstance(array[0], (list, tuple, np.ndarray)):
        try:
            array = np.stack([np.asarray(row) for row in array])
        except ValueError:
            raise InputError(f"column {name!r}: the lists have different lengths") from None
    return array


def _kind(array: npt.NDArray[Any]) -> str:
    kinds = {"f": "float", "i": "integer", "u": "integer", "b": "bool", "U": "text", "S": "text"}
    if array.dtype.kind == "O" or array.dtype.kind == "T":
        values = [value for value in array.ravel()[:100] if value is not None]
        if values and all(isinstance(value, str) for value in values):
            return "text"
        if values and all(isinstance(value, (bool, np.bool_)) for value in values):
            return "bool"
        return "other"
    return kinds.get(array.dtype.kind, "other")


def read_table(
    table: Any,
    *,
    logits: str | Sequence[str] | None = None,
    labels: str | None = None,
    class_names: Sequence[str] | None = None,
    input: str = "logits",
) -> Rows:
    """Find the logits and the labels in a table.

    :func:`abstain.tune` and the methods of :class:`abstain.Estimator` call it where they are given a
    table. The rules are those of the program: numbered columns are classes by their numbers, columns
    called ``loss``, ``pred``, ``score`` and the like are never classes, and what is not certain is
    refused.

    Parameters
    ----------
    table : DataFrame of pandas or polars, pyarrow.Table or datasets.Dataset
        One column per class, or a column of lists; and perhaps a column of labels.
    logits : str or sequence of str, optional
        The columns of the logits: the name of a column of lists, a pattern such as ``"logit_*"``, or
        the columns in the order of the classes.
    labels : str, optional
        The column of the labels (default: one called ``label``, ``y_true``, ``target`` or the like).
    class_names : sequence of str, optional
        The names of the classes in their order; columns of these names are the logits.
    input : str, default "logits"
        What the numbers are, as in :func:`abstain.score`.

    Returns
    -------
    Rows
        ``logits``, ``labels`` (None without any) and ``class_names``.

    Raises
    ------
    InputError
        If the columns do not determine the reading.

    Examples
    --------
    >>> import abstain, pandas
    >>> table = pandas.DataFrame({"logit_1": [0.5, 2.0], "logit_0": [1.5, 0.0], "loss": [0.1, 0.2]})
    >>> abstain.read_table(table.assign(y_true=[0, 1])).logits
    array([[1.5, 0.5],
           [0. , 2. ]])
    """
    return _read(table, logits, labels, class_names, input, need_labels=labels is not None)


def _read(
    table: Any,
    logits: str | Sequence[str] | None,
    labels: str | None,
    class_names: Sequence[str] | None,
    input: str,
    need_labels: bool,
    given_labels: Array | None = None,
) -> Rows:
    if not is_table(table):
        raise InputError(f"table: expected columns with names, got {type(table).__name__}")
    names = _names(table)
    arrays = [_column(table, name) for name in names]
    fields = [(str(n), _kind(a), a.ndim > 1) for n, a in zip(names, arrays, strict=True)]
    found_labels = None
    if given_labels is None:
        try:
            index = _abstain.place_table_labels(fields, labels)
            found_labels = arrays[index]
            labels = fields[index][0]
        except InputError:
            if need_labels:
                raise
    texts = None
    known = found_labels if given_labels is None else np.asarray(given_labels)
    if known is not None and known.ndim == 1 and _kind(known) == "text":
        texts = sorted({str(label) for label in known})
    name = ",".join(logits) if logits is not None and not isinstance(logits, str) else logits
    given = None if class_names is None else [str(name) for name in class_names]
    columns, found_names, uncertain = _abstain.place_table_logits(
        fields, input, name, given, labels, texts
    )
    if uncertain and known is not None and known.dtype.kind in "iu" and len(known):
        seen = int(known.max()) + 1
        if seen != len(columns):
            listed = ", ".join(repr(fields[index][0]) for index in columns)
            raise InputError(
                f"{len(columns)} columns may be classes ({listed}), but the labels have {seen}; "
                "name them with abstain.read_table(logits=[...]) or class_names="
            )
    picked = [arrays[index] for index in columns]
    rows = picked[0] if len(picked) == 1 else np.column_stack(picked)
    return Rows(rows, found_labels, found_names)


def split(
    rows: Array, labels: Array | None, class_names: Any, input: str
) -> tuple[Array, Array, Any]:
    """Logits, labels and class names, of a table or as they are given."""
    if not is_table(rows):
        if labels is None:
            raise InputError("labels are needed; only a table may hold them itself")
        return rows, labels, class_names
    named = labels if isinstance(labels, str) else None
    given = None if labels is None or named is not None else labels
    found = _read(rows, None, named, class_names, input, given is None, given)
    names = found.class_names if class_names is None else class_names
    return found.logits, found.labels if given is None else given, names


def logits_of(rows: Array, class_names: Sequence[str] | None, input: str) -> Array:
    """The logits of a table; anything else as it is."""
    if not is_table(rows):
        return rows
    return _read(rows, None, None, class_names, input, need_labels=False).logits
