"""Conversion of arguments to the arrays and numbers that the extension reads."""

from __future__ import annotations

import operator
from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from .errors import InputError

_T = TypeVar("_T", bound=np.generic)

#: Numpy arrays, tensors, lists, columns of pandas or polars.
Array = Union[npt.ArrayLike, Any]

#: What the numbers of a row are: the name of the encoding, a floor, a tolerance.
Encoding = tuple[str, float | None, float | None]

#: Encodings of a binary classifier that gives one number for each row.
_ONE_NUMBER = ("binary-probability", "binary-logit")

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16))


def as_numpy(data: Array, what: str) -> npt.NDArray[Any]:
    """Convert to a numpy array, sharing memory where possible."""
    if isinstance(data, np.ma.MaskedArray):
        _refuse_masked(data, what)
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        # A tensor. Recognised by its methods, so that torch need not be imported.
        tensor = data.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            # Numpy has no bfloat16; float32 holds it exactly.
            tensor = tensor.float()
        return np.asarray(tensor.numpy())
    for method in ("toarray", "collect"):
        # Sparse matrices and lazy frames.
        if hasattr(data, method) and not hasattr(data, "__array__"):
            found = type(data).__name__
            raise InputError(f"{what}: expected an array, got {found}; call its .{method}() first")
    try:
        array = np.asarray(data)
    except ValueError:
        raise InputError(f"{what}: the rows have different lengths") from None
    if array.ndim == 0:
        raise InputError(f"{what}: expected an array, got {type(data).__name__}")
    return array


def _refuse_masked(data: np.ma.MaskedArray[Any, Any], what: str) -> None:
    places = np.argwhere(np.ma.getmaskarray(data))
    if len(places):
        row, column = int(places[0][0]), int(places[0][1]) if data.ndim > 1 else None
        raise InputError(f"{what}: {_place(row, column)}: the value is masked", row, column)


def _place(row: int, column: int | None) -> str:
    return f"row {row}" if column is None else f"row {row}, column {column}"


def _floats(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Convert to floating-point numbers; half, single and double precision are left as they are."""
    if array.dtype in _FLOATS:
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    if array.dtype.kind in "OUST":
        return _parsed(array, what)
    raise InputError(f"{what}: expected numbers, got {array.dtype}")


def _parsed(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Convert objects to numbers. Text is refused; the first value that is no number is named."""
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
    """Convert to what the extension reads in place: C order, aligned, native byte order."""
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return np.require(native, requirements=["C_CONTIGUOUS", "ALIGNED"])


def rows(data: Array, what: str = "logits", input: str = "logits") -> npt.NDArray[Any]:
    """Rows × numbers. C-contiguous half, single and double precision is not copied."""
    array = as_numpy(data, what)
    if array.dtype == object and array.ndim == 1 and len(array) and np.ndim(array[0]) == 1:
        # A column of lists, of pandas or polars.
        array = as_numpy(array.tolist(), what)
    if input in _ONE_NUMBER:
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != 1:
            expected = f"one number per row, as input={input!r} says"
            raise InputError(f"{what}: expected {expected}, got shape {array.shape}")
    if array.ndim != 2:
        hint = ""
        if array.ndim == 1:
            hint = (
                "; for a single row use logits[None, :], for the probability of the positive class "
                'of each row input="binary-probability"'
            )
        raise InputError(f"{what}: expected shape (rows, classes), got {array.shape}{hint}")
    return _borrowable(_floats(array, what))


#: Rows × numbers, and perhaps one further number of each row.
RowsWith = Union[npt.NDArray[Any], tuple[npt.NDArray[Any], npt.NDArray[np.float64]]]


def rows_with(data: Array, extra: Array | None, input: str = "logits") -> RowsWith:
    """Rows × numbers, and one further number of each row if there is one."""
    found = rows(data, input=input)
    return found if extra is None else (found, vector(extra, "extra"))


def classes(found: RowsWith, input: str) -> int:
    """How many classes the numbers of a row stand for."""
    array = found[0] if isinstance(found, tuple) else found
    return 2 if input in _ONE_NUMBER else int(array.shape[1])


def vector(data: Array, what: str) -> npt.NDArray[np.float64]:
    """One number per row. C-contiguous double precision is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 1:
        raise InputError(f"{what}: expected one number per row, got shape {array.shape}")
    return _borrowable(_floats(array, what).astype(np.float64, copy=False))


def weights(sample_weight: Array | None) -> npt.NDArray[np.float64] | None:
    """The weight of each row, or None."""
    return None if sample_weight is None else vector(sample_weight, "sample_weight")


def groups(data: Array | None, what: str = "groups") -> list[str] | None:
    """The name of the group of each row, or None."""
    if data is None:
        return None
    array = as_numpy(data, what)
    if array.ndim != 1:
        raise InputError(f"{what}: expected one group per row, got shape {array.shape}")
    # As the program reads them: 7.0 is the group 7.
    whole = (int(g) if isinstance(g, float) and g.is_integer() else g for g in array.tolist())
    return [str(group) for group in whole]


def group_places(data: Array) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The names of the groups, and the place of the name of each row; -1 where there is none."""
    array = data if isinstance(data, np.ma.MaskedArray) else as_numpy(data, "groups")
    if array.ndim != 1:
        raise InputError(f"groups: expected one group per row, got shape {array.shape}")
    items = array.tolist()
    try:
        distinct = dict.fromkeys(items)
    except TypeError:
        raise InputError("groups: expected names or numbers") from None
    named = [group for group in distinct if not _is_missing(group)]
    places = {group: place for place, group in enumerate(named)}
    found = np.fromiter((places.get(item, -1) for item in items), np.int64, len(items))
    return groups(np.array(named, dtype=object)) or [], found


def _is_missing(item: Any) -> bool:
    """Whether it is None, NaN, or a null of pandas."""
    if item is None or isinstance(item, float):
        return item is None or item != item
    return type(item).__name__ in ("NAType", "NaTType")


def optional_vector(data: Array, what: str) -> npt.NDArray[np.float64]:
    """One number per row, NaN where it is None, masked or a null of pandas."""
    if isinstance(data, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(data)
        column = vector(np.where(masked, 0, data.data), what)
        return np.where(masked, np.nan, column)
    array = as_numpy(data, what)
    if array.dtype.kind == "O":
        array = np.array([np.nan if _is_missing(item) else item for item in array], dtype=object)
    return vector(array, what)


def labels(data: Array, what: str = "labels") -> npt.NDArray[np.int64]:
    """One class per row, counted from 0. C-contiguous int64 is not copied."""
    array = as_numpy(data, what)
    if array.ndim != 1:
        hint = "; one-hot labels have a column for each class" if array.ndim == 2 else ""
        if array.ndim == 2 and array.shape[1] == 1:
            hint = "; for a single column use .ravel()"
        raise InputError(f"{what}: expected one class per row, got shape {array.shape}{hint}")
    if array.dtype.kind not in "biu":
        numbers = _floats(array, what).astype(np.float64, copy=False)
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
    """A loss by name, one loss per row, or a cost matrix."""
    if isinstance(data, str):
        return data
    array = as_numpy(data, "loss")
    if array.ndim == 2:
        if array.shape[0] != array.shape[1]:
            expected = "one number per row or (classes, classes) costs"
            raise InputError(f"loss: expected {expected}, got shape {array.shape}")
        return _borrowable(_floats(array, "loss").astype(np.float64, copy=False))
    return vector(array, "loss")


def integer(value: Any, name: str) -> int:
    """A whole number that fits 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}, but must be a whole number", value=value) from None
    if not -(2**63) <= number < 2**63:
        raise InputError(f"{name} is {number}, but must fit 64 bits", value=value)
    return number


def count(value: Any, name: str, least: int = 0) -> int:
    """A whole number from `least` on, such as a seed or a number of splits."""
    number = integer(value, name)
    if number < least:
        raise InputError(f"{name} is {number}, but must be at least {least}", value=value)
    return number


def number(value: Any, name: str) -> float:
    """A number. Text is not read as one."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r}, but must be a number", value=value) from None


def text(value: Any, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}, but must be a string", value=value)
    return value


def optional_number(value: Any, name: str) -> float | None:
    """A number, or None."""
    return None if value is None else number(value, name)


def optional_count(value: Any, name: str) -> int | None:
    """A whole number from 0 on, or None."""
    return None if value is None else count(value, name)


def encoding(input: Any, floor: Any, tolerance: Any) -> Encoding:
    """What the numbers of a row are."""
    floor, tolerance = optional_number(floor, "floor"), optional_number(tolerance, "tolerance")
    if input == "confidence":
        hint = "abstain.certify and abstain.threshold take a confidence"
        raise InputError(f"input is 'confidence', but there must be logits; {hint}", value=input)
    return (text(input, "input"), floor, tolerance)


def texts(values: Any, name: str) -> list[str]:
    """One string, or several."""
    return [values] if isinstance(values, str) else [text(value, name) for value in values]


def class_names(values: Any) -> list[str] | None:
    """Names of the classes in their order, or None."""
    if isinstance(values, (str, bytes, dict)):
        raise InputError("class_names must be a list with one name per class, in their order")
    return None if values is None else [str(name) for name in values]
