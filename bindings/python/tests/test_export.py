"""Exported graphs run in ONNX Runtime, and decide as the package does."""

from __future__ import annotations

import collections
import hashlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import DEMO, PROJECT, read, simulated
from estimators import ESTIMATORS, artifact

import abstain

onnx = pytest.importorskip("onnx")
# Earlier ones do not know the latest opsets, and their logarithm of a double ends at 1e-308.
ort = pytest.importorskip("onnxruntime", minversion="1.22")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

if sys.version_info < (3, 11):
    pytest.skip("the corpus is TOML, which Python reads from 3.11 on", allow_module_level=True)
import tomllib

CORPUS = tomllib.loads((PROJECT / "testdata" / "golden.toml").read_text(encoding="utf-8"))

#: How far a confidence may be from the package's, relative to its size where that is above 1. The
#: output is of 32 bits, whatever the graph computes in.
TOLERANCE = {"float32": 1e-5, "float64": 1.2e-7}

#: One for each formula, with usual parameters.
USUAL = [
    {"method": "MSP"},
    {"method": "MSP-TS", "T": 1.5},
    {"method": "MSP-pNorm", "p": 4.0, "tau": 0.1},
    {"method": "SoftmaxMargin"},
    {"method": "MaxLogit"},
    {"method": "MaxLogit-pNorm", "p": 1.0},
    {"method": "MaxLogit-pNorm", "p": 5.0},
    {"method": "MaxLogit-pNorm", "p": 10.0},
    {"method": "MaxLogit-pNorm", "p": "inf"},
    {"method": "MaxLogit-pNorm-NC", "p": 3.0},
    {"method": "LogitsMargin"},
    {"method": "LogitsMargin-pNorm", "p": 4.0},
    {"method": "NegativeEntropy"},
    {"method": "NegativeGini-pNorm", "p": 3.0, "tau": 0.2},
    {"method": "Energy"},
    {"method": "LDAM"},
    {"method": "Leon"},
    {"method": "BK", "a": 0.7, "b": 0.3},
    {"method": "ETS", "T": 1.5, "w": 0.6},
    {"method": "HTS", "b": 0.2, "w": 0.5},
    {"method": "CMD", "T": 1.0},
    {"method": "LogitGap", "N": 3.0},
    {"method": "GEN", "gamma": 0.1, "M": 100.0},
]


def at(threshold: float) -> dict[str, Any]:
    """The rule of one threshold."""
    text = threshold if np.isfinite(threshold) else "inf" if threshold > 0 else "-inf"
    return {"threshold": {"basis": "given", "at": text}}


def session(path: Path) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(model: Any, rows: np.ndarray) -> dict[str, np.ndarray]:
    """All outputs by their names."""
    names = [output.name for output in model.get_outputs()]
    return dict(zip(names, model.run(None, {model.get_inputs()[0].name: rows})))


def differences(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """How far confidences are from others, relative to their size where that is above 1."""
    # What is beyond 32 bits is infinite there.
    largest = np.finfo(np.float32).max
    expected = np.where(np.abs(expected) > largest, np.copysign(np.inf, expected), expected)
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    apart[found == expected] = 0
    return np.nan_to_num(apart, nan=np.inf)


def tolerance(estimator: dict[str, Any], precision: str) -> float:
    """The tolerance of an estimator.

    A deviation z − Γ + γ near 0 has few digits in single precision, which powers below 1 magnify;
    and a deviation of nearly the same size as the largest one decides alone if p is very large.
    """
    p = float(estimator.get("p", 1))
    if precision == "float32" and (0 < p < 1 and "gamma" in estimator or p > 50):
        return 5e-4
    return TOLERANCE[precision]


def encoding_of(case: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    if case["kind"] == "probabilities":
        smallest = rows[rows > 0].min()
        default = smallest if smallest < rows.max(axis=1).min() else 1e-12
        floor = float(case.get("floor", default))
        return {"kind": "probabilities", "floor": floor, "tolerance": None}
    return {"kind": "masked" if "masked" in case else "logits"}


class Differences:
    """The largest difference of each method, and decisions that differ at the threshold."""

    def __init__(self) -> None:
        self.largest: dict[str, float] = collections.defaultdict(float)
        self.decisions = self.near = self.other = 0

    def compare(
        self,
        given: dict[str, Any],
        found: dict[str, np.ndarray],
        rows: np.ndarray,
        allowed: float,
    ) -> None:
        name = json.dumps(given["estimator"])[:200]
        estimator = abstain.Estimator.from_dict(given)
        expected = estimator.answers(rows)
        np.testing.assert_array_equal(found["prediction"], expected.prediction, name)
        assert found["confidence"].dtype == np.float32 and found["prediction"].dtype == np.int64
        apart = differences(found["confidence"], expected.confidence)
        worst = int(apart.argmax())
        assert apart[worst] <= allowed, (
            name,
            rows[worst].tolist()[:20],
            found["confidence"][worst],
            expected.confidence[worst],
        )
        method = given["estimator"]["method"]
        self.largest[method] = max(self.largest[method], float(apart[worst]))
        if "probability_right" in found:
            values = estimator.confidence(rows, values=True)
            np.testing.assert_allclose(found["probability_right"], values, rtol=0, atol=allowed)
        if expected.accept is None:
            assert "accept" not in found
            return
        threshold = float(given["rule"]["threshold"]["at"])
        with np.errstate(invalid="ignore"):
            near = np.abs(expected.confidence - threshold) <= allowed * max(1, abs(threshold))
        near |= expected.confidence == threshold
        other = found["accept"] != expected.accept
        assert not (other & ~near).any(), name
        self.decisions += len(rows)
        self.near += int(near.sum())
        self.other += int(other.sum())

    def print(self, title: str) -> None:
        print(f"\n{title}: largest difference {max(self.largest.values(), default=0):.1e}")
        for method, largest in sorted(self.largest.items(), key=lambda item: -item[1]):
            print(f"  {method:32} {largest:.1e}")
        print(
            f"  {self.decisions} decisions, {self.near} at the threshold to the tolerance,"
            f" {self.other} of which differ"
        )


# Every estimator, on rows that are hard for formulas.


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_estimator_agrees_on_the_rows_of_the_corpus(precision: str, tmp_path: Path) -> None:
    found = Differences()
    path = tmp_path / "graph.onnx"
    sets: dict[str, list[tuple[np.ndarray, dict[str, Any]]]] = collections.defaultdict(list)
    for case in CORPUS["case"]:
        rows = np.array(case["rows"]).astype(np.float32)
        if precision == "float32" and case["name"] == "tiny-magnitudes":
            continue  # Smaller than the numbers of single precision with all their digits.
        encoding = encoding_of(case, rows.astype(float))
        sets[json.dumps(encoding)].append((rows, encoding))
    for cases in sets.values():
        # Probabilities differ from logits before the formulas of estimators.
        every = USUAL if "floor" in cases[0][1] else ESTIMATORS
        for estimator in every:
            # Without a number of classes one graph serves for all cases.
            given = artifact(estimator, input=cases[0][1])
            abstain.Estimator.from_dict(given).to_onnx(path, precision=precision)
            model = session(path)
            for rows, _ in cases:
                found.compare(given, run(model, rows), rows, tolerance(estimator, precision))
    found.print(f"corpus in {precision}")


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("folder", sorted(DEMO.glob("*/labels.npy")), ids=lambda p: p.parent.name)
def test_usual_estimators_agree_and_decide_alike_on_real_rows(
    folder: Path, precision: str, tmp_path: Path
) -> None:
    rows = read(folder.parent)[0].astype(np.float32)
    found = Differences()
    path = tmp_path / "graph.onnx"
    for estimator in USUAL:
        given = artifact(estimator, classes=rows.shape[1])
        confidence = abstain.Estimator.from_dict(given).confidence(rows)
        finite = np.sort(confidence[np.isfinite(confidence)])
        # The confidence of a row, as certified thresholds are.
        given["rule"] = at(float(finite[len(finite) // 3]) if len(finite) else np.inf)
        abstain.Estimator.from_dict(given).to_onnx(path, precision=precision)
        allowed = tolerance(estimator, precision)
        found.compare(given, run(session(path), rows), rows, allowed)
    found.print(f"{folder.parent.name} in {precision}")
    assert found.near >= len(USUAL)
    if precision == "float64":
        assert found.other == 0


def test_confidences_near_zero_keep_their_digits(
    fashion: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    rows = fashion[0].astype(np.float32)
    for a, b in [(1.0, 0.5), (1.0, -1.0), (0.3, 2.0)]:
        # Minus a weighted sum of the two probabilities that a sure row leaves to others.
        estimator = abstain.Estimator("BK", a=a, b=b)
        estimator.to_onnx(tmp_path / "graph.onnx")
        found = run(session(tmp_path / "graph.onnx"), rows)["confidence"]
        expected = estimator.confidence(rows)
        seen = np.abs(expected) > 1e-30
        assert seen.mean() > 0.9
        np.testing.assert_allclose(found[seen], expected[seen], rtol=1e-5, atol=0)


def test_a_known_number_of_classes_changes_nothing(tmp_path: Path) -> None:
    rows = simulated(200, 7)[0].astype(np.float32)
    for estimator in USUAL:
        outputs = []
        for classes in (None, 7):
            path = tmp_path / f"{classes}.onnx"
            given = artifact(estimator, classes=classes)
            written = abstain.Estimator.from_dict(given).to_onnx(path)
            assert written["classes"] == classes
            outputs.append(run(session(path), rows))
        a, b = (each["confidence"].astype(float) for each in outputs)
        assert differences(a, b).max() <= 1e-6, estimator


def stacks() -> list[dict[str, Any]]:
    def term(estimator: dict[str, Any], *numbers: float) -> dict[str, Any]:
        return dict(zip(["estimator", "mean", "deviation", "weight"], [estimator, *numbers]))

    terms = [
        term({"method": "MSP"}, 2.0, 3.0, 0.7),
        term({"method": "MaxLogit-pNorm", "p": 4.0}, 0.7, 0.1, 1.3),
        term({"method": "LDAM"}, 5.0, 40.0, -0.2),
        term({"method": "BK", "a": 1.0, "b": 0.5}, 1.0, 0.2, 0.1),
        term({"method": "ETS", "T": 2.0, "w": 0.4}, 0.8, 0.2, 0.4),
        term({"method": "GEN", "gamma": 0.1, "M": 3.0}, -2.0, 0.5, 0.2),
        term({"method": "Leon"}, 0.3, 0.4, 0.5),
        term({"method": "NegativeEntropy"}, -0.4, 0.3, 0.5),
        term({"method": "SoftmaxMargin"}, 0.5, 0.3, 0.5),
    ]
    offsets = [0.1, -0.2, 0.3, 0.0, 0.5]
    return [
        {"method": "Stack", "soft_clip": 2.0, "intercept": 0.3, "terms": terms},
        {"method": "Stack", "intercept": -0.3, "terms": terms},
        {"method": "LabelFree", "soft_clip": 0.5, "intercept": 0.0, "terms": terms[:2]},
        {
            "method": "Stack",
            "soft_clip": 2.0,
            "intercept": 0.3,
            "terms": terms,
            "class_offsets": offsets,
        },
    ]


@pytest.mark.parametrize("classes", [5, 8])
def test_stacks_agree(classes: int, tmp_path: Path) -> None:
    rows = simulated(500, classes)[0].astype(np.float32)
    rows[0] = 0  # Infinite confidences are clipped.
    path = tmp_path / "graph.onnx"
    for stack in stacks():
        # Beyond the end of the class offsets there is none.
        given = artifact(stack, rule=at(0.5))
        abstain.Estimator.from_dict(given).to_onnx(path)
        model = session(path)
        Differences().compare(given, run(model, rows), rows, 2e-5)
        assert ("probability_right" in run(model, rows)) == (stack["method"] == "Stack")


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_tuned_estimators_agree(
    fashion: tuple[np.ndarray, np.ndarray], precision: str, tmp_path: Path
) -> None:
    rows, labels = fashion
    path = tmp_path / "graph.onnx"
    found = Differences()
    for method in ("Stack", "MaxLogit-pNorm", "MSP-TS"):
        tuned = abstain.tune(rows, labels, methods=[method], target_accuracy=0.95)
        estimator = tuned.estimator
        estimator.to_onnx(path, precision=precision)
        found.compare(estimator.to_dict(), run(session(path), rows), rows, TOLERANCE[precision])
    found.print(f"tuned in {precision}")


# Encodings.


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_encoding_agrees(precision: str, tmp_path: Path) -> None:
    z = simulated(300, 5)[0]
    exponentials = np.exp(z - z.max(axis=1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    probabilities[0] = [0, 1, 0, 0, 0]
    masked = z.copy()
    masked[np.random.default_rng(0).random(z.shape) < 0.4] = -np.inf
    masked[0] = [-np.inf, 2.0, -np.inf, -np.inf, -np.inf]
    masked[1] = [-np.inf, 2.0, -np.inf, 2.0, -np.inf]
    masked[np.isinf(masked).all(axis=1)] = 0
    floor = {"floor": 1e-8, "tolerance": None}
    one = np.concatenate([[0.5, 0.0, 1.0], probabilities[:, 1]])[:, None]
    sets = [
        ({"kind": "logits"}, z),
        ({"kind": "masked"}, masked),
        ({"kind": "probabilities", **floor}, probabilities),
        ({"kind": "binary-probability", **floor}, one),
        ({"kind": "binary-logit"}, np.concatenate([[[0.0], [-30.0], [60.0]], z[:, :1]])),
    ]
    path = tmp_path / "graph.onnx"
    found = Differences()
    for (encoding, rows), estimator in itertools.product(sets, USUAL):
        rows = rows.astype(np.float32)
        given = artifact(estimator, input=encoding, rule=at(1.0))
        abstain.Estimator.from_dict(given).to_onnx(path, precision=precision)
        given_rows = rows[:, 0] if encoding["kind"].startswith("binary") else rows
        outputs = run(session(path), rows)
        estimator_of = abstain.Estimator.from_dict(given)
        expected = estimator_of.answers(given_rows)
        np.testing.assert_array_equal(outputs["prediction"], expected.prediction)
        found.compare(given, outputs, given_rows, tolerance(estimator, precision))
    found.print(f"encodings in {precision}")


def test_rows_that_the_package_refuses_are_never_accepted(tmp_path: Path) -> None:
    path = tmp_path / "graph.onnx"
    nan, inf = np.nan, np.inf
    floor = {"floor": 1e-6, "tolerance": 0.01}
    sets: list[tuple[dict[str, Any], list[list[float]]]] = [
        ({"kind": "logits"}, [[nan, 1, 2], [0, inf, 1], [-inf, 0, 1], [nan] * 3, [1e38, 0, 0]]),
        ({"kind": "masked"}, [[-inf] * 3, [nan, 0, -inf], [inf, 0, 1]]),
        ({"kind": "probabilities", **floor}, [[0.5, 0.1, 0.1], [1.2, -0.2, 0], [nan, 0.5, 0.5]]),
        ({"kind": "binary-probability", **floor}, [[1.5], [-0.1], [nan]]),
        ({"kind": "binary-logit"}, [[nan], [inf], [-inf]]),
    ]
    for encoding, wrong in sets:
        fine = [[1.0]] if len(wrong[0]) == 1 else [[0.7, 0.2, 0.1]]
        for estimator in USUAL:
            given = artifact(estimator, input=encoding, rule=at(-inf))
            abstain.Estimator.from_dict(given).to_onnx(path)
            outputs = run(session(path), np.array(wrong + fine, dtype=np.float32))
            name = json.dumps([encoding, estimator])
            assert np.isnan(outputs["confidence"][:-1]).all(), name
            assert not outputs["accept"][:-1].any() and outputs["accept"][-1], name
            assert ((outputs["prediction"] >= 0) & (outputs["prediction"] < 3)).all(), name


# Models.


def dense(classes: int = 6, *, opset: int = 17, half: bool = False, end: str = "") -> Any:
    """A network of two layers."""
    rng = np.random.default_rng(1)
    kind = np.float16 if half else np.float32
    element = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    weights = [rng.normal(size=shape).astype(kind) for shape in [(4, 16), (16, classes)]]
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["positive"]),
        helper.make_node("MatMul", ["positive", "second"], ["scores"]),
    ]
    last = "scores"
    for operator in end.split():
        axis = {"axis": -1} if operator in ("Softmax", "LogSoftmax") else {}
        nodes.append(helper.make_node(operator, [last], [operator.lower()], **axis))
        last = operator.lower()
    return model_of(
        nodes,
        [helper.make_tensor_value_info("x", element, ["batch", 4])],
        [helper.make_tensor_value_info(last, element, ["batch", classes])],
        [numpy_helper.from_array(w, name) for w, name in zip(weights, ["first", "second"])],
        opset,
    )


def model_of(nodes: Any, inputs: Any, outputs: Any, constants: Any, opset: int = 17) -> Any:
    graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    made.metadata_props.add(key="author", value="someone")
    return made


def transformer(classes: int = 5, opset: int = 17) -> Any:
    """One block of attention over patches, as image transformers have it, and a head."""
    rng = np.random.default_rng(2)
    width, patches = 8, 4
    constants: dict[str, np.ndarray] = {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in {
            "query": (width, width),
            "key": (width, width),
            "value": (width, width),
            "up": (width, 16),
            "down": (16, width),
            "head": (width, classes),
            "gain": (width,),
            "bias": (width,),
        }.items()
    }
    constants["root"] = np.array(width**0.5, dtype=np.float32)
    constants["sqrt2"] = np.array(2**0.5, dtype=np.float32)
    constants["one"] = np.array(1, dtype=np.float32)
    constants["half"] = np.array(0.5, dtype=np.float32)
    constants["axis"] = np.array([1], dtype=np.int64)
    node = helper.make_node
    reduce = (
        node("ReduceMean", ["normed2", "axis"], ["pooled"], keepdims=0)
        if opset >= 18
        else node("ReduceMean", ["normed2"], ["pooled"], axes=[1], keepdims=0)
    )
    nodes = [
        node("LayerNormalization", ["x", "gain", "bias"], ["normed"], axis=-1),
        node("MatMul", ["normed", "query"], ["q"]),
        node("MatMul", ["normed", "key"], ["k"]),
        node("MatMul", ["normed", "value"], ["v"]),
        node("Transpose", ["k"], ["k_t"], perm=[0, 2, 1]),
        node("MatMul", ["q", "k_t"], ["products"]),
        node("Div", ["products", "root"], ["scaled"]),
        node("Softmax", ["scaled"], ["attention"], axis=-1),
        node("MatMul", ["attention", "v"], ["mixed"]),
        node("Add", ["x", "mixed"], ["residual"]),
        node("MatMul", ["residual", "up"], ["wide"]),
        node("Div", ["wide", "sqrt2"], ["erf_in"]),
        node("Erf", ["erf_in"], ["erf_out"]),
        node("Add", ["erf_out", "one"], ["erf_plus"]),
        node("Mul", ["wide", "erf_plus"], ["gelu2"]),
        node("Mul", ["gelu2", "half"], ["gelu"]),
        node("MatMul", ["gelu", "down"], ["narrow"]),
        node("Add", ["residual", "narrow"], ["residual2"]),
        node("LayerNormalization", ["residual2", "gain", "bias"], ["normed2"], axis=-1),
        reduce,
        node("MatMul", ["pooled", "head"], ["logits"]),
    ]
    return model_of(
        nodes,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", patches, width])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
        opset,
    )


DEPLOYED = artifact({"method": "MaxLogit-pNorm", "p": 4.0}, rule=at(1.0))


def exported(
    model: Any,
    tmp_path: Path,
    given: dict[str, Any] = DEPLOYED,
    *,
    check: bool = True,
    **how: Any,
) -> tuple[Path, dict[str, Any]]:
    source, path = tmp_path / "model.onnx", tmp_path / "selective.onnx"
    onnx.save(model, str(source))
    written = abstain.Estimator.from_dict(given).to_onnx(path, source, **how)
    if check:
        onnx.checker.check_model(str(path), full_check=True)
    return path, written


def inputs(shape: tuple[int, ...], kind: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(3).normal(size=shape).astype(kind)


@pytest.mark.parametrize("opset", [13, 17, 18, 21])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_models_of_every_opset_decide(opset: int, precision: str, tmp_path: Path) -> None:
    model = dense(opset=opset)
    x = inputs((50, 4))
    before = run(session_of(model, tmp_path), x)
    for estimator in USUAL:
        given = artifact(estimator, rule=at(0.5))
        path, written = exported(model, tmp_path, given, precision=precision)
        assert written["opset"] == opset and written["precision"] == precision
        after = run(session(path), x)
        np.testing.assert_array_equal(after["scores"], before["scores"])
        Differences().compare(given, after, before["scores"], TOLERANCE[precision])


def session_of(model: Any, tmp_path: Path) -> Any:
    onnx.save(model, str(tmp_path / "alone.onnx"))
    return session(tmp_path / "alone.onnx")


@pytest.mark.parametrize("opset", [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23])
def test_graphs_without_a_model_are_of_the_chosen_opset(opset: int, tmp_path: Path) -> None:
    path = tmp_path / "graph.onnx"
    rows = simulated(20, 4)[0].astype(np.float32)
    abstain.Estimator.from_dict(DEPLOYED).to_onnx(path, opset=opset, logits="scores")
    onnx.checker.check_model(str(path), full_check=True)
    assert onnx.load(str(path)).opset_import[0].version == opset
    model = session(path)
    assert model.get_inputs()[0].name == "scores"
    Differences().compare(DEPLOYED, run(model, rows), rows, 1e-5)
    for wrong in (12, 99):
        with pytest.raises(abstain.InputError, match="opset"):
            abstain.Estimator.from_dict(DEPLOYED).to_onnx(path, opset=wrong)


@pytest.mark.parametrize("opset", [17, 18])
def test_a_transformer_decides_whose_attention_has_a_softmax(opset: int, tmp_path: Path) -> None:
    model = transformer(opset=opset)
    x = inputs((40, 4, 8))
    path, written = exported(model, tmp_path)
    assert written["logits"] == {"name": "logits", "origin": "only-output"}
    after = run(session(path), x)
    Differences().compare(DEPLOYED, after, after["logits"], 1e-5)


def test_any_number_of_rows_is_answered(tmp_path: Path) -> None:
    path, _ = exported(dense(), tmp_path)
    model = session(path)
    for rows in (0, 1, 7):
        outputs = run(model, inputs((rows, 4)))
        shapes = {name: value.shape for name, value in outputs.items() if name != "scores"}
        assert shapes == {name: (rows,) for name in ("prediction", "confidence", "accept")}
    described = {output.name: (output.type, output.shape) for output in model.get_outputs()}
    assert described["prediction"] == ("tensor(int64)", ["batch"])
    assert described["accept"] == ("tensor(bool)", ["batch"])


def test_half_precision_is_widened_first(tmp_path: Path) -> None:
    path, _ = exported(dense(half=True), tmp_path)
    outputs = run(session(path), inputs((60, 4), np.float16))
    assert outputs["scores"].dtype == np.float16
    # ONNX Runtime multiplies in single precision, and rounds what it returns but not what it goes
    # on with.
    Differences().compare(DEPLOYED, outputs, outputs["scores"].astype(np.float32), 2e-3)


PROBABILITIES = artifact(
    {"method": "MSP"},
    input={"kind": "probabilities", "floor": 1e-12, "tolerance": None},
    rule=at(0.5),
)


@pytest.mark.parametrize("end", ["Softmax", "Softmax Identity", "Softmax Cast16"])
def test_a_model_that_ends_in_a_softmax(end: str, tmp_path: Path) -> None:
    model = dense(end=end.replace(" Cast16", ""))
    if "Cast16" in end:
        output = model.graph.output[0]
        output.type.tensor_type.elem_type = TensorProto.FLOAT16
        cast = helper.make_node("Cast", [output.name], ["half"], to=TensorProto.FLOAT16)
        output.name = "half"
        model.graph.node.append(cast)
    x = inputs((50, 4))
    logits = run(session_of(dense(), tmp_path), x)["scores"]
    path, written = exported(model, tmp_path)
    assert written["logits"]["name"] == "scores"
    assert written["logits"]["origin"]["before"]["operator"] == "Softmax"
    Differences().compare(DEPLOYED, run(session(path), x), logits, 1e-5)

    path, written = exported(model, tmp_path, PROBABILITIES)
    last = model.graph.output[0].name
    assert written["logits"] == {"name": last, "origin": "only-output"}
    outputs = run(session(path), x)
    Differences().compare(PROBABILITIES, outputs, outputs[last], 1e-4 if "16" in end else 1e-5)


def test_what_an_output_holds_must_be_certain(tmp_path: Path) -> None:
    def refused(model: Any, given: dict[str, Any], match: str, **how: Any) -> None:
        with pytest.raises(abstain.InputError, match=match):
            exported(model, tmp_path, given, **how)

    for end in ("LogSoftmax", "Sigmoid", "Exp"):
        refused(dense(end=end), DEPLOYED, f"computed by {end}")
        path, written = exported(dense(end=end), tmp_path, logits="scores")
        assert written["logits"] == {"name": "scores", "origin": "named"}
    refused(dense(), PROBABILITIES, "computed by MatMul")
    sideways = dense(end="Softmax")
    sideways.graph.node[-1].attribute[0].i = 0
    refused(sideways, DEPLOYED, "computed by Softmax")
    two = dense()
    positive = helper.make_tensor_value_info("positive", TensorProto.FLOAT, ["batch", 16])
    two.graph.output.append(positive)
    refused(two, DEPLOYED, "which of its outputs.*scores float32.*positive")
    assert exported(two, tmp_path, logits="scores")[1]["logits"]["origin"] == "named"
    refused(dense(), DEPLOYED, "no value of it is called 'nothing'", logits="nothing")
    refused(dense(), artifact({"method": "MSP"}, classes=7), "6 classes.*for 7")
    refused(dense(opset=12), DEPLOYED, "opset 12")
    for shape in (["batch", 2, 3], ["batch"], ["batch", 1]):
        other = dense()
        other.graph.output[0].CopyFrom(
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, shape)
        )
        with pytest.raises(abstain.InputError, match="not of the shape"):
            onnx.save(other, str(tmp_path / "model.onnx"))
            abstain.Estimator.from_dict(DEPLOYED).to_onnx(
                tmp_path / "selective.onnx", tmp_path / "model.onnx"
            )
    whole = dense()
    whole.graph.node.append(helper.make_node("ArgMax", ["scores"], ["class"], axis=1))
    whole.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("class", TensorProto.INT64, ["batch", 1])
    )
    refused(whole, DEPLOYED, "not of real numbers")
    extra = {"method": "Extra"}
    stack = {**stacks()[0], "terms": [{**stacks()[0]["terms"][0], "estimator": extra}]}
    refused(dense(), artifact(stack), "further number beside each row")
    refused(dense(), artifact(extra, input={"kind": "confidence"}), "no logits")
    refused(dense(), artifact({"method": "MSP-TS", "T": 1e-60}), "beyond the range.*float64")
    exported(dense(), tmp_path, artifact({"method": "MSP-TS", "T": 1e-60}), precision="float64")


@pytest.mark.parametrize("shape", [["batch"], ["batch", 1], None])
def test_one_number_of_a_binary_classifier(shape: Any, tmp_path: Path) -> None:
    weights = numpy_helper.from_array(inputs((4, 1)), "weights")
    nodes = [helper.make_node("MatMul", ["x", "weights"], ["column"])]
    last = "column"
    if shape == ["batch"]:
        axes = numpy_helper.from_array(np.array([1]), "axes")
        nodes.append(helper.make_node("Squeeze", ["column", "axes"], ["number"]))
        last = "number"
    constants = [weights] + ([axes] if shape == ["batch"] else [])
    x_info = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])
    x = inputs((30, 4))
    for kind, operator in [("binary-logit", None), ("binary-logit", "Sigmoid"),
                           ("binary-probability", "Sigmoid")]:
        more, output = [], last
        if operator:
            more, output = [helper.make_node(operator, [last], ["p"])], "p"
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
        floor = {"floor": 1e-9, "tolerance": None} if kind == "binary-probability" else {}
        given = artifact({"method": "MSP"}, input={"kind": kind, **floor}, rule=at(1.0))
        model = model_of(nodes + more, [x_info], outputs, constants)
        # Outputs without a shape do not pass the check, but they exist.
        path, written = exported(model, tmp_path, given, check=shape is not None)
        found = run(session(path), x)
        rows = (x @ numpy_helper.to_array(weights))[:, 0]
        if kind == "binary-probability":
            rows = found[output].reshape(-1)
        Differences().compare(given, found, rows, 1e-5)


def test_metadata_explain_the_model(tmp_path: Path, program: Callable[..., Any]) -> None:
    model = dense()
    path, written = exported(model, tmp_path)
    metadata = {entry.key: entry.value for entry in onnx.load(str(path)).metadata_props}
    assert metadata["author"] == "someone"
    assert json.loads(metadata["abstain.artifact"]) == json.loads(
        json.dumps(abstain.Estimator.from_dict(DEPLOYED).to_dict())
    )
    assert metadata["abstain.estimator"] == "MaxLogit-pNorm(p=4)"
    assert metadata["abstain.threshold"] == "1"
    assert metadata["abstain.logits"] == "scores"
    assert metadata["abstain.precision"] == "float32"
    assert metadata["abstain.written_by"].startswith("abstain ")
    source = hashlib.sha256((tmp_path / "model.onnx").read_bytes()).hexdigest()
    assert metadata["abstain.source_sha256"] == written["source_sha256"] == source
    assert abstain.load(path) == abstain.Estimator.from_dict(DEPLOYED)
    text = program("show", path)
    assert "x float32 [batch, 4]" in text and "accept bool [batch]" in text
    with pytest.raises(abstain.InputError, match="no artifact in it"):
        abstain.load(tmp_path / "model.onnx")


def test_everything_else_in_the_file_is_kept(tmp_path: Path) -> None:
    model = dense(end="Softmax")
    # A function, a type of an inner value, and fields that no version of ONNX has.
    function = helper.make_function(
        "local", "twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.graph.node.insert(0, helper.make_node("twice", ["x"], ["doubled"], domain="local"))
    model.graph.node[1].input[0] = "doubled"
    model.graph.value_info.append(
        helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", 16])
    )
    model.training_info.add().algorithm.name = "algorithm"
    unknown = b"\xfa\x7f\x05hello"
    source, path = tmp_path / "model.onnx", tmp_path / "selective.onnx"
    source.write_bytes(model.SerializeToString() + unknown)
    abstain.Estimator.from_dict(DEPLOYED).to_onnx(path, source)
    assert unknown in path.read_bytes()
    after = onnx.load(str(path))
    kept = after.graph.node[: len(model.graph.node)]
    assert list(kept) == list(model.graph.node)
    assert list(after.graph.initializer[:2]) == list(model.graph.initializer)
    assert after.graph.value_info == model.graph.value_info
    assert after.functions == model.functions and after.training_info == model.training_info
    added = after.graph.node[len(model.graph.node) :]
    assert all(node.name.startswith("abstain.") for node in added)
    run(session(path), inputs((3, 4)))


def test_a_second_export_replaces_the_first(tmp_path: Path) -> None:
    first, _ = exported(dense(end="Softmax"), tmp_path)
    other = abstain.Estimator.from_dict(
        artifact({"method": "NegativeGini"}, rule=at(0.3), classes=6)
    )
    again, straight = tmp_path / "again.onnx", tmp_path / "straight.onnx"
    written = other.to_onnx(again, first)
    assert written["replaced"] and written["logits"] == {"name": "scores", "origin": "recorded"}
    other.to_onnx(straight, tmp_path / "model.onnx")
    # A model that was exported before becomes what it would have become without that.
    assert again.read_bytes() == straight.read_bytes()


def test_names_that_are_taken_are_refused(tmp_path: Path) -> None:
    model = dense()
    model.graph.node[-1].output[0] = model.graph.output[0].name = "confidence"
    with pytest.raises(abstain.InputError, match="'confidence' already.*prefix"):
        exported(model, tmp_path)
    path, _ = exported(model, tmp_path, prefix="selective_")
    outputs = run(session(path), inputs((5, 4)))
    names = ["confidence", "selective_prediction", "selective_confidence", "selective_accept"]
    assert list(outputs) == names
    assert abstain.load(path).threshold is not None
    inner = dense()
    inner.graph.node[0].output[0] = inner.graph.node[1].input[0] = "abstain.Cast_0"
    with pytest.raises(abstain.InputError, match="'abstain.Cast_0' already"):
        exported(inner, tmp_path)


def test_numbers_in_other_files_stay_where_they_are(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    source = folder / "model.onnx"
    onnx.save(dense(), str(source), save_as_external_data=True, location="w.bin", size_threshold=0)
    x = inputs((20, 4))
    before = run(session(source), x)["scores"]
    estimator = abstain.Estimator.from_dict(DEPLOYED)
    estimator.to_onnx(folder / "selective.onnx", source)
    after = run(session(folder / "selective.onnx"), x)
    np.testing.assert_array_equal(after["scores"], before)
    Differences().compare(DEPLOYED, after, before, 1e-5)
    with pytest.raises(abstain.InputError, match="other files"):
        estimator.to_onnx(elsewhere / "selective.onnx", source)
    assert not list(elsewhere.iterdir())


def test_a_model_beyond_two_gigabytes_is_copied_without_its_numbers(tmp_path: Path) -> None:
    # The numbers are a hole of a sparse file: they take no space, and none of them is read.
    folder = tmp_path / "model"
    folder.mkdir()
    source = folder / "model.onnx"
    rows = 1 << 16
    model = dense()
    large = model.graph.initializer.add(name="large", data_type=TensorProto.FLOAT)
    large.dims.extend([rows, 9000])
    large.data_location = TensorProto.EXTERNAL
    length = rows * 9000 * 4
    for key, value in [("location", "large.bin"), ("offset", "0"), ("length", str(length))]:
        large.external_data.add(key=key, value=value)
    with open(folder / "large.bin", "wb") as file:
        file.truncate(length)
    assert length > 2**31
    onnx.save(model, str(source))
    estimator = abstain.Estimator.from_dict(DEPLOYED)
    estimator.to_onnx(folder / "selective.onnx", source)
    assert (folder / "selective.onnx").stat().st_size < 1 << 16


def test_the_program_writes_the_same_file(tmp_path: Path, program: Callable[..., Any]) -> None:
    path, written = exported(dense(), tmp_path)
    estimator = tmp_path / "estimator.json"
    abstain.Estimator.from_dict(DEPLOYED).save(estimator)
    by_program = tmp_path / "program.onnx"
    report = json.loads(
        program("export", estimator, tmp_path / "model.onnx", "-o", by_program, "--json")
    )
    assert by_program.read_bytes() == path.read_bytes()
    assert {**report, "output": None} == {**written, "output": None}
