"""Labels by name, as booleans and one-hot, and the names that estimators keep."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import simulated

import abstain

LOGITS, LABELS = simulated(600, 4)
NAMES = ["dog", "cat", "emu", "ant"]
TEXTS = np.array(NAMES)[LABELS]
OPTIONS: dict[str, Any] = {"methods": ["MaxLogit-pNorm"], "target_accuracy": 0.95}


def without_names(estimator: abstain.Estimator) -> dict[str, Any]:
    artifact = estimator.to_dict()
    artifact.pop("class_names", None)
    return artifact


def unnamed(report: dict[str, Any]) -> dict[str, Any]:
    classes = [{**part, "name": None} for part in report["breakdown"]["by_class"]]
    return {**report, "breakdown": {**report["breakdown"], "by_class": classes}}


@pytest.mark.parametrize(
    "labels",
    [
        TEXTS,
        TEXTS.astype(object),
        TEXTS.astype("S"),
        TEXTS.tolist(),
        np.eye(4)[LABELS],
        np.eye(4, dtype=bool)[LABELS],
        np.eye(4, dtype=int)[LABELS].tolist(),
    ],
    ids=["text", "object", "bytes", "list", "one-hot", "one-hot bool", "one-hot list"],
)
def test_every_kind_of_label_tunes_as_numbers_do(labels: Any) -> None:
    expected = abstain.tune(LOGITS, LABELS, **OPTIONS)
    found = abstain.tune(LOGITS, labels, class_names=NAMES, **OPTIONS)
    assert without_names(found.estimator) == without_names(expected.estimator)
    assert found.estimator.class_names == NAMES
    assert expected.estimator.class_names is None
    assert (abstain.losses(LOGITS, np.eye(4)[LABELS]) == abstain.losses(LOGITS, LABELS)).all()


def test_labels_of_frames_are_read() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = abstain.tune(LOGITS, LABELS, class_names=NAMES, **OPTIONS).estimator
    for column in (
        pandas.Series(TEXTS),
        pandas.Series(pandas.Categorical(TEXTS, categories=NAMES)),
        polars.Series(TEXTS.tolist()),
    ):
        found = abstain.tune(LOGITS, column, class_names=NAMES, **OPTIONS).estimator
        assert found == expected


def test_strings_without_names_are_in_sorted_order_as_in_scikit_learn() -> None:
    order = np.argsort(NAMES)
    found = abstain.tune(LOGITS[:, order], TEXTS, **OPTIONS).estimator
    assert found.class_names == sorted(NAMES)
    expected = abstain.tune(LOGITS[:, order], np.argsort(order)[LABELS], **OPTIONS).estimator
    assert without_names(found) == without_names(expected)
    with pytest.raises(abstain.InputError, match="3 different labels .*but 4 classes; give class_names="):
        abstain.tune(LOGITS[LABELS < 3], TEXTS[LABELS < 3], **OPTIONS)


def test_the_names_of_the_tuning_rows_are_those_of_the_test_rows() -> None:
    # Sorted, the two names of the test rows would be classes 0 and 1.
    logits, labels = simulated(600, 4, seed=1)
    some = labels >= 2
    logits, labels = logits[some], labels[some]
    test = (logits, np.array(NAMES)[labels])
    found = abstain.tune(LOGITS, TEXTS, test=test, class_names=NAMES, **OPTIONS)
    numbers = abstain.tune(LOGITS, LABELS, test=(logits, labels), **OPTIONS)
    assert unnamed(found.report) == unnamed(numbers.report)
    classes = found.report["breakdown"]["by_class"]
    assert [part["name"] for part in classes] == [
        NAMES[int(part["name"])] for part in numbers.report["breakdown"]["by_class"]
    ]


def test_estimators_keep_names_and_map_labels_by_them(tmp_path: Path) -> None:
    tuned = abstain.tune(LOGITS, TEXTS, class_names=NAMES, **OPTIONS)
    more, labels = simulated(800, 4, seed=1)
    texts = np.array(NAMES)[labels]
    estimator = tuned.estimator
    estimator.save(tmp_path / "estimator.json")
    for kept in (
        estimator,
        abstain.load(tmp_path / "estimator.json"),
        pickle.loads(pickle.dumps(estimator)),
        tuned.with_threshold(target_accuracy=0.8).estimator,
        tuned.with_threshold(coverage=0.5).estimator,
    ):
        assert kept.class_names == NAMES
        assert kept.evaluate(more, texts).report == kept.evaluate(more, labels).report
        certified = kept.certify(more, texts, target_accuracy=0.8)
        assert certified == kept.certify(more, labels, target_accuracy=0.8)
        # Two of four classes only: sorted order would be another.
        few = labels >= 2
        found = kept.with_threshold(more[few], texts[few], target_accuracy=0.8)
        assert found == kept.with_threshold(more[few], labels[few], target_accuracy=0.8)
    with pytest.raises(abstain.InputError, match="row 0: the label 'fox' is none of the classes 'dog'"):
        estimator.evaluate(more, np.where(np.arange(800) == 0, "fox", texts))
    with pytest.raises(abstain.InputError, match="tuned with other names"):
        estimator.evaluate(more, texts, class_names=sorted(NAMES))


def test_predictions_are_numbers_unless_names_are_requested() -> None:
    estimator = abstain.tune(LOGITS, TEXTS, class_names=NAMES, **OPTIONS).estimator
    numbers, names = estimator.predict(LOGITS), estimator.predict(LOGITS, names=True)
    assert numbers.dtype == np.int64 and (numbers == -1).any()
    assert names.tolist() == [[*NAMES, "abstain"][number] for number in numbers]
    assert estimator.predict(LOGITS, names=True, abstention="?")[numbers == -1].tolist()[0] == "?"
    answers = estimator.answers(LOGITS, names=True)
    assert answers.prediction.tolist() == [NAMES[place] for place in LOGITS.argmax(axis=1)]
    assert estimator.answers(LOGITS).prediction.dtype == np.int64
    with pytest.raises(abstain.InputError, match="abstention is cat, which is a class"):
        estimator.predict(LOGITS, names=True, abstention="cat")
    bare = abstain.Estimator("MSP").with_threshold(value=0.9)
    with pytest.raises(abstain.InputError, match="does not know the names of the classes"):
        bare.predict(LOGITS, names=True)
    order = np.argsort(NAMES)
    certified = bare.certify(LOGITS[:, order], TEXTS, target_accuracy=0.8)
    assert certified.class_names == sorted(NAMES)


def test_pages_show_the_names_of_the_estimator(tmp_path: Path) -> None:
    result = abstain.tune(LOGITS, TEXTS, class_names=NAMES, **OPTIONS)
    result.page(tmp_path / "tuning.html")
    result.estimator.evaluate(LOGITS, TEXTS).page(tmp_path / "evaluation.html")
    for page in ("tuning.html", "evaluation.html"):
        text = (tmp_path / page).read_text()
        assert all(json.dumps(name) in text or f">{name}<" in text for name in NAMES)


def test_booleans_are_labels_of_two_classes() -> None:
    logits, labels = simulated(300, 2)
    expected = abstain.tune(logits, labels, methods="MSP").report
    assert abstain.tune(logits, labels == 1, methods="MSP").report == expected
    named = abstain.tune(logits, labels == 0, methods="MSP", class_names=["True", "False"])
    assert unnamed(named.report) == unnamed(expected)
    with pytest.raises(abstain.InputError, match="the labels are truth values, but there are 4 classes"):
        abstain.tune(LOGITS, LABELS > 1)


@pytest.mark.parametrize(
    "labels, names, message",
    [
        (TEXTS, NAMES[:3], "3 names for 4 classes"),
        (TEXTS, ["dog", "cat", "dog", "ant"], "'dog' is there twice"),
        (LABELS, "abcd", "class_names must be a list"),
        (LABELS, [3, 5, 7, 9], "class_names must be strings"),
        (np.where(np.arange(600) == 7, None, TEXTS), NAMES, "row 7: None is not a string"),
        (np.full((600, 4), 0.25), None, "row 0: one-hot labels have one 1"),
        (2 * np.eye(4)[LABELS], None, "row 0: one-hot labels have one 1"),
        (np.eye(5)[LABELS], None, "one-hot labels have a column for each class"),
        (LABELS[:, None], None, "for a single column use .ravel()"),
    ],
)
def test_labels_that_are_none_are_refused(labels: Any, names: Any, message: str) -> None:
    with pytest.raises(abstain.InputError, match=message):
        abstain.tune(LOGITS, labels, class_names=names)
