"""Folders of images: which files are rows, their labels, and which of them can be read."""

import csv
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from .. import _abstain
from ..errors import InputError
from ._files import write_text, write_whole
from ._needs import needed

_ENDINGS = {".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}

#: What is known of the images of a folder of logits.
RECORD = "images.json"

#: The image and the label of each row, and the images that are none, as `abstain logits` has them.
ROWS = "images.csv"
SKIPPED = "skipped.csv"

#: A file of the folder by its path in it, with `/`, and why it is not a row.
Skipped = dict[str, str]


@dataclass(frozen=True)
class Images:
    """The rows of a folder of images, in their order."""

    folder: Path
    #: Paths in the folder, with `/`.
    files: list[str]
    labels: npt.NDArray[np.int64]
    #: The number of classes, if the labels imply it.
    classes: Optional[int]
    skipped: Skipped
    #: A hash of names, sizes and labels of the rows.
    fingerprint: str
    #: Whether they are the rows of the zoo, changed.
    aligned: bool

    def path(self, row: int) -> Path:
        return self.folder / self.files[row]


@dataclass(frozen=True)
class Labelling:
    """How images get their labels."""

    #: By path, name, or name without its ending; else by the folder that an image is in.
    table: Optional[Mapping[str, str]] = None
    table_path: Optional[Path] = None
    #: The names of the classes in the order of a model's outputs.
    classes: Optional[list[str]] = None
    #: What the names of folders are: `sorted`, `number`, or None if only one of them is possible.
    class_order: Optional[str] = None

    @classmethod
    def read(
        cls,
        labels: Optional["os.PathLike[str] | str"],
        class_names: Optional["os.PathLike[str] | str | Sequence[str]"],
        class_order: Optional[str],
    ) -> "Labelling":
        if class_order not in (None, "sorted", "number"):
            raise InputError(f"`class_order` is 'sorted' or 'number', not {class_order!r}")
        table = None if labels is None else _read_table(Path(labels))
        names = None if class_names is None else _read_classes(class_names)
        return cls(table, None if labels is None else Path(labels), names, class_order)

    def of(self, folder: Path, files: Sequence[str]) -> tuple[npt.NDArray[np.int64], Optional[int]]:
        """The labels of files, and the number of classes if it is known."""
        if self.table is None:
            if not all("/" in file for file in files):
                raise InputError(
                    f"{folder}: images that are not in folders of their classes need `labels`"
                )
            names = [file.split("/")[0] for file in files]
            numbered = self.class_order == "number"
            # A folder without an image that can be read is a class, too.
            there = (path.name for path in folder.iterdir() if path.is_dir())
            classes = sorted(set(names) if numbered else there)
            classes = [name for name in classes if not name.startswith(".")]
            return self._numbers(f"{folder}: the class folder", names, classes, numbered)
        found = [self._in_table(file, unique) for file, unique in _with_unique_names(files)]
        missing = [file for file, label in zip(files, found) if label is None]
        if missing:
            raise InputError(f"{folder}: {_some(missing, 'image')} not in {self.table_path}")
        names = [label for label in found if label is not None]
        return self._numbers(f"{self.table_path}: the label", names, sorted(set(names)), True)

    def _in_table(self, file: str, unique: bool) -> Optional[str]:
        assert self.table is not None
        path = PurePosixPath(file)
        names = [file, path.name, path.stem] if unique else [file]
        return next((self.table[name] for name in names if name in self.table), None)

    def _places(self, distinct: Sequence[str]) -> dict[str, Optional[int]]:
        """The class of each name among the names of the classes."""
        return dict(zip(distinct, _abstain.class_places(self.classes or [], list(distinct))))

    def _numbers(
        self, what: str, names: Sequence[str], distinct: Sequence[str], numbered: bool
    ) -> tuple[npt.NDArray[np.int64], Optional[int]]:
        """Names of classes as numbers. `numbered`: names that are numbers stand for themselves."""
        others = [name for name in distinct if not (name.isascii() and name.isdigit())]
        if others and self.class_order == "number":
            raise InputError(f"{what} {others[0]!r} is not a number")
        numbers = not others
        if numbers and numbered:
            if len({int(name) for name in distinct}) < len(distinct):
                raise InputError(f"{what} {distinct[0]} has another spelling of the same number")
            places = self._places(distinct)
            unclear = [n for n, place in places.items() if place is not None and place != int(n)]
            if unclear and self.class_order is None:
                raise InputError(
                    f"{what} {unclear[0]} is the number of a class, and the name of class "
                    f"{places[unclear[0]]}: `class_order='number'` takes the numbers"
                )
            return np.array([int(name) for name in names], np.int64), None
        if self.classes is not None:
            place = self._places(distinct)
            unknown = [name for name, number in place.items() if number is None]
            if unknown:
                raise InputError(f"{what} {unknown[0]!r} is none of the `class_names`")
            return np.array([place[name] for name in names], np.int64), len(self.classes)
        if self.class_order != "sorted":
            if self.table is not None:
                raise InputError(
                    f"{what} {distinct[0]!r} is a name, and the order of the classes is not known: "
                    "`class_names` lists them, `class_order='sorted'` takes the sorted names"
                )
            if numbers and [int(name) for name in distinct] != list(range(len(distinct))):
                raise InputError(
                    f"{what} {distinct[0]} and the others are numbers, but not those of their "
                    "sorted order: `class_order` says whether they are the numbers of classes "
                    "('number') or names ('sorted'), `class_names` lists them"
                )
        order = {name: number for number, name in enumerate(distinct)}
        return np.array([order[name] for name in names], np.int64), len(distinct)


def _with_unique_names(files: Sequence[str]) -> Iterable[tuple[str, bool]]:
    """Each file, and whether its name without the ending is the only one."""
    count = Counter(PurePosixPath(file).stem for file in files)
    return ((file, count[PurePosixPath(file).stem] == 1) for file in files)


def _read_table(path: Path) -> dict[str, str]:
    """A table of names and labels, with commas, tabs or spaces between them."""
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path}: the table is empty")
    between = next((each for each in (",", "\t") if each in lines[0]), " ")
    if between == " ":
        rows = [line.split(maxsplit=1) for line in lines]
    else:
        rows = list(csv.reader(lines, delimiter=between, skipinitialspace=True))
    for number, row in enumerate(rows, 1):
        if len(row) != 2 or not (row[0].strip() and row[1].strip()):
            raise InputError(f"{path}, line {number}: expected a name and a label")
    table: dict[str, str] = {}
    for number, (name, label) in enumerate(rows, 1):
        name, label = name.strip().removeprefix("./"), label.strip()
        if table.setdefault(name, label) != label:
            raise InputError(f"{path}, line {number}: {name} has another label before")
    return table


def _read_classes(
    given: "os.PathLike[str] | str | Sequence[str]",
) -> list[str]:
    """The names of classes, given or one a line of a file."""
    if isinstance(given, str) and "," in given and not Path(given).is_file():
        lines = given.split(",")
    elif isinstance(given, (str, os.PathLike)):
        lines = Path(given).read_text(encoding="utf-8-sig").splitlines()
    else:
        lines = list(given)
    names = [line.strip() for line in lines if line.strip()]
    if not names or len(set(_abstain.class_places(names, names))) < len(names):
        raise InputError("`class_names` is empty, or names a class twice")
    return names


def _some(names: Sequence[str], what: str) -> str:
    """ "2 images are", with the first names."""
    verb = "is" if len(names) == 1 else "are"
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{len(names)} {what}{'' if len(names) == 1 else 's'} ({shown}) {verb}"


def _found(folder: Path) -> tuple[list[str], Skipped]:
    """The images in a folder by their endings, in order, and the other files."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder")
    images: list[tuple[str, ...]] = []
    skipped: Skipped = {}
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        place = Path(parent).relative_to(folder).parts
        for name in names:
            if name.startswith("."):
                continue
            path = (*place, name)
            if Path(name).suffix.lower() not in _ENDINGS:
                skipped["/".join(path)] = "not an image by its ending"
            elif any("\n" in part or "\r" in part for part in path):
                raise InputError(f"{'/'.join(path)!r}: the name has a line break")
            else:
                images.append(path)
    if not images:
        raise InputError(f"{folder}: there are no images in it")
    return ["/".join(path) for path in sorted(images)], skipped


def _unreadable(path: Path) -> Optional[str]:
    """Why an image cannot be decoded, if it cannot."""
    image = needed("PIL.Image")
    try:
        with image.open(path) as opened:
            opened.convert("RGB")
    except Exception as error:  # Pillow raises many kinds, also on damaged headers.
        return " ".join(f"{type(error).__name__}: {error}".replace(str(path), path.name).split())
    return None


def read_images(
    folder: Path,
    labelling: Labelling,
    store: Path,
    workers: int,
    on_progress: Callable[[int, int], None],
    like: Optional[Images] = None,
) -> Images:
    """The rows of a folder, every image of which is decoded once.

    The result is kept in the folder `store`, and a later call with the same files does not decode
    them again. `like` is a set whose rows are wanted in its order, if the folder has them all.
    """
    names, skipped = _found(folder)
    status = [(folder / name).stat() for name in names]
    seen = _hash([name, each.st_size, each.st_mtime_ns] for name, each in zip(names, status))
    record = store / RECORD
    known = read_record(record)
    if known.get("seen") == seen:
        skipped = known["skipped"]
    else:
        with ThreadPoolExecutor(max(1, workers)) as pool:
            reasons = pool.map(_unreadable, [folder / name for name in names])
            for done, (name, reason) in enumerate(zip(names, reasons), 1):
                on_progress(done, len(names))
                if reason is not None:
                    skipped[name] = reason
    if not known:
        # What the program left out of its rows is a row of no model.
        left_out = dict(_read_list(store / SKIPPED))
        skipped.update({name: left_out[name] for name in names if name in left_out})
    sizes = {name: each.st_size for name, each in zip(names, status)}
    files = [name for name in names if name not in skipped]
    if not files:
        raise InputError(f"{folder}: none of its {len(names)} images can be read")
    same = None if like is None else _aligned(folder, like, files, skipped)
    if like is not None and same is not None:
        files, labels, classes = same, like.labels, like.classes
    else:
        labels, classes = labelling.of(folder, files)
    rows = _hash([name, sizes[name], int(label)] for name, label in zip(files, labels))
    found = Images(folder, files, labels, classes, skipped, rows, same is not None)
    listed = [(name, str(label)) for name, label in zip(files, labels)]
    other = known.get("rows", rows) != rows or _read_list(store / ROWS) not in ([], listed)
    if other and any(path.name != "labels.npy" for path in store.glob("*.npy*")):
        raise InputError(f"{store} has logits of other images or labels: choose another folder")
    _store(found, seen, record)
    return found


def _aligned(folder: Path, like: Images, files: list[str], skipped: Skipped) -> Optional[list[str]]:
    """The files that are the rows of another set, in its order, or None if none is."""
    keys: list[Callable[[str], str]] = [
        str,
        lambda file: str(PurePosixPath(file).with_suffix("")),
        lambda file: PurePosixPath(file).stem,
    ]
    for key in keys:
        by_key = {key(file): file for file in files}
        wanted = [key(file) for file in like.files]
        missing = [file for file, name in zip(like.files, wanted) if name not in by_key]
        unique = len(by_key) == len(files) and len(set(wanted)) == len(wanted)
        if unique and not missing:
            return [by_key[name] for name in wanted]
        if unique and len(missing) < len(wanted):
            broken = {key(file) for file in skipped}
            why = "broken" if any(key(file) in broken for file in missing) else "missing"
            raise InputError(
                f"{folder}: {_some(missing, 'image')} {why}. A further set has all rows of the "
                "zoo, or none of them"
            )
    return None


def _read_list(path: Path) -> list[tuple[str, str]]:
    """A list of images and what is said of them; empty if there is none."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return [(row[0], row[1]) for row in list(csv.reader(file))[1:]]
    except FileNotFoundError:
        return []


def _write_list(
    path: Path, names: tuple[str, str], rows: Iterable[tuple[str, str]]
) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    write_text(path, text.getvalue())


def _hash(items: Iterable[list[Any]]) -> str:
    digest = hashlib.sha256()
    for item in items:
        digest.update(json.dumps(item).encode() + b"\n")
    return digest.hexdigest()


def read_record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _store(images: Images, seen: str, record: Path) -> None:
    folder = record.parent
    folder.mkdir(parents=True, exist_ok=True)
    _write_list(folder / SKIPPED, ("image", "reason"), sorted(images.skipped.items()))
    # The rows of an aligned set are those of the zoo, which has their labels.
    if not images.aligned:
        write_whole(folder / "labels.npy", lambda file: np.save(file, images.labels))
        rows = ((name, str(label)) for name, label in zip(images.files, images.labels))
        _write_list(folder / ROWS, ("image", "label"), rows)
    text = {
        "seen": seen,
        "rows": images.fingerprint,
        "aligned": images.aligned,
        "skipped": images.skipped,
    }
    write_text(record, json.dumps(text, indent=1, ensure_ascii=False) + "\n")
