"""Tables of pandas, polars, Arrow and datasets: read by the rules of the program, or refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import abstain

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAMES = ["shirt", "trousers", "pullover", "dress", "coat", "sandal", "top", "sneaker", "bag", "boot"]


@pytest.fixture(scope="module")
def rows() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Real logits and labels."""
    folder = Path(__file__).parents[3] / "crates/cli/demo/fashion-ce"
    return np.load(folder / "logits.npy")[:800].astype(float), np.load(folder / "labels.npy")[:800]


def numbered(logits: npt.NDArray[Any], labels: npt.NDArray[Any]) -> dict[str, Any]:
    """Columns in another order than that of the classes, beside others."""
    order = [3, 0, 9, 1, 2, 8, 4, 7, 5, 6]
    columns: dict[str, Any] = {"loss": np.linspace(0, 1, len(labels))}
    columns |= {f"logit_{k}": logits[:, k] for k in order}
    return columns | {"pred": logits.argmax(1), "true_label": labels}


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_numbered_columns_are_classes_by_their_numbers(make: Any, rows: Any) -> None:
    logits, labels = rows
    found = abstain.read_table(make(numbered(logits, labels)))
    np.testing.assert_array_equal(found.logits, logits)
    assert found.labels is not None
    np.testing.assert_array_equal(found.labels, labels)


def test_arrow_tables_and_lists_are_read(rows: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    logits, labels = rows
    table = arrow.table(numbered(logits, labels))
    np.testing.assert_array_equal(abstain.read_table(table).logits, logits)
    lists = arrow.table({"logits": logits.tolist(), "label": labels})
    found = abstain.read_table(lists)
    np.testing.assert_array_equal(found.logits, logits)
    assert found.labels is not None
    missing = arrow.table({"logit_0": [1.0, None], "logit_1": [0.0, 1.0]})
    with pytest.raises(abstain.InputError, match="row 1, column logit_0: the value is missing"):
        abstain.read_table(missing)


def test_relations_of_duckdb_are_read(rows: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    logits, labels = rows
    frame = pandas.DataFrame(numbered(logits, labels))
    found = abstain.read_table(duckdb.from_df(frame).filter("loss < 0.5"))
    np.testing.assert_array_equal(found.logits, logits[:400])
    np.testing.assert_array_equal(found.labels, labels[:400])


def test_pandas_without_arrow_is_read_alike(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    logits, labels = rows
    table = pandas.DataFrame(numbered(logits, labels)).assign(site="a", other=[object()] * len(labels))
    lists = pandas.DataFrame({"logits": list(logits.astype(np.float32)), "label": labels})

    def missing(*_: Any) -> Any:
        raise ImportError("pyarrow is not installed")

    # A column of objects has no type in Arrow: it is left out, and the others are read.
    found = [abstain.read_table(table), abstain.read_table(lists)]
    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", missing)
    for rows_with, rows_without in zip(found, map(abstain.read_table, [table, lists]), strict=True):
        np.testing.assert_array_equal(rows_with.logits, rows_without.logits)
        assert rows_with.logits.dtype == rows_without.logits.dtype
        np.testing.assert_array_equal(rows_with.labels, labels)
        np.testing.assert_array_equal(rows_without.labels, labels)


def test_labels_of_a_table_are_resolved_once(rows: Any) -> None:
    """Names that are numbers: class 0 is called 9, and so on."""
    logits, labels = rows
    names = [str(9 - k) for k in range(10)]
    table = pandas.DataFrame(logits, columns=[f"logit_{name}" for name in names])
    texts = np.array(names)[labels]
    found = abstain.read_table(table.assign(label=texts), class_names=names)
    np.testing.assert_array_equal(found.labels, labels)
    evaluation = abstain.Estimator("MSP").evaluate(table.assign(label=texts), class_names=names)
    assert evaluation.report["accuracy"] == pytest.approx((logits.argmax(1) == labels).mean())


def test_what_speaks_arrow_wrongly_is_refused() -> None:
    class Broken:
        columns, dtypes = ["a"], ["int"]

        def __len__(self) -> int:
            return 1

        def __getitem__(self, name: str) -> Any:
            return np.array([1.0])

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return object()

    with pytest.raises(abstain.InputError, match="only 'a' could be a class"):
        abstain.read_table(Broken())


def test_a_table_without_rows_is_scored(rows: Any) -> None:
    logits, labels = rows
    table = polars.DataFrame(numbered(logits, labels))[:0]
    assert abstain.Estimator("MSP").answers(table).confidence.shape == (0,)


def test_datasets_are_read(rows: Any) -> None:
    datasets = pytest.importorskip("datasets")
    logits, labels = rows
    dataset = datasets.Dataset.from_dict({"logits": logits.tolist(), "label": labels.tolist()})
    np.testing.assert_allclose(abstain.read_table(dataset).logits, logits)


def test_a_table_is_tuned_certified_and_answered_by_names(rows: Any) -> None:
    logits, labels = rows
    names = np.array(NAMES)[labels]
    table = pandas.DataFrame(logits, columns=NAMES).assign(label=names, entropy=0.5)
    result = abstain.tune(table[:300], methods="MaxLogit-pNorm")
    assert result.estimator.class_names == NAMES
    shuffled = table[300:].sample(frac=1, axis=1, random_state=0)
    certified = result.estimator.certify(shuffled, target_accuracy=0.8, delta=0.2)
    assert certified.threshold is not None and certified.threshold.basis == "certified"
    same = result.estimator.certify(logits[300:], names[300:], target_accuracy=0.8, delta=0.2)
    assert certified.threshold == same.threshold
    np.testing.assert_array_equal(
        certified.answers(shuffled, names=True).prediction,
        np.array(NAMES)[logits[300:].argmax(1)],
    )
    evaluation = certified.evaluate(table[300:])
    assert evaluation.report["accuracy"] == pytest.approx((logits.argmax(1) == labels)[300:].mean())


def test_what_is_not_certain_is_refused(rows: Any) -> None:
    logits, labels = rows
    words = pandas.DataFrame(logits, columns=NAMES).assign(spread=logits[:, 0], label=labels)
    with pytest.raises(abstain.InputError, match="11 columns may be classes"):
        abstain.tune(words)
    np.testing.assert_array_equal(abstain.read_table(words, logits=NAMES).logits, logits)
    np.testing.assert_array_equal(abstain.read_table(words, class_names=NAMES).logits, logits)
    probabilities = pandas.DataFrame({"prob_0": [0.5, 0.5], "prob_1": [0.5, 0.5], "y": [0, 1]})
    with pytest.raises(abstain.InputError, match="probabilities"):
        abstain.read_table(probabilities)
    assert abstain.read_table(probabilities, input="probabilities").logits.shape == (2, 2)
    gap = pandas.DataFrame({"logit_0": [1.0], "logit_2": [0.0]})
    with pytest.raises(abstain.InputError, match="number 1 is missing"):
        abstain.read_table(gap)
    with pytest.raises(abstain.InputError, match="labels are needed"):
        abstain.tune(logits)
    binary = pandas.DataFrame({"prob": [0.5, 0.9], "pred": [0, 1], "label": [0, 1]})
    with pytest.raises(abstain.InputError):
        abstain.read_table(binary)
    found = abstain.read_table(binary, input="binary-probability")
    np.testing.assert_array_equal(found.logits, [0.5, 0.9])


def test_what_looks_wrong_is_warned_of(rows: Any) -> None:
    logits, labels = rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = abstain.tune(logits, labels, methods="MSP")
    assert result.report["warnings"] == []
    shuffled = np.random.default_rng(0).permutation(labels)
    with pytest.warns(abstain.DataWarning, match="no more than by chance"):
        abstain.tune(logits, shuffled, methods="MSP")
    odds = np.exp(logits - logits.max(1, keepdims=True))
    with pytest.warns(abstain.DataWarning, match="look like probabilities"):
        abstain.Estimator("MSP").evaluate(odds / odds.sum(1, keepdims=True), labels)
    tuned = abstain.tune(logits[:400], labels[:400], methods="MaxLogit-pNorm").estimator
    with pytest.warns(abstain.DataWarning, match="tuning rows that were looked for"):
        tuned.certify(logits[380:], labels[380:], target_accuracy=0.7, delta=0.2)
    with pytest.raises(abstain.InputError, match="or on many of them"):
        tuned.certify(logits[300:], labels[300:], target_accuracy=0.7, delta=0.2)
    # In any order they are the same rows.
    with pytest.raises(abstain.InputError, match="tuned on these rows"):
        tuned.certify(logits[399::-1], labels[399::-1], target_accuracy=0.7)
