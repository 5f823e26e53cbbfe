#!/usr/bin/env python3
"""Scores rows by an artifact, with numpy alone.

Written from docs/artifact.md, not from the program: bindings/python/tests/test_document.py compares
the two, so that the document stays complete and right.

    score_from_document.py ARTIFACT.json ROWS.npy [EXTRA.npy]

prints prediction, confidence and acceptance of each row as csv.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray


def softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x: Array) -> Array:
    return np.exp(-softplus(-x))


def rounded(c: Array) -> Array:
    return ((c.view(np.int64) + 2048) & ~4095).view(np.float64) + 0.0


def number(value: Any) -> float:
    """A number of the artifact, which may be the text of an infinite one."""
    return float(value)


# Rows.


def logits_of(rows: Array, encoding: dict[str, Any], classes: int | None) -> Array:
    """The logits of rows, masked classes being -inf."""
    kind = encoding["kind"]
    half = rows.dtype.itemsize == 2
    rows = rows.astype(np.float64)
    if kind.startswith("binary"):
        x = rows.reshape(-1)
        rows = np.stack([1 - x, x] if kind == "binary-probability" else [-x / 2, x / 2], axis=1)
    if rows.shape[1] < 2 or classes not in (None, rows.shape[1]):
        raise ValueError(f"rows of {rows.shape[1]} classes, where {classes} are expected")
    if kind in ("probabilities", "binary-probability"):
        tolerance = encoding.get("tolerance")
        if tolerance is None:
            tolerance = 0.01 if half else 0.001
        valid = (rows >= -tolerance) & (rows <= 1 + tolerance)
        if not valid.all() or (np.abs(rows.sum(axis=1) - 1) > tolerance).any():
            raise ValueError("a row is no probability distribution")
        if (rows.max(axis=1) <= encoding["floor"]).any():
            raise ValueError("the largest probability of a row is not above the floor")
        rows = np.log(np.maximum(rows, encoding["floor"]))
    allowed = np.abs(rows) <= 1e100
    if kind == "masked":
        allowed |= rows == -np.inf
    if not allowed.all() or (rows == -np.inf).all(axis=1).any():
        raise ValueError("a row holds a number that is no logit")
    return rows


# Transforms.


class Transformed(NamedTuple):
    """Rows under a transform: the largest value, what logits are divided by, and 1 - u_1."""

    top: Array
    scale: Array
    missing: Array | None


def transformed(z: Array, suffix: str, parameters: dict[str, float]) -> Transformed:
    """`z` is sorted, largest first, with masked classes at the end."""
    if suffix in ("", "-TS"):
        t = np.full(len(z), parameters.get("T", 1.0))
        return Transformed(z[:, 0] / t, t, None)
    live = z > -np.inf
    d = np.where(live, z if "-NC" in suffix else z - z[:, :1], 0)
    if "-min" in suffix:
        d = d - d.min(axis=1, keepdims=True)
    elif "-NC" not in suffix:
        d = d - d.sum(axis=1, keepdims=True) / live.sum(axis=1, keepdims=True)
    d = np.where(live, d + parameters.get("gamma", 0.0), 0)
    p, tau = parameters["p"], parameters.get("tau", 1.0)
    if p == 0:
        return Transformed(d[:, 0] / tau, np.full(len(z), tau), None)
    m = np.abs(d).max(axis=1)
    zero = m < 1e-150
    m = np.where(zero, 1, m)
    ratio = np.abs(d) / m[:, None]
    if p == np.inf:
        log_root = np.zeros(len(z))
    else:
        rest = (ratio[:, 1:] ** p).sum(axis=1)
        sum_is_one_and_more = d[:, 0] == m
        whole = np.where(zero, 1, rest + ratio[:, 0] ** p)
        log_root = np.where(sum_is_one_and_more, np.log1p(rest), np.log(whole)) / p
    norm = m * np.exp(log_root)
    top = np.where(zero, 0, d[:, 0] / norm)
    t = log_root - np.log(np.where(d[:, 0] > 0, d[:, 0] / m, 1))
    missing = np.where(d[:, 0] > 0, -np.expm1(-t), 1 - top)
    return Transformed(top / tau, norm * tau, missing)


class Statistics(NamedTuple):
    classes: int
    gap: Array
    below: Array  # u_j − u_2 for j ≥ 2, 0 for masked classes
    w: Array  # its exponential, 0 for masked classes
    total: Array  # S
    log_odds: Array  # L
    log_rest: Array  # ln q


def statistics(z: Array, scale: Array) -> Statistics:
    live = z[:, 1:] > -np.inf
    alone = ~live[:, 0]
    second = np.where(alone, z[:, 0], z[:, 1])
    gap = np.where(alone, np.inf, (z[:, 0] - second) / scale)
    below = np.where(live, (z[:, 1:] - second[:, None]) / scale[:, None], 0)
    w = np.where(live, np.exp(below), 0)
    total = w.sum(axis=1)
    log_odds = np.where(alone, np.inf, gap - np.log(np.where(alone, 1, total)))
    return Statistics(z.shape[1], gap, below, w, total, log_odds, -softplus(log_odds))


# Scores.


def log_entropy(s: Statistics) -> Array:
    a = (s.w * s.below).sum(axis=1) / s.total
    sure = np.log1p(s.gap - a) - s.log_odds
    entropy = np.exp(s.log_rest) * (s.gap - a) + softplus(-s.log_odds)
    found = np.where(s.log_odds > 37, sure, np.log(entropy))
    return np.where(s.log_odds == np.inf, -np.inf, found)


def gini_over_q(s: Statistics) -> Array:
    agreement = (s.w**2).sum(axis=1) / s.total**2
    return 2 - np.exp(s.log_rest) * (1 + agreement)


def distance_and_variance(s: Statistics) -> tuple[Array, Array]:
    """D and V of LDAM."""
    mean = s.w.sum(axis=1) / (s.classes - 1)
    variance = ((s.w - mean[:, None]) ** 2).sum(axis=1) / (s.classes - 1)
    return -np.expm1(-s.gap) + (1 - mean) * np.exp(-s.gap), variance


def ldam(s: Statistics) -> Array:
    distance, variance = distance_and_variance(s)
    return np.where(distance == 0, -np.inf, 2 * (s.gap + np.log(distance)) - np.log(variance))


def leon(s: Statistics) -> Array:
    distance, variance = distance_and_variance(s)
    first = sigmoid(s.log_odds)
    second = np.exp(-s.gap) * first
    deviation = np.sqrt(variance * second**2 + (first * distance) ** 2 / s.classes)
    share = gini_over_q(s) / ((s.classes - 1) * (1 / np.sqrt(s.classes) + deviation))
    return -s.log_rest - np.log(2 - share)


def score(name: str, u: Transformed, s: Statistics) -> Array:
    if name == "MSP":
        return s.log_odds
    if name == "MaxLogit":
        if u.missing is None:
            return u.top
        return np.log1p(u.top) - np.log(u.missing)
    if name == "LogitsMargin":
        return s.gap
    if name == "Energy":
        return u.top + softplus(-s.log_odds)
    if name == "SoftmaxMargin":
        found = s.gap + np.log(-np.expm1(-s.gap)) - np.log1p(s.total)
    elif name == "NegativeEntropy":
        found = -log_entropy(s)
    elif name == "NegativeGini":
        found = -s.log_rest - np.log(gini_over_q(s))
    elif name == "LDAM":
        found = ldam(s)
    elif name == "Leon":
        found = leon(s)
    else:
        raise ValueError(f"there is no method {name}")
    return np.where(s.gap == np.inf, np.inf, found)


# Families.


def bk(z: Array, s: Statistics, a: float, b: float) -> Array:
    third = s.w[:, 1:].sum(axis=1)
    found = -np.exp(-s.gap) * sigmoid(s.log_odds) * (a * third + (a + b))
    return np.where(s.gap == np.inf, 0, found)


def ets(z: Array, s: Statistics, T: float, w: float) -> Array:
    scaled = statistics(z, np.full(len(z), T))
    return -np.logaddexp(np.log(w) + scaled.log_rest, np.log(1 - w) + s.log_rest)


def hts(z: Array, s: Statistics, b: float, w: float) -> Array:
    term = np.zeros(len(z)) if w == 0 else w * (log_entropy(s) - np.log(s.classes))
    return statistics(z, np.clip(softplus(b + term), 1e-100, 1e100)).log_odds


def cmd(z: Array, s: Statistics, T: float) -> Array:
    live = z[:, 1:] > -np.inf
    count = np.maximum(live.sum(axis=1), 1)
    logs = np.log1p(-s.below / (T / 2 + s.gap)[:, None])
    mean = np.where(live, logs, 0).sum(axis=1) / count
    squares = np.where(live, logs - mean[:, None], 0) ** 2
    return np.where(s.gap == np.inf, 0, -np.sqrt(squares.sum(axis=1) / count))


def logit_gap(z: Array, s: Statistics, N: float) -> Array:
    near = z[:, 1 : int(min(N, z.shape[1])) + 1]
    live = near > -np.inf
    distances = np.where(live, z[:, :1] - near, 0).sum(axis=1)
    return np.where(s.gap == np.inf, np.inf, distances / live.sum(axis=1))


def gen(z: Array, s: Statistics, gamma: float, M: float) -> Array:
    live = z[:, 1:] > -np.inf
    log_share = s.below - np.log(s.total)[:, None]
    p = np.exp(s.log_rest[:, None] + log_share)
    powers = np.where(live, np.exp(gamma * (log_share + np.log1p(-p))), 0)
    others = powers[:, : int(min(M, z.shape[1])) - 1].sum(axis=1)
    whole = np.exp(-gamma * softplus(-s.log_odds)) + others
    return np.where(s.gap == np.inf, np.inf, -gamma * s.log_rest - np.log(whole))


FAMILIES = {"BK": bk, "ETS": ets, "HTS": hts, "CMD": cmd, "LogitGap": logit_gap, "GEN": gen}


# Estimators.


def confidence(estimator: dict[str, Any], z: Array, extra: Array | None) -> Array:
    """The rounded confidence of rows of logits, masked classes being -inf."""
    method = estimator["method"]
    if method == "Extra":
        if extra is None:
            raise ValueError("the extra column is missing")
        return rounded(np.array(extra, dtype=np.float64))
    with np.errstate(all="ignore"):
        if method in ("Stack", "LabelFree"):
            return rounded(stack(estimator, z, extra))
        ordered = -np.sort(-z, axis=1)
        parameters = {name: number(v) for name, v in estimator.items() if name != "method"}
        if method in FAMILIES:
            raw = statistics(ordered, np.ones(len(z)))
            return rounded(np.array(FAMILIES[method](ordered, raw, **parameters)))
        name, dash, rest = method.partition("-")
        u = transformed(ordered, dash + rest, parameters)
        return rounded(np.array(score(name, u, statistics(ordered, u.scale))))


def value(estimator: dict[str, Any], c: Array, classes: int) -> Array:
    """The value of a confidence, by the definition of the estimator."""
    method = estimator["method"]
    name = method.partition("-")[0]
    if name in ("MSP", "SoftmaxMargin", "HTS", "Stack"):
        return sigmoid(c)
    if name in ("NegativeEntropy", "NegativeGini", "GEN"):
        return -np.exp(-c)
    if name == "MaxLogit" and "-pNorm" in method and number(estimator["p"]) > 0:
        return np.tanh(c / 2)
    if name == "LDAM":
        return np.exp(c)
    if name == "Leon":
        return 2 - 1 / classes - 1 / np.sqrt(classes) - np.exp(-c)
    if name == "BK":
        return estimator["a"] + estimator["b"] + c
    if name == "ETS":
        return -np.expm1(-c)
    return c


def stack(estimator: dict[str, Any], z: Array, extra: Array | None) -> Array:
    total = np.full(len(z), float(estimator["intercept"]))
    offsets = np.array(estimator.get("class_offsets", []), dtype=np.float64)
    if len(offsets):
        padded = np.concatenate([offsets, np.zeros(max(0, z.shape[1] - len(offsets)))])
        total += padded[z.argmax(axis=1)]
    knee = estimator.get("soft_clip")
    for term in estimator["terms"]:
        x = confidence(term["estimator"], z, extra)
        name = term["estimator"]["method"].partition("-")[0]
        if knee is not None and name not in ("MSP", "ETS", "HTS"):
            x = value(term["estimator"], x, z.shape[1])
        t = (x - term["mean"]) / term["deviation"]
        if knee is None:
            clipped = np.clip(t, -5, 5)
        else:
            size = np.minimum(np.abs(t), 1e12)
            clipped = np.where(size <= knee, t, np.sign(t) * (knee + np.log1p(size - knee)))
        total += term["weight"] * clipped
    return total


def thresholds(
    rule: dict[str, Any], prediction: Array | None, groups: Sequence[str] | None, rows: int
) -> Array:
    """The threshold of each row; NaN, which no confidence reaches, where there is none."""
    [(kind, table)] = rule.items()
    if kind == "threshold":
        found = [table] * rows
    elif kind == "by_class" and prediction is not None:
        found = [table[k] if k < len(table) else None for k in prediction]
    elif kind == "by_group" and groups is not None:
        found = [table.get(group) for group in groups]
    else:
        raise ValueError(f"a rule {kind} does not fit these rows")
    return np.array([np.nan if one is None else number(one["at"]) for one in found])


def answers(
    artifact: dict[str, Any],
    rows: Array,
    extra: Array | None = None,
    groups: Sequence[str] | None = None,
) -> tuple[Array | None, Array, Array | None]:
    """Prediction, confidence and acceptance of each row."""
    if artifact["input"]["kind"] == "confidence":
        prediction, found = None, rows.astype(np.float64).reshape(-1)
    else:
        z = logits_of(rows, artifact["input"], artifact.get("classes"))
        prediction, found = z.argmax(axis=1), confidence(artifact["estimator"], z, extra)
    rule = artifact.get("rule")
    if artifact["version"] == 1 and artifact.get("threshold") is not None:
        rule = {"threshold": artifact["threshold"]}
    if rule is None:
        return prediction, found, None
    return prediction, found, found >= thresholds(rule, prediction, groups, len(found))


def main(artifact_path: str, rows_path: str, extra_path: str | None = None) -> None:
    with open(artifact_path, encoding="utf-8") as file:
        artifact = json.load(file)
    extra = None if extra_path is None else np.load(extra_path)
    columns = dict(
        zip(["prediction", "confidence", "accept"], answers(artifact, np.load(rows_path), extra))
    )
    columns = {name: column for name, column in columns.items() if column is not None}
    print(",".join(columns))
    for row in zip(*(column.tolist() for column in columns.values())):
        print(",".join(str(cell).lower() for cell in row))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
