"""What people have, as the arrays that the extension borrows."""

from __future__ import annotations

import operator
from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from .errors import InputError

_T = TypeVar("_T", bound=np.generic)

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
    for manner, remedy in (("toarray", ".toarray()"), ("collect", ".collect()")):
        # Sparse matrices, and frames that are not there yet.
        if hasattr(data, manner) and not hasattr(data, "__array__"):
            raise InputError(f"{what}: an array is wanted, not {type(data).__name__}; give {remedy}")
    try:
        array = np.asarray(data)
        if array.ndim == 0:
            raise InputError(f"{what}: an array is wanted, not {type(data).__name__}")
        return array
    except InputError:
        raise
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
        except (TypeError, ValueError, OverflowError):
            row, column = index[0], index[1] if len(index) > 1 else None
            item = item.item() if isinstance(item, np.generic) else item
            message = f"{what}: {_place(row, column)}: {item!r} is not a number"
            raise InputError(message, row, column, item) from None
    return out


def _borrowable(array: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """As the extension can read it in place: in C order, aligned, in native byte order."""
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return np.require(native, requirements=["C_CONTIGUOUS", "ALIGNED"])


def rows(data: Array, what: str = "logits") -> npt.NDArray[Any]:
    """Rows × classes. C-contiguous half, single and double precision is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 2:
        hint = "; a single row is logits[None, :]" if array.ndim == 1 else ""
        raise InputError(f"{what}: the shape is {array.shape}, but (rows, classes) is wanted{hint}")
    return _borrowable(_numbers(array, what))


def vector(data: Array, what: str) -> npt.NDArray[np.float64]:
    """One number a row. C-contiguous double precision is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 1:
        raise InputError(f"{what}: the shape is {array.shape}, but one number a row is wanted")
    return _borrowable(_numbers(array, what).astype(np.float64, copy=False))


def labels(data: Array, what: str = "labels") -> npt.NDArray[np.int64]:
    """One class a row, counted from 0. C-contiguous int64 is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 1:
        hint = "; of one-hot labels take the argmax" if array.ndim == 2 else ""
        if array.ndim == 2 and array.shape[1] == 1:
            hint = "; of one column take .ravel()"
        raise InputError(f"{what}: the shape is {array.shape}, but one class a row is wanted{hint}")
    if array.dtype.kind not in "biu":
        numbers = _numbers(array, what).astype(np.float64, copy=False)
        wrong = np.flatnonzero(~(numbers == np.floor(numbers)) | (np.abs(numbers) > 2.0**53))
        if len(wrong):
            row, value = int(wrong[0]), float(numbers[wrong[0]])
            raise InputError(f"row {row}: label {value} is not a whole number", row, None, value)
        array = numbers
    elif array.dtype == np.uint64 and (wrong := np.flatnonzero(array > np.uint64(2**63 - 1))).size:
        row, large = int(wrong[0]), int(array[wrong[0]])
        raise InputError(f"row {row}: label {large} is not a class", row, None, large)
    return _borrowable(array.astype(np.int64, copy=False))


def loss(data: Array) -> str | npt.NDArray[np.float64]:
    """A loss by name, one a row, or a matrix of costs."""
    if isinstance(data, str):
        return data
    array = as_numpy(data, "loss")
    if array.ndim == 2:
        if array.shape[0] != array.shape[1]:
            wanted = "one number a row, or (classes, classes) costs, are wanted"
            raise InputError(f"loss: the shape is {array.shape}, but {wanted}")
        return _borrowable(_numbers(array, "loss").astype(np.float64, copy=False))
    return vector(array, "loss")


def count(value: Any, name: str, least: int = 0) -> int:
    """A whole number, such as a seed or a number of replicates."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}, but must be a whole number", value=value) from None
    if not least <= number < 2**63:
        raise InputError(f"{name} is {number}, but must be {least} at least", value=value)
    return number


def replicates(bootstrap: Any) -> int:
    """How many replicates; True is the usual number of them."""
    return 1000 if bootstrap is True else count(bootstrap, "bootstrap", 2)


def number(value: Any, name: str) -> float:
    """A number."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r}, but must be a number", value=value) from None


def maybe(value: Any, name: str) -> float | None:
    """A number, or nothing."""
    return None if value is None else number(value, name)


def kind(input: Any, floor: Any, tolerance: Any) -> tuple[str, float | None, float | None]:
    """What the numbers of rows are."""
    return (text(input, "input"), maybe(floor, "floor"), maybe(tolerance, "tolerance"))


def text(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}, but must be a text", value=value)
    return value


def texts(values: Any, name: str) -> list[str]:
    """One text, or several."""
    return [values] if isinstance(values, str) else [text(own, name) for own in values]


def names(values: Any) -> list[str] | None:
    """Names of classes, if there are any."""
    if isinstance(values, (str, bytes, dict)):
        raise InputError("class_names must be a list, a name a class, in their order")
    return None if values is None else [str(own) for own in values]
