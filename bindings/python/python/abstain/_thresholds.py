"""Thresholds on a bare confidence, and the keywords of all thresholds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays, _frames
from ._arrays import Array
from ._options import Columns, ThresholdOptions
from ._threshold import Threshold
from ._types import Procedure
from .errors import InputError, warn_of

__all__ = ["certify", "threshold"]


def certify(
    confidence: Array,
    correct: Array | None = None,
    *,
    target_accuracy: float | None = None,
    target_risk: float | None = None,
    delta: float = 0.05,
    procedure: Procedure | None = None,
    tried: int = 1,
    sample_weight: Array | None = None,
    max_weight: float | None = None,
    seed: int = 0,
    groups: Array | None = None,
    group_folds: Array | None = None,
) -> Threshold:
    """Certify a threshold on any confidence, from a column of confidences and one of correct flags.

    Use it where there are no logits: for the confidence of a language model, of a judge or of a
    service. The rows must come from the distribution on which the threshold will be used, and must
    have no part in how the confidence was made. Fix the target before looking at the rows.

    Parameters
    ----------
    confidence : array-like of shape (rows,), or table
        Any confidence: higher is surer. Of a table, the column called ``confidence``, ``score`` or
        the like.
    correct : array-like of shape (rows,), optional
        1 or True where the prediction is **right**, 0 or False where it is wrong: one minus the
        `loss` of the metrics. Other numbers are refused. Of a table, the name of a column (default:
        what says which predictions are right, as in :func:`abstain.metric`).
    target_accuracy, target_risk : float, optional
        What the accepted rows must meet; give one of them.
    delta : float, default 0.05
        Over the draw of the rows, the guarantee fails with at most this probability.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    tried : int, default 1
        How many confidences were compared on these rows, this one included; they share `delta`.
    sample_weight : array-like of shape (rows,), optional
        How many rows each row counts as, where rows were not drawn as the population is. Each row
        is kept with the probability of its weight over `max_weight`, and the kept rows certify:
        the guarantee is then exact for the population in which a row counts by its weight.
    max_weight : float, optional
        The largest weight that any row of the population can have, known without looking at these
        rows. It is required with `sample_weight`.
    seed : int, default 0
        The seed of the rows that are drawn. Fix it, like the target, before looking at the rows.
    groups : array-like of shape (rows,), optional
        The group of each row: `Threshold.breakdown` counts what is accepted in each.
    group_folds : array-like of shape (rows,), optional
        What copies and near-copies share, such as an id: of the rows with equal ones, one drawn at
        random certifies. Equal confidences are normal, so nothing else says which rows are copies.
        The guarantee is then for the population in which every group counts the same.

    Returns
    -------
    Threshold
        Accept rows with a confidence at or above it.

    Warns
    -----
    DataWarning
        If something about the rows looks wrong, such as a confidence that is the same for all rows.

    Raises
    ------
    InfeasibleError
        If no threshold can be certified; the message says what is missing.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(size=1000)
    >>> correct = rng.uniform(size=1000) < confidence
    >>> threshold = abstain.certify(confidence, correct, target_accuracy=0.9, delta=0.05)
    >>> threshold
    Threshold(..., certified, risk <= 0.1 with probability 0.95, coverage ...)
    >>> accept = confidence >= threshold
    """
    # Without a delta there would be no guarantee.
    delta = _arrays.number(delta, "delta")
    options = threshold_options(target_accuracy, target_risk, delta, procedure, tried)
    options["max_weight"] = _arrays.optional_number(max_weight, "max_weight")
    options["seed"] = _arrays.count(seed, "seed")
    options["group_folds"] = _arrays.groups(group_folds, "group_folds")
    return _on_columns(_columns(confidence, correct, sample_weight, groups), options)


def threshold(
    confidence: Array,
    correct: Array | None = None,
    *,
    target_accuracy: float | None = None,
    target_risk: float | None = None,
    coverage: float | None = None,
    cost_error: float | None = None,
    cost_abstain: float | None = None,
    sample_weight: Array | None = None,
    groups: Array | None = None,
) -> Threshold:
    """Find a threshold on any confidence, without a guarantee.

    Give a target, a coverage, or both costs. A coverage needs no `correct`.

    Parameters
    ----------
    confidence : array-like of shape (rows,), or table
        Any confidence: higher is surer. Of a table, the column called ``confidence``, ``score`` or
        the like.
    correct : array-like of shape (rows,), optional
        1 or True where the prediction is **right**, 0 or False where it is wrong: one minus the
        `loss` of the metrics. Other numbers are refused. Of a table, the name of a column (default:
        what says which predictions are right, as in :func:`abstain.metric`).
    target_accuracy : float, optional
        Accept as many rows as possible at this selective accuracy.
    target_risk : float, optional
        Accept as many rows as possible at this selective risk.
    coverage : float, optional
        Accept this share of the rows, or a little more where confidences tie.
    cost_error, cost_abstain : float, optional
        What an error among the accepted rows costs, and what an abstention costs: accept the rows
        for which the sum is lowest.
    sample_weight : array-like of shape (rows,), optional
        How many rows each row counts as.
    groups : array-like of shape (rows,), optional
        The group of each row, for a target: `Threshold.breakdown` counts what is accepted in each.

    Returns
    -------
    Threshold
        Accept rows with a confidence at or above it; it is infinite if no row should be accepted.

    Raises
    ------
    InfeasibleError
        If no threshold meets the target.

    See Also
    --------
    certify : The same with a guarantee.

    Examples
    --------
    >>> import abstain
    >>> confidence, correct = [0.9, 0.8, 0.7, 0.6, 0.5], [1, 1, 0, 1, 0]
    >>> abstain.threshold(confidence, correct, target_accuracy=0.75)
    Threshold(0.6, risk, not certified, coverage 0.800)
    >>> abstain.threshold(confidence, coverage=0.4)
    Threshold(0.8, coverage, coverage 0.400)
    >>> abstain.threshold(confidence, correct, cost_error=5, cost_abstain=1)
    Threshold(0.8, cost, not certified, coverage 0.400)
    """
    costs = threshold_costs(cost_error, cost_abstain)
    has_target = target_accuracy is not None or target_risk is not None
    if has_target + (coverage is not None) + (costs is not None) != 1:
        raise InputError("give a target, coverage, or cost_error and cost_abstain")
    if coverage is not None:
        refuse("coverage", correct=correct, groups=groups)
        columns = _columns(confidence, None, sample_weight, None, needed=False)
        share = _arrays.number(coverage, "coverage")
        return _found(_abstain.coverage_of_confidences(columns, share))
    columns = _columns(confidence, correct, sample_weight, groups)
    if costs is not None:
        refuse("costs", groups=groups)
        return _found(_abstain.costs_of_confidences(columns, costs))
    options = threshold_options(target_accuracy, target_risk, None, None, None)
    return _on_columns(columns, options)


def _columns(
    confidence: Array,
    correct: Array | None,
    sample_weight: Array | None,
    groups: Array | None,
    needed: bool = True,
) -> Columns:
    losses = None
    if _frames.is_table(confidence):
        confidence, losses = _frames.confidences(confidence, correct=correct)
    elif isinstance(correct, str):
        raise InputError(f"correct is {correct!r}, but only a table has columns with names")
    if correct is not None and not isinstance(correct, str):
        losses = losses_of_flags(_arrays.vector(correct, "correct"))
    if losses is None and needed:
        raise InputError("a target and costs need correct: 1 where the prediction is right")
    return {
        "confidence": _arrays.vector(confidence, "confidence"),
        "loss": losses if needed else None,
        "weights": _arrays.weights(sample_weight),
        "groups": _arrays.groups(groups),
    }


def _on_columns(columns: Columns, options: ThresholdOptions) -> Threshold:
    return _found(_abstain.threshold_on_confidences(columns, options))


def _found(text: str) -> Threshold:
    """A threshold of the JSON that ``abstain certify --json`` prints."""
    found = json.loads(text)
    warn_of(found["warnings"], stacklevel=5)
    artifact = found["artifact"]
    return Threshold(artifact["rule"]["threshold"], {**found, "reference": artifact.get("reference")})


def losses_of_flags(
    flags: npt.NDArray[np.float64], missing: bool = False
) -> npt.NDArray[np.float64]:
    """One minus each flag; NaN stays where flags may be missing."""
    invalid = (flags != 0) & (flags != 1)
    if missing:
        invalid &= ~np.isnan(flags)
    wrong = np.flatnonzero(invalid)
    if len(wrong):
        row, value = int(wrong[0]), float(flags[wrong[0]])
        expected = "1 or True where the prediction is right, 0 or False where it is wrong"
        raise InputError(f"correct: row {row}: {value:g} is not {expected}", row, None, value)
    return 1 - flags


def threshold_costs(
    cost_error: float | None, cost_abstain: float | None
) -> tuple[float, float] | None:
    """Both costs, or None."""
    if cost_error is None and cost_abstain is None:
        return None
    if cost_error is None or cost_abstain is None:
        raise InputError("give both cost_error and cost_abstain")
    return _arrays.number(cost_error, "cost_error"), _arrays.number(cost_abstain, "cost_abstain")


def threshold_options(
    target_accuracy: float | None,
    target_risk: float | None,
    delta: float | None,
    procedure: str | None,
    tried: int | None,
) -> ThresholdOptions:
    """Convert the keywords of a threshold for the extension."""
    if delta is None and tried is not None:
        raise InputError("tried is for certificates: give delta")
    return {
        "target_accuracy": _arrays.optional_number(target_accuracy, "target_accuracy"),
        "target_risk": _arrays.optional_number(target_risk, "target_risk"),
        "delta": _arrays.optional_number(delta, "delta"),
        "procedure": procedure_name(procedure, delta),
        "tried": None if tried is None else _arrays.count(tried, "tried", 1),
        "max_weight": None,
        "seed": 0,
        "repeats": "once",
        "group_folds": None,
    }


def procedure_name(procedure: str | None, delta: float | None) -> str:
    """The procedure that certifies a threshold."""
    if procedure is None:
        return "fixed-sequence"
    if delta is None:
        raise InputError("procedure is for certificates: give delta")
    return _arrays.text(procedure, "procedure")


def refuse(chosen: str, **others: Any) -> None:
    """Refuse keywords that the chosen kind of threshold does not take."""
    for name, value in others.items():
        if value is not None:
            raise InputError(f"{name} cannot be combined with {chosen}")
