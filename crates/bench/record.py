#!/usr/bin/env python3
"""Runs the comparisons and records them in results/, with date, machine and commit.

    python3 crates/bench/record.py [SCRIPT ...]

By default compare.py, compare_tuning.py and compare_score.py, which take a few minutes together.
"""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = ["compare.py", "compare_tuning.py", "compare_score.py"]


def output(*command):
    """What a command prints; fails if the command fails."""
    return subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()


def processor():
    """The model name of the processor."""
    try:
        names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def main():
    scripts = sys.argv[1:] or SCRIPTS
    date, model = datetime.date.today().isoformat(), processor()
    # Other work on the machine shows in the load before anything here ran.
    load = ", ".join(f"{minutes:.1f}" for minutes in os.getloadavg())
    commit = output("git", "rev-parse", "--short", "HEAD")
    changed = " with uncommitted changes" if output("git", "status", "--porcelain", "-uno") else ""
    text = f"""# {date}, {model}

- Machine: {model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}
- Load averages before the run (1, 5 and 15 minutes): {load}
- Compiler: {output("rustc", "--version")}, release profile
- Commit: {commit}{changed}
"""
    for script in scripts:
        print(f"== {script}", flush=True)
        printed = output(sys.executable, str(HERE / script))
        print(printed, flush=True)
        text += f"\n## `python3 crates/bench/{script}`\n\n```text\n{printed}\n```\n"
    name = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")
    path = HERE / "results" / f"{date}-{name}-{os.cpu_count()}-cores-{commit}.md"
    path.write_text(text)
    print(f"written to {path}")


if __name__ == "__main__":
    main()
