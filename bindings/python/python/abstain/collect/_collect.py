"""Models over images: one model at a time, each of which may fail without the others."""

import gc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from .. import _abstain
from ..errors import InputError
from ._images import Images, Labelling, read_images
from ._models import NAME, Classifier, classifiers, preprocess_of
from ._needs import needed
from ._onnx import export_onnx
from ._progress import Reporter
from ._rows import Settings, run, shape_of, source_of
from ._zoo import add_to_manifest, finished, logits_path, record_path, set_folder

_Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Collected:
    """What a call has left in its folder.

    Attributes
    ----------
    folder : Path
        The zoo.
    finished : list of str
        The requested models whose logits are complete.
    failed : dict
        The reason for each requested model that failed.
    skipped : dict
        The reason for each file of the folder of images that is not a row.
    """

    folder: Path
    finished: list[str]
    failed: dict[str, str]
    skipped: dict[str, str]


def collect(
    images: _Path,
    output: _Path,
    models: Union[str, Classifier, Iterable[Union[str, Classifier]]],
    *,
    labels: Optional[_Path] = None,
    class_names: Union[_Path, Sequence[str], None] = None,
    class_order: Optional[str] = None,
    sets: Optional[Mapping[str, _Path]] = None,
    batch_size: int = 32,
    workers: Optional[int] = None,
    device: str = "auto",
    half: bool = False,
    dtype: str = "float32",
    onnx: bool = False,
    report: Optional[Callable[[str], object]] = None,
) -> Collected:
    """Run models over a folder of images, and write their logits as a zoo.

    Every image is decoded once before the first model runs; those that cannot be are listed in
    `skipped.csv` and are rows of no model. A finished model is not run again, and an interrupted
    one continues with the batch at which it stopped. A model that fails does not stop the others.

    Parameters
    ----------
    images : str or path
        Folders of classes with images in them, or images for which `labels` has labels.
    output : str or path
        The folder of the zoo.
    models : str, Classifier, or several of them
        What to run: see `Classifier.named`, and `paper_models()`.
    labels : str or path, optional
        A table of the names of images and their labels, with commas, tabs or spaces between them.
        A label is a number from 0, or the name of a class.
    class_names : str, path or list of str, optional
        The names of the classes in the order of the models' outputs: a file with one per line, a
        list, or `"cat,dog,cow"`. The names of folders and labels are matched with them. Of a line
        of ImageNet's list of classes, the identifier such as n01440764 is the name.
    class_order : str, optional
        Which class a folder is of: its place among the sorted names (`sorted`), or the number that
        its name is (`number`); default: `sorted`, if that is certain.
    sets : dict, optional
        Further folders of images by name. A set of images with the names of the rows is aligned
        with them; another one is labelled as the first folder is. Of an aligned set, a name such as
        `blur-3` is the corruption `blur` of severity 3.
    batch_size : int
        Rows at a time.
    workers : int, optional
        Processes that read images (default: the number of cores, at most 8).
    device : str
        `auto`, `cpu`, `cuda` or `mps`; `auto` takes a graphics card if there is one.
    half : bool
        Whether models run in half precision, on a graphics card only.
    dtype : str
        The type in which logits are stored: `float32` or `float16`.
    onnx : bool
        Whether each model is exported to `onnx/NAME.onnx` as well.
    report : callable, optional
        Called with each line of progress (default: they are written to standard error).

    Returns
    -------
    Collected

    Raises
    ------
    InputError
        If an argument is invalid, or images have no labels. A model that fails does not raise.
    ImportError
        If a package is missing; the message says what to install.
    """
    folder = Path(output)
    chosen = classifiers(models)
    settings = _settings(batch_size, workers, device, half, dtype)
    further = {name: Path(path) for name, path in (sets or {}).items()}
    for name in further:
        if not NAME.fullmatch(name) or name.isdigit():
            raise InputError(f"the set {name!r} needs a name of letters, digits and - _ . + @")
    labelling = Labelling.read(labels, class_names, class_order)
    reporter = Reporter(report)
    failed = {each.name: reason for each in chosen if (reason := each.unknown()) is not None}
    for name, reason in failed.items():
        reporter.line(f"{name}: FAILED: {reason}")

    _abstain.check_zoo(os.fspath(folder))
    rows = _images(Path(images), labelling, folder, settings.workers, reporter)
    all_sets = {
        name: _images(path, labelling, set_folder(folder, name), settings.workers, reporter, rows)
        for name, path in further.items()
    }
    title = Path(images).resolve().name or "images"
    order = [each.name for each in chosen]
    for number, each in enumerate(chosen, 1):
        if each.name in failed:
            continue
        reporter.model = f"{each.name} ({number} of {len(chosen)})"
        try:
            _run(each, rows, all_sets, folder, settings, onnx, reporter)
        except Exception as error:
            failed[each.name] = _reason(error)
            reporter.line(f"{reporter.model}: FAILED: {failed[each.name]}")
        finally:
            _release()
            add_to_manifest(folder, title, each.name)
    done = [name for name in order if name not in failed]
    return Collected(folder, done, failed, rows.skipped)


def _settings(
    batch_size: int, workers: Optional[int], device: str, half: bool, dtype: str
) -> Settings:
    if batch_size < 1:
        raise InputError("batch_size must be 1 or more")
    if dtype not in ("float16", "float32"):
        raise InputError(f"dtype is {dtype!r}, but must be float32 or float16")
    if workers is None:
        workers = min(os.cpu_count() or 1, 8)
    if workers < 0:
        raise InputError("workers must be 0 or more")
    needed("PIL.Image")
    torch = needed("torch")
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": getattr(torch.backends, "mps", None) is not None
        and torch.backends.mps.is_available(),
        "cpu": True,
    }
    if device == "auto":
        device = next(name for name, available in there.items() if available)
    if not there.get(device.partition(":")[0]):
        usable = ", ".join(name for name, available in there.items() if available)
        raise InputError(f"there is no device {device}: auto, {usable}")
    if half and device == "cpu":
        raise InputError("half precision needs a graphics card, but the device is cpu")
    return Settings(batch_size, device, half, dtype, workers)


def _images(
    source: Path,
    labelling: Labelling,
    store: Path,
    workers: int,
    reporter: Reporter,
    like: Optional[Images] = None,
) -> Images:
    reporter.model = f"checking {source}"
    found = read_images(source, labelling, store, workers, reporter.progress, like)
    reporter.end()
    text = f"{source}: {len(found.files):,} rows, {len(set(found.labels.tolist())):,} classes"
    if found.aligned:
        text += ", aligned with the first folder"
    reporter.line(text)
    if found.skipped:
        files = "1 file is" if len(found.skipped) == 1 else f"{len(found.skipped):,} files are"
        reporter.line(f"{source}: {files} skipped for all models: {store / 'skipped.csv'}")
    return found


def _run(
    each: Classifier,
    rows: Images,
    sets: Mapping[str, Images],
    folder: Path,
    settings: Settings,
    onnx: bool,
    reporter: Reporter,
) -> None:
    """Everything that is missing of one model."""
    work = [(rows, logits_path(folder, each.name))]
    work += [(of, logits_path(set_folder(folder, name), each.name)) for name, of in sets.items()]
    for _, path in work:
        source = source_of(path, record_path(folder, path))
        if source not in (None, each.source):
            raise InputError(f"{path} has logits of {source}: give this model another name")
    graph = folder / "onnx" / f"{each.name}.onnx"
    export_it = onnx and not (graph.exists() or graph.with_suffix("").exists())
    missing = [(of, path) for of, path in work if not path.exists()]
    if not missing and not export_it:
        reporter.line(f"{reporter.model}: finished before")
        return
    model, transform = each.load()
    model = model.eval()
    # Exported while it is in single precision; if that fails, its logits are worth having.
    not_exported = _export(model, transform, graph, rows, reporter) if export_it else None
    model = model.to(settings.device)
    if settings.half:
        model = model.half()
    title = reporter.model
    for of, path in missing:
        reporter.model = title if of is rows else f"{title} on {path.parent.name}"
        others = [name for name in finished(folder) if name != each.name]
        expected = shape_of(logits_path(folder, others[0]))[1] if others else None
        record = record_path(folder, path)
        run(of, model, transform, path, record, each.source, settings, expected, reporter.progress)
        reporter.end(f"accuracy {_accuracy(path, of):.4f}")
    if not_exported is not None:
        raise InputError(f"its logits are complete, but it cannot be exported: {not_exported}")


def _export(
    model: Any, transform: Callable[[Any], Any], path: Path, rows: Images, reporter: Reporter
) -> Optional[str]:
    """Export a model, or return why it cannot be."""
    try:
        with needed("PIL.Image").open(rows.path(0)) as image:
            example = needed("torch").stack([transform(image.convert("RGB"))] * 2)
        preprocess = preprocess_of(transform)
        where = export_onnx(model, path, example, preprocess)
    except Exception as error:
        return _reason(error)
    note = "" if preprocess else ", without its preprocessing, which is not known as data"
    reporter.line(f"{reporter.model}: written: {where}{note}")
    return None


def _accuracy(path: Path, images: Images) -> float:
    logits = np.load(path, mmap_mode="r")
    pieces = range(0, len(logits), 4096)
    correct = [
        (logits[at : at + 4096].argmax(1) == images.labels[at : at + 4096]).sum() for at in pieces
    ]
    return float(sum(correct)) / len(logits)


def _reason(error: Exception) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines() or [""]
    # Processes that read images pass their errors on with a traceback.
    text = " ".join((lines[-1] if "Traceback" in str(error) else " ".join(lines)).split())
    if isinstance(error, MemoryError) or "out of memory" in text.lower():
        return f"out of memory: a smaller batch size may help ({text})"
    if isinstance(error, (InputError, ImportError)) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _release() -> None:
    """Return the memory of a model before the next is loaded."""
    gc.collect()
    torch = needed("torch")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
