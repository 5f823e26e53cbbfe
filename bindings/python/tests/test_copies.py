"""Copies and groups of rows, as the program counts them."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import simulated

import abstain

LOGITS, LABELS = simulated(600, 4)
TWICE, OF_TWICE = np.concatenate([LOGITS, LOGITS]), np.concatenate([LABELS, LABELS])
IDS = np.tile(np.arange(600), 2)


def certified_rows(estimator: abstain.Estimator) -> int:
    assert estimator.threshold is not None
    assert estimator.threshold.certificate is not None
    return estimator.threshold.certificate["rows"]


def test_copies_certify_once() -> None:
    msp = abstain.Estimator("MSP")
    with pytest.warns(abstain.DataWarning, match="600 of the 1,200 rows are equal to others"):
        once = msp.certify(TWICE, OF_TWICE, target_risk=0.3)
    assert certified_rows(once) == 600
    assert certified_rows(msp.certify(TWICE, OF_TWICE, target_risk=0.3, repeats="keep")) == 1200
    with pytest.raises(abstain.InputError, match="repeats is all, but must be one of once, keep"):
        msp.certify(TWICE, OF_TWICE, target_risk=0.3, repeats="all")


def test_groups_certify_as_one_row() -> None:
    noisy = TWICE + np.random.default_rng(1).normal(scale=1e-3, size=TWICE.shape)
    msp = abstain.Estimator("MSP")
    assert certified_rows(msp.certify(noisy, OF_TWICE, target_risk=0.3)) == 1200
    grouped = msp.certify(noisy, OF_TWICE, target_risk=0.3, group_folds=IDS)
    assert certified_rows(grouped) == 600
    confidence, correct = msp.confidence(noisy), noisy.argmax(1) == OF_TWICE
    bare = abstain.certify(confidence, correct, target_risk=0.3, group_folds=IDS)
    assert bare.certificate is not None
    assert bare.certificate["rows"] == 600
    result = abstain.tune(
        noisy, OF_TWICE, methods="MSP", target_risk=0.3, delta=0.1, group_folds=IDS
    )
    assert result.report["counted"] == {"rows": 1200, "counted": 600, "seed": 0}
    with pytest.raises(abstain.InputError, match="group_folds"):
        msp.certify(noisy, OF_TWICE, target_risk=0.3, group_folds=IDS[:5])


def test_test_rows_have_groups_of_their_kind() -> None:
    fresh, of_fresh = simulated(400, 4, seed=9)
    noisy = np.concatenate([fresh, fresh])
    noisy += np.random.default_rng(2).normal(scale=1e-3, size=noisy.shape)
    result = abstain.tune(
        LOGITS,
        LABELS,
        test=(noisy, np.concatenate([of_fresh, of_fresh])),
        methods="LogitsMargin",
        target_risk=0.3,
        delta=0.1,
        group_folds=(None, np.tile(np.arange(400), 2)),
    )
    assert result.report["counted"] == {"rows": 800, "counted": 400, "seed": 0}
    with pytest.raises(abstain.InputError, match="group_folds must be a pair with test"):
        abstain.tune(LOGITS, LABELS, test=(fresh, of_fresh), group_folds=IDS[:600])
