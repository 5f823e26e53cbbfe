"""Where the files of a zoo are, as `abstain logits` has them, and its manifest."""

import os
import re
from pathlib import Path

from .. import _abstain
from ._images import RECORD, read_record


def logits_path(folder: Path, model: str) -> Path:
    """Where the logits of a model are, of the zoo or of a further set."""
    return folder / f"{model}.npy"


def record_path(output: Path, logits: Path) -> Path:
    """Where it is recorded how logits were made."""
    return output / "runs" / logits.relative_to(output).with_suffix(".json")


def set_folder(output: Path, name: str) -> Path:
    """Where a further set is."""
    return output / "sets" / name


def finished(folder: Path) -> list[str]:
    """The models whose logits are in a folder."""
    names = sorted(path.name.removesuffix(".npy") for path in folder.glob("*.npy"))
    return [name for name in names if name != "labels"]


def add_to_manifest(output: Path, title: str, model: str) -> None:
    """Add a model to `zoo.toml` with what is finished of it, if its logits are."""
    if not logits_path(output, model).exists():
        return
    sets: list[tuple[str, tuple[str, int] | None, bool]] = []
    for folder in sorted(path for path in output.glob("sets/*") if path.is_dir()):
        if logits_path(folder, model).exists():
            aligned = bool(read_record(folder / RECORD).get("aligned"))
            name = re.fullmatch(r"(.+)-([1-9]\d{0,8})", folder.name) if aligned else None
            corruption = None if name is None else (name[1], int(name[2]))
            sets.append((folder.name, corruption, aligned))
    _abstain.extend_zoo(os.fspath(output), title, model, sets)
