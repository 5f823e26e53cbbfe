"""Labels as people have them: class numbers, names of classes, booleans, one-hot rows."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays
from ._arrays import Array
from .errors import InputError

__all__ = ["Resolved", "Target", "class_names", "given", "labels", "resolved"]

_Integers = npt.NDArray[np.int64]
#: The class of each row; with the names of the classes where nothing states their order.
Target = Union[_Integers, Tuple[_Integers, List[str]]]


def class_names(values: Any, classes: int) -> list[str] | None:
    """One name for each class, in the order of the columns, or None."""
    if values is None:
        return None
    if isinstance(values, (str, bytes, dict)):
        raise InputError("class_names must be a list with one name per class, in their order")
    names = list(values)
    if len(names) != classes:
        raise InputError(f"class_names: {len(names)} names for {classes} classes")
    # Numbers in their order are names that no label contradicts, whether it counts or names.
    if not all(isinstance(name, str) for name in names) and names != list(range(classes)):
        hint = "for other numbers than 0, 1, … use np.searchsorted(class_names, labels)"
        raise InputError(f"class_names must be strings; {hint}")
    found = [str(name) for name in names]
    for name in found:
        if found.count(name) > 1:
            raise InputError(f"class_names: {name!r} is there twice", value=name)
    return found


class Resolved(NamedTuple):
    """Labels of a table, whose classes are known."""

    numbers: _Integers
    names: list[str] | None
    #: Whether the names are in sorted order because nothing states another.
    guessed: bool = False


def labels(
    data: Array, classes: int, names: list[str] | None, what: str = "labels"
) -> tuple[Target, list[str] | None]:
    """The class of each row, counted from 0, and the names of the classes if they are known.

    The rules are those of the program, for labels in a file. Where nothing states the order of the
    names, they go with the classes: the extension refuses an order that the rows contradict.
    """
    found = resolved(data, classes, names, what)
    if found.guessed and found.names is not None:
        return (found.numbers, found.names), found.names
    return found.numbers, found.names


def resolved(
    data: Array, classes: int, names: list[str] | None, what: str = "labels"
) -> Resolved:
    """The class of each row, and what is known of the names."""
    if isinstance(data, Resolved):
        return data._replace(names=data.names or names)
    return Resolved(*_abstain.resolve_labels(given(data, classes, what), classes, names, what))


def given(data: Array, classes: int | None, what: str = "labels") -> npt.NDArray[Any] | list[str]:
    """Labels as the extension reads them: integers, booleans, one-hot rows, or a list of strings."""
    array = _arrays.as_numpy(data, what)
    if array.ndim == 2 and array.shape[1] > 1 and classes in (None, array.shape[1]):
        numbers = array if array.dtype.kind in "biuf" else np.asarray(array, dtype=np.float64)
        return np.ascontiguousarray(numbers, dtype=np.float64)
    if array.ndim == 1 and array.dtype.kind == "b":
        return np.ascontiguousarray(array)
    if array.ndim == 1 and _holds_text(array):
        return _texts(array, what)
    return _arrays.labels(array, what)


def _holds_text(array: npt.NDArray[Any]) -> bool:
    if array.dtype.kind == "O":
        return any(isinstance(item, (str, bytes)) for item in array)
    return array.dtype.kind in "UST"


def _texts(array: npt.NDArray[Any], what: str) -> list[str]:
    found = []
    for row, item in enumerate(array.tolist()):
        if isinstance(item, bytes):
            item = item.decode(errors="replace")
        if not isinstance(item, str):
            raise InputError(f"{what}: row {row}: {item!r} is not a string", row, None, item)
        found.append(item)
    return found
