"""Builds the package from the root of the project: maturin, from this folder."""

import os
from pathlib import Path

os.chdir(Path(__file__).parent)

from maturin import *  # noqa: E402, F403  (it looks for the package where it is imported)
