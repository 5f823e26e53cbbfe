"""Files that appear whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file beside its place, and move it there."""
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "wb") as file:
        write(file)
    os.replace(partial, path)


def write_text(path: Path, text: str) -> None:
    """Write text as a whole."""
    write_whole(path, lambda file: file.write(text.encode()))
