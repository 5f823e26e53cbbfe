"""Tells you when your classifier is wrong.

>>> import numpy as np, abstain
>>> rng = np.random.default_rng(0)
>>> labels = rng.integers(0, 10, 2000)
>>> logits = rng.normal(size=(2000, 10)) + 2 * np.eye(10)[labels]

Tune an estimator, certify a threshold, predict or abstain:

>>> result = abstain.tune(logits, labels, target_accuracy=0.9, delta=0.05)
>>> prediction = result.estimator.predict(logits)

Without labels, an estimator can be made from the logits alone:

>>> abstain.label_free(logits)
Estimator('LabelFree')

Without logits, a threshold is certified on any confidence:

>>> confidence, correct = logits.max(1), logits.argmax(1) == labels
>>> threshold = abstain.certify(confidence, correct, target_accuracy=0.9, delta=0.05)
>>> accept = confidence >= threshold

After deployment, a monitor says whether that still holds, with labels or without:

>>> monitor = abstain.Monitor(threshold).update(confidence, correct=correct)
>>> monitor.alarm
False

Metrics take any confidence and the loss of each prediction:

>>> confidence = abstain.score("MaxLogit-pNorm", logits, p=5)
>>> loss = logits.argmax(1) != labels
>>> abstain.auroc(confidence, loss) > 0.5
True
"""

import importlib
from typing import TYPE_CHECKING

from . import errors
from ._abstain import VERSION as __version__
from ._estimator import Answers, Estimator, load, score
from ._evaluation import Evaluation
from ._frames import Rows, read_table
from ._metrics import (
    Interval,
    Reliability,
    RiskCoverageCurve,
    accuracy,
    augrc,
    aurc,
    auroc,
    coverage_at_risk,
    difference,
    e_aurc,
    ece,
    interval,
    metric,
    naurc,
    nll,
    partial_aurc,
    reliability,
    risk_at_coverage,
    risk_coverage_curve,
    sac,
)
from ._monitor import AuditSample, LabelsNeeded, Monitor, audit_sample
from ._names import losses, methods, metric_names, predictions
from ._paper import bench, study
from ._result import TuneResult
from ._statistics import average_positive_gain, pearson, spearman
from ._threshold import Threshold
from ._thresholds import certify, threshold
from ._tune import label_free, tune
from .errors import (
    DataWarning,
    InfeasibleError,
    InputError,
    NoThresholdWarning,
    UndefinedError,
)

__all__ = [
    "Answers",
    "AuditSample",
    "DataWarning",
    "Estimator",
    "Evaluation",
    "InfeasibleError",
    "InputError",
    "Interval",
    "LabelsNeeded",
    "Monitor",
    "NoThresholdWarning",
    "Reliability",
    "RiskCoverageCurve",
    "Rows",
    "Threshold",
    "TuneResult",
    "UndefinedError",
    "__version__",
    "accuracy",
    "audit_sample",
    "augrc",
    "aurc",
    "auroc",
    "average_positive_gain",
    "bench",
    "certify",
    "coverage_at_risk",
    "difference",
    "e_aurc",
    "ece",
    "errors",
    "interval",
    "label_free",
    "load",
    "losses",
    "methods",
    "metric",
    "metric_names",
    "naurc",
    "nll",
    "partial_aurc",
    "pearson",
    "predictions",
    "read_table",
    "reliability",
    "risk_at_coverage",
    "risk_coverage_curve",
    "sac",
    "score",
    "spearman",
    "study",
    "threshold",
    "tune",
]

if not TYPE_CHECKING:
    # Imported on first use, because they need further packages; an error names the missing one.
    def __getattr__(name: str) -> object:
        if name in ("collect", "sklearn", "torch"):
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
