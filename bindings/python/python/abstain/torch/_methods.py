"""Transforms and families with their parameters, as modules that TorchScript compiles."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional, Union

import torch
from torch import Tensor, nn

from ..errors import InputError
from ._scores import (
    SCORES,
    VALUES,
    Row,
    Transformed,
    at_temperature,
    expm1,
    log1p,
    log_entropy_of,
    log_odds_of,
    log_rest_of,
    nearest_others,
    normalised_max_logit,
    softplus,
    tail_sum,
    unchanged,
    untransformed,
)


class _Parametrised(nn.Module):
    """A module whose parameters are Python floats: no buffers, always in double precision."""

    def __init__(self, **parameters: Union[float, str]) -> None:
        super().__init__()
        for name, value in parameters.items():
            setattr(self, name, value)


class _Temperature(_Parametrised):
    """`z / T`."""

    T: float

    def forward(self, row: Row) -> Transformed:
        return at_temperature(row, torch.full_like(row.top, self.T))


class _PNorm(_Parametrised):
    """`v / (tau ||v||_p)` of the deviations `v = z - centre + gamma`."""

    centring: str
    p: float
    gamma: float
    tau: float

    def forward(self, row: Row) -> Transformed:
        # Differences from the top first: a constant added to the row costs no digits.
        masked = row.z == -math.inf
        below_top = (row.z - row.top).masked_fill(masked, 0.0)
        lowest = below_top.amin(-1, keepdim=True)
        if self.centring == "mean":
            count = row.classes - masked.double().sum(-1, keepdim=True)
            top = self.gamma - below_top.sum(-1, keepdim=True) / count
        elif self.centring == "min":
            top = self.gamma - lowest
        else:
            top = self.gamma + row.top
        largest = torch.maximum(top.abs(), (lowest + top).abs())
        log_root = torch.zeros_like(top)
        if self.p == 0.0:
            largest = torch.ones_like(top)
        else:
            # The zero vector, or next to it, has no direction and becomes the zero vector.
            zero = largest < 1e-150
            top, largest = top.masked_fill(zero, 0.0), largest.masked_fill(zero, 1.0)
            if self.p != math.inf:
                # The top class is counted apart: where it is the largest, the rest may be tiny.
                second = row.second - row.top
                parts = ((torch.minimum(below_top, second) + top).abs() / largest) ** self.p
                runner_up = ((second + top).abs() / largest) ** self.p
                rest = parts.masked_fill(masked, 0.0).sum(-1, keepdim=True) - runner_up
                rest = rest.clamp(min=0.0)
                log_sum = torch.log(rest + (top.abs() / largest) ** self.p)
                log_sum = torch.where(top == largest, log1p(rest), log_sum)
                log_root = (log_sum / self.p).masked_fill(zero, 0.0)
        unit, ratio = top / largest, torch.exp(-log_root)
        missing: Optional[Tensor] = None
        if self.p > 0.0:
            positive = -expm1(torch.log(unit) - log_root)
            missing = torch.where(top > 0.0, positive, 1.0 - unit * ratio)
        ratio = ratio / self.tau
        gap = ((row.top - row.second) / largest * ratio).masked_fill(row.alone, math.inf)
        return Transformed(row, unit * ratio, gap, ratio / largest, missing)


class _Scored(nn.Module):
    """A score of the transformed row."""

    def __init__(self, score: Callable[[Transformed], Tensor], transform: nn.Module) -> None:
        super().__init__()
        self.score, self.transform = score, transform

    def forward(self, row: Row) -> Tensor:
        return self.score(self.transform(row))


class _BK(_Parametrised):
    """`a sigma_1 + b (1 - sigma_2)`, less `a + b`."""

    a: float
    b: float

    def forward(self, row: Row) -> Tensor:
        raw = untransformed(row)
        tail = tail_sum(raw, 1.0)
        second = torch.exp(-raw.gap - softplus(torch.log(tail) - raw.gap))
        return -second * (self.a * (tail - 1.0) + (self.a + self.b))


class _ETS(_Parametrised):
    """`w MSP(z / T) + (1 - w) MSP(z)`, as `-ln` of what is missing to 1."""

    T: float
    w: float

    def forward(self, row: Row) -> Tensor:
        weight = torch.full_like(row.top, self.w)
        temperature = torch.full_like(row.top, self.T)
        scaled = torch.log(weight) + log_rest_of(at_temperature(row, temperature))
        raw = torch.log(1.0 - weight) + log_rest_of(untransformed(row))
        high, low = torch.maximum(scaled, raw), torch.minimum(scaled, raw)
        return -(high + log1p(torch.exp(low - high))).masked_fill(row.alone, -math.inf)


class _HTS(_Parametrised):
    """`MSP(z / T)` with `T = ln(1 + exp(b + w ln(H / C)))`."""

    b: float
    w: float

    def forward(self, row: Row) -> Tensor:
        exponent = torch.full_like(row.top, self.b)
        # A weight of 0 switches the entropy off even where its logarithm is infinite.
        if self.w != 0.0:
            log_entropy = log_entropy_of(untransformed(row))
            exponent = exponent + self.w * (log_entropy - torch.log(row.classes))
        return log_odds_of(at_temperature(row, softplus(exponent).clamp(min=1e-100, max=1e100)))


class _CMD(_Parametrised):
    """Minus the deviation of `ln(1 + (z_1 - z_k) / (T tau))` over the other classes, tau = 0.5."""

    T: float

    def forward(self, row: Row) -> Tensor:
        # Relative to the runner-up, which the top class counts as once more, with a logarithm of 0.
        unit = 0.5 * self.T + (row.top - row.second)
        masked = row.z == -math.inf
        logs = log1p(-row.below / unit).masked_fill(masked, 0.0)
        count = (~masked).double().sum(-1, keepdim=True) - 1.0
        mean = logs.sum(-1, keepdim=True) / count
        squares = ((logs - mean) ** 2).masked_fill(masked, 0.0).sum(-1, keepdim=True) - mean**2
        # Nothing deviates from a single other class.
        return (-torch.sqrt(squares / count)).masked_fill(count <= 1.0, 0.0)


class _LogitGap(_Parametrised):
    """`z_1` less the mean of the next N logits."""

    N: float

    def forward(self, row: Row) -> Tensor:
        z, chosen = nearest_others(row, self.N)
        distances = (row.top - z).masked_fill(~chosen, 0.0)
        mean = distances.sum(-1, keepdim=True) / chosen.double().sum(-1, keepdim=True)
        return mean.masked_fill(row.alone, math.inf)


class _GEN(_Parametrised):
    """Minus the sum of `p^gamma (1 - p)^gamma` over the top M, as `-ln` of that sum."""

    gamma: float
    M: float

    def forward(self, row: Row) -> Tensor:
        raw = untransformed(row)
        log_odds = log_odds_of(raw)
        log_top, log_rest = -softplus(-log_odds), -softplus(log_odds)
        z, chosen = nearest_others(row, self.M - 1.0)
        # ln(p_k / (1 - p_1))
        log_shares = (z - row.second).clamp(min=-1e200, max=0.0) - torch.log(tail_sum(raw, 1.0))
        logs = log_shares + log1p(-torch.exp(log_rest + log_shares))
        terms = torch.exp(self.gamma * logs).masked_fill(~chosen, 0.0)
        total = torch.exp(self.gamma * log_top) + terms.sum(-1, keepdim=True)
        return (-self.gamma * log_rest - torch.log(total)).masked_fill(row.alone, math.inf)


class _HardTerm(_Parametrised):
    """One score of a stack of the first edition, standardised, clipped and weighted."""

    mean: float
    deviation: float
    weight: float

    def __init__(self, method: nn.Module, **parameters: float) -> None:
        super().__init__(**parameters)
        self.method = method

    def forward(self, row: Row) -> Tensor:
        standardised = (resolved(self.method(row)) - self.mean) / self.deviation
        return self.weight * standardised.clamp(min=-5.0, max=5.0)


class _SoftTerm(_Parametrised):
    """One score of a stack: its value, standardised, softly clipped and weighted."""

    mean: float
    deviation: float
    weight: float
    knee: float

    def __init__(
        self,
        method: nn.Module,
        value: Callable[[Tensor, Tensor], Tensor],
        **parameters: float,
    ) -> None:
        super().__init__(**parameters)
        self.method, self.value = method, value

    def forward(self, row: Row) -> Tensor:
        number = self.value(resolved(self.method(row)), row.classes)
        standardised = (number - self.mean) / self.deviation
        size = standardised.abs()
        # Infinities count as very large.
        beyond = self.knee + log1p((size.clamp(max=1e12) - self.knee).clamp(min=0.0))
        clipped = torch.where(size <= self.knee, standardised, torch.sign(standardised) * beyond)
        return self.weight * clipped


class _Stack(nn.Module):
    """A weighted sum of other scores: of *Stack*, the log-odds of being right."""

    offsets: Tensor

    def __init__(
        self, intercept: float, terms: Iterable[nn.Module], offsets: Iterable[float]
    ) -> None:
        super().__init__()
        self.intercept, self.terms = intercept, nn.ModuleList(terms)
        # What is added for each predicted class; nothing if it is empty.
        values = torch.tensor(list(offsets), dtype=torch.float64)
        self.register_buffer("offsets", values, persistent=False)
        self.has_offsets = len(values) > 0

    def forward(self, row: Row) -> Tensor:
        total = torch.full_like(row.top, self.intercept)
        if self.has_offsets:
            # The prediction is the first of the largest logits.
            largest = (row.z == row.top).to(row.z.dtype)
            first = largest * (torch.cumsum(largest, -1) == 1.0).to(row.z.dtype)
            total = total + (first * self.offsets.to(row.z)).sum(-1, keepdim=True)
        for term in self.terms:
            total = total + term(row)
        return total


_CENTRINGS = {"pNorm": "mean", "pNorm-NC": "none", "pNorm-min": "min"}
_FAMILIES: dict[str, type[_Parametrised]] = {
    "BK": _BK,
    "ETS": _ETS,
    "HTS": _HTS,
    "CMD": _CMD,
    "LogitGap": _LogitGap,
    "GEN": _GEN,
}


def _split(x: Tensor) -> Tensor:
    # Veltkamp's: x without its last 12 bits, rounded to nearest.
    scaled = 4097.0 * x
    return scaled + (x - scaled)


def resolved(x: Tensor) -> Tensor:
    # To the bits that the core keeps, so that rows that tie mathematically tie here too; what lies
    # halfway goes away from zero, and an infinity stays.
    near = _split(x)
    other = x + (x - near)
    halfway = (_split(other) == other) & (other.abs() > near.abs())
    return torch.where(x.abs() == math.inf, x, torch.where(halfway, other, near))


def method_of(estimator: Mapping[str, Any]) -> nn.Module:
    """The module of an artifact's estimator: rows to confidences, not yet rounded."""
    name = str(estimator["method"])
    score, _, transform = name.partition("-")
    if name in ("Stack", "LabelFree"):
        knee = estimator.get("soft_clip")
        terms = [_term(term, None if knee is None else float(knee)) for term in estimator["terms"]]
        return _Stack(float(estimator["intercept"]), terms, estimator.get("class_offsets", ()))
    if name == "Extra":
        raise InputError("abstain.torch sees the logits alone: the estimator needs an extra column")
    # JSON has no infinity; it is written as a string, which `float` reads.
    parameters = {key: float(value) for key, value in estimator.items() if key != "method"}
    if name in _FAMILIES:
        return _FAMILIES[name](**parameters)
    if score not in SCORES:
        raise InputError(f"abstain.torch does not implement {name}")
    if not transform:
        affine: nn.Module = _Temperature(T=1.0)
    elif transform.startswith("TS"):
        affine = _Temperature(**parameters)
    else:
        centring = _CENTRINGS[transform.removesuffix("-shift")]
        affine = _PNorm(centring=centring, **{"gamma": 0.0, "tau": 1.0, **parameters})
    return _Scored(SCORES[score], affine)


def _term(term: Mapping[str, Any], knee: Optional[float]) -> nn.Module:
    """One term of a stack; without a knee, of one of the first edition."""
    estimator = term["estimator"]
    method, name = method_of(estimator), str(estimator["method"])
    parameters = {key: float(term[key]) for key in ("mean", "deviation", "weight")}
    if knee is None:
        return _HardTerm(method, **parameters)
    score, _, transform = name.partition("-")
    value = VALUES.get(score, unchanged)
    if score == "MaxLogit" and transform and float(estimator["p"]) > 0.0:
        value = normalised_max_logit
    if name == "BK":
        # Its value is larger by a constant, which goes into the mean.
        parameters["mean"] -= float(estimator["a"]) + float(estimator["b"])
    return _SoftTerm(method, value, knee=knee, **parameters)
