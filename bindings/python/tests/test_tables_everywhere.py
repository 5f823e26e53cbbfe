"""What `tune` reads of a table, every other function reads alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import numpy.typing as npt
import pytest

import abstain

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAMES = ["shirt", "trousers", "pullover", "dress", "coat", "sandal", "top", "sneaker", "bag", "boot"]
ORDER = [3, 0, 9, 1, 2, 8, 4, 7, 5, 6]
FOLDER = Path(__file__).parents[3] / "crates/cli/demo/fashion-ce"
LOGITS: npt.NDArray[Any] = np.load(FOLDER / "logits.npy")[:800].astype(float)
LABELS: npt.NDArray[Any] = np.load(FOLDER / "labels.npy")[:800]
TEXTS = np.array(NAMES)[LABELS]
ACCURACY = float((LOGITS.argmax(1) == LABELS).mean())
MSP = abstain.Estimator("MSP")


def words() -> dict[str, Any]:
    """Columns called as the classes are, in another order, and names as labels."""
    columns: dict[str, Any] = {NAMES[k]: LOGITS[:, k] for k in ORDER}
    return {"id": np.arange(len(LABELS)), **columns, "label": TEXTS}


def prefixed() -> dict[str, Any]:
    return {"label": TEXTS, **{f"logit_{NAMES[k]}": LOGITS[:, k] for k in ORDER}}


def numbered() -> dict[str, Any]:
    columns: dict[str, Any] = {f"logit_{k}": LOGITS[:, k] for k in ORDER}
    return {**columns, "pred": LOGITS.argmax(1), "label": LABELS}


def lists() -> dict[str, Any]:
    return {"logits": list(LOGITS), "label": LABELS}


@pytest.mark.parametrize("columns", [words, prefixed, numbered, lists])
@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_a_table_is_read_alike_by(make: Any, columns: Callable[[], dict[str, Any]]) -> None:
    table = make(columns())
    alone, label = make({k: v for k, v in columns().items() if k != "label"}), columns()["label"]
    target = {"target_accuracy": 0.9}
    expected = MSP.with_threshold(LOGITS, LABELS, **target).threshold
    certified = MSP.certify(LOGITS, LABELS, **target).threshold
    assert abstain.tune(table, methods="MSP").report["accuracy"] == ACCURACY
    for rows in ((table,), (table, "label"), (alone, label)):
        assert MSP.evaluate(*rows).accuracy == ACCURACY
        assert MSP.with_threshold(*rows, **target).threshold == expected
        assert MSP.certify(*rows, **target).threshold == certified
        assert abstain.losses(*rows).mean() == pytest.approx(1 - ACCURACY)
        assert abstain.nll(*rows) == pytest.approx(abstain.nll(LOGITS, LABELS))
        costs = MSP.with_threshold(*rows, cost_error=5, cost_abstain=1).threshold
        assert costs == MSP.with_threshold(LOGITS, LABELS, cost_error=5, cost_abstain=1).threshold
    assert MSP.with_threshold(table, coverage=0.5).threshold == (
        MSP.with_threshold(LOGITS, coverage=0.5).threshold
    )
    np.testing.assert_array_equal(abstain.score("MSP", table), abstain.score("MSP", LOGITS))


def test_the_column_of_labels_may_be_named() -> None:
    table = pandas.DataFrame(words()).rename(columns={"label": "checked"})
    # As numbers they would be one more class.
    numbers = table.assign(checked=LABELS.astype(float))
    with pytest.raises(abstain.InputError, match="labels"):
        MSP.evaluate(table)
    for named in (table, numbers):
        found = MSP.evaluate(named, "checked", class_names=NAMES)
        assert found.accuracy == ACCURACY
        assert abstain.tune(named, "checked", class_names=NAMES, methods="MSP").estimator
    with pytest.raises(abstain.InputError, match="only a table has columns"):
        MSP.evaluate(LOGITS, "label")


def test_a_batch_that_lacks_a_class_is_read() -> None:
    tuned = abstain.tune(pandas.DataFrame(words()), methods="MaxLogit-pNorm").estimator
    few = LABELS != 5
    for columns in (words, prefixed, numbered, lists):
        batch = pandas.DataFrame(columns())[few][:200]
        expected = (LOGITS.argmax(1) == LABELS)[few][:200].mean()
        assert tuned.evaluate(batch).accuracy == expected
        tuned.with_threshold(batch, target_accuracy=0.8)


def test_tables_of_tests_and_of_a_deployment_follow_the_names() -> None:
    table = pandas.DataFrame(words())
    turned = table[list(reversed(table.columns))]
    options: Any = {"methods": "all", "folds": 2, "space": "paper"}
    found = abstain.tune(table[:400], test=turned[400:], unlabelled=turned[400:], **options)
    place = [NAMES[k] for k in ORDER]
    logits, labels = table[place].to_numpy(), np.array([place.index(name) for name in TEXTS])
    expected = abstain.tune(
        logits[:400], labels[:400], test=(logits[400:], labels[400:]), unlabelled=logits[400:],
        class_names=place, **options,
    )
    assert found.estimator == expected.estimator
    free = abstain.label_free(turned)
    np.testing.assert_allclose(free.confidence(LOGITS), abstain.label_free(LOGITS).confidence(LOGITS))


def test_numbers_of_a_dataset_are_the_names_that_it_states() -> None:
    datasets = pytest.importorskip("datasets")
    names = sorted(NAMES)
    features = {"label": datasets.ClassLabel(names=names)}
    columns = {NAMES[k]: LOGITS[:, k] for k in ORDER}
    features |= {name: datasets.Value("float64") for name in columns}
    numbers = [names.index(name) for name in TEXTS]
    dataset = datasets.Dataset.from_dict(
        {"label": numbers, **columns}, features=datasets.Features(features)
    )
    assert abstain.read_table(dataset).class_names == [NAMES[k] for k in ORDER]
    assert MSP.evaluate(dataset).accuracy == ACCURACY
    assert abstain.tune(dataset, methods="MSP").report["accuracy"] == ACCURACY
    # Rows that were chosen, and that lack most classes.
    few = dataset.select(range(7))
    assert MSP.evaluate(few).accuracy == (LOGITS.argmax(1) == LABELS)[:7].mean()
    # Columns without names are in the order of the numbers.
    lists = datasets.Dataset.from_dict(
        {"label": numbers, "logits": LOGITS[:, [NAMES.index(name) for name in names]].tolist()},
        features=datasets.Features(
            {
                "label": datasets.ClassLabel(names=names),
                "logits": datasets.Sequence(datasets.Value("float64")),
            }
        ),
    )
    found = abstain.read_table(lists)
    assert found.class_names == names and found.labels is not None
    assert (found.logits.argmax(1) == found.labels).mean() == ACCURACY


def test_columns_of_arrays_and_lists_are_logits() -> None:
    arrays = polars.DataFrame({"logits": LOGITS, "label": LABELS})
    assert isinstance(arrays.schema["logits"], polars.Array)
    assert MSP.evaluate(arrays).accuracy == ACCURACY
    as_lists = arrays.with_columns(polars.col("logits").arr.to_list())
    series = pandas.DataFrame(lists())
    for column in (arrays["logits"], as_lists["logits"], series["logits"]):
        assert MSP.evaluate(column, LABELS).accuracy == ACCURACY
    ragged = pandas.Series([[1.0, 2.0], [1.0]])
    with pytest.raises(abstain.InputError, match="different lengths"):
        MSP.confidence(ragged)


def test_scores_of_a_pipeline_are_probabilities_by_label() -> None:
    odds = np.exp(LOGITS - LOGITS.max(1, keepdims=True))
    probabilities = odds / odds.sum(1, keepdims=True)

    def pipeline(names: list[str]) -> list[list[dict[str, Any]]]:
        """As transformers returns them with top_k=None: the likeliest class first."""
        return [
            [{"label": names[k], "score": row[k]} for k in np.argsort(-row)]
            for row in probabilities
        ]

    options: Any = {"input": "probabilities", "methods": "MSP"}
    found = abstain.tune(pipeline(NAMES), TEXTS, **options)
    assert found.report["accuracy"] == ACCURACY
    assert found.estimator.class_names == sorted(NAMES)
    given = abstain.tune(pipeline(NAMES), TEXTS, class_names=NAMES, **options).estimator
    assert given.evaluate(pipeline(NAMES), LABELS).accuracy == ACCURACY
    unnamed = [f"LABEL_{k}" for k in range(10)]
    assert abstain.tune(pipeline(unnamed), LABELS, **options).report["accuracy"] == ACCURACY
    answers = given.answers(pipeline(NAMES)[:3], names=True).prediction
    assert answers.tolist() == [NAMES[k] for k in LOGITS[:3].argmax(1)]
    with pytest.raises(abstain.InputError, match="top_k=None"):
        given.answers([{"label": "shirt", "score": 0.9}])
    rows = pipeline(NAMES)[:2]
    rows[1] = rows[1][:3]
    with pytest.raises(abstain.InputError, match="row 1"):
        given.answers(rows)


def test_metrics_and_thresholds_read_tables_of_confidences() -> None:
    confidence = abstain.score("MSP", LOGITS)
    right = LOGITS.argmax(1) == LABELS
    columns = {"id": np.arange(len(right)), "confidence": confidence}
    answers = {"pred": LOGITS.argmax(1), "label": LABELS}
    naurc = abstain.naurc(confidence, ~right)
    for more in ({"correct": right}, {"loss": ~right}, answers):
        table = pandas.DataFrame({**columns, **more})
        assert abstain.naurc(table) == naurc
        assert abstain.metric("NAURC", table) == naurc
        assert abstain.sac(table, None, 0.9) == abstain.sac(confidence, ~right, 0.9)
        assert abstain.interval("AURC", table) == abstain.interval("AURC", confidence, ~right)
        expected = abstain.certify(confidence, right, target_accuracy=0.9)
        assert abstain.certify(table, target_accuracy=0.9) == expected
        assert abstain.threshold(table, coverage=0.5) == abstain.threshold(confidence, coverage=0.5)
    named = pandas.DataFrame({**columns, "cost": ~right * 1.0, "fine": right})
    assert abstain.naurc(named, "cost") == naurc
    assert abstain.certify(named, "fine", target_accuracy=0.9) == expected
    with pytest.raises(abstain.InputError, match="says which predictions are right"):
        abstain.aurc(pandas.DataFrame(columns))
    with pytest.raises(abstain.InputError, match="only a table"):
        abstain.aurc(confidence)


def test_names_of_a_table_are_those_of_the_breakdown() -> None:
    table = pandas.DataFrame(words())
    found = MSP.evaluate(table).report["breakdown"]["by_class"]
    assert {part["name"] for part in found} <= set(NAMES)
    certified = MSP.certify(table, target_accuracy=0.8)
    assert certified.class_names == [NAMES[k] for k in ORDER]
    assert certified.threshold is not None and certified.threshold.breakdown is not None
    assert {part["name"] for part in certified.threshold.breakdown["by_class"]} <= set(NAMES)


def test_what_looks_wrong_is_said_where_no_threshold_exists() -> None:
    """As where labels count the classes in another order."""
    shuffled = np.random.default_rng(0).permutation(LABELS)
    for threshold in (MSP.certify, MSP.with_threshold):
        with pytest.warns(abstain.DataWarning, match="no more than by chance"):
            with pytest.raises(abstain.InfeasibleError):
                threshold(LOGITS, shuffled, target_accuracy=0.95, delta=0.05)
