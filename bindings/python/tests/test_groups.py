"""What a threshold accepts by group, as the program counts it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import simulated

import abstain

LOGITS, LABELS = simulated(1200, 4)
GROUPS = np.array(["north", "south", "west"])[np.arange(1200) % 3]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The same rows as the program reads them."""
    path = tmp_path / "rows.csv"
    columns = [f"logit_{index}" for index in range(4)]
    lines = [",".join([*columns, "label", "site"])]
    for row, label, group in zip(LOGITS.tolist(), LABELS, GROUPS):
        lines.append(",".join([*map(repr, row), str(label), group]))
    path.write_text("\n".join(lines))
    return path


def test_evaluations_count_by_group_as_the_program_does(program: Any, table: Path) -> None:
    options = ["--group", "site", "--json", "-q"]
    theirs = json.loads(program("eval", "MSP", table, *options))[0]
    ours = abstain.Estimator("MSP").evaluate(LOGITS, LABELS, groups=GROUPS)
    assert ours.report["breakdown"] == theirs["breakdown"]
    assert [part["name"] for part in theirs["breakdown"]["by_group"]] == ["north", "south", "west"]
    without = abstain.Estimator("MSP").evaluate(LOGITS, LABELS)
    assert without.report["breakdown"]["by_group"] == []


@pytest.mark.parametrize("delta", [None, 0.05])
def test_thresholds_count_by_group_as_the_program_does(
    program: Any, table: Path, delta: float | None
) -> None:
    command = "threshold" if delta is None else "certify"
    options = ["--group", "site", "--json", "-q", "--target-accuracy", "0.9"]
    theirs = json.loads(program(command, "MSP", table, *options))
    found = abstain.Estimator("MSP").with_threshold(
        LOGITS, LABELS, target_accuracy=0.9, delta=delta, groups=GROUPS
    )
    assert found.threshold is not None
    assert found.threshold.breakdown == theirs["breakdown"]
    assert pickle.loads(pickle.dumps(found.threshold)).breakdown == theirs["breakdown"]
    # A file does not keep what was counted.
    reread = abstain.Estimator.from_dict(found.to_dict()).threshold
    assert reread == found.threshold and reread.breakdown is None
    if delta is not None:
        certified = abstain.Estimator("MSP").certify(
            LOGITS, LABELS, target_accuracy=0.9, groups=GROUPS
        )
        assert certified.threshold is not None
        assert certified.threshold.breakdown == theirs["breakdown"]


def test_tuning_counts_by_group_as_the_program_does(program: Any, table: Path) -> None:
    options = ["--method", "MaxLogit-pNorm", "--target-accuracy", "0.9"]
    found = json.loads(program("tune", table, *options, "--group", "site", "--json", "-q"))
    theirs = found["report"]
    tuned: dict[str, Any] = {"methods": "MaxLogit-pNorm", "target_accuracy": 0.9}
    ours = abstain.tune(LOGITS, LABELS, groups=GROUPS, **tuned)
    assert ours.report["breakdown"] == theirs["breakdown"]
    assert len(theirs["breakdown"]["by_group"]) == 3
    # Of test rows, the groups are theirs.
    test = LOGITS[800:], LABELS[800:]
    ours = abstain.tune(LOGITS[:800], LABELS[:800], test=test, groups=GROUPS[800:], **tuned)
    counts = [part["rows"] for part in ours.report["breakdown"]["by_group"]]
    assert counts == [int((GROUPS[800:] == name).sum()) for name in ("north", "south", "west")]


def test_columns_count_by_group_as_the_program_does(program: Any, tmp_path: Path) -> None:
    confidence = abstain.score("MSP", LOGITS)
    correct = LOGITS.argmax(axis=1) == LABELS
    lines = [f"{c!r},{int(r)},{g}" for c, r, g in zip(confidence.tolist(), correct, GROUPS)]
    judged = tmp_path / "judged.csv"
    judged.write_text("\n".join(["confidence,correct,site", *lines]))
    options = ["--group", "site", "--json", "-q", "--target-accuracy", "0.9"]
    for command, find in [("certify", abstain.certify), ("threshold", abstain.threshold)]:
        theirs = json.loads(program(command, "Confidence", judged, *options))
        ours = find(confidence, correct, target_accuracy=0.9, groups=GROUPS.tolist())
        assert ours.breakdown == theirs["breakdown"]
        assert ours._details == theirs["artifact"]["rule"]["threshold"]


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: abstain.Estimator("MSP").evaluate(LOGITS, LABELS, groups=GROUPS[:5]),
            "groups: 5 rows where 1200 were expected",
        ),
        (
            lambda: abstain.tune(LOGITS, LABELS, methods="MSP", groups=GROUPS[:5]),
            "groups: 5 rows where 1200 were expected",
        ),
        (
            lambda: abstain.certify([0.9], [1], target_accuracy=0.5, groups=["a", "b"]),
            "groups: 2 rows where 1 were expected",
        ),
        (
            lambda: abstain.certify([0.9], [1], target_accuracy=0.5, groups=[["a"]]),
            "groups: expected one group per row",
        ),
        (
            lambda: abstain.threshold([0.9], coverage=0.5, groups=["a"]),
            "groups cannot be combined with coverage",
        ),
        (
            lambda: abstain.Estimator("MSP").with_threshold(at=1.0, groups=["a"]),
            "groups cannot be combined with at or value",
        ),
    ],
)
def test_wrong_groups_are_refused(call: Any, message: str) -> None:
    with pytest.raises(abstain.InputError, match=message):
        call()
