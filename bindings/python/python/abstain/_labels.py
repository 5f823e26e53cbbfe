"""Labels as people have them: class numbers, names of classes, booleans, one-hot rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrays
from ._arrays import Array
from .errors import InputError

__all__ = ["class_names", "labels"]

_Integers = npt.NDArray[np.int64]


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


def labels(
    data: Array, classes: int, names: list[str] | None, what: str = "labels"
) -> tuple[_Integers, list[str] | None]:
    """The class of each row, counted from 0, and the names of the classes if they are known.

    Strings are matched with the names; without names, with their sorted distinct values.
    """
    array = _arrays.as_numpy(data, what)
    if array.ndim == 2 and array.shape[1] == classes > 1:
        return _of_one_hot(array, what), names
    if array.ndim == 1 and array.dtype.kind == "b":
        return _of_booleans(array, classes, names, what), names
    if array.ndim == 1 and _holds_text(array):
        return _of_text(_texts(array, what), classes, names, what)
    return _arrays.labels(array, what), names


def _of_one_hot(array: npt.NDArray[Any], what: str) -> _Integers:
    numbers = array if array.dtype.kind in "biuf" else np.asarray(array, dtype=np.float64)
    valid = ((numbers == 0) | (numbers == 1)).all(axis=1) & (numbers.sum(axis=1) == 1)
    wrong = np.flatnonzero(~valid)
    if len(wrong):
        row = int(wrong[0])
        raise InputError(f"{what}: row {row} is not one-hot: a single 1 and zeros", row)
    found: _Integers = numbers.argmax(axis=1).astype(np.int64)
    return found


def _of_booleans(
    array: npt.NDArray[Any], classes: int, names: list[str] | None, what: str
) -> _Integers:
    if classes != 2:
        raise InputError(f"{what}: booleans are labels of 2 classes, but there are {classes}")
    found = array.astype(np.int64)
    reversed_names = names is not None and [name.lower() for name in names] == ["true", "false"]
    return 1 - found if reversed_names else found


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


def _of_text(
    texts: list[str], classes: int, names: list[str] | None, what: str
) -> tuple[_Integers, list[str]]:
    if names is None:
        names = sorted(set(texts))
        if len(names) != classes:
            several = f"{len(names)} different strings for {classes} classes"
            raise InputError(f"{what}: {several}: give class_names=, one name for each column")
    places = {name: place for place, name in enumerate(names)}
    found = np.empty(len(texts), dtype=np.int64)
    for row, text in enumerate(texts):
        if text not in places:
            shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            message = f"{what}: row {row}: {text!r} is no class name; there are {shown}"
            raise InputError(message, row, None, text)
        found[row] = places[text]
    return found, names
