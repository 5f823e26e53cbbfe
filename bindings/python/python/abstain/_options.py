"""What the extension is asked for: the keys that it reads."""

from __future__ import annotations

from typing import TypedDict


class Asked(TypedDict):
    """What a threshold is asked to do."""

    accuracy: float | None
    risk: float | None
    delta: float | None
    procedure: str
    tried: int | None


class TuneOptions(TypedDict):
    """What to tune, and how."""

    methods: list[str]
    objective: str
    fallback: str
    space: str
    accuracy: float | None
    risk: float | None
    delta: float | None
    procedure: str
    holdout: str | None
    splits: int
    replicates: int
    seed: int


class EvaluationOptions(TypedDict):
    """What to measure, and how."""

    name: str
    metrics: list[str] | None
    accuracy: float | None
    replicates: int
    seed: int
