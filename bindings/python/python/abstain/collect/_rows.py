"""One model over the rows of a folder: logits in an npy file that grows by batches."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ._files import write_text
from ._images import Images
from ._needs import needed

#: Packages of which another version may have other weights or round differently.
_VERSIONS = ("torch", "torchvision", "timm")


@dataclass(frozen=True)
class Settings:
    """How a model is run. All of it may change the last digits of logits."""

    batch_size: int
    device: str
    half: bool
    dtype: str
    #: Processes that read images; they change nothing.
    workers: int

    def record(self) -> dict[str, Any]:
        """What the rows of one file must have in common."""
        return {
            "batch_size": self.batch_size,
            "device": self.device,
            "half": self.half,
            "dtype": self.dtype,
            **{name: sys.modules[name].__version__ for name in _VERSIONS if name in sys.modules},
        }


class _Inputs:
    """The rows from one on, as a data loader reads them."""

    def __init__(self, images: Images, start: int, transform: Callable[[Any], Any]) -> None:
        self.images, self.start, self.transform = images, start, transform

    def __len__(self) -> int:
        return len(self.images.files) - self.start

    def __getitem__(self, index: int) -> Any:
        path = self.images.path(self.start + index)
        with needed("PIL.Image").open(path) as image:
            return self.transform(image.convert("RGB"))


def run(
    images: Images,
    model: Any,
    transform: Callable[[Any], Any],
    path: Path,
    record: Path,
    source: str,
    settings: Settings,
    expected_classes: Optional[int],
    on_progress: Callable[[int, int], None],
) -> None:
    """Write the logits of all rows, from the batch on at which an earlier call was interrupted."""
    partial = path.with_name(f"{path.name}.partial")
    made_from = {"model": source, "rows": images.fingerprint, **settings.record()}
    for place in (path, record):
        place.parent.mkdir(parents=True, exist_ok=True)
    done, classes = 0, 0
    if _same(record, made_from):
        done, classes = _resumed(partial, settings.batch_size, len(images.files))
    write_text(record, json.dumps(made_from, indent=1) + "\n")
    with open(partial, "r+b" if done else "wb") as file:
        file.seek(0, os.SEEK_END)
        on_progress(done, len(images.files))
        for logits in _batches(images, done, model, transform, settings):
            if done == 0:
                _check_classes(images, logits.shape[1], expected_classes)
                classes = logits.shape[1]
                file.write(_header(len(images.files), classes, settings.dtype))
            with np.errstate(over="ignore"):
                stored = logits.astype(settings.dtype)
            if logits.shape[1] != classes:
                raise InputError(f"{logits.shape[1]} classes at row {done}, but {classes} before")
            if not np.isfinite(stored).all():
                row = done + int(np.argmin(np.isfinite(stored).all(axis=1)))
                raise InputError(
                    f"the logits of {images.files[row]} are not finite in {settings.dtype}"
                )
            file.write(stored.tobytes())
            # A killed process leaves whole batches; a partial one is cut off by the next call.
            file.flush()
            done += len(stored)
            on_progress(done, len(images.files))
        if done != len(images.files):
            raise InputError(f"the model returned {done} rows for {len(images.files)} images")
        os.fsync(file.fileno())
    os.replace(partial, path)


def source_of(path: Path, record: Path) -> Optional[str]:
    """The model of which finished logits are, or None if there are none."""
    if not path.exists():
        return None
    try:
        return str(json.loads(record.read_text())["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return "an unknown model"


def shape_of(path: Path) -> tuple[int, ...]:
    """The shape of a finished file."""
    shape: tuple[int, ...] = np.load(path, mmap_mode="r").shape
    return shape


def _same(record: Path, made_from: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(record.read_text()) == made_from)
    except (OSError, ValueError):
        return False


def _header(rows: int, classes: int, dtype: str) -> bytes:
    buffer = io.BytesIO()
    shape = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (rows, classes)}
    np.lib.format.write_array_header_1_0(buffer, shape)
    return buffer.getvalue()


def _resumed(partial: Path, batch_size: int, rows: int) -> tuple[int, int]:
    """The rows of the whole batches in a partial file, and its classes; the rest is cut off."""
    try:
        with open(partial, "r+b") as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            start, width = file.tell(), shape[1] * dtype.itemsize
            written = (file.seek(0, os.SEEK_END) - start) // width
            done = written if written == rows else written // batch_size * batch_size
            file.truncate(start + done * width)
            return int(done), shape[1]
    except (OSError, ValueError):
        return 0, 0


def _check_classes(images: Images, found: int, expected: Optional[int]) -> None:
    if images.classes is not None and images.classes != found:
        raise InputError(
            f"the model has {found} outputs, but the images are of {images.classes} classes: "
            "`class_names` lists the classes in the order of the outputs"
        )
    largest = int(images.labels.max())
    if largest >= found:
        raise InputError(
            f"the model has {found} outputs, from 0 to {found - 1}, but a label is {largest}"
        )
    if expected is not None and expected != found:
        raise InputError(f"the model has {found} outputs, but those before have {expected}")


def _batches(
    images: Images,
    start: int,
    model: Any,
    transform: Callable[[Any], Any],
    settings: Settings,
) -> Iterator[npt.NDArray[Any]]:
    """The logits of the rows from one on, by batches."""
    if start == len(images.files):
        return
    torch = needed("torch")
    from ..torch._collect import logits_of

    loader = torch.utils.data.DataLoader(
        _Inputs(images, start, transform),
        batch_size=settings.batch_size,
        num_workers=settings.workers,
        pin_memory=settings.device.startswith("cuda"),
    )
    with torch.inference_mode():
        for inputs in loader:
            inputs = inputs.to(settings.device)
            outputs = model(inputs.half() if settings.half else inputs)
            yield logits_of(outputs).float().cpu().numpy()
