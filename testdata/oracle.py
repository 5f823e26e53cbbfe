#!/usr/bin/env python3
"""The oracle behind golden.toml: every formula, written naively, in exact arithmetic.

Confidences are computed with `decimal` (120 digits or more) from the exact value of
each f64 literal; metrics are computed with `fractions`. Nothing here is fast, clever or
shared with the library: it is a second, independent reading of the definitions
("How to Fix a Broken Confidence Estimator", Cattelan and Silva), and the library must
agree with it.

    python3 testdata/oracle.py            rewrite golden.toml beside this file
    python3 testdata/oracle.py --check    exit 1 if golden.toml is out of date

Format of golden.toml
---------------------
[[case]]          a small data set
  name, about     unique kebab-case name; one sentence on what the case is for
  kind            "logits" or "probabilities" (then z = ln p)
  floor           probabilities only: replaces zeros before the logarithm
  masked          true if rows contain -inf: such a class has probability 0, and mean,
                  minimum and p-norm leave it out. C still counts it.
  rows, labels    the data
  loss            "0/1", "top-2", "cost" (cost[label][prediction]) or "given" (losses)
  predictions     argmax of each row, the lowest index wins ties
  expected_losses one loss per row
  nll             mean of -ln softmax(z)[label], or "undefined" (label on a masked class)
  [[case.estimator]]
    name          e.g. "MSP", "MSP-TS(T=0.5)", "MSP-pNorm-shift(p=2, tau=0.5, gamma=1)"
    values        the confidence of each row, rounded to the nearest f64
    ranks         dense ranks of the exact confidences, 0 = least confident; only exact
                  ties share a rank, so 1 - 1e-30 ranks above 1 - 1e-20
    metrics       each a number or "undefined", from the exact ranks
    ece           15 bins; only if the confidence is a probability and the loss is 0/1
[[compat]]        AURC of given confidences and losses in several conventions, unscaled
[[correlation]]   pearson and spearman of x and y, or "undefined"
[[apg]]           average positive gain of NAURC, method against baseline

What code in f64 may be asked to rank: two rows of a case differ by more than 1e-9
(relatively) in every listed confidence, unless they tie for a reason that such code can
see: identical rows, constant rows, a confidence that is exactly 0 or infinite, pNorm of
two classes, equal literals. `check_separation` asserts this. "Differ" is measured in the
log-odds for MSP and its kin and for MaxLogit-pNorm, and in the logarithm of 1 - margin
for SoftmaxMargin.
"""

import re
import sys
from decimal import MAX_EMAX, MIN_EMIN, Decimal, getcontext
from fractions import Fraction
from pathlib import Path
from random import Random

GOLDEN = Path(__file__).resolve().parent / "golden.toml"
UNDEFINED = "undefined"
INF = Decimal("Infinity")
ONE = Decimal(1)
TIE = Decimal("1e-50")  # relative difference up to which exact confidences are equal
APART = Decimal("1e-9")  # relative difference that code in f64 is expected to see

getcontext().Emax = MAX_EMAX
getcontext().Emin = MIN_EMIN


# ---------------------------------------------------------------------------------------
# Scores of a (transformed) row u. Each returns (value, key): the key ranks as the value
# does, but still tells rows apart where the value is within 10^-digits of 1.


def unmasked(u):
    return [x for x in u if x != -INF]


def argmax(u):
    return u.index(max(u))


def without(values, index):
    return values[:index] + values[index + 1 :]


def softmax(u):
    top = max(u)
    e = [(x - top).exp() for x in u]
    total = sum(e)
    return [x / total for x in e]


def log_sum_exp(u):
    top = max(u)
    return top + sum((x - top).exp() for x in u).ln()


def top_and_rest(u):
    """The largest probability, and the C - 1 others."""
    p = softmax(u)
    return p[argmax(u)], without(p, argmax(u))


def msp(u):
    value = max(softmax(u))
    rest = unmasked(without(u, argmax(u)))
    log_odds = max(u) - log_sum_exp(rest) if rest else INF
    return value, log_odds


def softmax_margin(u):
    p1, rest = top_and_rest(u)
    others = unmasked(without(u, argmax(u)))
    if not others:
        return p1 - max(rest), INF
    # 1 - margin = (2nd + sum of all but the top) / (sum of all); minus its logarithm.
    gap = max(u) - max(others)
    s = sum((x - max(others)).exp() for x in others)
    key = gap - (s + 1).ln() + (1 + (-gap).exp() * s).ln()
    return p1 - max(rest), key


def max_logit(u):
    return max(u), max(u)


def logits_margin(u):
    rest = unmasked(without(u, argmax(u)))
    value = max(u) - max(rest) if rest else INF
    return value, value


def entropy(u):
    log_total = log_sum_exp(u)
    return -sum((x - log_total).exp() * (x - log_total) for x in unmasked(u))


def negative_entropy(u):
    if len(unmasked(u)) == 1:
        return Decimal(0), Decimal(0)
    assert_digits_suffice(u)
    return -entropy(u), -entropy(u)


def negative_gini(u):
    assert_digits_suffice(u)
    value = -1 + sum(p * p for p in softmax(u))
    return value, value


def energy(u):
    return log_sum_exp(u), log_sum_exp(u)


def ldam(u):
    p1, rest = top_and_rest(u)
    if min(rest) == max(rest):  # variance exactly 0
        value = Decimal(0) if p1 == rest[0] else INF
    else:
        mu = sum(rest) / len(rest)
        variance = sum((p - mu) ** 2 for p in rest) / len(rest)
        value = (p1 - mu) ** 2 / variance
    return value, value


def leon(u):
    p = softmax(u)
    c = len(p)
    mu = ONE / c  # the probabilities sum to 1
    std = (sum((x - mu) ** 2 for x in p) / (c - 1)).sqrt()
    value = 2 * max(p) - ONE / c - std
    return value, value


def assert_digits_suffice(u):
    """1 - p1 must be well above the last digit, or 1 - p1 would be lost beside 1."""
    if len(unmasked(u)) > 1:
        gap = max(u) - max(unmasked(without(u, argmax(u))))
        assert gap < 2 * (getcontext().prec - 60), "raise the digits of this case"


SCORES = {
    "MSP": msp,
    "SoftmaxMargin": softmax_margin,
    "MaxLogit": max_logit,
    "LogitsMargin": logits_margin,
    "NegativeEntropy": negative_entropy,
    "NegativeGini": negative_gini,
    "Energy": energy,
    "LDAM": ldam,
    "Leon": leon,
}

# One temperature for all rows does not change how these rank.
SCALE_DOES_NOT_MATTER = ("MaxLogit", "LogitsMargin")


# ---------------------------------------------------------------------------------------
# Transforms and families


def p_norm(v, p):
    if p == 0:
        return ONE  # "centred only"
    if p == INF:
        return max(abs(x) for x in v)
    return sum(abs(x) ** p for x in v if x != 0) ** (1 / p)


def normalise(z, centre, p, tau, gamma):
    """(z - Gamma(z) + gamma) / (tau * ||z - Gamma(z) + gamma||_p)."""
    seen = unmasked(z)
    if centre == "mean":
        # A constant row is its own mean, exactly.
        shift = seen[0] if min(seen) == max(seen) else sum(seen) / len(seen)
    elif centre == "min":
        shift = min(seen)
    else:
        shift = Decimal(0)
    v = [x - shift + gamma for x in z]
    norm = p_norm(unmasked(v), p)
    if norm == 0:
        return [x if x == -INF else Decimal(0) for x in v]
    return [x / (tau * norm) for x in v]


def bk(z, a, b):
    p1, rest = top_and_rest(z)
    value = a * p1 + b * (1 - max(rest))
    return value, value


def ets(z, T, w):
    value = w * msp([x / T for x in z])[0] + (1 - w) * msp(z)[0]
    return value, value


def hts(z, b, w):
    h = entropy(z) / len(z)
    assert h > 0
    t = (1 + (b + w * h.ln()).exp()).ln()
    return msp([x / t for x in z])


def cmd(z, T=ONE):
    """Minus the population standard deviation of ln(1 + (z_1 - z_k) / (T tau)), tau = 0.5."""
    others = unmasked(without(z, argmax(z)))
    if min(others, default=0) == max(others, default=0):
        return Decimal(0), Decimal(0)
    logs = [(1 + (max(z) - x) / (T * Decimal("0.5"))).ln() for x in others]
    mu = sum(logs) / len(logs)
    value = -(sum((x - mu) ** 2 for x in logs) / len(logs)).sqrt()
    return value, value


def logit_gap(z, N):
    """The largest logit less the mean of the N next ones; of all if there are fewer."""
    others = sorted(unmasked(without(z, argmax(z))), reverse=True)[: int(N)]
    value = max(z) - sum(others) / len(others) if others else INF
    return value, value


def gen(z, gamma=Decimal(0.1), M=Decimal(100)):
    """Minus the sum of p^gamma (1 - p)^gamma over the M largest probabilities."""
    if len(unmasked(z)) == 1:
        return Decimal(0), Decimal(0)
    assert_digits_suffice(z)
    largest = sorted(softmax(z), reverse=True)[: int(M)]
    value = -sum(p**gamma * (1 - p) ** gamma for p in largest if p != 0)
    return value, value


FAMILIES = {"BK": bk, "ETS": ets, "HTS": hts, "CMD": cmd, "LogitGap": logit_gap, "GEN": gen}

NAME = re.compile(r"(\w+?)(-TS|-pNorm(?:-NC|-min)?(?:-shift)?)?(?:\((.*)\))?")


def parse(name):
    score, transform, arguments = NAME.fullmatch(name).groups()
    pairs = (a.split("=") for a in arguments.split(", ")) if arguments else ()
    return score, transform or "", {k: Decimal(float(v)) for k, v in pairs}


def confidence(name, z):
    """(value, key) of the estimator called `name` on the logits z."""
    score, transform, given = parse(name)
    if score in FAMILIES:
        return FAMILIES[score](z, **given)
    if transform == "-TS":
        z = [x / given["T"] for x in z]
    elif transform:
        centre = "none" if "-NC" in transform else "min" if "-min" in transform else "mean"
        assert ("tau" not in given) == (score in SCALE_DOES_NOT_MATTER), name
        assert ("gamma" in given) == transform.endswith("-shift"), name
        tau, gamma = given.get("tau", ONE), given.get("gamma", Decimal(0))
        z = normalise(z, centre, given["p"], tau, gamma)
        if score == "MaxLogit" and given["p"] > 0:
            # In [-1, 1], and for large p so close to 1 that f64 cannot tell: ranked by log-odds.
            value = max(unmasked(z))
            if abs(value) < Decimal("1e-30"):
                return value, 2 * value  # the logarithm to more than fifty digits
            return value, INF if value == 1 else ((1 + value) / (1 - value)).ln()
    return SCORES[score](z)


def is_probability(name):
    return parse(name)[0] in ("MSP", "ETS", "HTS")


# ---------------------------------------------------------------------------------------
# Ranks


def same(a, b):
    return a == b or (a.is_finite() and b.is_finite() and abs(a - b) <= TIE * max(abs(a), abs(b)))


def clearly_apart(a, b):
    return not (a.is_finite() and b.is_finite()) or abs(a - b) > APART * max(abs(a), abs(b))


def dense_ranks(keys):
    order = sorted(range(len(keys)), key=lambda i: keys[i])
    ranks = [0] * len(keys)
    for before, i in zip(order, order[1:]):
        ranks[i] = ranks[before] + (0 if same(keys[before], keys[i]) else 1)
    return ranks


def constant(row):
    return min(unmasked(row)) == max(unmasked(row))


def exact_in_f64(name, row):
    """Raw MaxLogit is a literal; raw LogitsMargin may be a difference that f64 holds."""
    return name in ("MaxLogit", "LogitsMargin") and Decimal(float(confidence(name, row)[0])) == (
        confidence(name, row)[0]
    )


def may_tie(name, row, other, value, other_value):
    _, transform, given = parse(name)
    centred = transform in ("-pNorm", "-pNorm-min")
    return (
        row == other
        or (constant(row) and constant(other))
        or (value == other_value and (value == 0 or value.is_infinite()))
        or (len(row) == 2 and centred and given["p"] > 0)
        or (exact_in_f64(name, row) and exact_in_f64(name, other))
    )


def check_separation(case, name, rows, values, keys, ranks):
    for i in range(len(rows)):
        for j in range(i):
            if ranks[i] == ranks[j]:
                fine = may_tie(name, rows[i], rows[j], values[i], values[j])
            else:
                fine = clearly_apart(keys[i], keys[j])
            assert fine, f"{case}: {name}: rows {j} and {i} are too close to rank in f64"


# ---------------------------------------------------------------------------------------
# Metrics, from ranks and losses (Fractions)


def tie_groups(ranks, losses):
    """(size, sum of losses) of each group of equal ranks, the most confident first."""
    groups = []
    for rank in sorted(set(ranks), reverse=True):
        members = [loss for r, loss in zip(ranks, losses) if r == rank]
        groups.append((len(members), sum(members)))
    return groups


def knots(ranks, losses):
    """(rows accepted, their summed loss) at each threshold between tie groups."""
    accepted, total, out = 0, Fraction(0), []
    for size, loss in tie_groups(ranks, losses):
        accepted, total = accepted + size, total + loss
        out.append((accepted, total))
    return out


def expected_risks(ranks, losses):
    """Selective risk of the k most confident rows, k = 1..n, expected over tie order."""
    before, total, risks = 0, Fraction(0), []
    for size, loss in tie_groups(ranks, losses):
        for j in range(1, size + 1):
            risks.append((total + Fraction(j, size) * loss) / (before + j))
        before, total = before + size, total + loss
    return risks


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def aurc(ranks, losses):
    return mean(expected_risks(ranks, losses))


def oracle_aurc(losses):
    return aurc([-loss for loss in losses], losses)


def e_aurc(ranks, losses):
    return aurc(ranks, losses) - oracle_aurc(losses)


def naurc(ranks, losses):
    if min(losses) == max(losses):
        return UNDEFINED
    return e_aurc(ranks, losses) / (mean(losses) - oracle_aurc(losses))


def is_0_1(losses):
    return all(loss in (0, 1) for loss in losses)


def auroc(ranks, losses):
    right = [r for r, loss in zip(ranks, losses) if loss == 0]
    wrong = [r for r, loss in zip(ranks, losses) if loss == 1]
    if not is_0_1(losses) or not right or not wrong:
        return UNDEFINED
    halves = sum(2 * (r > w) + (r == w) for r in right for w in wrong)
    return Fraction(halves, 2 * len(right) * len(wrong))


def augrc(ranks, losses):
    if not is_0_1(losses):
        return UNDEFINED
    n = len(losses)
    area, coverage, height = Fraction(0), Fraction(0), Fraction(0)
    for accepted, total in knots(ranks, losses):
        area += (Fraction(accepted, n) - coverage) * (height + total / n) / 2
        coverage, height = Fraction(accepted, n), total / n
    if auroc(ranks, losses) != UNDEFINED:  # the closed form must say the same
        error = mean(losses)
        assert area == (1 - auroc(ranks, losses)) * (1 - error) * error + error**2 / 2
    return area


def coverage_at_risk(ranks, losses, risk):
    n = len(losses)
    if not is_0_1(losses):
        for k, total in knots(ranks, losses):
            assert abs(total / k - risk) > Fraction(1, 10**9), "risk too near the limit"
    return max((Fraction(k, n) for k, total in knots(ranks, losses) if total / k <= risk), default=Fraction(0))


def sac(ranks, losses, accuracy):
    return coverage_at_risk(ranks, losses, 1 - accuracy) if is_0_1(losses) else UNDEFINED


def risk_at_coverage(ranks, losses, coverage):
    n = len(losses)
    return next(total / k for k, total in knots(ranks, losses) if Fraction(k, n) >= coverage)


def partial_aurc(ranks, losses, low, high):
    n = len(losses)
    chosen = [r for k, r in enumerate(expected_risks(ranks, losses), 1) if low < Fraction(k, n) <= high]
    return mean(chosen) if chosen else UNDEFINED


def metrics(ranks, losses):
    return {
        "AURC": aurc(ranks, losses),
        "E-AURC": e_aurc(ranks, losses),
        "NAURC": naurc(ranks, losses),
        "AUROC": auroc(ranks, losses),
        "AUGRC": augrc(ranks, losses),
        "SAC@0.9": sac(ranks, losses, Fraction("0.9")),
        "CoverageAtRisk@0.2": coverage_at_risk(ranks, losses, Fraction("0.2")),
        "RiskAtCoverage@0.5": risk_at_coverage(ranks, losses, Fraction("0.5")),
        "PartialAURC@0.2..0.8": partial_aurc(ranks, losses, Fraction("0.2"), Fraction("0.8")),
        "Accuracy": 1 - mean(losses) if is_0_1(losses) else UNDEFINED,
    }


def ece(values, right, bins=15):
    """Bins (m-1)/M < g <= m/M; g = 0 goes into the first."""
    n = len(values)
    total = Decimal(0)
    for m in range(1, bins + 1):
        inside = [
            i
            for i, g in enumerate(values)
            if (m - 1 < g * bins or (m == 1 and g == 0)) and g * bins <= m
        ]
        if inside:
            acc = Decimal(sum(right[i] for i in inside)) / len(inside)
            conf = sum(values[i] for i in inside) / len(inside)
            total += abs(acc - conf) * len(inside) / n
    for g in values:
        edge = (g * bins).to_integral_value()
        assert edge == bins or abs(g * bins - edge) > APART, f"{g:.6} is too near the edge of a bin"
    return total


# ---------------------------------------------------------------------------------------
# Losses and cases


def to_logits(case):
    rows = [[Decimal(x) for x in row] for row in case["rows"]]
    if case["kind"] == "logits":
        return rows
    floor = Decimal(case["floor"])
    return [[(x if x != 0 else floor).ln() for x in row] for row in rows]


def losses_of(case, logits, predictions):
    labels = case["labels"]
    if case["loss"] == "given":
        return [Fraction(x) for x in case["losses"]]
    if case["loss"] == "cost":
        return [Fraction(case["cost"][y][k]) for y, k in zip(labels, predictions)]
    if case["loss"] == "top-2":
        for row in logits:
            second, third = sorted(row, reverse=True)[1:3]
            assert second != third, "the top two must be unique"
        return [Fraction(sum(x > row[y] for x in row) >= 2) for row, y in zip(logits, labels)]
    return [Fraction(y != k) for y, k in zip(labels, predictions)]


def nll(logits, labels):
    if any(row[y] == -INF for row, y in zip(logits, labels)):
        return UNDEFINED
    return sum(log_sum_exp(row) - row[y] for row, y in zip(logits, labels)) / len(labels)


def solve(case):
    """Adds everything expected to a case."""
    getcontext().prec = case.pop("digits")
    names = case.pop("estimators")
    assert len(set(names)) == len(names), case["name"]
    logits = to_logits(case)
    case["predictions"] = [argmax(row) for row in logits]
    losses = losses_of(case, logits, case["predictions"])
    if case["loss"] in ("cost", "given"):
        assert not is_0_1(losses), case["name"]
    case["expected_losses"] = [float(x) for x in losses]
    case["nll"] = nll(logits, case["labels"])
    case["estimator"] = []
    for name in names:
        values, keys = zip(*(confidence(name, row) for row in logits))
        ranks = dense_ranks(keys)
        check_separation(case["name"], name, logits, values, keys, ranks)
        solved = {"name": name, "values": values, "ranks": ranks, "metrics": metrics(ranks, losses)}
        if is_probability(name) and case["loss"] == "0/1":
            solved["ece"] = ece(values, [loss == 0 for loss in losses])
        case["estimator"].append(solved)
    return case


RAW = list(SCORES)
SHORT = ["MSP", "SoftmaxMargin", "MaxLogit", "LogitsMargin", "NegativeEntropy", "NegativeGini", "Energy"]
LATER = [
    "CMD(T=1)", "CMD(T=4)", "LogitGap(N=1)", "LogitGap(N=3)", "LogitGap(N=50)",
    "GEN(gamma=0.1, M=100)", "GEN(gamma=0.1, M=2)", "GEN(gamma=0.7, M=3)",
]  # estimators of papers after the paper's own comparison
BRIEF = ["MSP", "LogitsMargin", "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=2)", "MSP-pNorm(p=3, tau=0.25)"]


def every_combination():
    """Each score with each transform; p, tau and gamma go round."""
    ps, taus, gammas, n = ["2", "3", "0.5", "2.5", "10", "1", "4"], ["0.5", "0.25", "1"], ["0.4", "-0.7", "1.5"], 0
    for score in RAW:
        bare = score in SCALE_DOES_NOT_MATTER
        yield score
        if not bare:
            yield f"{score}-TS(T={['0.5', '2', '1.5'][RAW.index(score) % 3]})"
        for variant in ("", "-NC", "-min"):
            for shift in ("", "-shift"):
                arguments = [f"p={ps[n % 7]}"]
                arguments += [] if bare else [f"tau={taus[n % 3]}"]
                arguments += [f"gamma={gammas[n % 3]}"] if shift else []
                yield f"{score}-pNorm{variant}{shift}({', '.join(arguments)})"
                n += 1


def p_grid():
    for p in ("0", "0.5", "1", "2", "2.5", "3", "10", "inf"):
        yield f"MaxLogit-pNorm(p={p})"
        yield f"MSP-pNorm(p={p}, tau=0.5)"
    yield "LogitsMargin-pNorm(p=2.5)"
    yield "LogitsMargin-pNorm(p=inf)"


def random_rows(seed, n, classes, spread=2.0, bump=2.0, digits=3):
    """Gaussian logits, one class of each row raised."""
    rng = Random(seed)
    rows = []
    for _ in range(n):
        row = [round(rng.gauss(0, spread), digits) for _ in range(classes)]
        k = rng.randrange(classes)
        row[k] = round(row[k] + bump * rng.random(), digits)
        rows.append(row)
    return rows


def scaled(rows, exponent):
    return [[float(f"{x}e{exponent}") for x in row] for row in rows]


def labels_with(rows, wrong):
    """The predicted class, but for the rows listed the next class that is not masked."""
    labels = []
    for i, row in enumerate(rows):
        k = argmax(row)
        if i in wrong:
            k = (k + 1) % len(row)
            while row[k] == float("-inf"):
                k = (k + 1) % len(row)
        labels.append(k)
    return labels


def make(name, about, rows, labels, estimators, kind="logits", loss="0/1", digits=120, **more):
    assert len(rows) == len(labels) and len({len(row) for row in rows}) == 1, name
    case = {"name": name, "about": about, "kind": kind}
    if "floor" in more:
        case["floor"] = more.pop("floor")
    if any(x == float("-inf") for row in rows for x in row):
        case["masked"] = True
    case |= {"rows": rows, "labels": labels, "loss": loss, **more}
    return case | {"digits": digits, "estimators": list(estimators)}


def cases():
    rows = random_rows(11, 10, 6)
    yield make(
        "general",
        "Ordinary logits: every score with every transform, and the families of other papers.",
        rows,
        labels_with(rows, {1, 4, 5, 8}),
        [
            *every_combination(),
            "BK(a=0.7, b=0.3)", "BK(a=1, b=-0.5)", "BK(a=-0.25, b=1)",
            "ETS(T=0.5, w=0.3)", "ETS(T=2, w=0.8)",
            "HTS(b=-0.5, w=0.4)", "HTS(b=0.5, w=-0.3)", *LATER,
        ],
    )

    rng = Random(5)
    rows = [[round(-3 * rng.expovariate(1), 3) for _ in range(5)] for _ in range(9)]
    yield make(
        "p-grid",
        "Logits with a long lower tail (so that p = inf is not always 1): p from 0 to infinity.",
        rows,
        labels_with(rows, {0, 3, 7}),
        p_grid(),
    )

    rows = random_rows(3, 20, 40, spread=2.5, bump=6.0, digits=2)
    yield make(
        "forty-classes",
        "More classes than a vector register holds, and an odd number of errors.",
        rows,
        labels_with(rows, {2, 3, 9, 11, 12, 17, 19}),
        [
            *RAW, "MSP-TS(T=1.5)", "MaxLogit-pNorm(p=4)", "LogitsMargin-pNorm(p=2)",
            "MSP-pNorm(p=3, tau=0.1)", "NegativeGini-pNorm(p=2, tau=0.05)", "MaxLogit-pNorm-NC(p=3)",
            "MaxLogit-pNorm-min(p=2)", "HTS(b=-1, w=0.5)", *LATER,
        ],
    )

    yield make(
        "extreme-p",
        "Very large p, where the values come within 1e-16 of 1, and very small p.",
        rows,
        labels_with(rows, {2, 3, 9, 11, 12, 17, 19}),
        [f"MaxLogit-pNorm(p={p})" for p in (0.01, 0.1, 20, 64, 65, 100, 300)]
        + ["LogitsMargin-pNorm(p=0.01)", "MSP-pNorm(p=64, tau=0.1)", "MaxLogit-pNorm-NC(p=100)",
           "MaxLogit-pNorm-min(p=100)"],
    )

    a, b, c, d = random_rows(21, 4, 4)
    rows = [a, b, a, c, b, a, d, b, c, c]
    yield make(
        "ties",
        "Identical rows, right and wrong: three groups of ties and one row on its own.",
        rows,
        labels_with(rows, {2, 3, 4, 9}),
        [*RAW, *BRIEF[2:], "BK(a=0.5, b=0.5)", "ETS(T=0.5, w=0.5)", "HTS(b=0, w=0.5)", *LATER],
    )
    yield make(
        "one-tie",
        "All rows identical: a single group, a single threshold.",
        [a] * 5,
        labels_with([a] * 5, {1, 2}),
        BRIEF,
    )

    rows = [[float(10 - i), 0.0, -1.0] for i in range(10)]
    yield make(
        "exact-limits",
        "Accuracy 9/10 against 0.9, risk 1/5 against 0.2: a limit met exactly is met.",
        rows,
        labels_with(rows, {4}),
        ["MSP", "MaxLogit", "Energy"],
    )
    yield make(
        "exact-limits-two-wrong",
        "The same rows with two errors: the risk of all ten is exactly 0.2.",
        rows,
        labels_with(rows, {4, 9}),
        ["MSP", "LogitsMargin"],
    )

    rows = [
        [46.05, 0.0, -1.0, -2.5],
        [0.3, 69.1, 0.0, -4.0],
        [1.0, 0.999, 1.001, 1.0],
        [-3.0, 2.0, 690.0, 1.5],
        [0.25, 36.0, 0.0, -1.0],
        [37.5, 0.5, -0.5, -2.0],
        [0.0, 0.0003, 0.0, -0.0001],
        [0.3, 69.1, 0.0, -4.0],
        [5.0, 0.0, -1.0, 1.0],
        [-1.0, 20.0, -0.5, 0.0],
    ]
    wrong = {1, 2, 5, 6}
    yield make(
        "saturation",
        "MSP within 1e-16 to 1e-300 of 1, beside nearly uniform rows: values round to 1, ranks do not tie.",
        rows,
        labels_with(rows, wrong),
        [
            *SHORT, "MSP-TS(T=0.01)", "MSP-TS(T=0.5)", "MSP-TS(T=2)", "SoftmaxMargin-TS(T=2)",
            "NegativeEntropy-TS(T=2)", "NegativeGini-TS(T=2)", "MSP-pNorm(p=2, tau=0.01)", *LATER,
        ],
        digits=450,
    )
    rows = [
        [700.0, 0.0, -1.0, -2.5],
        [0.3, 746.0, 0.0, -4.0],
        [1.0, 0.999, 1.001, 1.0],
        [-3.0, 2.0, 1500.0, 1.5],
        [0.25, 1000.0, 0.0, -1.0],
        [720.0, 0.5, -0.5, -2.0],
        [-3.0, 2.0, 1500.0, 1.5],
    ]
    yield make(
        "saturation-beyond-f64",
        "1 - MSP below the smallest f64: ranked by the log-odds.",
        rows,
        labels_with(rows, {1, 2, 6}),
        ["MSP", "LogitsMargin", "MSP-TS(T=0.01)", "MSP-TS(T=0.5)", "MSP-pNorm(p=2, tau=0.001)"],
        digits=820,
    )
    yield make(
        "saturation-beyond-f64-uncertainty",
        "The same rows for the scores whose distance from their limit underflows f64.",
        rows,
        labels_with(rows, {1, 2, 6}),
        ["SoftmaxMargin", "NegativeEntropy", "NegativeGini", "SoftmaxMargin-TS(T=0.01)", *LATER],
        digits=820,
    )
    rows = random_rows(8, 9, 5, spread=1.0, bump=2.0)
    yield make(
        "low-temperature",
        "Ordinary logits at T = 0.01, where nearly every MSP rounds to 1 and ranks as LogitsMargin.",
        rows,
        labels_with(rows, {0, 6, 7}),
        ["LogitsMargin", *(f"{s}-TS(T=0.01)" for s in ("MSP", "SoftmaxMargin", "NegativeEntropy", "NegativeGini")),
         "MSP-pNorm(p=2, tau=0.01)", "MSP-TS(T=100)"],
        digits=450,
    )

    rows = [
        [0.7, 0.3, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.52, 0.23, 0.25],
        [0.1, 0.0, 0.9, 0.0],
        [0.0, 0.001, 0.0, 0.999],
        [0.2, 0.34, 0.41, 0.05],
        [0.7, 0.3, 0.0, 0.0],
        [0.0, 0.62, 0.38, 0.0],
    ]
    some = [*SHORT[:-1], "MSP-TS(T=0.5)", "MSP-TS(T=2)", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=3)",
            "LogitsMargin-pNorm(p=2)", "MSP-pNorm(p=2, tau=0.5)"]
    yield make(
        "probabilities-with-zeros",
        "Exact zeros are replaced by the floor before the logarithm.",
        rows,
        [0, 0, 1, 2, 1, 1, 1, 0],
        some,
        kind="probabilities",
        floor=1e-12,
    )
    yield make(
        "probabilities-other-floor",
        "The same rows with a higher floor: the floor decides how MaxLogit-pNorm ranks.",
        rows,
        [0, 0, 1, 2, 1, 1, 1, 0],
        ["MSP", "MaxLogit-pNorm(p=3)", "MSP-pNorm(p=2, tau=0.5)"],
        kind="probabilities",
        floor=1e-4,
    )
    rows = [
        [0.60001, 0.3, 0.10001],
        [0.05, 0.15002, 0.8],
        [1.00002, 0.0, 0.0],
        [0.41, 0.39002, 0.2],
        [0.2, 0.71002, 0.09],
        [0.02, 0.03002, 0.95],
    ]
    yield make(
        "probabilities-above-one",
        "Rows that sum to 1.00002, one entry above 1: the softmax of the logarithms normalises them.",
        rows,
        labels_with(rows, {1, 3}),
        some[::2],
        kind="probabilities",
        floor=1e-12,
    )

    rows = [[1.5, 0.25], [-0.3, 2.2], [0.1, 0.4], [7.7, 3.1], [1000.3, 1000.9], [-2.0, -3.7]]
    yield make(
        "two-classes",
        "Two classes: every centred pNorm with p > 0 is a constant, so all rows tie.",
        rows,
        labels_with(rows, {0, 2}),
        [
            "MSP", "SoftmaxMargin", "LogitsMargin", "NegativeGini", "LDAM", "Leon", "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=0.5)", "MaxLogit-pNorm(p=1)",
            "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=3)", "MaxLogit-pNorm(p=10)", "MaxLogit-pNorm(p=inf)",
            "LogitsMargin-pNorm(p=3)", "MSP-pNorm(p=2, tau=0.5)", *LATER,
        ],
    )
    rows = [[0.9, 0.10002], [0.35, 0.65002], [0.48, 0.52002], [0.99, 0.01002], [0.2, 0.80002]]
    yield make(
        "two-class-probabilities",
        "Two classes given as probabilities that sum to 1.00002.",
        rows,
        labels_with(rows, {2, 4}),
        ["MSP", "LogitsMargin", "NegativeEntropy", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=2)"],
        kind="probabilities",
        floor=1e-12,
    )

    row = [0.5, 2.25, -1.0]
    yield make("single-row-right", "One row, right.", [row], [1], [*RAW, *BRIEF[3:]])
    yield make("single-row-wrong", "One row, wrong.", [row], [2], BRIEF)

    rows = [
        [0.1] * 7,
        [1.3, -0.2, 0.4, 0.9, -1.1, 0.05, 0.7],
        [0.0] * 7,
        [-7.3] * 7,
        [-2.0, 0.1, 3.3, -0.6, 0.8, 1.2, 0.3],
        [1e6] * 7,
        [0.2, 0.1, -0.4, 0.6, 0.15, -0.9, 1.6],
    ]
    yield make(
        "constant-rows",
        "Rows of one value (zero too): uniform softmax, and the lowest MaxLogit-pNorm, exactly 0.",
        rows,
        labels_with(rows, {0, 4, 5}),
        [
            *RAW, "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=1)", "MaxLogit-pNorm(p=2)",
            "MaxLogit-pNorm(p=3)", "MaxLogit-pNorm-min(p=2)", "LogitsMargin-pNorm(p=2)", "MSP-pNorm(p=2, tau=0.5)",
            "ETS(T=0.5, w=0.5)", "HTS(b=0.5, w=0.5)", *LATER,
        ],
    )
    yield make("rows-of-zeros", "Nothing but zeros.", [[0.0] * 4] * 3, [0, 1, 0], [*BRIEF, "LDAM", "MaxLogit-pNorm-NC(p=2)"])

    rows = random_rows(31, 7, 3)
    yield make("all-right", "No errors: AUROC and NAURC are undefined.", rows, labels_with(rows, set()), BRIEF)
    yield make("all-wrong", "Nothing but errors.", rows, labels_with(rows, set(range(7))), BRIEF)
    rows = random_rows(32, 6, 4)
    yield make("one-wrong", "A single error.", rows, labels_with(rows, {3}), BRIEF)
    yield make("one-right", "A single correct row.", rows, labels_with(rows, {0, 1, 2, 4, 5}), BRIEF)

    offsets = [1000, -1000, 1000, 20000, 0, -1000, 1000, -500]
    rows = [[round(x + o, 3) for x in row] for row, o in zip(random_rows(41, 8, 5), offsets)]
    yield make(
        "large-offsets",
        "Each row shifted by up to 20000: the exponential of a raw logit overflows, and the mean is large.",
        rows,
        labels_with(rows, {1, 2, 6}),
        [
            *SHORT, "MSP-TS(T=0.1)", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=10)", "MaxLogit-pNorm-min(p=3)",
            "MSP-pNorm(p=2.5, tau=0.5)", "BK(a=0.6, b=0.4)", "ETS(T=2, w=0.5)", "HTS(b=-0.5, w=0.5)", *LATER,
        ],
    )
    rows = scaled(random_rows(51, 7, 5, spread=4.0), 30)
    yield make(
        "huge-magnitudes",
        "Logits of order 1e30: their tenth powers overflow f64, every MSP rounds to 1.",
        rows,
        labels_with(rows, {0, 5}),
        [
            "MSP", "SoftmaxMargin", "MaxLogit", "LogitsMargin", "Energy", "MSP-TS(T=2)", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=2)",
            "MaxLogit-pNorm(p=3)", "MaxLogit-pNorm(p=10)", "LogitsMargin-pNorm(p=3)", "MSP-pNorm(p=2, tau=0.5)",
            "MSP-pNorm(p=10, tau=0.25)", "MaxLogit-pNorm-NC(p=10)", "MaxLogit-pNorm-min(p=10)",
        ],
    )
    rows = scaled(random_rows(52, 7, 5, spread=4.0), -40)
    yield make(
        "tiny-magnitudes",
        "Logits of order 1e-40: their tenth powers underflow f64.",
        rows,
        labels_with(rows, {1, 4}),
        ["MaxLogit", "LogitsMargin", "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=10)", "LogitsMargin-pNorm(p=10)", "MSP-pNorm(p=10, tau=0.25)"],
        digits=300,
    )
    rows = scaled(random_rows(53, 7, 4), -5)
    yield make(
        "tiny-differences",
        "Logits that differ by 1e-5: all but uniform, yet no two rows tie.",
        rows,
        labels_with(rows, {2, 3}),
        ["MSP", "SoftmaxMargin", "MaxLogit", "LogitsMargin", "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=2)", "MSP-pNorm(p=3, tau=0.1)"],
    )

    rows = [
        [5.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 10.0, 0.0],
        [5.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 2.0],
        [0.0, 30.0, 0.0, 0.0],
    ]
    yield make(
        "one-hot",
        "One-hot integer logits: the rest of each row is constant, so LDAM is infinite.",
        rows,
        labels_with(rows, {1, 3}),
        [*SHORT, "LDAM", "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=0)"],
    )
    rows = [
        [5.0, 2.0, 0.0, -2.0],
        [0.0, 4.0, 1.0, 1.0],
        [2.0, -3.0, 7.0, 6.0],
        [0.0, 1.0, 5.0, -4.0],
        [7.0, 0.0, 5.0, 2.0],
        [-1.0, -2.0, -2.0, -7.0],
    ]
    yield make(
        "integers",
        "Integer logits with equal maxima and margins: raw MaxLogit and LogitsMargin tie exactly.",
        rows,
        labels_with(rows, {2, 4}),
        [*RAW, "MaxLogit-pNorm(p=2)", "MaxLogit-pNorm(p=3)", "LogitsMargin-pNorm(p=2)", "MSP-pNorm(p=3, tau=0.5)", "MaxLogit-pNorm-NC(p=2)"],
    )
    rows = [
        [2.0, 2.0, 1.0, 0.0],
        [1.5, 3.25, -1.0, 3.25],
        [0.5, 0.5, 0.5, -2.0],
        [4.0, 1.0, 0.25, -0.75],
        [-0.5, -1.5, 0.75, 0.25],
        [2.0, 2.0, 1.0, 0.0],
    ]
    yield make(
        "tied-maxima",
        "Two or three classes share the maximum: the lowest index is predicted, margins are exactly 0.",
        rows,
        [0, 3, 1, 0, 3, 1],
        [*RAW, "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=2)", "LogitsMargin-pNorm(p=3)", "MSP-pNorm(p=2, tau=0.5)", "BK(a=0.7, b=0.3)", *LATER],
    )

    m = float("-inf")
    rows = [
        [1.2, m, 0.3, -0.8, m, 2.0],
        [m, 0.7, 1.9, m, -0.4, 0.2],
        [0.6, -1.3, 2.8, 0.1, 1.7, 0.45],
        [m, m, 3.1, 0.9, m, 2.2],
        [4.2, -0.6, m, m, 1.1, m],
        [-0.2, 0.35, m, 1.15, 0.8, m],
        [m, m, m, -1.4, m, 0.65],
    ]
    yield make(
        "masked",
        "Classes masked by -inf: probability 0, left out of mean, minimum and norm, counted in C.",
        rows,
        labels_with(rows, {0, 3, 5}),
        [
            *RAW, "MSP-TS(T=0.5)", "NegativeEntropy-TS(T=2)", "MaxLogit-pNorm(p=0)", "MaxLogit-pNorm(p=3)", "MaxLogit-pNorm-NC(p=2)",
            "MaxLogit-pNorm-min(p=2)", "MaxLogit-pNorm-shift(p=2, gamma=0.5)", "LogitsMargin-pNorm(p=2)",
            "MSP-pNorm(p=2, tau=0.5)", "MSP-pNorm-min(p=3, tau=0.5)", "BK(a=0.7, b=0.3)", "ETS(T=0.5, w=0.4)",
            "HTS(b=-0.5, w=0.5)", *LATER,
        ],
    )
    rows = [
        [m, 1.3, m, m],
        [0.4, 1.1, -0.7, m],
        [m, m, -2.6, m],
        [2.9, 0.8, 0.3, -1.2],
        [m, 0.9, 0.5, 0.2],
        [m, 1.3, m, m],
    ]
    yield make(
        "masked-all-but-one",
        "Rows with one class left: MSP 1, infinite margin of logits. One label is on a masked class.",
        rows,
        [1, 0, 3, 0, 2, 1],
        [
            *RAW, "MSP-TS(T=0.5)", "MaxLogit-pNorm(p=2)", "LogitsMargin-pNorm(p=2)", "MSP-pNorm(p=2, tau=0.5)",
            "NegativeEntropy-pNorm(p=3, tau=0.5)", *LATER,
        ],
    )

    a, b, c, d, e, f = random_rows(61, 6, 4)
    rows = [a, b, c, d, e, f, b, d]
    yield make(
        "losses-given",
        "Real-valued losses, some rows tied: AUROC, AUGRC, SAC and accuracy are undefined.",
        rows,
        labels_with(rows, {1, 4}),
        [*BRIEF, "NegativeGini"],
        loss="given",
        losses=[0.0, 0.75, 0.125, 2.5, 1.0, 0.1, 0.3, 0.0],
    )
    yield make(
        "losses-all-equal",
        "Every row loses the same: NAURC is undefined.",
        rows,
        labels_with(rows, {1, 4}),
        ["MSP", "MaxLogit-pNorm(p=2)"],
        loss="given",
        losses=[0.7] * 8,
    )
    yield make(
        "losses-cost-matrix",
        "Costs looked up by label and prediction; the matrix is not symmetric.",
        rows,
        labels_with(rows, {0, 1, 4, 7}),
        BRIEF,
        loss="cost",
        cost=[[0.0, 1.5, 4.0, 0.25], [0.5, 0.0, 2.0, 3.0], [1.0, 0.75, 0.0, 5.0], [2.25, 0.6, 1.25, 0.0]],
    )
    rows = random_rows(62, 10, 5)
    order = [sorted(range(5), key=lambda k: -row[k]) for row in rows]
    yield make(
        "losses-top-two",
        "Right if the label is among the two largest logits.",
        rows,
        [o[i] for o, i in zip(order, [0, 1, 2, 0, 4, 1, 3, 0, 1, 2])],
        [*BRIEF, "SoftmaxMargin"],
        loss="top-2",
    )


# ---------------------------------------------------------------------------------------
# AURC as other projects define it


def selective_risks(losses):
    """Risk of the first k rows, k = 1..n, in the order given."""
    return [mean(losses[:k]) for k in range(1, len(losses) + 1)]


def trapezoid(points):
    return sum(((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in zip(points, points[1:])), Fraction(0))


def compat(name, confidences, losses):
    exact = [Fraction(x) for x in losses]
    n = len(exact)
    ranks = [sorted(set(confidences)).index(x) for x in confidences]
    order = sorted(range(n), key=lambda i: -confidences[i])  # stable: ties as given
    risks = selective_risks([exact[i] for i in order])
    curve = [(Fraction(k, n), risk) for k, risk in enumerate(risks, 1)]
    collapsed = [(Fraction(k, n), total / k) for k, total in knots(ranks, exact)]
    return {
        "name": name,
        "confidences": confidences,
        "losses": losses,
        "abstain": aurc(ranks, exact),
        "geifman-el-yaniv": mean(risks),
        "fix-selective-classification": trapezoid([(Fraction(0), Fraction(0)), *curve]),
        "torch-uncertainty": trapezoid(curve) / (1 - Fraction(1, n)) if n > 1 else UNDEFINED,
        "fd-shifts": trapezoid([(Fraction(0), collapsed[0][1]), *collapsed]),
    }


def compats():
    confidences = [0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.5, 0.4, 0.3, 0.2]
    given = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    reversed_ties = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    known = {
        "geifman-el-yaniv": (0.2511, 0.2844),
        "fix-selective-classification": (0.2311, 0.2644),
        "torch-uncertainty": (0.2567, 0.2938),
        "fd-shifts": (0.2387, 0.2387),
        "abstain": (0.2677, 0.2677),
    }
    out = [compat("ties-as-given", confidences, given), compat("ties-reversed", confidences, reversed_ties)]
    for convention, figures in known.items():
        assert tuple(round(float(x[convention]), 4) for x in out) == figures, convention
    rng = Random(71)
    return out + [
        compat("one-row-right", [0.5], [0.0]),
        compat("one-row-wrong", [0.5], [1.0]),
        compat("all-wrong", [0.9, 0.4, 0.7, 0.4], [1.0] * 4),
        compat("all-right", [0.9, 0.4, 0.7, 0.4], [0.0] * 4),
        compat("all-tied", [0.5] * 5, [1.0, 0.0, 0.0, 1.0, 0.0]),
        compat("first-group-tied", [0.9, 0.9, 0.9, 0.2, 0.1], [1.0, 0.0, 0.0, 0.0, 1.0]),
        compat(
            "real-losses",
            [round(rng.gauss(0, 3), 2) for _ in range(12)],
            [round(rng.expovariate(1), 2) for _ in range(12)],
        ),
        compat("real-losses-tied", [3.0, 1.0, 2.0, 3.0, 1.0, 1.0], [0.5, 2.0, 0.25, 0.0, 1.5, 0.1]),
    ]


# ---------------------------------------------------------------------------------------
# Correlation and average positive gain


def pearson(x, y):
    x, y = [Fraction(v) for v in x], [Fraction(v) for v in y]
    if len(x) < 2 or min(x) == max(x) or min(y) == max(y):
        return UNDEFINED
    dx, dy = [v - mean(x) for v in x], [v - mean(y) for v in y]
    covariance = sum(a * b for a, b in zip(dx, dy))
    product = sum(a * a for a in dx) * sum(b * b for b in dy)
    root = (Decimal(product.numerator) / Decimal(product.denominator)).sqrt()
    return Decimal(covariance.numerator) / Decimal(covariance.denominator) / root


def mid_ranks(x):
    return [sum(v < a for v in x) + Fraction(sum(v == a for v in x) + 1, 2) for a in x]


def correlation(name, x, y):
    return {"name": name, "x": x, "y": y, "pearson": pearson(x, y), "spearman": pearson(mid_ranks(x), mid_ranks(y))}


def correlations():
    rng = Random(81)
    x = [round(rng.gauss(0, 1), 3) for _ in range(9)]
    return [
        correlation("linear-with-noise", x, [round(2 * v + rng.gauss(0, 1), 3) for v in x]),
        correlation("ties-on-both-sides", [1.0, 2.0, 2.0, 3.0, 5.0, 5.0, 5.0], [0.5, 0.25, 0.5, 0.75, 0.5, 1.0, 0.75]),
        correlation("monotone-not-linear", [1.0, 2.0, 3.0, 4.0], [1.0, 10.0, 100.0, 1000.0]),
        correlation("falling-line", [1.0, 2.0, 4.0], [3.0, 1.0, -3.0]),
        correlation("large-offset", [1e6 + 1, 1e6 + 2, 1e6 + 4, 1e6 + 3], [0.1, 0.4, 0.3, 0.9]),
        correlation("two-points", [0.25, 0.75], [2.0, 1.0]),
        correlation("one-side-constant", [1.0, 2.0, 3.0], [4.0, 4.0, 4.0]),
        correlation("one-point", [1.0], [2.0]),
        correlation("no-points", [], []),
    ]


def apg(name, baseline, method, epsilon=0.01):
    gains = [Fraction(b) - Fraction(m) for b, m in zip(baseline, method)]
    assert all(abs(gain - Fraction(epsilon)) > Fraction(1, 10**9) for gain in gains), name
    value = mean([gain if gain > Fraction(epsilon) else Fraction(0) for gain in gains])
    return {"name": name, "baseline": baseline, "method": method, "epsilon": epsilon, "apg": value}


def apgs():
    return [
        apg("mixed", [0.45, 0.22, 0.31, 0.18, 0.27], [0.19, 0.215, 0.33, 0.18, 0.2575]),
        apg("no-gain", [0.2, 0.3], [0.25, 0.295]),
        apg("one-model", [0.445], [0.3]),
        apg("epsilon-zero", [0.2, 0.3, 0.4], [0.199, 0.35, 0.1], 0.0),
    ]


# ---------------------------------------------------------------------------------------
# Output


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        assert '"' not in value and "\\" not in value
        return f'"{value}"'
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{k}" = {toml(v)}' for k, v in value.items()) + " }"
    return repr(float(value) + 0.0)  # correctly rounded; + 0.0 turns -0.0 into 0.0


def lines(table):
    for key, value in table.items():
        if key in ("rows", "cost"):
            yield f"{key} = ["
            yield from (f"  {toml(row)}," for row in value)
            yield "]"
        else:
            yield f"{key} = {toml(value)}"


def render():
    out = ["# Written by oracle.py, which also describes the format. Do not edit."]
    seen = set()
    for case in cases():
        assert case["name"] not in seen, case["name"]
        seen.add(case["name"])
        case = solve(case)
        estimators = case.pop("estimator")
        out += ["", "[[case]]", *lines(case)]
        for estimator in estimators:
            out += ["[[case.estimator]]", *lines(estimator)]
    getcontext().prec = 200
    for table, entries in (("compat", compats()), ("correlation", correlations()), ("apg", apgs())):
        for entry in entries:
            out += ["", f"[[{table}]]", *lines(entry)]
    return "\n".join(out) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: oracle.py [--check]")
    text = render()
    if sys.argv[1:] == ["--check"]:
        if not GOLDEN.exists() or GOLDEN.read_text() != text:
            sys.exit("golden.toml is out of date: run `python3 testdata/oracle.py`")
    else:
        GOLDEN.write_text(text)


if __name__ == "__main__":
    main()
