"""A second implementation of the sequential tests, from the formulas in crates/core/src/monitor.

    python3 testdata/monitor_oracle.py

Prints the numbers of the tests `…_of_the_oracle` in crates/core/src/monitor/tests.rs. It needs NumPy. Nothing is
updated row by row as in the library: restarts are sums over all of their beginnings, bets from the start on products
over all rows, and the urn is a ratio of gamma functions.
"""

from math import lgamma

import numpy as np


def total(log_terms, weights):
    """The logarithm of a weighted sum of exponentials."""
    log_terms, weights = np.asarray(log_terms), np.asarray(weights)
    high = log_terms.max()
    return high + np.log((weights * np.exp(log_terms - high)).sum())


def from_every_row(logs, shares, reserve):
    """The wealth of a bet that begins at every row with a share of what is left of the reserve, and what is left."""
    left, wealth = reserve, 0.0
    after = np.concatenate([np.cumsum(logs[::-1])[::-1], [0.0]])
    for row, share in enumerate(shares):
        wealth += left * share * np.exp(after[row])
        left -= left * share
    return wealth, left


def mean_test(x, v, target):
    """The logarithm of the evidence that the mean of x with the weights v is above the target."""
    n = np.arange(len(x))
    bets = [(r - 1) / (1 - target + target * r) for r in (1.35, 2.2, 3.6, 6.0)]
    logs = [np.log(1 + bet * v * (x - target)) for bet in bets]
    start = 0.3 * np.mean([np.exp(log.sum()) for log in logs])
    later = [from_every_row(log, 0.7 / (n + 30 / target), 0.1) for log in logs]
    restarts = np.mean([wealth for wealth, _ in later]) + later[0][1]
    # The states of the bet that waits: a good one, and odds ratios of bad ones.
    odds = np.array([1.4, 2.2, 3.5, 5.6, 9.0])
    risks = np.concatenate([[0.6 * target], target * odds / (1 - target + target * odds)])
    states, changed = np.array([0.5] + [0.1] * 5), np.array([0.1] + [0.18] * 5)
    waiting = 0.6
    for row in range(len(x)):
        h = 0.3 / (row + 60 / target)
        states = (1 - h) * states + h * changed
        bet = max(0.0, (states @ risks - target) / (target * (1 - target)))
        waiting *= 1 + bet * v[row] * (x[row] - target)
        states = states * (risks ** x[row] * (1 - risks) ** (1 - x[row])) ** v[row]
        states = states / states.sum()
    return np.log(start + restarts + waiting)


def urn(parameters, counts):
    """The logarithm of the probability of a sequence of bins with these counts, from Pólya's urn."""
    terms = sum(lgamma(a + c) - lgamma(a) for a, c in zip(parameters, counts))
    return terms + lgamma(sum(parameters)) - lgamma(sum(parameters) + sum(counts))


def shift_test(reference, numbers, ordered):
    """The logarithm of the evidence that numbers are not of the distribution of a reference without ties."""
    rows = len(reference)
    bins = max(2, min(24, (rows + 1) // 8))
    ranks = np.array([k * (rows + 1) // bins for k in range(1, bins)])
    edges = np.sort(reference)[ranks - 1]
    a = np.diff(np.concatenate([[0], ranks, [rows + 1]])).astype(float)
    p = a / a.sum()
    places = 2 * (np.cumsum(a) - a / 2) / a.sum() - 1
    tilts = []
    if ordered:
        tilts = [np.exp(tilt * places) for tilt in (-4, -1.5, -0.5, 0.5, 1.5, 4)]
        tilts += [np.exp(-tilt * (3 * places**2 - 1) / 2) for tilt in (-3, -1, 1, 3)]
        tilts = [p * tilt / (p * tilt).sum() for tilt in tilts]
    found = np.searchsorted(edges, numbers, side="right")
    hits = (found[:, None] == np.arange(bins)).astype(float)
    before = np.concatenate([np.zeros((1, bins)), np.cumsum(hits, axis=0)[:-1]])
    n = np.arange(len(found))
    # The probabilities of all bins at each row, by the urn and by each bet.
    expected = (a + before) / (a.sum() + n)[:, None]
    shown = (16 * p + before) / (16 + n)[:, None]
    fading = np.array([[0.998 ** (row - 1 - old) if old < row else 0.0 for old in n] for row in n]) @ hits
    lately = (16 * p + fading) / (16 + fading.sum(axis=1))[:, None]
    at = n, found
    later = [np.log(tilt[found] / expected[at]) for tilt in tilts]
    later += [np.log(q[at] / expected[at]) for q in (shown, lately)]
    counts = hits.sum(axis=0)
    null = urn(a, counts)
    start = urn(16 * p, counts) - null
    if ordered:
        tilted = [(np.log(tilt[found])).sum() - null for tilt in tilts]
        start = total([total(tilted, np.full(len(tilts), 1 / len(tilts))), start], [0.5, 0.5])
    restarts = [from_every_row(log, 0.5 / (n + 50), 0.25) for log in later]
    rest = np.mean([wealth for wealth, _ in restarts]) + restarts[0][1]
    return np.log(0.75 * np.exp(start) + rest)


def limits(weight, sum_of_x, outside):
    """The limits of a running mean, by a grid of means that is refined."""
    tilts = 8.0 / 2 ** np.arange(13)

    def low(sum_of_x):
        begin, end = 0.0, 1.0
        for _ in range(8):
            means = np.linspace(begin, end, 201)
            expected = np.log(1 - means[:, None] + means[:, None] * np.exp(tilts))
            evidence = np.array([total(row, np.full(13, 1 / 13)) for row in tilts * sum_of_x - weight * expected])
            last = np.flatnonzero(evidence >= np.log(2 / outside))
            if len(last) == 0:
                return begin
            begin, end = means[last[-1]], means[min(last[-1] + 1, 200)]
        return begin

    return low(sum_of_x), 1 - low(weight - sum_of_x)


def main():
    n = np.arange(600)
    plain = ((n * n + 7 * n) % 23 < 2).astype(float)
    graded, weights = (n * 37 % 11) / 40, np.array([1, 0.5, 0.25])[n % 3]
    print("mean test, plain and graded with weights, target 0.08 and 0.1")
    for rows in (1, 40, 150, 600):
        both = mean_test(plain[:rows], np.ones(rows), 0.08), mean_test(graded[:rows], weights[:rows], 0.1)
        print(f"    ({rows}, {both[0]:.12f}, {both[1]:.12f}),")
    alarm = next(r for r in range(1, 601) if mean_test(plain[:r], np.ones(r), 0.03) >= np.log(20))
    print(f"plain, target 0.03: alarm at observation {alarm}")
    print("shift test, ordered and nominal")
    reference, numbers = np.arange(500.0), (n * n * 13 + 5 * n) % 400 + 0.5
    for rows in (1, 40, 150, 600):
        both = [shift_test(reference, numbers[:rows], ordered) for ordered in (True, False)]
        print(f"    ({rows}, {both[0]:.12f}, {both[1]:.12f}),")
    print("limits")
    for weight, sum_of_x in ((10, 0), (100, 3), (12.5, 6.25), (10_000, 300), (50, 50)):
        low, high = limits(weight, sum_of_x, 0.05)
        print(f"    ({weight:.1f}, {sum_of_x:.2f}, {low:.12f}, {high:.12f}),")


if __name__ == "__main__":
    main()
