"""The manifest of what a folder holds."""

import json
import re
from pathlib import Path

from ._files import write_text
from ._images import RECORD, read_record


def logits_path(folder: Path, model: str) -> Path:
    """Where the logits of a model are, of the zoo or of a further set."""
    return folder / "logits" / f"{model}.npy"


def set_folder(output: Path, name: str) -> Path:
    """Where a further set is."""
    return output / "sets" / name


def finished(folder: Path) -> list[str]:
    """The models whose logits are in a folder."""
    return sorted(path.name.removesuffix(".npy") for path in folder.glob("logits/*.npy"))


def write_manifest(output: Path, title: str, order: list[str]) -> None:
    """Write `zoo.toml` with everything that is finished; models in an order, then all others."""
    there = finished(output)
    models = [name for name in order if name in there]
    models += [name for name in there if name not in models]
    parts = [f"# Written by abstain.collect.\ntitle = {_text(title)}\n"]
    parts += ['labels = "labels.npy"\nencoding = "logits"\n']
    for name in models:
        path = _text(f"logits/{name}.npy")
        parts.append(f"\n[[model]]\nname = {_text(name)}\nlogits = {path}\n")
    for folder in sorted(path for path in output.glob("sets/*") if path.is_dir()):
        having = [name for name in finished(folder) if name in models]
        if having:
            parts.append(_set(folder, [name for name in models if name in having]))
    if models:
        write_text(output / "zoo.toml", "".join(parts))


def _set(folder: Path, models: list[str]) -> str:
    name = folder.name
    lines = ["", "[[set]]", f"name = {_text(name)}"]
    if read_record(folder / RECORD).get("aligned"):
        corruption = re.fullmatch(r"(.+)-([1-9]\d{0,8})", name)
        if corruption is not None:
            lines += [f"group = {_text(corruption[1])}", f"severity = {corruption[2]}"]
        lines += ["aligned = true"]
    else:
        lines += ["aligned = false", f"labels = {_text(f'sets/{name}/labels.npy')}"]
    lines += [f"logits = {_text(f'sets/{name}/logits/' + '{model}.npy')}"]
    lines += [f"models = [{', '.join(map(_text, models))}]", ""]
    return "\n".join(lines)


def _text(text: str) -> str:
    """A string of TOML, which JSON's are."""
    return json.dumps(text, ensure_ascii=False)
