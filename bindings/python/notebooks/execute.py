"""Runs the notebooks of this folder, and checks that they print their committed outputs.

    python execute.py [--write] [--no-compare] [notebook ...]

The metadata of a notebook may contain, under "abstain": `compare` (false if outputs depend on the
versions of other packages) and `needs` (modules without which it is skipped).
"""

from __future__ import annotations

import argparse
import copy
import difflib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).resolve().parent


def printed(cell: Any) -> str:
    """What a cell printed: streams, and values as text and as HTML without figures."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        data = output.get("data", {})
        parts.extend(data[kind] for kind in ("text/plain", "text/html") if kind in data)
    return re.sub(r"<svg.*?</svg>", "<svg/>", "\n".join(parts), flags=re.DOTALL)


def problems(before: Any, after: Any, compare: bool) -> list[str]:
    """Warnings in the outputs, and lines that differ from the committed ones."""
    found = []
    for number, (old, new) in enumerate(zip(before.cells, after.cells)):
        for output in new.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                found.append(f"cell {number} wrote to standard error:\n{output.text}")
        if compare and printed(old) != printed(new):
            old_lines, new_lines = printed(old).splitlines(), printed(new).splitlines()
            lines = difflib.unified_diff(old_lines, new_lines, "committed", "now", lineterm="")
            found.append("\n".join([f"cell {number} printed other output:", *lines]))
    return found


def cleaned(notebook: Any) -> Any:
    """The notebook without metadata that depends on the machine."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["kernelspec"] = kernel
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.clear()
    return notebook


def run(path: Path, write: bool, compare: bool) -> bool:
    """Run a notebook; returns whether it passed."""
    before = nbformat.read(path, as_version=4)
    settings = before.metadata.get("abstain", {})
    missing = [name for name in settings.get("needs", []) if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{path.name}: SKIPPED, {' and '.join(missing)} not installed")
        return True
    after = copy.deepcopy(before)
    client = NotebookClient(
        after, timeout=600, kernel_name="python3", record_timing=False, coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        print(f"{path.name}: FAILED\n{error}")
        return False
    compare = compare and not write and settings.get("compare", True)
    found = problems(before, after, compare)
    if write and not found:
        nbformat.write(cleaned(after), path)
    done = "outputs as committed" if compare else "runs (outputs not compared)"
    done = "written" if write else done
    print("\n".join([f"{path.name}: FAILED", *found]) if found else f"{path.name}: {done}")
    return not found


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the notebooks and compare their outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all in this folder")
    parser.add_argument("--write", action="store_true", help="write the outputs into the notebooks")
    parser.add_argument("--no-compare", action="store_true", help="only check that they run")
    options = parser.parse_args()
    paths = options.notebooks or sorted(HERE.glob("*.ipynb"))
    return 0 if all([run(path, options.write, not options.no_compare) for path in paths]) else 1


if __name__ == "__main__":
    sys.exit(main())
