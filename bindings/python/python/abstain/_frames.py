"""Tables: which columns are the logits and the labels, by the rules of the program."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence, TypeVar

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays, _labels
from ._arrays import Array
from ._types import Input
from .errors import InputError

__all__ = ["Rows", "read_table"]

_T = TypeVar("_T")


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
    #: The class of each row, counted from 0; None if the table has no labels.
    labels: npt.NDArray[np.int64] | None
    #: The names of the classes, where columns or labels have them.
    class_names: list[str] | None


def is_table(data: Any) -> bool:
    """Whether data are columns with names: of pandas, polars, Arrow or Hugging Face datasets."""
    if isinstance(data, (list, tuple)):
        return _has_scores(data)
    if isinstance(data, np.ndarray):
        return False
    named = hasattr(data, "column_names") or (hasattr(data, "columns") and hasattr(data, "dtypes"))
    return named and not hasattr(data, "collect")


def _has_scores(data: Sequence[Any]) -> bool:
    """Whether rows are lists of a label and a score for each class, as of transformers' pipelines."""
    row = data[0] if data else None
    cell = row[0] if isinstance(row, (list, tuple)) and row else row
    if not (isinstance(cell, dict) and {"label", "score"} <= cell.keys()):
        return False
    if cell is row:
        hint = "call the pipeline with top_k=None and a list of inputs"
        raise InputError(f"expected the scores of all classes for each row, not one label; {hint}")
    return True


def _scores(rows: Sequence[Any], input: str) -> list[tuple[str, Any]]:
    """The scores of each class as a column, whose name says that it is one."""
    names = sorted(str(cell["label"]) for cell in rows[0])
    columns: dict[str, list[float]] = {name: [] for name in names}
    for number, row in enumerate(rows):
        if sorted(str(cell["label"]) for cell in row) != names:
            raise InputError(f"row {number}: its labels are not those of row 0", number)
        for cell in row:
            columns[str(cell["label"])].append(_arrays.number(cell["score"], "score"))
    prefix = "prob_" if input == "probabilities" else "logit_"
    return [(prefix + name, np.asarray(column)) for name, column in columns.items()]


def _columns(table: Any) -> list[tuple[str, Any]]:
    """The columns of a table that does not speak Arrow, as pandas without pyarrow."""
    names = table.column_names if hasattr(table, "column_names") else table.columns
    return [(str(name), _column(table[name], name)) for name in names]


def _column(column: Any, name: Any) -> Any:
    """A column as the extension reads it; None if it holds neither numbers nor text."""
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype == object and len(array) and isinstance(array[0], (list, tuple, np.ndarray)):
        try:
            array = np.stack([np.asarray(row) for row in array])
        except ValueError:
            raise InputError(f"column {name!r}: the lists have different lengths") from None
    kind = array.dtype.kind
    if array.ndim == 2:
        wanted = array.dtype if array.dtype == np.float32 else np.float64
        return np.ascontiguousarray(array, dtype=wanted) if kind in "fiub" else None
    if kind == "f" and array.dtype != np.float32:
        return array.astype(np.float64)
    if kind in "iu":
        return array.astype(np.int64)
    if kind in "OUT" and all(isinstance(value, str) for value in array):
        return array.tolist()
    return np.ascontiguousarray(array) if kind in "fb" else None


def read_table(
    table: Any,
    *,
    logits: str | Sequence[str] | None = None,
    labels: str | None = None,
    class_names: Sequence[str] | None = None,
    input: Input = "logits",
) -> Rows:
    """Find the logits and the labels in a table.

    :func:`abstain.tune` and the methods of :class:`abstain.Estimator` call it where they are given a
    table. The rules are those of the program: numbered columns are classes by their numbers, columns
    called ``loss``, ``pred``, ``score`` and the like are never classes, and what is not certain is
    refused.

    Parameters
    ----------
    table : DataFrame of pandas or polars, pyarrow.Table, datasets.Dataset or a relation of DuckDB
        Anything with columns that speaks Arrow's PyCapsule interface.
        One column per class, or a column of lists; and perhaps a column of labels. A list with a
        list of ``{"label": ..., "score": ...}`` for each row, as of pipelines of transformers with
        ``top_k=None``, is a table with a column for each label.
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
    return _read(table, logits, labels, class_names, input, need_labels=labels is not None)[0]


def _read(
    table: Any,
    logits: str | Sequence[str] | None,
    labels: str | None,
    class_names: Sequence[str] | None,
    input: str,
    need_labels: bool | None,
    given_labels: Array | None = None,
) -> tuple[Rows, bool]:
    """The rows of a table, and whether their class names are in an order that nothing states."""
    name = ",".join(logits) if logits is not None and not isinstance(logits, str) else logits
    names = None if class_names is None else [str(name) for name in class_names]
    given = None if given_labels is None else _labels.given(given_labels, None)
    options = (input, name, labels, names, given, need_labels)
    numbers, found, known, guessed = _reading(
        table, input, lambda found, rows: _abstain.read_table(found, rows, *options)
    )
    return Rows(numbers, found, known), guessed


def _reading(table: Any, input: str, read: Callable[[Any, int], _T]) -> _T:
    """What is read of a table: of what it gives as Arrow, or of its columns and how many rows they have."""
    if not is_table(table):
        raise InputError(f"table: expected columns with names, got {type(table).__name__}")
    if isinstance(table, (list, tuple)):
        return read(_scores(table, input), len(table))
    if hasattr(table, "with_format"):
        # A dataset: its rows as Arrow, with what it knows of its columns.
        table = table.with_format("arrow")[:]
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return read(table, 0)
        except InputError:
            raise
        except Exception:
            # pandas needs pyarrow for it, and pyarrow refuses a column of several types.
            pass
    return read(_columns(table), len(table))


def confidences(
    table: Any, correct: Array | None = None, loss: Array | None = None
) -> tuple[npt.NDArray[np.float64], Any]:
    """The confidences of a table and the losses of its predictions, of columns or as they are given."""
    names = [name if isinstance(name, str) else None for name in (correct, loss)]
    found, losses = _reading(
        table, "confidence", lambda found, rows: _abstain.read_confidences(found, rows, *names)
    )
    return found, losses


def labelled(
    rows: Array, labels: Array | None, class_names: Any, input: str
) -> tuple[Array, Array, Any]:
    """Logits, labels and class names, of a table or as they are given."""
    if not is_table(rows):
        if labels is None:
            raise InputError("labels are needed; only a table may hold them itself")
        if isinstance(labels, str):
            raise InputError(f"labels is {labels!r}, but only a table has columns with names")
        return rows, labels, class_names
    named = labels if isinstance(labels, str) else None
    given = None if labels is None or named is not None else labels
    found, guessed = _read(rows, None, named, class_names, input, given is None, given)
    names = found.class_names if class_names is None else class_names
    # They were given or needed.
    assert found.labels is not None
    return found.logits, _labels.Resolved(found.labels, found.class_names, guessed), names


def logits_of(rows: Array, class_names: Sequence[str] | None, input: str) -> Array:
    """The logits of a table; anything else as it is."""
    if not is_table(rows):
        return rows
    return _read(rows, None, None, class_names, input, need_labels=None)[0].logits
