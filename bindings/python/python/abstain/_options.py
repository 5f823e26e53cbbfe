"""The dictionaries of options that the extension reads."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import numpy.typing as npt


class ThresholdOptions(TypedDict):
    """The target of a threshold, and how to certify it."""

    target_accuracy: float | None
    target_risk: float | None
    delta: float | None
    procedure: str
    tried: int | None
    max_weight: float | None
    seed: int
    repeats: str
    group_folds: list[str] | None


class ExportOptions(TypedDict):
    """What is written into a model, and where."""

    model: str | None
    output: str
    logits: str | None
    prefix: str
    precision: str
    opset: int | None


class Columns(TypedDict):
    """Rows that have a confidence and no logits; a threshold by coverage needs no losses."""

    confidence: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64] | None
    weights: npt.NDArray[np.float64] | None
    groups: list[str] | None


class TuneOptions(TypedDict):
    """What to tune, and how to measure it."""

    methods: list[str]
    objective: str
    fallback: str
    space: str
    target_accuracy: float | None
    target_risk: float | None
    delta: float | None
    procedure: str
    folds: int
    holdout: str | None
    splits: int
    max_rows: int
    replicates: int | None
    seed: int
    class_names: list[str] | None
    groups: list[str] | None
    repeats: str
    group_folds: tuple[list[str] | None, list[str] | None]


class EvaluationOptions(TypedDict):
    """What to measure on a set of rows, and how."""

    name: str
    metrics: list[str] | None
    target_accuracy: float | None
    target_risk: float | None
    replicates: int | None
    seed: int
    check_target: bool
    min_coverage: float | None
    min_accuracy: float | None
    groups: list[str] | None


class ZooOptions(TypedDict):
    """How the models of a zoo are measured, and where the results go."""

    output: str | None
    models: list[str]
    splits: int
    holdout: str | None
    smaller: list[int]
    space: str
    fallback: str
    epsilon: float
    target_accuracy: float
    certified: bool
    delta: float
    seed: int
    replicates: int


class MonitorOptions(TypedDict):
    """What a monitor promises."""

    alpha: float
    target_risk: float | None
    delta: float
    max_loss: float
    parts: int
    groups: int
    abstained_labelled: bool
    seed: int


class Outcomes(TypedDict):
    """What answers cost, and how rows were chosen for labels."""

    loss: npt.NDArray[np.float64]
    propensity: npt.NDArray[np.float64] | None
    min_propensity: float | None
