"""What the comparisons share: an environment with numpy, and the programs they time."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENV = TARGET / "bench-venv"


def inside_venv(*packages):
    """Installs numpy and other packages into a virtual environment once, and runs the calling script there."""
    python = VENV / "bin" / "python"
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    for package in ("numpy", *packages):
        if subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode != 0:
            subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
    os.execv(python, [str(python), *sys.argv])


def build(*programs):
    """Builds the Rust side, or some of its programs only."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "abstain-bench"]
    command += [f"--bin={program}" for program in programs]
    subprocess.run(command, cwd=ROOT, check=True)
