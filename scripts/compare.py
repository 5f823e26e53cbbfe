"""Compares what two builds of the program print and write, command by command.

    python3 scripts/compare.py BEFORE AFTER [--quick]

Both programs run on the rows of the demo, on tables made from them as people have them, on a stream
of records, and (without --quick) on the zoo. For each difference in JSON it prints the path and both
values; for other output the lines that differ. It exits with 1 if anything differs. A refactoring
should leave nothing but the intended changes. Needs numpy.
"""

import argparse
import csv
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "crates" / "cli" / "demo"
NAMES = ["shirt", "trousers", "pullover", "dress", "coat", "sandal", "top", "sneaker", "bag", "boot"]


def write_csv(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def make_files(folder):
    """The files that the commands read."""
    logits = np.load(DEMO / "fashion-ce" / "logits.npy").astype(np.float64)[:2000]
    labels = np.load(DEMO / "fashion-ce" / "labels.npy").astype(np.int64)[:2000]
    rows, classes = logits.shape
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = odds / odds.sum(axis=1, keepdims=True)
    predictions = logits.argmax(axis=1)
    correct = predictions == labels
    group = np.array(["north", "south", "east"])[np.arange(rows) % 3]
    top = probabilities.max(axis=1)
    scores = {name: logits[:, index] for index, name in enumerate(NAMES)}
    named = np.array(NAMES)[labels]
    write_csv(folder / "named.csv", {**scores, "label": named, "region": group})
    numbered = {f"logit_{index}": logits[:, index] for index in range(classes)}
    write_csv(folder / "numbered.csv", {**numbered, "label": labels})
    hub = [f"LABEL_{label}" for label in labels]
    write_csv(folder / "hub.csv", {**{f"LABEL_{k}": logits[:, k] for k in range(classes)}, "label": hub})
    write_csv(folder / "bare.csv", {"confidence": top, "correct": correct.astype(int), "region": group})
    answers = {"confidence": top, "prediction": np.array(NAMES)[predictions], "label": named}
    write_csv(folder / "answers.csv", answers)
    weight = 0.5 + (np.arange(rows) % 7) / 4
    write_csv(folder / "weighted.csv", {"confidence": top, "correct": correct.astype(int), "weight": weight})
    binary = probabilities[:, [0, 6]].sum(axis=1)
    positive = np.isin(labels, [0, 6]).astype(int)
    write_csv(folder / "binary.csv", {"probability": binary.clip(1e-12, 1 - 1e-12), "label": positive})
    with open(folder / "rows.jsonl", "w") as file:
        for row in range(rows):
            line = {"logits": list(logits[row]), "label": int(labels[row]), "region": group[row]}
            print(json.dumps(line), file=file)
    np.save(folder / "logits.npy", logits)
    np.save(folder / "first.npy", logits[:1000])
    np.save(folder / "second.npy", logits[1000:])
    np.save(folder / "first-labels.npy", labels[:1000])
    np.save(folder / "second-labels.npy", labels[1000:])
    np.save(folder / "labels.npy", labels)
    np.save(folder / "probs.npy", probabilities)
    np.save(folder / "losses.npy", np.abs(predictions - labels) / 9)
    record = {
        "id": [f"r{row}" for row in range(rows)],
        "confidence": np.log(top) - np.log1p(-top.clip(max=1 - 1e-12)),
        "prediction": predictions,
        "region": group,
    }
    write_csv(folder / "records.csv", record)
    late = slice(0, rows, 3)
    write_csv(folder / "feedback.csv", {"id": record["id"][late], "label": labels[late]})


def commands(quick):
    """The commands by name; later ones read what earlier ones wrote."""
    imagenet = DEMO / "imagenet-efficientnet-lite2"
    rows = [str(imagenet / "logits.npy"), str(imagenet / "labels.npy")]
    pair = ["logits.npy", "labels.npy"]
    yield "list", ["list", "--json"]
    yield "tune", ["tune", *pair, "--json", "-o", "tuned.json"]
    yield "tune certified", ["tune", *rows, "--target-accuracy", "0.95", "--delta", "0.1", "--json", "-o", "certified.json"]
    yield "tune splits", ["tune", *pair, "--holdout", "500", "--splits", "3", "--json", "-o", "splits.json"]
    yield "tune with test", ["tune", "first.npy", "first-labels.npy", "--test", "second.npy", "second-labels.npy", "--target-accuracy", "0.95", "--json", "-o", "tested.json"]
    yield "tune methods", ["tune", *pair, "--method", "MSP-TS", "--method", "MaxLogit-pNorm", "--json", "-o", "methods.json"]
    yield "tune fixed", ["tune", *pair, "--method", "MSP", "--target-accuracy", "0.9", "--delta", "0.05", "--json", "-o", "msp.json"]
    yield "tune probabilities", ["tune", "probs.npy", "labels.npy", "--probs", "--json", "-o", "probs.json"]
    yield "tune binary", ["tune", "binary.csv", "--binary", "probability", "--json", "-o", "binary.json"]
    yield "tune losses", ["tune", *pair, "--loss", "losses.npy", "--json", "-o", "losses.json"]
    for table in ["named.csv", "numbered.csv", "hub.csv", "rows.jsonl"]:
        yield f"tune {table}", ["tune", table, "--json", "-o", f"{table}.json"]
        yield f"eval {table}", ["eval", "MSP", table, "--json"]
    yield "tune group", ["tune", "named.csv", "--group", "region", "--target-accuracy", "0.9", "--json", "-o", "group.json"]
    yield "eval tuned", ["eval", "tuned.json", *pair, "--json"]
    yield "eval sets", ["eval", "tested.json", "first.npy", "first-labels.npy", "--set", "second", "second.npy", "second-labels.npy", "--json"]
    yield "eval bootstrap", ["eval", "MaxLogit-pNorm(p=3)", *pair, "--replicates", "200", "--json"]
    yield "eval metrics", ["eval", "MSP", *pair, "--metric", "AURC", "--metric", "ECE", "--metric", "NLL", "--json"]
    yield "eval bare", ["eval", "Confidence", "bare.csv", "--group", "region", "--json"]
    yield "eval answers", ["eval", "Confidence", "answers.csv", "--json"]
    yield "eval weighted", ["eval", "Confidence", "weighted.csv", "--weight-name", "weight", "--json"]
    yield "certify", ["certify", "MaxLogit-pNorm(p=3)", *pair, "--target-accuracy", "0.93", "--delta", "0.05", "--json", "-o", "c.json"]
    yield "certify bare", ["certify", "Confidence", "bare.csv", "--target-accuracy", "0.93", "--json", "-o", "judge.json"]
    yield "certify refused", ["certify", "MSP", *pair, "--target-accuracy", "0.9999", "--delta", "0.05", "--json", "-o", "never.json"]
    yield "certify tuning rows", ["certify", "tuned.json", *pair, "--target-accuracy", "0.9", "--json", "-o", "never.json"]
    yield "threshold coverage", ["threshold", "tuned.json", "logits.npy", "--coverage", "0.7", "--json", "-o", "t.json"]
    yield "threshold target", ["threshold", "tuned.json", *pair, "--target-accuracy", "0.95", "--json", "-o", "t.json"]
    yield "threshold bare", ["threshold", "Confidence", "bare.csv", "--coverage", "0.5", "--json", "-o", "t2.json"]
    yield "threshold number", ["threshold", "MSP", "--at", "2", "--json", "-o", "given.json"]
    yield "score", ["score", "certified.json", rows[0], "-o", "scores.csv"]
    yield "score threshold", ["score", "t.json", "logits.npy", "-o", "scores.jsonl"]
    yield "score bare", ["score", "judge.json", "bare.csv", "-o", "bare-scores.csv"]
    for artifact in ["tuned.json", "certified.json", "t.json", "judge.json", "binary.json"]:
        yield f"show {artifact}", ["show", artifact]
    yield "monitor", ["monitor", "msp.json", "records.csv", "--labels", "feedback.csv", "--state", "state.json", "--json"]
    yield "monitor next", ["monitor", "msp.json", "records.csv", "--labels", "feedback.csv", "--state", "state.json", "--json"]
    yield "audit", ["audit", "msp.json", "records.csv", "--budget", "200", "-o", "audit.csv", "--json"]
    yield "error labels", ["eval", "MSP", "logits.npy", "first-labels.npy", "--json"]
    yield "error file", ["eval", "MSP", "missing.npy", "labels.npy"]
    if not quick:
        yield "bench", ["bench", str(ROOT / "zoo" / "zoo.toml"), "-o", "bench", "--json", "--splits", "2"]
        yield "study", ["study", "all", str(ROOT / "zoo" / "zoo.toml"), "-o", "study", "--splits", "2"]


def run(program, folder, quick):
    """What each command of a program gives: exit code, output, errors and the files it wrote."""
    make_files(folder)
    results = {}
    for name, arguments in commands(quick):
        known = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
        done = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=3600, check=False,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
        )
        results[name] = {"exit code": done.returncode, "output": done.stdout, "errors": done.stderr}
        for path in sorted(folder.rglob("*")):
            if path.is_file() and known.get(path) != path.stat().st_mtime_ns:
                results[name][str(path.relative_to(folder))] = path.read_bytes()
    return results


def json_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def json_differences(path, before, after):
    """Paths at which two JSON values differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            missing = object()
            pair = before.get(key, missing), after.get(key, missing)
            if missing in pair:
                yield f"{path}.{key}", *("(absent)" if x is missing else x for x in pair)
            else:
                yield from json_differences(f"{path}.{key}", *pair)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after)):
            yield from json_differences(f"{path}[{index}]", *pair)
    elif before != after:
        yield path, before, after


def short(value):
    text = json.dumps(value) if not isinstance(value, str) else value
    return text if len(text) <= 100 else text[:97] + "…"


def differences(before, after):
    """How two outputs differ, as lines."""
    if before == after:
        return
    if isinstance(before, bytes) and isinstance(after, bytes):
        try:
            before, after = before.decode(), after.decode()
        except UnicodeDecodeError:
            yield "the bytes differ"
            return
    if isinstance(before, str) and isinstance(after, str):
        parsed = json_of(before), json_of(after)
        if None not in parsed:
            for path, old, new in json_differences("", *parsed):
                yield f"{path or '.'}: {short(old)} -> {short(new)}"
            return
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0):
            if not re.match(r"(---|\+\+\+|@@)", line):
                yield short(line)
        return
    yield f"{short(str(before))} -> {short(str(after))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--quick", action="store_true", help="without the zoo")
    arguments = parser.parse_args()
    found = []
    for program in (arguments.before, arguments.after):
        with tempfile.TemporaryDirectory() as folder:
            found.append(run(program.resolve(), Path(folder), arguments.quick))
    total = 0
    for name, before in found[0].items():
        after = found[1][name]
        for part in [*before, *(part for part in after if part not in before)]:
            for line in differences(before.get(part, "(absent)"), after.get(part, "(absent)")):
                total += 1
                print(f"{name} · {part} · {line}")
    print(f"{total} differences in the output of {len(found[0])} commands", file=sys.stderr)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
