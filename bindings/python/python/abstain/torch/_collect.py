"""Logits out of a model."""

import contextlib
import io
import os
import secrets
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..errors import InputError


def collect_logits(
    model: nn.Module,
    loader: Iterable[Any],
    *,
    device: Union[str, torch.device, None] = None,
    out: Union[str, "os.PathLike[str]", None] = None,
    dtype: Optional[npt.DTypeLike] = None,
    progress: Optional[bool] = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Run a model over a data loader, and collect the logits and labels of all rows.

    The model runs in evaluation mode and without gradients. Afterwards, also after an error, every
    submodule is in the mode in which it was before.

    Parameters
    ----------
    model : torch.nn.Module
        The classifier. It returns the logits, or a mapping or an object with `logits`.
    loader : iterable
        Batches `(inputs, labels)`, or mappings that contain `labels`. Inputs that are a mapping
        are passed to the model as keywords, a tuple or list as positional arguments.
    device : str or torch.device, optional
        Where to run (default: where the first parameter of the model is).
    out : str or path, optional
        A folder. The rows are written to `logits.npy` and `labels.npy` in it as they come, so
        memory does not grow with their number. The files appear, or are replaced, at the end; an
        error or an interruption leaves none behind.
    dtype : dtype, optional
        The type of the logits (default: that of the first batch, and float32 for bfloat16, which
        numpy does not have).
    progress : bool, optional
        Whether to show a progress bar (default: on terminals, if tqdm is installed).

    Returns
    -------
    logits : ndarray of shape (rows, classes)
    labels : ndarray of shape (rows,), int64
        With `out`, both are read-only memory maps of the files.

    Raises
    ------
    InputError
        If there are no rows, or a batch is invalid; the message names the batch, counted from 0.

    Examples
    --------
    >>> import torch
    >>> from abstain.torch import collect_logits
    >>> batches = [(torch.eye(3), torch.tensor([0, 1, 2])), (torch.ones(1, 3), torch.tensor([1]))]
    >>> logits, labels = collect_logits(torch.nn.Identity(), batches)
    >>> logits.shape, labels
    ((4, 3), array([0, 1, 2, 1]))
    """
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise InputError(f"dtype is {np.dtype(dtype)}, but must be a floating-point type")
    if device is None:
        parameter = next(model.parameters(), None)
        device = "cpu" if parameter is None else parameter.device
    with contextlib.ExitStack() as cleanup:
        sinks = []
        for name in ("logits.npy", "labels.npy"):
            sinks.append(_NpyRows(None if out is None else Path(out, name)))
            cleanup.callback(sinks[-1].discard)
        for module in model.modules():
            cleanup.callback(setattr, module, "training", module.training)
        model.eval()
        cleanup.enter_context(torch.inference_mode())
        like: Optional[npt.NDArray[Any]] = None
        for index, batch in enumerate(_with_progress(loader, progress)):
            try:
                logits, labels = _evaluated(model, batch, device)
                if like is None:
                    like = logits[:0].astype(logits.dtype if dtype is None else dtype)
                if logits.shape[1] != like.shape[1]:
                    raise InputError(f"{logits.shape[1]} classes, but {like.shape[1]} before")
            except InputError as error:
                raise InputError(f"batch {index}: {error}") from error
            sinks[0].append(logits.astype(like.dtype, copy=False))
            sinks[1].append(labels)
        if sinks[1].rows == 0:
            raise InputError("the loader has no rows")
        # Both files are complete before either is replaced.
        for sink in sinks:
            sink.complete()
        return sinks[0].result(), sinks[1].result()


def _evaluated(
    model: nn.Module, batch: Any, device: Union[str, torch.device]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The validated logits and labels of a batch."""
    if isinstance(batch, Mapping) and "labels" in batch:
        inputs = {key: value for key, value in batch.items() if key != "labels"}
        batch = (inputs, batch["labels"])
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        raise InputError("expected a pair (inputs, labels) or a mapping with labels")
    try:
        labels = torch.as_tensor(batch[1])
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"the labels are not integers: {error}") from error
    inputs = _moved(batch[0], device)
    if isinstance(inputs, Mapping):
        output = model(**inputs)
    elif isinstance(inputs, (tuple, list)):
        output = model(*inputs)
    else:
        output = model(inputs)
    logits = logits_of(output)
    if labels.dim() != 1 or labels.is_floating_point() or labels.dtype == torch.bool:
        shape = tuple(labels.shape)
        raise InputError(f"expected integer labels (rows,), got {shape} of {labels.dtype}")
    if len(labels) != len(logits):
        raise InputError(f"{len(labels)} labels for {len(logits)} rows")
    wide = logits.float() if logits.dtype == torch.bfloat16 else logits
    return wide.cpu().numpy(), labels.cpu().numpy().astype(np.int64)


def logits_of(output: Any) -> Tensor:
    """The logits in what a model returned, validated."""
    logits = output.get("logits") if isinstance(output, Mapping) else output
    logits = getattr(logits, "logits", logits)
    if not isinstance(logits, Tensor):
        raise InputError(f"the model returned {type(output).__name__}, without logits")
    if logits.dim() != 2 or not logits.is_floating_point():
        shape = tuple(logits.shape)
        raise InputError(f"expected logits (rows, classes), got {shape} of {logits.dtype}")
    return logits


def _moved(inputs: Any, device: Union[str, torch.device]) -> Any:
    if isinstance(inputs, Tensor):
        return inputs.to(device)
    if isinstance(inputs, Mapping):
        return {key: _moved(value, device) for key, value in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return [_moved(value, device) for value in inputs]
    return inputs


def _with_progress(loader: Iterable[Any], progress: Optional[bool]) -> Iterable[Any]:
    if progress is False:
        return loader
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise ImportError("a progress bar needs tqdm: pip install tqdm") from None
        return loader
    disable = False if progress else None
    bar: Iterable[Any] = tqdm(loader, desc="logits", unit="batch", disable=disable)
    return bar


class _NpyRows:
    """An npy file that grows by rows, on disk or, without a path, in memory."""

    def __init__(self, path: Optional[Path]) -> None:
        self.path, self.rows, self.header = path, 0, b""
        self.file: Union[io.BufferedRandom, io.BytesIO] = io.BytesIO()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            self.file = open(self.temporary, "x+b")
        # The header contains the number of rows; it is written at the end.
        self.file.write(bytes(128))

    def append(self, part: npt.NDArray[Any]) -> None:
        self.file.write(part.tobytes())
        self.rows += len(part)
        shape = (self.rows, *part.shape[1:])
        text = repr({"descr": part.dtype.str, "fortran_order": False, "shape": shape})
        self.header = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.encode().ljust(117)

    def complete(self) -> None:
        self.file.seek(0)
        self.file.write(self.header + b"\n")
        self.file.seek(0)
        if self.path is not None:
            self.file.close()

    def result(self) -> npt.NDArray[Any]:
        if self.path is None:
            array = np.load(self.file)
        else:
            os.replace(self.temporary, self.path)
            array = np.load(self.path, mmap_mode="r")
        return np.asanyarray(array)

    def discard(self) -> None:
        self.file.close()
        if self.path is not None:
            self.temporary.unlink(missing_ok=True)
