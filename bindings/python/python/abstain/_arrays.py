"""What people have, as the arrays that the extension borrows."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .errors import InputError

#: Numpy arrays, tensors, lists, columns of pandas or polars.
Array = Union[npt.ArrayLike, Any]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16))


def as_numpy(data: Array, what: str) -> npt.NDArray[Any]:
    """The data as an array of numpy's, sharing memory with it wherever that is possible."""
    if isinstance(data, np.ma.MaskedArray):
        _refuse_masked(data, what)
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        # A tensor, told by its manners: torch itself is not imported for this.
        tensor = data.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            # Numpy has no such type; single precision holds it exactly.
            tensor = tensor.float()
        return np.asarray(tensor.numpy())
    try:
        return np.asarray(data)
    except ValueError:
        # Rows of different lengths.
        raise InputError(f"{what}: the rows are not of one length") from None


def _refuse_masked(data: np.ma.MaskedArray[Any, Any], what: str) -> None:
    places = np.argwhere(np.ma.getmaskarray(data))
    if len(places):
        row, column = int(places[0][0]), int(places[0][1]) if data.ndim > 1 else None
        raise InputError(f"{what}: {_place(row, column)}: the value is masked", row, column)


def _place(row: int, column: int | None) -> str:
    return f"row {row}" if column is None else f"row {row}, column {column}"


def _numbers(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """The same as floating-point numbers; half, single and double precision stay as they are."""
    if array.dtype in _FLOATS:
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    if array.dtype.kind in "OUST":
        return _parsed(array, what)
    raise InputError(f"{what}: numbers are wanted, not {array.dtype}")


def _parsed(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Objects as numbers; the first that is none is named. Text is not read as a number."""
    out = np.empty(array.shape, dtype=np.float64)
    for index, item in np.ndenumerate(array):
        try:
            if item is None or isinstance(item, (str, bytes)):
                raise TypeError
            out[index] = item
        except (TypeError, ValueError):
            row, column = index[0], index[1] if len(index) > 1 else None
            item = item.item() if isinstance(item, np.generic) else item
            message = f"{what}: {_place(row, column)}: {item!r} is not a number"
            raise InputError(message, row, column, item) from None
    return out


def rows(data: Array, what: str = "logits") -> npt.NDArray[Any]:
    """Rows × classes. C-contiguous half, single and double precision is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 2:
        hint = "; a single row is logits[None, :]" if array.ndim == 1 else ""
        raise InputError(f"{what}: the shape is {array.shape}, but (rows, classes) is wanted{hint}")
    return np.ascontiguousarray(_numbers(array, what))


def vector(data: Array, what: str) -> npt.NDArray[np.float64]:
    """One number a row. C-contiguous double precision is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 1:
        raise InputError(f"{what}: the shape is {array.shape}, but one number a row is wanted")
    return np.ascontiguousarray(_numbers(array, what), dtype=np.float64)


def labels(data: Array, what: str = "labels") -> npt.NDArray[np.int64]:
    """One class a row, counted from 0. C-contiguous int64 is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 1:
        hint = "; of one-hot labels take the argmax" if array.ndim == 2 else ""
        raise InputError(f"{what}: the shape is {array.shape}, but one class a row is wanted{hint}")
    if array.dtype.kind not in "biu":
        numbers = _numbers(array, what).astype(np.float64, copy=False)
        wrong = np.flatnonzero(~(numbers == np.floor(numbers)) | (np.abs(numbers) > 2.0**53))
        if len(wrong):
            row, value = int(wrong[0]), float(numbers[wrong[0]])
            raise InputError(f"row {row}: label {value} is not a whole number", row, None, value)
        array = numbers
    elif array.dtype == np.uint64:
        # Beyond int64 is beyond every number of classes too.
        array = np.minimum(array, np.uint64(2**63 - 1))
    return np.ascontiguousarray(array, dtype=np.int64)


def loss(data: Array) -> str | npt.NDArray[np.float64]:
    """A loss by name, one a row, or a matrix of costs."""
    if isinstance(data, str):
        return data
    array = as_numpy(data, "loss")
    if array.ndim == 2:
        if array.shape[0] != array.shape[1]:
            wanted = "one number a row, or (classes, classes) costs, are wanted"
            raise InputError(f"loss: the shape is {array.shape}, but {wanted}")
        return np.ascontiguousarray(_numbers(array, "loss"), dtype=np.float64)
    return vector(array, "loss")
