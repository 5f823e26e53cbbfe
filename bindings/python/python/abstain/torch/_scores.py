"""Rows, their statistics, and the scores, by the names of the paper.

Statistics are tensors of one column, which broadcast over the classes. TorchScript compiles all of
this: no annotation is postponed, and functions are called by their names.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Optional

import torch
from torch import Tensor


class Row(NamedTuple):
    """Logits and their two largest, `z_1` and `z_2`; masked classes are `-inf`."""

    z: Tensor
    top: Tensor
    second: Tensor  # `z_1` again where one class alone is not masked.
    below: Tensor  # `min(z_j, z_2) - z_2`: the top class counts as another runner-up.
    alone: Tensor
    classes: Tensor


class Transformed(NamedTuple):
    """A row under `u = (z - shift) / scale`."""

    row: Row
    top: Tensor  # `u_1`
    gap: Tensor  # `u_1 - u_2`, infinite where a class is alone.
    beta: Tensor  # `1 / scale`
    missing: Optional[Tensor]  # `1 - u_1` with all its digits, under a p-norm with p > 0.


def row_of(z: Tensor) -> Row:
    two = torch.topk(z, 2, dim=-1)[0]
    top, second = two[..., :1], two[..., 1:]
    alone = second == -math.inf
    second = torch.where(alone, top, second)
    # A finite stand-in for -inf: its exponential is 0 and, times that 0, it is not NaN.
    below = (torch.minimum(z, second) - second).clamp(min=-1e200)
    return Row(z, top, second, below, alone, torch.ones_like(z).sum(-1, keepdim=True))


def at_temperature(row: Row, temperature: Tensor) -> Transformed:
    gap = ((row.top - row.second) / temperature).masked_fill(row.alone, math.inf)
    return Transformed(row, row.top / temperature, gap, 1.0 / temperature, None)


def untransformed(row: Row) -> Transformed:
    return at_temperature(row, torch.ones_like(row.top))


def nearest_others(row: Row, count: float) -> tuple[Tensor, Tensor]:
    """The logits in descending order, and which of them are the first so many after the top one."""
    z = torch.sort(row.z, dim=-1, descending=True)[0]
    rank = torch.cumsum(torch.ones_like(z), -1) - 1.0
    return z, (rank >= 1.0) & (rank <= count) & (z > -math.inf)


def log1p(x: Tensor) -> Tensor:
    # Kahan's: ONNX has no such operator, and torch.log1p is exported as log(1 + x), without the
    # digits of a small x.
    u = 1.0 + x
    return torch.where(u == 1.0, x, torch.log(u) * (x / (u - 1.0)))


def expm1(x: Tensor) -> Tensor:
    # For x <= 0 without loss of digits; to ONNX torch.expm1 would be exp(x) - 1.
    t = torch.tanh(0.5 * x)
    return 2.0 * t / (1.0 - t)


def softplus(x: Tensor) -> Tensor:
    return x.clamp(min=0.0) + log1p(torch.exp(-x.abs()))


def tail_sum(row: Transformed, order: float) -> Tensor:
    """`sum over j != 1 of exp(order (u_j - u_2))`; 0 where a class is alone."""
    return torch.exp(order * row.beta * row.row.below).sum(-1, keepdim=True) - 1.0


def log_odds_of(row: Transformed) -> Tensor:
    return row.gap - torch.log(tail_sum(row, 1.0))


def log_rest_of(row: Transformed) -> Tensor:
    """`ln(1 - sigma_1)`."""
    return -softplus(log_odds_of(row))


def log_entropy_of(row: Transformed) -> Tensor:
    below = row.beta * row.row.below
    weights = torch.exp(below)
    tail = weights.sum(-1, keepdim=True) - 1.0
    log_odds = row.gap - torch.log(tail)
    distance = row.gap - (below * weights).sum(-1, keepdim=True) / tail
    # Not torch.sigmoid, which ONNX Runtime evaluates without the digits of small values.
    entropy = torch.exp(-softplus(log_odds)) * distance + softplus(-log_odds)
    saturated = log1p(distance) - log_odds
    # From 37 on 1 + exp(-log_odds) is 1, and further on the entropy would underflow.
    log_entropy = torch.where(log_odds > 37.0, saturated, torch.log(entropy))
    return log_entropy.masked_fill(row.row.alone, -math.inf)


def _log_impurity(row: Transformed) -> Tensor:
    """`ln(1 - sum of sigma_k^2)`."""
    tail = tail_sum(row, 1.0)
    agreement = (tail_sum(row, 2.0) / (tail * tail)).clamp(max=1.0)
    log_rest = -softplus(row.gap - torch.log(tail))
    log_impurity = log_rest + torch.log(2.0 - torch.exp(log_rest) * (1.0 + agreement))
    return log_impurity.masked_fill(row.row.alone, -math.inf)


def _softmax_margin(row: Transformed) -> Tensor:
    log_exp_minus_one = row.gap + torch.log(-expm1(-row.gap))
    return log_exp_minus_one - torch.log(1.0 + tail_sum(row, 1.0))


def _max_logit(row: Transformed) -> Tensor:
    missing = row.missing
    if missing is None:
        return row.top
    small = log1p(row.top) - log1p(-row.top)
    return torch.where(missing > 0.5, small, torch.log(2.0 - missing) - torch.log(missing))


def _logits_margin(row: Transformed) -> Tensor:
    return row.gap


def _negative_entropy(row: Transformed) -> Tensor:
    return -log_entropy_of(row)


def _negative_gini(row: Transformed) -> Tensor:
    return -_log_impurity(row)


def _energy(row: Transformed) -> Tensor:
    return row.top + softplus(-log_odds_of(row))


def _ldam(row: Transformed) -> Tensor:
    weights = torch.exp(row.beta * row.row.below)
    count = row.row.classes - 1.0
    mean = (weights.sum(-1, keepdim=True) - 1.0) / count
    squares = ((weights - mean) ** 2).sum(-1, keepdim=True) - (1.0 - mean) ** 2
    distance = (1.0 - mean).clamp(min=0.0) * torch.exp(-row.gap) - expm1(-row.gap)
    ratio = 2.0 * (row.gap + torch.log(distance)) - torch.log(squares.clamp(min=0.0) / count)
    return ratio.masked_fill(distance == 0.0, -math.inf).masked_fill(row.row.alone, math.inf)


def _leon(row: Transformed) -> Tensor:
    classes = row.row.classes
    log_rest, log_impurity = log_rest_of(row), _log_impurity(row)
    variance = 1.0 / classes - torch.exp(log_impurity) / (classes - 1.0)
    spread = (classes - 1.0) * (1.0 / torch.sqrt(classes) + torch.sqrt(variance.clamp(min=0.0)))
    missing = 2.0 - torch.exp(log_impurity - log_rest) / spread
    return (-log_rest - torch.log(missing)).masked_fill(row.row.alone, math.inf)


SCORES: dict[str, Callable[[Transformed], Tensor]] = {
    "MSP": log_odds_of,
    "SoftmaxMargin": _softmax_margin,
    "MaxLogit": _max_logit,
    "LogitsMargin": _logits_margin,
    "NegativeEntropy": _negative_entropy,
    "NegativeGini": _negative_gini,
    "Energy": _energy,
    "LDAM": _ldam,
    "Leon": _leon,
}


# Confidences as values of the paper's formulas, from the confidences and the number of classes.


def unchanged(confidence: Tensor, classes: Tensor) -> Tensor:
    return confidence


def _sigmoid(confidence: Tensor, classes: Tensor) -> Tensor:
    return torch.exp(-softplus(-confidence))


def _negative_exponential(confidence: Tensor, classes: Tensor) -> Tensor:
    return -torch.exp(-confidence)


def _exponential(confidence: Tensor, classes: Tensor) -> Tensor:
    return torch.exp(confidence)


def _leon_value(confidence: Tensor, classes: Tensor) -> Tensor:
    return 2.0 - 1.0 / classes - 1.0 / torch.sqrt(classes) - torch.exp(-confidence)


def normalised_max_logit(confidence: Tensor, classes: Tensor) -> Tensor:
    return torch.tanh(0.5 * confidence)


#: Those that differ from the confidence, except probabilities, which a stack takes as they are.
VALUES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "SoftmaxMargin": _sigmoid,
    "NegativeEntropy": _negative_exponential,
    "NegativeGini": _negative_exponential,
    "LDAM": _exponential,
    "Leon": _leon_value,
    "GEN": _negative_exponential,
}
