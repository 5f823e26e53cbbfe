#!/usr/bin/env python3
"""`abstain bench` at the paper's size beside the published search, on the same rows of one simulated zoo.

    python3 crates/bench/compare_zoo.py [--models 4] [--rows 50000] [--classes 1000] [--temperatures 6] [--exponents 3]
                                        [--torch PYTHON] [--study] [--program ABSTAIN]

Needs Python 3 with venv and cargo; numpy is installed into target/bench-venv, and `--torch` names a Python that has torch. abstain
runs in full: 10 splits, 5,000 rows tune, every method (`--smaller 0` leaves out the smaller hold-outs). Time and memory are those of
the whole process, for one model and for all; the difference is what a further model costs.

The published search sorts the hold-out anew for every candidate: T and p × τ for MSP, SoftmaxMargin, NegativeEntropy and
NegativeGini, p for MaxLogit and LogitsMargin, T by the likelihood; then all these are measured on the test rows. A few candidates
of each kind are timed, spread over the grid, and scaled up to the grid and 10 splits; "code" is the grid of the published code (200 T,
10 p), "text" that of the paper's text (300 T, 11 p). abstain searches the latter, but tries T and τ coarsely first. It also tunes BK, ETS and
HTS, whose grids in the paper have 40,401, 10,201 and 80,601 points; they have separate lines (numpy alone), and "with them" is the search for all
that `abstain bench` does but its stack. What the published code searches a second time for every fixed p is left out.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, TARGET, inside_venv

SPLITS = 10
MODELS = 84
# How many values of T and of p: in the published code, and in the text of the paper.
GRIDS = {"code": (200, 10), "text": (300, 11)}

MAKE = """
import sys
from statistics import NormalDist
import numpy as np
models, rows, classes = (int(word) for word in sys.argv[1:])
rng = np.random.default_rng(0)
labels = rng.integers(0, classes, rows)
np.save("labels.npy", labels)
hardness = rng.standard_normal(rows, dtype=np.float32)
# The median of the largest of so many normal numbers, and how much the true class is above it in the mean.
rival = NormalDist().inv_cdf(0.5 ** (1 / classes))
for k in range(models):
    accuracy = 0.70 + 0.15 * k / max(models - 1, 1)
    # Its standard deviation over rows: 2 by hardness, 1 by noise, and that of the largest of the others.
    boost = rival + 2.26 * NormalDist().inv_cdf(accuracy)
    out = np.lib.format.open_memmap(f"model-{k}.npy", mode="w+", dtype=np.float32, shape=(rows, classes))
    rng = np.random.default_rng(k + 1)
    for start in range(0, rows, 2_500):
        chunk = labels[start : start + 2_500]
        z = rng.standard_normal((len(chunk), classes), dtype=np.float32)
        z[np.arange(len(chunk)), chunk] += boost + 2 * hardness[start : start + 2_500]
        # Every other model has rows of very different scales, which MSP mistakes for confidence.
        z *= 2.5 * np.exp((0.4 if k % 2 == 0 else 0.05) * rng.standard_normal((len(chunk), 1), dtype=np.float32))
        out[start : start + 2_500] = z
"""

SEARCH = """
import json
import sys
import time
import numpy as np
library, model, holdout = sys.argv[1], sys.argv[2], int(sys.argv[3])
few_temperatures, few_exponents, all_temperatures, all_exponents = (int(word) for word in sys.argv[4:])
y = np.load("labels.npy")
order = np.random.default_rng(7).permutation(len(y))
z = np.load(model, mmap_mode="r")
tune, test = z[order[:holdout]], z[order[holdout:]]
tune_y, test_y = y[order[:holdout]], y[order[holdout:]]
if library == "numpy":

    def softmax(u):
        e = np.exp(u - u.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def margin(u):
        top = np.partition(u, -2, axis=1)[:, -2:]
        return top[:, 1] - top[:, 0]

    def largest(u):
        return u.max(axis=1)

    def entropy(q):
        return (q * np.log(np.maximum(q, np.float32(1e-37)))).sum(axis=1)

    def gini(q):
        return (q * q).sum(axis=1)

    def likelihood(u, y):
        u = u - u.max(axis=1, keepdims=True)
        return (np.log(np.exp(u).sum(axis=1)) - u[np.arange(len(u)), y]).mean()

    def norm(c, p):
        return np.linalg.norm(c, ord=p, axis=1, keepdims=True)

    def centred(z):
        return z - z.mean(axis=1, keepdims=True)

    def wrong(z, y):
        return (z.argmax(axis=1) != y).astype(np.float64)

    def aurc(losses, confidence):
        return float((np.cumsum(losses[np.argsort(-confidence)]) / np.arange(1, len(losses) + 1)).mean())

    version = np.__version__
else:
    import torch

    tune, test, tune_y, test_y = (torch.from_numpy(array) for array in (tune, test, tune_y, test_y))

    def softmax(u):
        return u.softmax(dim=1)

    def margin(u):
        top = u.topk(2, dim=1).values
        return top[:, 0] - top[:, 1]

    def largest(u):
        return u.max(dim=1).values

    def entropy(q):
        return -torch.special.entr(q).sum(dim=1)

    def gini(q):
        return q.square().sum(dim=1)

    def likelihood(u, y):
        return torch.nn.functional.cross_entropy(u, y)

    def norm(c, p):
        return c.norm(p=p, dim=1, keepdim=True)

    def centred(z):
        return z - z.mean(dim=1, keepdim=True)

    def wrong(z, y):
        return (z.argmax(dim=1) != y).double()

    def aurc(losses, confidence):
        by_confidence = losses[confidence.argsort(descending=True)]
        return (by_confidence.cumsum(0) / torch.arange(1, len(losses) + 1)).mean().item()

    version = f"{torch.__version__}, threads: {torch.get_num_threads()}"

# MSP, SoftmaxMargin, NegativeEntropy, NegativeGini; MaxLogit, LogitsMargin.
of_softmax = [largest, margin, entropy, gini]
of_logits = [largest, margin]


def spread(count, few):
    return sorted({round(k) for k in np.linspace(0, count - 1, few + 2)[1:-1]}) if few < count else list(range(count))


temperatures = [0.01 * (k + 1) for k in spread(all_temperatures, few_temperatures)]
exponents = spread(all_exponents, few_exponents)
times = {}


def timed(kind, function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    count, seconds = times.get(kind, (0, 0.0))
    times[kind] = (count + 1, seconds + time.process_time() - start)
    return result


def normalised(c, p):
    return c if p == 0 else c / norm(c, p)


def mean_norm(c, p):
    return 1.0 if p == 0 else float(norm(c, p).mean())


def scaled(c, p):
    return normalised(c, p), mean_norm(c, p)


losses = wrong(tune, tune_y)
c = centred(tune)
for score in of_softmax:
    for t in temperatures:
        timed("T", lambda: aurc(losses, score(softmax(c / t))))
for p in range(all_exponents):
    unit, mean = timed("norms", scaled, c, p)
    if p in exponents:
        for t in temperatures:
            for score in of_softmax:
                timed("p, tau", lambda: aurc(losses, score(softmax(unit / (t / mean)))))

            def together():
                q = softmax(unit / (t / mean))
                return [aurc(losses, score(q)) for score in of_softmax]

            timed("together", together)
for t in temperatures:
    timed("likelihood", lambda: float(likelihood(c / t, tune_y)))
for p in range(all_exponents):
    for score in of_logits:
        timed("p", lambda: aurc(losses, score(normalised(c, p))))

if library == "numpy":
    q = softmax(c)
    surest, runner_up = np.sort(q, 1)[:, -1], np.sort(q, 1)[:, -2]
    log_entropy = np.log(np.maximum(-entropy(q) / q.shape[1], 1e-30))
    for k in range(few_temperatures):
        b, w = -3 + 4 * (k + 0.5) / few_temperatures, -1 + 2 * (k + 0.5) / few_temperatures
        timed("HTS", lambda: aurc(losses, softmax(c / np.log1p(np.exp(b + w * log_entropy))[:, None]).max(1)))
        timed("BK", lambda: aurc(losses, w * surest + b * (1 - runner_up)))
        timed("ETS", lambda: aurc(losses, abs(w) * surest + abs(b) * runner_up))

losses = wrong(test, test_y)
c = centred(test)


def measure():
    # Raw, two temperatures, a p-norm; the values do not matter for the time.
    for score in of_softmax:
        aurc(losses, score(softmax(c)))
        aurc(losses, score(softmax(c / 1.2)))
        aurc(losses, score(softmax(c / 0.8)))
        aurc(losses, score(softmax(normalised(c, 5) / 0.03)))
    for score in of_logits:
        aurc(losses, score(c))
        aurc(losses, score(normalised(c, 5)))


timed("measure", measure)
print(json.dumps({"version": version, "times": times}))
"""

# The paper's method in double precision, in full: every p, and as many splits as abstain, which are others.
CHECK = """
import json
import sys
from collections import Counter
import numpy as np
model, holdout, splits, exponents = sys.argv[1], *(int(word) for word in sys.argv[2:])
z, y = np.load(model, mmap_mode="r"), np.load("labels.npy")


def normalised(c, p):
    return c if p == 0 else c / np.linalg.norm(c, ord=p, axis=1, keepdims=True)


def msp(u):
    # By the smallness of all other terms, which never ties.
    e = np.exp(u - u.max(axis=1, keepdims=True))
    e[np.arange(len(u)), u.argmax(axis=1)] = 0
    return -e.sum(axis=1)


def aurc(losses, confidence):
    return float((np.cumsum(losses[np.argsort(-confidence)]) / np.arange(1, len(losses) + 1)).mean())


def naurc(losses, confidence):
    ideal = aurc(losses, 1 - losses)
    return (aurc(losses, confidence) - ideal) / (losses.mean() - ideal)


losses = np.empty(len(y))
baseline = np.empty(len(y))
confidences = np.empty((exponents, len(y)))
for start in range(0, len(y), 2_500):
    part = slice(start, start + 2_500)
    u = z[part].astype(np.float64)
    losses[part] = u.argmax(axis=1) != y[part]
    baseline[part] = msp(u)
    u -= u.mean(axis=1, keepdims=True)
    for p in range(exponents):
        confidences[p, part] = normalised(u, p).max(axis=1)

found = {"accuracy": [], "msp": [], "max_logit_pnorm": []}
chosen = []
for seed in range(splits):
    order = np.random.default_rng(seed).permutation(len(y))
    tune, test = order[:holdout], order[holdout:]
    value, p = min((aurc(losses[tune], confidence[tune]), p) for p, confidence in enumerate(confidences))
    chosen.append(p)
    best = confidences[p] if value < aurc(losses[tune], baseline[tune]) else baseline
    found["accuracy"].append(1 - losses[test].mean())
    found["msp"].append(naurc(losses[test], baseline[test]))
    found["max_logit_pnorm"].append(naurc(losses[test], best[test]))

np.save("holdout.npy", z[tune])
np.save("holdout-labels.npy", y[tune])
u = z[tune].astype(np.float64)
c = u - u.mean(axis=1, keepdims=True)
tau = round(1 / float(np.linalg.norm(c, ord=3, axis=1).mean()), 6)
candidates = {
    "MSP-TS(T=1.5)": aurc(losses[tune], msp(u / 1.5)),
    f"MaxLogit-pNorm(p={chosen[-1]})": aurc(losses[tune], confidences[chosen[-1], tune]),
    f"MSP-pNorm(p=3, tau={tau})": aurc(losses[tune], msp(normalised(c, 3) / tau)),
}
published = {name: {"mean": np.mean(values), "std": np.std(values)} for name, values in found.items()}
published["p"] = Counter(chosen).most_common(1)[0][0]
print(json.dumps({**published, "candidates": candidates, "holdout_accuracy": 1 - losses[tune].mean()}))
"""


def run(command, folder):
    """What a command prints, its seconds, its seconds of CPU and its peak memory in MB."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        child = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            sys.exit(f"{command[0]} failed")
        out.seek(0)
        return out.read(), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def line(what, seconds, processor, memory=None):
    peak = "" if memory is None else f"{memory:9.0f}"
    print(f"  {what:38}{seconds:9.1f}{processor:9.1f}{peak}")


def abstain_costs(title, command, names, folder):
    """Runs a command for one model and for all; prints what both cost, and returns what the first printed and the CPU of 1 and of 84."""
    print(f"\n{title:40}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}")
    printed, *one = run([*command("one"), "--models", names[0]], folder)
    line("1 model", *one)
    _, *every = run(command("all"), folder)
    line(f"{len(names)} models", *every)
    further = [(every[k] - one[k]) / (len(names) - 1) for k in range(2)]
    line("a further model", *further)
    all_of_them = [one[k] + (MODELS - 1) * further[k] for k in range(2)]
    print(f"  {MODELS} models would take {all_of_them[0] / 3600:.2f} h, {all_of_them[1] / 3600:.2f} h of CPU")
    return printed, one[1], all_of_them[1]


def published_costs(library, published, memory, test_rows):
    """Scales the timed candidates up to the grids, prints how, and returns the CPU of a model by grid, in several ways."""
    kinds = [
        ("T", "T, 4 scores", lambda t, p: 4 * t),
        ("p, tau", "p × τ, 4 scores", lambda t, p: 4 * p * t),
        ("norms", "the norms for it, 4 scores", lambda t, p: 4 * p),
        ("p", "p, 2 scores", lambda t, p: 2 * p),
        ("likelihood", "T by the likelihood", lambda t, p: t),
        ("measure", f"20 methods on {test_rows:,} rows", lambda t, p: 1),
    ]
    families = [("BK", 201 * 201), ("ETS", 101 * 101), ("HTS", 401 * 201)]
    families = [family for family in families if family[0] in published["times"]]
    kinds += [(name, name, lambda t, p, number=number: number) for name, number in families]
    print(f"\npublished search, {library} {published['version']}, float32, peak {memory:.0f} MB; CPU seconds of one model, scaled up")
    print(f"  {'':30}{'timed':>7}{'ms each':>9}" + "".join(f"{f'in all, {grid}':>14}{'s':>9}" for grid in GRIDS))
    sums = dict.fromkeys(GRIDS, 0.0)
    everything = dict.fromkeys(GRIDS, 0.0)
    shared = dict.fromkeys(GRIDS, 0.0)
    count, seconds = published["times"]["together"]
    together = seconds / count / 4
    for kind, title, candidates in kinds:
        count, seconds = published["times"][kind]
        each = seconds / count
        text = f"  {title:30}{count:7}{1000 * each:9.1f}"
        for grid, values in GRIDS.items():
            number = SPLITS * candidates(*values)
            text += f"{number:14,}{number * each:9.0f}"
            everything[grid] += number * each
            if kind not in dict(families):
                sums[grid] += number * each
                shared[grid] += number * (together if kind in ("T", "p, tau") else each)
        print(text)
    lines = [("", sums), (", one softmax for 4 scores", shared)]
    if families:
        lines.append((", with BK, ETS and HTS", everything))
    for title, by_grid in lines:
        print(f"  {'sum' + title:46}" + "".join(f"{'':14}{by_grid[grid]:9.0f}" for grid in GRIDS))
    return lines


def check(program, published, model, folder):
    """Both must agree on the same candidates, and nearly on different splits."""
    print("\nthe same candidates on the same rows, a hold-out (AURC): abstain, numpy in double precision")
    command = [program, "eval", "", "holdout.npy", "holdout-labels.npy", "--json", "--quiet", "--metric", "AURC"]
    for name, value in published["candidates"].items():
        command[2] = name
        result = json.loads(run(command, folder)[0])[0]
        aurc = result["metrics"][0]["values"][0]["estimate"]
        print(f"  {name:36}{aurc:.9f}       {value:.9f}")
        if abs(aurc - value) > 1e-6 or abs(result["accuracy"] - published["holdout_accuracy"]) > 1e-6:
            sys.exit(f"{name}: the two disagree")
    print(f"the test rows, mean ± std of {SPLITS} splits, drawn by each of the two: abstain, numpy")
    rows = [("accuracy", "accuracy"), ("NAURC of MSP", "msp"), ("NAURC of MaxLogit-pNorm", "max_logit_pnorm")]
    for title, name in rows:
        result, other = model[name], published[name]
        print(f"  {title:36}{result['mean']:.4f} ±{result['std']:.4f}   {other['mean']:.4f} ±{other['std']:.4f}")
        # Means of ten: three standard deviations of one are nearly seven of their difference.
        if abs(result["mean"] - other["mean"]) > 3 * max(result["std"], other["std"]):
            sys.exit(f"{title}: the two disagree")
    # Neighbours are nearly as good: not compared.
    print(f"  {'p of most splits':36}{model['p']:.0f}                {published['p']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=1_000)
    parser.add_argument("--temperatures", type=int, default=6)
    parser.add_argument("--exponents", type=int, default=3)
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--study", action="store_true", help="time `abstain study all` as well")
    parser.add_argument("--program", metavar="ABSTAIN", help="a program that is built already")
    args = parser.parse_args()
    if args.models < 2:
        parser.error("a further model is a difference: --models takes 2 or more")
    inside_venv()

    if args.program is None:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    program = Path(args.program or TARGET / "release" / "abstain").resolve()
    pythons = {"numpy": sys.executable}
    if args.torch:
        # Not resolved: a link tells Python which environment it is in.
        pythons["torch"] = Path(shutil.which(args.torch) or sys.exit(f"there is no {args.torch}")).absolute()
    holdout = min(5_000, args.rows // 2)
    names = [f"model-{k}" for k in range(args.models)]
    # This process never loads numpy: a child's peak memory is never below what its parent had.
    with tempfile.TemporaryDirectory(dir=TARGET) as folder:
        folder = Path(folder).resolve()
        zoo = folder / "zoo"
        zoo.mkdir()
        print(f"writing {args.models} models of {args.rows} × {args.classes} float32 logits …", file=sys.stderr)
        numbers = [str(n) for n in (args.models, args.rows, args.classes)]
        subprocess.run([sys.executable, "-c", MAKE, *numbers], cwd=zoo, check=True)
        size = (zoo / "model-0.npy").stat().st_size / 1e6
        print(f"{args.models} models of {args.rows} × {args.classes} float32, {size:.0f} MB each; {SPLITS} splits, {holdout} rows tune")

        protocol = ["--quiet", "--splits", SPLITS, "--holdout", holdout, "--smaller", 0]
        bench = [program, "bench", zoo, "--json", *protocol]
        printed, one, all_of_them = abstain_costs("abstain bench", lambda _: bench, names, folder)
        if args.study:
            study = [program, "study", "all", zoo, *protocol, "--show", names[0], "-o"]
            # A folder for each run, or the second would find the work of the first.
            abstain_costs("abstain study all, 1 model closely", lambda name: [*study, name], names, folder)

        # The hold-out goes beside the zoo, not into it: there it would be a model.
        for name in ["labels.npy", "model-0.npy"]:
            (folder / name).symlink_to(zoo / name)
        few = [args.temperatures, args.exponents, *GRIDS["text"]]
        results = {}
        for library, python in pythons.items():
            text, _, _, memory = run([python, "-c", SEARCH, library, "model-0.npy", holdout, *few], folder)
            results[library] = published_costs(library, json.loads(text), memory, args.rows - holdout)

        print(f"\nCPU of one model and of {MODELS}, and how many times abstain's")
        print(f"  {'abstain bench':50}{one:9.0f} s{all_of_them / 3600:9.2f} h")
        for library, lines in results.items():
            for title, by_grid in lines:
                for grid, seconds in by_grid.items():
                    what = f"{library}, grid of the {grid}{title}"
                    hours = seconds * MODELS / 3600
                    print(f"  {what:50}{seconds:9.0f} s{hours:9.2f} h{hours * 3600 / all_of_them:7.0f}x")

        text, *_ = run([sys.executable, "-c", CHECK, "model-0.npy", holdout, SPLITS, GRIDS["text"][1]], folder)
        check(program, json.loads(text), json.loads(printed)["models"][0], folder)


if __name__ == "__main__":
    main()
