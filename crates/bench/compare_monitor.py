"""Labels until the alarm, on the same streams: abstain, MAPIE's RiskMonitoring, a binomial test, an oracle.

    python3 crates/bench/compare_monitor.py [--streams N] [--seed N] [--folder FOLDER] [--json FILE]

The hypothesis is that the risk is at most 3 %; a false alarm may be raised in 5 % of the streams. A case is
a file case-*.npy in the folder, 0 or 1 for each [stream, row]; cases that the folder lacks are drawn and
written there. case-04 has a risk of 4 % from its first row; case-02-04 has 5,000 rows at 2 % before it;
case-03 is at the boundary. All monitors are looked at after every label, but for the binomial test, which
may be looked at once.

- The oracle knows the risk and the row of the change, and multiplies likelihood ratios from there, up to
  1 / α. It is nearly the best there is; not quite, because its last factor carries it beyond 1 / α.
- MAPIE gets the threshold itself, hence no reference rows and no tolerance, and rows by its "precision". Its
  `test_level` is halved for reference rows, and its lower bound halves it again as if it were one of two
  bounds. So `test_level=0.05`, as documented, spends 1.25 % on false alarms; `test_level=0.20` spends the
  whole 5 %. Its alarm is not taken back, but it is about the mean loss since the start.
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

from common import TARGET as BUILT
from common import build, inside_venv

TARGET, ALPHA = 0.03, 0.05
GOOD, CHANGE = 0.02, 5_000
LEVELS = (0.05, 0.20)
PRESET = 2_000
OTHERS = (500, 1_000, 2_000, 5_000, 7_000, 10_000, 20_000)
# Name, risk, rows before it, rows in all.
CASES = [
    ("case-04", 0.04, 0, 20_000),
    ("case-06", 0.06, 0, 20_000),
    ("case-10", 0.10, 0, 20_000),
    ("case-02-04", 0.04, CHANGE, CHANGE + 20_000),
    ("case-02-06", 0.06, CHANGE, CHANGE + 20_000),
    ("case-02-10", 0.10, CHANGE, CHANGE + 20_000),
    ("case-03", 0.03, 0, 10_000),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=2000, help="streams of each case that is drawn here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where the streams are, or are written to")
    parser.add_argument("--checks", type=int, default=1, help="streams of each case on which MAPIE itself is run")
    parser.add_argument("--json", help="write the first alarms of all monitors to a file")
    args = parser.parse_args()
    inside_venv("mapie")
    build("monitor")

    import mapie
    import numpy as np
    from mapie.exchangeability_testing import RiskMonitoring
    from mapie.exchangeability_testing.bounds import GammaExponentialMixtureBound
    from scipy.special import gammainc, gammaln
    from scipy.stats import binom

    warnings.simplefilter("ignore")

    def streams(folder):
        """The losses of each case, read or drawn. Each case has a seed, so none depends on others."""
        for place, (name, risk, before, rows) in enumerate(CASES):
            path = Path(folder) / f"{name}.npy"
            if not path.exists():
                rng = np.random.default_rng([args.seed, place])
                risks = np.where(np.arange(rows) < before, GOOD, risk)
                losses = np.empty((args.streams, rows), dtype=np.uint8)
                for stream in losses:
                    stream[:] = rng.random(rows) < risks
                np.save(path, losses)
            losses = np.load(path, mmap_mode="r")
            assert losses.ndim == 2 and losses.dtype == np.uint8, f"{path}: wrong shape or type"
            assert losses.shape[1] == rows, f"{path}: {losses.shape[1]} rows, where {rows} are needed"
            yield name, risk, before, losses

    def first(alarms):
        """The label of the first alarm, counted from 1, or infinity."""
        return alarms[0] + 1 if len(alarms) else np.inf

    def oracle(stream, risk, before):
        gain = np.where(stream[before:] == 1, np.log(risk / TARGET), np.log((1 - risk) / (1 - TARGET)))
        return before + first(np.flatnonzero(np.cumsum(gain) >= np.log(1 / ALPHA)))

    def spent(level):
        """The error that MAPIE's lower bound spends: half of the level is for reference rows, and half of the rest
        for an upper bound that is not computed."""
        return level / 4

    mixtures = {level: GammaExponentialMixtureBound(v_opt=1, c=1, alpha_opt=spent(level)) for level in LEVELS}

    def mapie_alarms(stream):
        """The first alarm of MAPIE for each level.

        MAPIE recomputes all bounds by bisection on every update, so a look after every label takes time quadratic
        in the rows. Its bound lies above the threshold exactly where its supermartingale, taken at the threshold,
        exceeds 1 / level, and that only begins at a loss. `check` compares this with MAPIE itself.
        """
        rows = np.arange(1, len(stream) + 1)
        sums = np.cumsum(stream, dtype=np.float64)
        means = np.concatenate([[0.5], sums[:-1] / rows[:-1]])
        variance = np.cumsum((stream - means) ** 2)
        excess = sums - rows * TARGET
        places = np.flatnonzero((stream == 1) & (excess > 0))
        s, v = excess[places], variance[places]
        found = []
        for level, mixture in mixtures.items():
            shape, x = v + mixture.rho, s + v + mixture.rho
            with np.errstate(divide="ignore"):
                log = mixture.leading_constant + gammaln(shape) + np.log(gammainc(shape, x))
                log += s + v - shape * np.log(x)
            found.append(first(places[log > np.log(1 / spent(level))]))
        return found

    def check(stream, found):
        """Compares with MAPIE itself: an update with all rows has the bounds of updates row by row."""
        for level, alarm in zip(LEVELS, found):
            monitor = RiskMonitoring("precision", test_level=level, threshold=TARGET, warn=False)
            monitor.update(1 - stream.astype(int), np.ones(len(stream), dtype=int))
            bounds = monitor.online_risk_lower_bound_sequence_history
            assert first(np.flatnonzero(bounds > TARGET)) == alarm, (level, alarm)
        return bounds

    # The smallest number of losses among n that an exact binomial test rejects; infinite where it cannot.
    longest = max(rows for _, _, _, rows in CASES)
    critical = binom.isf(ALPHA, np.arange(longest + 1), TARGET) + 1

    began = time.time()
    names = ["oracle", "abstain", *(f"MAPIE, {level:.2f}" for level in LEVELS), "binomial"]
    results, preset, peeks = {}, {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or temporary
        cases = list(streams(folder))
        ours = json.loads(subprocess.check_output([BUILT / "release/monitor", "alarms", folder]))
        for name, risk, before, losses in cases:
            alarms = {title: [] for title in names}
            looks, rejected = [], []
            for place, stream in enumerate(losses):
                counts = np.cumsum(stream, dtype=np.int64)
                looks.append(first(np.flatnonzero(counts >= critical[1 : len(stream) + 1])))
                rejected.append([counts[n - 1] >= critical[n] if n <= len(stream) else False for n in OTHERS])
                alarms["binomial"].append(PRESET if counts[PRESET - 1] >= critical[PRESET] else np.inf)
                alarms["oracle"].append(oracle(stream, risk, before) if risk > TARGET else np.inf)
                found = mapie_alarms(stream)
                for level, alarm in zip(LEVELS, found):
                    alarms[f"MAPIE, {level:.2f}"].append(alarm)
                if place < args.checks:
                    bounds = check(stream, found)
                    if place == 0 and name == CASES[0][0]:
                        monitor = RiskMonitoring("precision", test_level=LEVELS[-1], threshold=TARGET, warn=False)
                        for row in range(200):
                            monitor.update(1 - stream[row : row + 1].astype(int), np.ones(1, dtype=int))
                            assert monitor.online_risk_lower_bound_latest == bounds[row], row
            alarms["abstain"] = [np.inf if label is None else label for label in ours[name]]
            results[name] = {title: np.array(values, dtype=float) for title, values in alarms.items()}
            preset[name] = np.mean(rejected, axis=0)
            peeks[name] = np.array(looks, dtype=float)
            drawn = len(losses)

    if args.json:
        plain = {
            case: {title: [int(v) if np.isfinite(v) else None for v in values] for title, values in table.items()}
            for case, table in results.items()
        }
        Path(args.json).write_text(json.dumps(plain))

    print(f"{drawn:,} streams of each case, target {TARGET:.0%}, α {ALPHA:.0%}, MAPIE {mapie.__version__}, "
          f"{time.time() - began:.0f} s\n")
    print("Labels from the start of the risk to the first alarm, in the median of the streams without an alarm before "
          "it; in brackets the share of these that alarmed at all.\n")
    titles = [title + (", looked at once" if title == "binomial" else "") for title in names]
    ratios = [title for title in names if title not in ("oracle", "binomial")]
    print("| risk | " + " | ".join(titles) + " | " + " | ".join(f"{title} / oracle" for title in ratios) + " |")
    print("|---" * (1 + len(titles) + len(ratios)) + "|")
    for name, risk, before, _ in CASES:
        if risk <= TARGET:
            continue
        cells, medians = [], {}
        for title in names:
            late = results[name][title][results[name][title] > before] - before
            medians[title] = np.median(late) if len(late) else np.inf
            text = f"{medians[title]:,.0f}" if np.isfinite(medians[title]) else "never"
            cells.append(f"{text} ({np.isfinite(late).mean() if len(late) else 0:.1%})")
        for title in ratios:
            ratio = medians[title] / medians["oracle"]
            cells.append(f"{ratio:.2f}" if np.isfinite(ratio) else "–")
        title = f"{risk:.0%}" + (f" after {before:,} rows at {GOOD:.0%}" if before else " from the start")
        print(f"| {title} | " + " | ".join(cells) + " |")

    print("\nShare of the streams with a false alarm.\n")
    print("| rows | " + " | ".join(names[1:]) + " | binomial after every label |")
    print("|---" * (len(names) + 1) + "|")
    for name, risk, before, rows in CASES:
        if risk <= TARGET or before:
            end, rate = (before, GOOD) if before else (rows, risk)
            cells = [f"{(results[name][title] <= end).mean():.1%}" for title in names[1:]]
            cells.append(f"{(peeks[name] <= end).mean():.1%}")
            print(f"| {end:,} at {rate:.0%} ({name}) | " + " | ".join(cells) + " |")

    print("\nShare of the streams that a binomial test rejects, if it is looked at once, after so many labels.\n")
    print("| case | " + " | ".join(f"{n:,}" for n in OTHERS) + " |")
    print("|---" * (len(OTHERS) + 1) + "|")
    for name, _, _, rows in CASES:
        cells = [f"{share:.1%}" if n <= rows else "–" for n, share in zip(OTHERS, preset[name])]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
