"""The torch modules compared with the core, and the collection of logits."""

import copy
import inspect
import io
import itertools
import json
import math
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import abstain

torch = pytest.importorskip("torch")

from abstain.torch import (  # noqa: E402  (torch may be missing)
    ConfidenceModule,
    SelectiveModule,
    SelectiveOutput,
    collect_logits,
)

# Deprecated in newer versions, and still what many deploy.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.*:FutureWarning")

INF = math.inf
# From the registries: the parameters of every method.
TAKES = dict(abstain._abstain.methods())
SCORES = [name for name in TAKES if f"{name}-pNorm" in TAKES]
NORMS = [name.removeprefix("MSP-") for name in TAKES if name.startswith("MSP-pNorm")]
FAMILIES = [name for name in TAKES if "-" not in name and name not in (*SCORES, "Stack", "LabelFree")]
# Values for the parameters of families.
VALUES = {
    "a": (1, -0.3), "b": (-1, 0, 2), "w": (0, 0.25, 1), "T": (0.3, 10),
    "N": (1, 3, 50), "gamma": (0.1, 0.7), "M": (1, 3, 100),
}  # fmt: skip
DEMO = Path(__file__).resolve().parents[3] / "crates" / "cli" / "demo"


def texts():
    """Every score under every transform, and every family, with various parameters."""
    for s, score in enumerate(SCORES):
        scale = f"{score}-TS" in TAKES
        yield score
        if scale:
            yield from (f"{score}-TS(T={t})" for t in (0.05, 0.7, 5, 40))
        for n, norm in enumerate(NORMS):
            for k, p in enumerate((0, 0.5, 1, 2, 3.7, 5, 30, "inf")):
                gamma = f", gamma={(-1.5, 0.7, 25)[(s + n + k) % 3]}" if "shift" in norm else ""
                tau = f", tau={(1, 0.05, 2)[(s + k) % 3]}" if scale else ""
                yield f"{score}-{norm}(p={p}{gamma}{tau})"
    for family in FAMILIES:
        for values in itertools.product(*(VALUES[name] for name in TAKES[family])):
            yield family_text(family, values)
    yield from ("BK(a=0.5, b=-0.5)", "HTS(b=-1, w=-1)", "HTS(b=2, w=3)")


def family_text(family, values):
    return f"{family}({', '.join(f'{n}={v}' for n, v in zip(TAKES[family], values))})"


# One of every kind of formula, for tests that do not depend on the parameters.
FORMULAS = [
    *SCORES,
    "MSP-TS(T=2)",
    "SoftmaxMargin-pNorm-min(p=2)",
    "NegativeEntropy-pNorm(p=0.5, tau=0.05)",
    "Leon-pNorm-NC-shift(p=inf, gamma=2)",
    "MaxLogit-pNorm(p=0)",
    "MaxLogit-pNorm(p=5)",
    "MaxLogit-pNorm-NC(p=30)",
    "LogitsMargin-pNorm(p=1)",
    *(family_text(family, [VALUES[name][1] for name in TAKES[family]]) for family in FAMILIES),
]


def rows(classes):
    """Random rows of several scales, saturated, tied, one-hot and constant ones."""
    rng = np.random.default_rng(classes)
    parts = []
    for scale, offset in ((1, 0), (5, 0), (20, 3), (0.05, 1), (3, 1000), (3, -50)):
        parts.append(rng.normal(size=(20, classes)) * scale + offset)
    for gap in (60, 700, 1e4):
        sure = rng.normal(size=(5, classes))
        sure[np.arange(5), rng.integers(classes, size=5)] += gap
        parts.append(sure)
    parts.append(rng.integers(-2, 3, size=(20, classes)).astype(float))
    one_hot = np.zeros((4, classes))
    one_hot[:, -1] = [7, 0.3, 60, 700]
    parts += [one_hot, -one_hot, np.full((1, classes), 7.25), np.zeros((1, classes))]
    return np.concatenate(parts)


ROWS = {classes: rows(classes) for classes in (2, 3, 10, 100)}
MASKED = np.array([
    [2.0, 0.5, -1.0, 0.25, -INF],
    [1.0, 1.0, -INF, -INF, 0.5],
    [3.0, -INF, -INF, -INF, -INF],
    [-INF, -2.0, 1.0, -INF, -INF],
])  # fmt: skip


def confidence(module, logits):
    return module(torch.from_numpy(np.asarray(logits))).numpy()


def check(found, expected, text=""):
    # LDAM and Leon lose digits where probabilities are nearly equal, in the core as here.
    tolerance = 1e-6 if text.startswith(("LDAM", "Leon")) else 1e-10
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=text)


def encoded(text, **encoding):
    artifact = abstain.Estimator(text).to_dict()
    return {**artifact, "input": encoding}


def stack():
    """A tuned stack."""
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(600, 5)) * 2
    noisy = logits + rng.normal(size=logits.shape) * 1.5
    return abstain.tune(logits, noisy.argmax(1), methods=["Stack"], fallback="none").estimator


# ---- The head.


@pytest.mark.parametrize("text", list(texts()))
def test_confidences_equal_those_of_the_core(text):
    estimator = abstain.Estimator(text)
    module = ConfidenceModule(estimator)
    for logits in ROWS.values():
        check(confidence(module, logits), estimator.confidence(logits), text)


@pytest.mark.parametrize("text", FORMULAS)
def test_confidences_of_real_logits_equal_those_of_the_core(text):
    for name in ("fashion-mixup", "imagenet-efficientnet-lite2"):
        path = DEMO / name / "logits.npy"
        if not path.exists():
            pytest.skip("the demo's logits are not here")
        logits = np.load(path)[:300]
        estimator = abstain.Estimator(text)
        check(confidence(ConfidenceModule(estimator), logits), estimator.confidence(logits), text)


def stack_of(texts, **more):
    """A stack of any terms, as an artifact."""
    rng = np.random.default_rng(7)
    terms = []
    for text in texts:
        estimator = abstain.Estimator(text)
        values = estimator.confidence(rows(5)[:60], values=True)
        spread = {"mean": float(values.mean()), "deviation": float(values.std()) + 0.01}
        inner = estimator.to_dict()["estimator"]
        terms.append({"estimator": inner, **spread, "weight": float(rng.normal())})
    artifact = abstain.Estimator("MSP").to_dict()
    fitted = {"method": "Stack", "intercept": 0.3, "terms": terms, **more}
    return abstain.Estimator.from_dict({**artifact, "estimator": fitted})


STACKS = {
    "tuned": lambda: stack(),
    "without labels": lambda: abstain.label_free(rows(5)[:120]),
    # Without the scores that lose digits where probabilities are nearly equal.
    "of everything": lambda: stack_of(STEADY, soft_clip=2.0),
    "first edition": lambda: stack_of(STEADY),
    "with class offsets": lambda: stack_of(
        ["MSP", "LogitsMargin"], soft_clip=2.0, class_offsets=[0.5, -1.25, 0.0, 2.0, -0.125]
    ),
}
STEADY = [text for text in FORMULAS if not text.startswith(("LDAM", "Leon"))]


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_equals_that_of_the_core(name):
    estimator = STACKS[name]()
    method = "LabelFree" if name == "without labels" else "Stack"
    assert estimator.to_dict()["estimator"]["method"] == method
    module = ConfidenceModule(estimator)
    logits = rows(5)
    check(confidence(module, logits), estimator.confidence(logits))
    scripted = torch.jit.script(module)
    assert np.array_equal(confidence(scripted, logits), confidence(module, logits))


@pytest.mark.parametrize("text", ["LDAM", "Leon", "Leon-pNorm-NC-shift(p=inf, gamma=2)"])
def test_a_stack_of_one_score_equals_that_of_the_core(text):
    estimator = stack_of([text], soft_clip=1.5)
    check(confidence(ConfidenceModule(estimator), rows(5)), estimator.confidence(rows(5)), text)


def test_mathematical_ties_tie():
    permuted = [[0.3, 2.9, -1.1, 0.7, 5.0, 0.9], [5.0, 0.7, 0.3, 0.9, -1.1, 2.9]]
    one_hot = [[7.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.3, 0.0]]
    for text in ("MSP", "NegativeEntropy", "Leon", "MSP-pNorm(p=2.5)", "MaxLogit-pNorm(p=7)"):
        assert np.ptp(confidence(ConfidenceModule(abstain.Estimator(text)), permuted)) == 0, text
    for text in ("MaxLogit-pNorm(p=3)", "MSP-pNorm(p=5)", "LogitsMargin-pNorm(p=0.5)"):
        assert np.ptp(confidence(ConfidenceModule(abstain.Estimator(text)), one_hot)) == 0, text


def test_rounding_equals_that_of_the_core():
    # MaxLogit is the logit itself, so only the rounding differs. Some values are halfway cases.
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 52, size=20_000, dtype=np.uint64)
    bits[::4] = (bits[::4] & ~np.uint64(0xFFF)) | np.uint64(0x800)
    bits[1::4] |= np.uint64(0xFFFFFFFFFE000)
    bits |= rng.integers(900, 1100, size=bits.size).astype(np.uint64) << np.uint64(52)
    bits |= rng.integers(0, 2, size=bits.size).astype(np.uint64) << np.uint64(63)
    top = bits.view(np.float64)
    logits = np.stack([top, top - 10 * np.abs(top)], axis=1)
    estimator = abstain.Estimator("MaxLogit")
    assert np.array_equal(
        confidence(ConfidenceModule(estimator), logits), estimator.confidence(logits)
    )


@pytest.mark.parametrize("text", ["MSP", "Energy", "MaxLogit-pNorm(p=5)", "HTS(b=0, w=1)"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_type_is_computed_in_double_precision(text, dtype):
    logits = torch.from_numpy(ROWS[10][:100]).to(getattr(torch, dtype))
    estimator = abstain.Estimator(text)
    module = ConfidenceModule(estimator).half()
    found = module(logits)
    assert found.dtype == torch.float64
    check(found.numpy(), estimator.confidence(logits.double().numpy()), text)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_row_does_not_depend_on_its_batch(text):
    module = ConfidenceModule(abstain.Estimator(text))
    whole = confidence(module, ROWS[10])
    alone = np.concatenate([confidence(module, row[None]) for row in ROWS[10]])
    # Sums may run in another order in another batch.
    check(alone, whole, text)
    assert module(torch.zeros(0, 10)).shape == (0,)
    np.testing.assert_array_equal(confidence(module, ROWS[10].reshape(-1, 5, 10)).ravel(), whole)


@pytest.mark.parametrize("text", FORMULAS)
def test_rows_that_the_core_refuses_are_nan(text):
    logits = np.array([[1.0, math.nan, 0.0], [3.0, 1.0, 0.5], [1.0, INF, 0.0], [1.0, -INF, 0.0]])
    estimator = abstain.Estimator(text)
    module = SelectiveModule(torch.nn.Identity(), estimator, threshold=-INF)
    output = module(torch.from_numpy(logits))
    assert output.confidence.isnan().tolist() == [True, False, True, True]
    assert output.accept.tolist() == [False, True, False, False]
    check(output.confidence[1:2].numpy(), estimator.confidence(logits[1:2]), text)


@pytest.mark.parametrize("text", ["MSP", "Energy", "MSP-pNorm(p=2)", "MaxLogit-pNorm-min(p=3)"])
def test_masked_classes_do_not_change_the_confidence(text):
    found = confidence(ConfidenceModule(encoded(text, kind="masked")), MASKED)
    for row, value in zip(MASKED, found):
        unmasked = row[np.isfinite(row)][None]
        if unmasked.shape[1] > 1:
            check(value, abstain.Estimator(text).confidence(unmasked)[0], text)
    alone = {"MSP": INF, "Energy": 3.0, "MSP-pNorm(p=2)": INF, "MaxLogit-pNorm-min(p=3)": 0.0}
    assert found[2] == alone[text]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("LDAM", [4.573522218743165, 0.684031702800894, INF, 7.648926679736178]),
        ("Leon", [0.7942380100430455, 0.022063993464826126, INF, 2.675958712628926]),
        ("HTS(b=0.5, w=0.7)", [3.23995868943166, -0.2820617166437387, INF, 19.35680314549245]),
        (
            "LDAM-pNorm(p=2, tau=0.5)",
            [4.365520052386273, 1.0916124039622446, INF, 7.3010572916937235],
        ),
    ],
)
def test_masked_classes_count_in_the_number_of_classes(text, expected):
    """The expected numbers were computed by the core."""
    check(confidence(ConfidenceModule(encoded(text, kind="masked")), MASKED), expected)


def test_a_row_with_all_classes_masked_is_nan():
    module = ConfidenceModule(encoded("MSP", kind="masked"))
    assert np.isnan(confidence(module, [[-INF, -INF], [math.nan, 0.0], [INF, 0.0]])).all()
    for text in FORMULAS:
        module = ConfidenceModule(encoded(text, kind="masked"))
        assert not np.isnan(confidence(module, MASKED)).any(), text


@pytest.mark.parametrize("text", ["MSP", "MaxLogit-pNorm(p=3)", "BK(a=1, b=1)"])
def test_probabilities_are_floored(text):
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.full(6, 0.2), size=50)
    probabilities[::3, 0] = 0.0
    probabilities /= probabilities.sum(1, keepdims=True)
    encoding = {"kind": "probabilities", "floor": 1e-6, "tolerance": None}
    module = ConfidenceModule(encoded(text, **encoding))
    logits = np.log(np.maximum(probabilities, 1e-6))
    check(confidence(module, probabilities), abstain.Estimator(text).confidence(logits), text)
    narrow = torch.from_numpy(probabilities).half()
    assert not module(narrow).isnan().any()


def test_invalid_probabilities_are_nan():
    encoding = {"kind": "probabilities", "floor": 1e-6}
    invalid = [[0.7, 0.2], [1.2, -0.2], [math.nan, 1.0], [0.7, 0.305], [0.7, 0.3005]]
    found = confidence(ConfidenceModule(encoded("MSP", **encoding, tolerance=None)), invalid)
    assert np.isnan(found).tolist() == [True, True, True, True, False]
    found = confidence(ConfidenceModule(encoded("MSP", **encoding, tolerance=0.01)), invalid)
    assert np.isnan(found).tolist() == [True, True, True, False, False]


def test_another_number_of_classes_is_refused():
    with pytest.raises(abstain.InputError, match="the estimator takes binary-logit"):
        ConfidenceModule(abstain.Estimator("MSP", input="binary-logit"))
    module = ConfidenceModule({**abstain.Estimator("MSP").to_dict(), "classes": 4})
    assert module(torch.zeros(2, 4)).shape == (2,)
    with pytest.raises(ValueError, match="rows have 3 classes, not 4"):
        module(torch.zeros(2, 3))
    with pytest.raises(torch.jit.Error, match="rows have 3 classes, not 4"):
        torch.jit.script(module)(torch.zeros(2, 3))


# ---- Artifacts.


def test_estimators_dictionaries_and_files_are_accepted(tmp_path):
    estimator = abstain.Estimator("MaxLogit-pNorm", p=5).with_threshold(at=1.5)
    path = tmp_path / "estimator.json"
    path.write_text(json.dumps(estimator.to_dict()))
    logits = torch.from_numpy(ROWS[10])
    expected = estimator.confidence(ROWS[10])
    for form in (estimator, estimator.to_dict(), path, str(path)):
        output = SelectiveModule(torch.nn.Identity(), form)(logits)
        assert isinstance(output, SelectiveOutput)
        check(output.confidence.numpy(), expected)
        assert torch.equal(output.logits, logits)
        assert output.accept.tolist() == (expected >= 1.5).tolist()
    # Version 0 is the bare estimator.
    check(confidence(ConfidenceModule(estimator.to_dict()["estimator"]), ROWS[10]), expected)


def test_a_threshold_is_required():
    margin = abstain.Estimator("LogitsMargin")
    with pytest.raises(ValueError, match="no threshold: use Estimator.with_threshold"):
        SelectiveModule(torch.nn.Identity(), margin)
    estimator = margin.with_threshold(at=1.5)
    logits = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    accept = SelectiveModule(torch.nn.Identity(), estimator)(logits).accept
    assert accept.tolist() == [False, True, True]
    accept = SelectiveModule(torch.nn.Identity(), estimator, threshold=3)(logits).accept
    assert accept.tolist() == [False, False, True]
    artifact = {**estimator.to_dict(), "rule": {"threshold": {"basis": "given", "at": "inf"}}}
    assert not SelectiveModule(torch.nn.Identity(), artifact)(logits).accept.any()
    with pytest.raises(ValueError, match="the threshold is NaN"):
        SelectiveModule(torch.nn.Identity(), estimator, threshold=math.nan)
    for table in [{"by_class": [None, None]}, {"by_group": {}}]:
        with pytest.raises(ValueError, match="several thresholds"):
            SelectiveModule(torch.nn.Identity(), {**artifact, "rule": table})
        # A module ranks rows whatever the rule, and a given threshold replaces it.
        module = SelectiveModule(torch.nn.Identity(), {**artifact, "rule": table}, threshold=3)
        assert module(logits).accept.tolist() == [False, False, True]


@pytest.mark.parametrize("at", [-INF, -1.0, 0.0, 1.5, INF])
def test_modules_decide_as_the_rule_does(at):
    estimator = abstain.Estimator("LogitsMargin").with_threshold(at=at)
    logits = torch.tensor(
        [[0.0, 0.0], [1.5, 0.0], [float(np.nextafter(1.5, 0)), 0.0], [9.0, -9.0]]
    ).double()
    expected = estimator.answers(logits.numpy()).accept
    found = SelectiveModule(torch.nn.Identity(), estimator)(logits).accept
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 3},
        {"colour": 1},
        {"input": {"kind": "pixels"}},
        {"estimator": {"method": "MaxLogits"}},
        {"estimator": {"method": "MSP-TS"}},
        {"estimator": {"method": "MSP-TS", "T": "warm"}},
    ],
    ids=str,
)
def test_invalid_artifacts_are_refused(change):
    artifact = {**abstain.Estimator("MSP").to_dict(), **change}
    with pytest.raises(abstain.InputError, match="not an estimator that this version can read"):
        ConfidenceModule(artifact)


# ---- Deployment.


class Net(torch.nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.inner = torch.nn.Sequential(torch.nn.Linear(4, classes), torch.nn.Dropout(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 20.0 * self.inner(x)


def selective(text):
    return SelectiveModule(Net(), abstain.Estimator(text), threshold=0.5).eval()


def inputs(count=40):
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(1))


def assert_same(found, expected, text):
    check(found[1].detach().numpy(), expected[1].detach().numpy(), text)
    assert torch.equal(found[0], expected[0]) and torch.equal(found[2], expected[2])


@pytest.mark.parametrize("text", FORMULAS)
def test_scripted_modules_return_the_same(text):
    module = selective(text)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(module), buffer)
    buffer.seek(0)
    output = torch.jit.load(buffer)(inputs())
    assert output._fields == ("logits", "confidence", "accept")
    assert_same(output, module(inputs()), text)


@pytest.mark.parametrize("text", FORMULAS)
def test_traced_modules_take_batches_of_any_size(text):
    module = selective(text)
    with warnings.catch_warnings():
        # The tracer warns if a value of the example becomes a constant.
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FutureWarning)
        traced = torch.jit.trace(module, inputs(3))
    assert_same(traced(inputs()), module(inputs()), text)


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.filterwarnings("ignore")
def test_exported_modules_take_batches_of_any_size(text):
    if not hasattr(torch, "export"):
        pytest.skip("this version of torch has no torch.export")
    module = selective(text).eval()
    rows = torch.export.Dim("rows")
    exported = torch.export.export(module, (inputs(3),), dynamic_shapes={"x": {0: rows}})
    assert_same(exported.module()(inputs()), module(inputs()), text)


@pytest.mark.parametrize("text", FORMULAS)
def test_onnx_models_return_the_same(text):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    module = SelectiveModule(torch.nn.Identity(), abstain.Estimator(text), threshold=0.5)
    logits = torch.from_numpy(ROWS[10])
    names = list(SelectiveOutput._fields)
    buffer = io.BytesIO()
    # Newer versions of torch have a second exporter, which needs more packages.
    new = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            logits[:3],
            buffer,
            opset_version=13,
            input_names=["x"],
            output_names=names,
            dynamic_axes={name: {0: "rows"} for name in ["x", *names]},
            **new,
        )
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(
        buffer.getvalue(), options, providers=["CPUExecutionProvider"]
    )
    found = session.run(names, {"x": logits.numpy()})
    expected = module(logits)
    check(found[1], expected.confidence.numpy(), text)
    near = (expected.confidence - 0.5).abs().numpy() < 1e-6
    assert np.array_equal(found[2][~near], expected.accept.numpy()[~near])
    nan = session.run(names, {"x": np.full((1, 10), math.nan)})
    assert np.isnan(nan[1]).all() and not nan[2].any()


def test_the_module_has_no_further_state():
    module = selective("MSP-TS(T=3)")
    assert set(module.state_dict()) == {"model.inner.0.weight", "model.inner.0.bias"}
    assert_same(copy.deepcopy(module)(inputs()), module(inputs()), "")
    if torch.cuda.is_available():
        assert module.cuda()(inputs().cuda()).accept.is_cuda


# ---- Collecting logits.


def batches(sizes=(4, 4, 3), classes=10):
    generator = torch.Generator().manual_seed(2)
    return [
        (torch.randn(size, 4, generator=generator), torch.arange(size) % classes) for size in sizes
    ]


def expected_logits(net):
    with torch.no_grad():
        return np.concatenate([net.eval()(x).numpy() for x, _ in batches()])


def collect(model, loader, **options):
    return collect_logits(model, loader, progress=False, **options)


def test_logits_are_collected_in_evaluation_mode():
    net = Net().train()
    net.inner[0].eval()
    logits, labels = collect(net, batches())
    assert (net.training, net.inner[0].training, net.inner[1].training) == (True, False, True)
    assert logits.dtype == np.float32 and labels.dtype == np.int64
    np.testing.assert_array_equal(labels, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2])
    np.testing.assert_array_equal(logits, expected_logits(net))
    logits[0, 0] = 1.0  # Writable.


def test_scripted_models_are_accepted():
    net = torch.jit.script(Net().train())
    logits, _ = collect(net, batches())
    assert net.training and net.inner.training
    np.testing.assert_array_equal(logits, expected_logits(Net()))


def test_logits_are_written_to_files(tmp_path):
    net = Net()
    logits, labels = collect(net, batches(), out=tmp_path / "new" / "run")
    assert isinstance(logits, np.memmap) and not logits.flags.writeable
    files = sorted(path.name for path in (tmp_path / "new" / "run").iterdir())
    assert files == ["labels.npy", "logits.npy"]
    for name, array in (("logits", logits), ("labels", labels)):
        np.testing.assert_array_equal(np.load(tmp_path / "new" / "run" / f"{name}.npy"), array)
    np.testing.assert_array_equal(logits, expected_logits(net))
    # Existing files are replaced.
    again, _ = collect(net, batches()[:1], out=str(tmp_path / "new" / "run"))
    assert again.shape == (4, 10) and len(list((tmp_path / "new" / "run").iterdir())) == 2


def test_memory_does_not_grow_with_the_rows_of_a_file(tmp_path):
    tracemalloc = pytest.importorskip("tracemalloc")

    def loader():
        for _ in range(50):
            yield torch.zeros(1000, 100), torch.zeros(1000, dtype=torch.int64)

    tracemalloc.start()
    try:
        logits, _ = collect(torch.nn.Identity(), loader(), out=tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert logits.nbytes == 20_000_000 and peak < 5_000_000


@pytest.mark.parametrize("out", [False, True])
def test_logits_keep_their_type(tmp_path, out):
    for given, stored in (("bfloat16", "float32"), ("float16", "float16"), ("float64", "float64")):
        loader = [(x.to(getattr(torch, given)), y) for x, y in batches()]
        logits, _ = collect(torch.nn.Identity(), loader, out=tmp_path / given if out else None)
        assert logits.dtype == np.dtype(stored)
        np.testing.assert_array_equal(logits, torch.cat([x for x, _ in loader]).double().numpy())
    for dtype in ("float16", np.float16, np.dtype("float16")):
        assert collect(torch.nn.Identity(), batches(), dtype=dtype)[0].dtype == np.float16
    with pytest.raises(ValueError, match="dtype is int64"):
        collect(torch.nn.Identity(), batches(), dtype=np.int64)


class Keywords(torch.nn.Module):
    """Several inputs and an object with logits, as the models of Hugging Face have."""

    def forward(self, first, second=None, form="object"):
        logits = first if second is None else first + second
        form = form if isinstance(form, str) else "object"
        return {"dict": {"logits": logits}, "object": namedtuple("Output", "logits")(logits),
                "none": (logits,)}[form]  # fmt: skip


def test_inputs_and_outputs_may_be_structures():
    one, labels = torch.ones(2, 3), torch.tensor([0, 1], dtype=torch.int32)
    for given, expected in (
        (one, 1.0),
        ((one, one), 2.0),
        ([one, one], 2.0),
        ({"first": one, "second": one}, 2.0),
        ({"first": one, "form": "dict"}, 1.0),
    ):
        logits, _ = collect(Keywords(), [(given, labels)])
        assert logits.tolist() == np.full((2, 3), expected).tolist()
    logits, found = collect(torch.nn.Identity(), [(one, [1, 2]), (one, np.array([0, 1]))])
    assert found.tolist() == [1, 2, 0, 1]


def test_inputs_are_moved_to_the_device():
    # The meta device stands for another device; its tensors have no values.
    seen = []

    class Spy(torch.nn.Module):
        def forward(self, x):
            seen.append(x.device.type)
            return torch.zeros(len(x), 3)

    collect(Spy(), [(torch.ones(2, 3), torch.tensor([0, 1]))], device="meta")
    net = Spy()
    net.weight = torch.nn.Parameter(torch.zeros(1, device="meta"))
    collect(net, [(torch.ones(2, 3), torch.tensor([0, 1]))])
    collect(Spy(), [(torch.ones(2, 3), torch.tensor([0, 1]))])
    assert seen == ["meta", "meta", "cpu"]


ONE = torch.ones(2, 3)
LABELS = torch.tensor([0, 1])


@pytest.mark.parametrize(
    "batch, message",
    [
        (ONE, "expected a pair"),
        ((ONE, LABELS, LABELS), "expected a pair"),
        ((ONE, torch.tensor([0, 1, 2])), "3 labels for 2 rows"),
        ((ONE, torch.tensor([0.0, 1.0])), "expected integer labels"),
        ((ONE, torch.tensor([True, False])), "expected integer labels"),
        ((ONE, LABELS[None]), "expected integer labels"),
        ((torch.ones(2, 4), LABELS), "4 classes, but 3 before"),
        ((torch.ones(2, 3, 1), LABELS), r"expected logits \(rows, classes\), got \(2, 3, 1\)"),
        ((torch.ones(2, 3, dtype=torch.int64), LABELS), r"got \(2, 3\) of torch.int64"),
    ],
)
@pytest.mark.parametrize("out", [False, True])
def test_invalid_batches_are_named_and_leave_no_files(tmp_path, batch, message, out):
    net = torch.nn.Sequential(torch.nn.Identity())
    with pytest.raises(ValueError, match=f"batch 1: .*{message}"):
        collect(net, [(ONE, LABELS), batch], out=tmp_path if out else None)
    assert net.training and net[0].training
    assert list(tmp_path.iterdir()) == []


def test_outputs_without_logits_are_refused():
    with pytest.raises(ValueError, match="batch 0: the model returned tuple, without logits"):
        collect(Keywords(), [({"first": ONE, "form": "none"}, LABELS)])


@pytest.mark.parametrize("empty", [[], [(torch.ones(0, 3), LABELS[:0])]])
def test_no_rows_are_refused(tmp_path, empty):
    for out in (None, tmp_path):
        with pytest.raises(ValueError, match="no rows"):
            collect(torch.nn.Identity(), empty, out=out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interruption_leaves_earlier_files_unchanged(tmp_path, error):
    net = Net().train()
    before, _ = collect(net, batches(), out=tmp_path)

    def loader():
        yield from batches()
        raise error

    with pytest.raises(error):
        collect(net, loader(), out=tmp_path)
    assert net.training and net.inner[1].training
    assert not torch.is_inference_mode_enabled()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.npy", "logits.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "logits.npy"), before)


def test_batches_may_be_mappings():
    class Named(torch.nn.Module):
        def forward(self, pixels):
            return {"logits": pixels}

    logits, labels = collect(Named(), [{"pixels": ONE, "labels": LABELS}])
    np.testing.assert_array_equal(logits, ONE.numpy())
    np.testing.assert_array_equal(labels, LABELS.numpy())


@pytest.mark.parametrize("labels", [["a", "b"], [None, None]], ids=str)
def test_labels_that_are_not_integers_are_refused(labels):
    with pytest.raises(abstain.InputError, match="batch 0: the labels are not integers"):
        collect(torch.nn.Identity(), [(ONE, labels)])


def test_progress_is_shown_on_request(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    collect_logits(torch.nn.Identity(), [(ONE, LABELS)], progress=True)
    assert "logits" in capsys.readouterr().err
    # Standard error is not a terminal here.
    for progress in (None, False):
        collect_logits(torch.nn.Identity(), [(ONE, LABELS)], progress=progress)
        assert capsys.readouterr().err == ""
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    collect_logits(torch.nn.Identity(), [(ONE, LABELS)])
    assert capsys.readouterr().err == ""
    with pytest.raises(ImportError, match="pip install tqdm"):
        collect_logits(torch.nn.Identity(), [(ONE, LABELS)], progress=True)


def test_collected_logits_can_be_scored():
    logits, labels = collect(Net(), torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs(64), torch.arange(64) % 10), batch_size=10
    ))  # fmt: skip
    estimator = abstain.Estimator("MaxLogit-pNorm(p=5)")
    check(confidence(ConfidenceModule(estimator), logits), estimator.confidence(logits))
    assert labels.tolist() == [k % 10 for k in range(64)]
