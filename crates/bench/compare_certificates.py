"""How much abstain and MAPIE certify, on samples of real classifiers: nets × targets × sizes × δ.

    python3 crates/bench/compare_certificates.py [--runs N] [--data FOLDER]

Each classifier is a population: rows are drawn from it with replacement, certified, and the coverage of the
certified threshold is that of the population, as is its risk. The confidences are MSP and MaxLogit-pNorm with
p = 4. MAPIE's thresholds are those of its defaults, 0, 0.01, …, 0.99 on the confidence; its two rules are
Bonferroni–Holm, its default, and the fixed sequence. Both get the same rows, but for pilots, which MAPIE has no
use for. Classifiers are those of zoo/clean and of the demo, and of a folder of further ones, each with logits.npy
or probs.npy and labels.npy.
"""

import argparse
import json
import subprocess
import tempfile
import warnings
from pathlib import Path

from common import ROOT, TARGET, build, inside_venv

TARGETS = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
SIZES = (200, 500, 2000, 5000)
DELTAS = (0.05, 0.1)
PILOTS = (100, 250, 1000)


def populations(np, extra):
    """Names, and of each population the errors and the confidence between 0 and 1, surest first."""
    sets = []
    labels = np.load(ROOT / "zoo/labels.npy")
    for path in sorted((ROOT / "zoo/clean").glob("*.npy")):
        sets.append((path.stem, np.load(path), labels))
    folders = [ROOT / "crates/cli/demo"] + ([Path(extra)] if extra else [])
    for folder in sorted({path.name: path for base in folders for path in base.iterdir() if path.is_dir()}.items()):
        name, path = folder
        for file in ("logits.npy", "probs.npy"):
            if (path / file).exists():
                values = np.load(path / file).astype(np.float64)
                if file == "probs.npy":
                    values = np.log(np.maximum(values, values[values > 0].min()))
                sets.append((name, values, np.load(path / "labels.npy")))
    rng = np.random.default_rng(0)
    for name, logits, labels in sets:
        z = logits.astype(np.float64)
        wrong = (z.argmax(axis=1) != labels).astype(np.uint8)
        below = np.sort(z - z.max(axis=1, keepdims=True), axis=1)[:, :-1]
        odds = -np.log(np.maximum(np.exp(below).sum(axis=1), 1e-300))
        c = z - z.mean(axis=1, keepdims=True)
        norm = c.max(axis=1) / (c**4).sum(axis=1) ** 0.25
        confidences = [("MSP", odds, 1 / (1 + np.exp(-odds)))]
        if z.shape[1] > 2:
            confidences.append(("pNorm", norm, norm))
        for title, key, value in confidences:
            order = np.lexsort((rng.random(len(key)), -key))
            yield f"{name} {title}", wrong[order], value[order]


def split_mix(np, seed, count):
    """The generator of the Rust half."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--data", help="a folder of further classifiers")
    parser.add_argument("--json", help="write the results of all cells to a file")
    args = parser.parse_args()
    inside_venv("mapie")

    import numpy as np
    from mapie.risk_control import BinaryClassificationController
    from mapie.risk_control.fwer_control import control_fwer
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    warnings.simplefilter("ignore")
    build()
    grid = np.linspace(0, 0.99, 100)
    cells, held = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, wrong, values in populations(np, args.data):
            risks = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
            reach = {t: np.flatnonzero(risks <= 1 - t + 1e-12) for t in TARGETS}
            reach = {t: (places[-1] + 1) / len(wrong) if len(places) else 0.0 for t, places in reach.items()}
            targets = [t for t in TARGETS if risks[-1] > 1 - t and reach[t] >= 0.12]
            if len(targets) > 3:
                targets = [targets[0], targets[len(targets) // 2], targets[-1]]
            np.save(Path(folder) / f"{name}.npy", wrong)
            held[name] = (wrong, values, risks)
            for target in targets:
                for rows in SIZES:
                    for delta in DELTAS:
                        cell = {"population": name, "risk": round(1 - target, 6), "delta": delta, "rows": rows}
                        cells.append(cell | {"seed": 1000 * len(cells), "reach": reach[target]})
        plan = {"runs": args.runs, "pilots": PILOTS, "cells": cells}
        (Path(folder) / "plan.json").write_text(json.dumps(plan))
        output = subprocess.check_output([TARGET / "release/certificates", folder], text=True)
    ours = [json.loads(line) for line in output.splitlines()]

    def p_values(confidences, wrong, alpha):
        order = np.argsort(-confidences, kind="stable")
        errors = np.concatenate([[0], np.cumsum(wrong[order])])
        accepted = np.searchsorted(-confidences[order], -grid, side="right")
        # As MAPIE has it, to the last bit: one less the precision, and without an accepted row 1, of −1 rows.
        right = accepted - errors[accepted]
        risk = np.where(accepted > 0, 1 - right / np.maximum(accepted, 1), 1.0)
        return compute_hoeffding_bentkus_p_value(risk, np.where(accepted > 0, accepted, -1), alpha, True)[:, 0], risk

    def mapie(confidences, wrong, alpha, delta, rule):
        p, risk = p_values(confidences, wrong, alpha)
        if rule == "fixed_sequence":
            # The direction is that of the mean change of the risk over the thresholds.
            reverse = np.mean(np.diff(risk)) <= 0
            valid = control_fwer(p[::-1] if reverse else p, delta, fwer_method=rule)
            valid = len(grid) - 1 - valid if reverse else valid
        else:
            valid = control_fwer(p, delta, fwer_method=rule)
        return grid[valid].min() if len(valid) else None

    rules = {"MAPIE, default": "bonferroni_holm", "MAPIE, fixed sequence": "fixed_sequence"}
    for index, (cell, result) in enumerate(zip(cells, ours)):
        wrong, values, risks = held[cell["population"]]
        sums = {rule: [0.0, 0] for rule in rules}
        for run in range(args.runs):
            places = (split_mix(np, cell["seed"] + run, cell["rows"]) >> np.uint64(11)).astype(np.float64)
            sample = np.minimum((places * (len(wrong) / 2.0**53)).astype(np.int64), len(wrong) - 1)
            for rule, method in rules.items():
                found = mapie(values[sample], wrong[sample], cell["risk"], cell["delta"], method)
                if index % 100 == 0 and run == 0:
                    # The shortcut above is what MAPIE does when it is called as documented.
                    controller = BinaryClassificationController(
                        lambda x: np.column_stack([1 - x, x]), "precision", target_level=1 - cell["risk"],
                        confidence_level=1 - cell["delta"], fwer_method=method,
                        best_predict_param_choice="recall",
                    )
                    controller.calibrate(values[sample], 1 - wrong[sample].astype(int))
                    assert controller.best_predict_param == found, (cell, method, controller.best_predict_param, found)
                if found is not None:
                    accepted = int(np.searchsorted(-values, -found, side="right"))
                    sums[rule][0] += accepted / len(wrong)
                    sums[rule][1] += bool(accepted and risks[accepted - 1] > cell["risk"])
        result.update({rule: [total / args.runs, broken / args.runs] for rule, (total, broken) in sums.items()})

    if args.json:
        Path(args.json).write_text(json.dumps([cell | {"rules": result} for cell, result in zip(cells, ours)]))
    names = ["four starts", "no pilot", "SGR", *(f"pilot of {rows}" for rows in PILOTS), *rules]
    table = np.array([[result[name] for name in names] for result in ours])
    coverage, broken = table[:, :, 0], table[:, :, 1]
    old, sequence = coverage[:, names.index("four starts")], coverage[:, names.index("MAPIE, fixed sequence")]
    print(f"{len(cells)} cells of {len(held)} populations, {args.runs} runs each; the coverage in reach is "
          f"{np.mean([cell['reach'] for cell in cells]):.3f} on average")
    some = old >= 0.01
    print("| rule | certified | more than four starts | mean gain of a cell | most below four starts "
          "| most below MAPIE's sequence | broken | at most |")
    print("|---|---|---|---|---|---|---|---|")
    for k, name in enumerate(names):
        mean = coverage[:, k].mean()
        gain = (coverage[some, k] / old[some]).mean() - 1
        print(f"| {name} | {mean:.3f} | {mean / old.mean() - 1:+.1%} | {gain:+.1%} | {(coverage[:, k] - old).min():+.3f} | "
              f"{(coverage[:, k] - sequence).min():+.3f} | {broken[:, k].mean():.3f} | {broken[:, k].max():.3f} |")
    print("\n| rows, δ | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for rows in SIZES:
        for delta in DELTAS:
            chosen = [i for i, cell in enumerate(cells) if (cell["rows"], cell["delta"]) == (rows, delta)]
            row = " | ".join(f"{value:.3f}" for value in coverage[chosen].mean(axis=0))
            print(f"| {rows:,}, {delta} | {row} |")


if __name__ == "__main__":
    main()
