"""A program of a user, as a strict type checker sees it; test_typing.py checks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import abstain

Floats = npt.NDArray[np.float64]


def deploy(logits: npt.NDArray[np.float32], labels: npt.NDArray[np.int64], folder: Path) -> Floats:
    result = abstain.tune(logits, labels, space="paper", target_accuracy=0.9, delta=0.05)
    estimator = result.estimator
    threshold = estimator.threshold
    if threshold is None:
        raise SystemExit(result.refusal)
    assert_type(
        threshold.basis, Literal["certified", "anytime", "risk", "coverage", "cost", "given"]
    )
    assert_type(threshold.certificate, "dict[str, Any] | None")
    prediction, confidence, accept = estimator.answers(logits)
    assert_type(confidence, Floats)
    assert_type(accept, "npt.NDArray[np.bool_] | None")
    evaluation = estimator.evaluate(logits, labels, metrics=["NAURC"])
    assert_type(evaluation.verdict, "Literal['better', 'worse', 'unclear', 'same'] | None")
    assert_type(evaluation["NAURC"].estimate, float)
    assert_type(abstain.read_table({}).labels, "npt.NDArray[np.int64] | None")
    assert_type(abstain.predictions(logits, input="masked"), npt.NDArray[np.int64])
    monitor = abstain.Monitor(estimator).update(confidence, prediction)
    monitor.page(folder / "stream.html")
    estimator.save(folder / "estimator.json")
    # A word that is none is an error, which mypy expects here.
    abstain.score("MSP", logits, input="logit")  # type: ignore[arg-type]
    abstain.tune(logits, labels, space="coarse")  # type: ignore[arg-type]
    return confidence
