"""What the tests share: the project's logits, those of a folder elsewhere, and the program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

PROJECT = Path(__file__).parents[3]
DEMO = PROJECT / "crates" / "cli" / "demo"

#: Further real logits, one folder a set, where they are present.
ELSEWHERE = Path(os.environ.get("ABSTAIN_DATA", PROJECT.parent / "shared" / "data"))


def read(folder: Path) -> tuple[np.ndarray, np.ndarray, str]:
    """Rows, labels, and what the rows are."""
    for name, kind in [("logits.npy", "logits"), ("probs.npy", "probabilities")]:
        if (folder / name).exists():
            return np.load(folder / name), np.load(folder / "labels.npy"), kind
    raise FileNotFoundError(folder)


def real_sets() -> list[Path]:
    """The project's sets, and those elsewhere that it does not have."""
    demo = {path.parent.name: path.parent for path in sorted(DEMO.glob("*/labels.npy"))}
    more = {path.parent.name: path.parent for path in sorted(ELSEWHERE.glob("*/labels.npy"))}
    return list({**more, **demo}.values())


@pytest.fixture(params=real_sets(), ids=lambda path: path.name)
def real(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, str]:
    return read(request.param)


@pytest.fixture(scope="session")
def imagenet() -> tuple[np.ndarray, np.ndarray]:
    """Half-precision logits of 1,000 classes, whose MSP is broken."""
    return read(DEMO / "imagenet-efficientnet-lite2")[:2]


@pytest.fixture(scope="session")
def fashion() -> tuple[np.ndarray, np.ndarray]:
    """Logits of ten classes, whose MSP is not the best."""
    return read(DEMO / "fashion-mixup")[:2]


def simulated(rows: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of very different scale, which is what breaks MSP."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    logits = rng.normal(size=(rows, classes)) + 2.5 * np.eye(classes)[labels]
    return logits * rng.uniform(0.2, 5, size=(rows, 1)), labels


@pytest.fixture(scope="session")
def program() -> Callable[..., Any]:
    """Runs the program `abstain`."""
    named = os.environ.get("ABSTAIN_PROGRAM")
    path = Path(named or PROJECT / "target" / "debug" / "abstain")
    if named is None and not path.exists():
        pytest.skip(f"there is no program at {path}: cargo build makes it")

    def run(*arguments: Any) -> str:
        done = subprocess.run(
            [path, *map(str, arguments)], capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
