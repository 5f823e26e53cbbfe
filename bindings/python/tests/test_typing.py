"""The package is fully typed, and its stubs agree with the extension."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize("arguments", [["mypy"], ["mypy.stubtest", "abstain._abstain"]])
def test_types_are_checked_by(arguments: list[str]) -> None:
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=FOLDER, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_of_a_user_is_typed_strictly() -> None:
    pytest.importorskip("mypy")
    example = Path(__file__).parent / "typed_example.py"
    arguments = ["mypy", "--strict", "--warn-unused-ignores", str(example)]
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=FOLDER, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_needs_only_numpy() -> None:
    code = (
        "import sys, abstain; "
        "print(sorted(set(sys.modules) & "
        "{'sklearn', 'torch', 'pandas', 'polars', 'matplotlib', 'scipy', 'tqdm'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
