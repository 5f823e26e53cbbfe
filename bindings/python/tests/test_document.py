"""docs/artifact.md is enough to score: a script that was written from it agrees with the package."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DEMO, PROJECT, real_sets, read, simulated
from estimators import ESTIMATORS, artifact

import abstain
from abstain import _abstain

if sys.version_info < (3, 11):
    pytest.skip("the corpus is TOML, which Python reads from 3.11 on", allow_module_level=True)
import tomllib

SCRIPT = PROJECT / "testdata" / "score_from_document.py"
DOCUMENT = (PROJECT / "docs" / "artifact.md").read_text(encoding="utf-8")
CORPUS = tomllib.loads((PROJECT / "testdata" / "golden.toml").read_text(encoding="utf-8"))

@pytest.fixture(scope="module")
def document() -> Any:
    specification = importlib.util.spec_from_file_location("score_from_document", SCRIPT)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def agree(document: Any, given: dict[str, Any], rows: np.ndarray, extra: Any = None) -> None:
    """Both score alike, and decide alike at a threshold, but for rows that are at it."""
    estimator = abstain.Estimator.from_dict(given)
    expected = estimator.answers(rows, extra=extra)
    if given.get("rule") is None:
        finite = expected.confidence[np.isfinite(expected.confidence)]
        at = float(np.median(finite)) if len(finite) else "inf"
        given = {**given, "rule": {"threshold": {"basis": "given", "at": at}}}
        expected = abstain.Estimator.from_dict(given).answers(rows, extra=extra)
    prediction, confidence, accept = document.answers(given, rows, extra)
    name = json.dumps(given["estimator"])[:200]
    np.testing.assert_array_equal(prediction, expected.prediction, name)
    np.testing.assert_allclose(
        confidence, expected.confidence, rtol=1e-9, atol=1e-9, err_msg=name, equal_nan=False
    )
    at = float(given["rule"]["threshold"]["at"])
    with np.errstate(invalid="ignore"):
        near = np.abs(confidence - at) <= 1e-9 * max(1, abs(at))
    np.testing.assert_array_equal(accept[~near], expected.accept[~near], name)


def encoding_of(case: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    if case["kind"] == "probabilities":
        smallest = rows[rows > 0].min()
        default = smallest if smallest < rows.max(axis=1).min() else 1e-12
        floor = float(case.get("floor", default))
        return {"kind": "probabilities", "floor": floor, "tolerance": None}
    return {"kind": "masked" if "masked" in case else "logits"}


@pytest.mark.parametrize("case", CORPUS["case"], ids=lambda case: case["name"])
def test_every_estimator_agrees_on_the_rows_of_the_corpus(
    case: dict[str, Any], document: Any
) -> None:
    rows = np.array(case["rows"], dtype=float)
    for estimator in ESTIMATORS:
        agree(document, artifact(estimator, input=encoding_of(case, rows)), rows)


@pytest.mark.parametrize("folder", real_sets(), ids=lambda path: path.name)
def test_every_estimator_agrees_on_real_rows(folder: Path, document: Any) -> None:
    rows, _, kind = read(folder)
    rows = rows[: 100_000 // rows.shape[1]][:1000]
    for estimator in ESTIMATORS:
        agree(document, artifact(estimator, input=encoding_of({"kind": kind}, rows)), rows)


@pytest.mark.parametrize("kind", ["binary-probability", "binary-logit"])
def test_every_estimator_agrees_on_the_one_number_of_a_binary_classifier(
    kind: str, document: Any
) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(scale=3, size=(300, 1))
    rows[0] = 0
    encoding: dict[str, Any] = {"kind": kind}
    if kind == "binary-probability":
        rows = 1 / (1 + np.exp(-rows))
        rows[1], rows[2] = 0, 1
        encoding.update(floor=1e-5, tolerance=None)
    half = rows.astype(np.float16)
    half[3] = 1.004  # Within the tolerance of half precision alone.
    for estimator in ESTIMATORS:
        for numbers in [rows, rows.astype(np.float32), half]:
            agree(document, artifact(estimator, input=encoding, classes=2), numbers)


def test_a_bare_confidence_is_compared_with_the_threshold_as_it_is(document: Any) -> None:
    at = 0.1  # Has more than 41 significant bits.
    rule = {"threshold": {"basis": "given", "at": at}}
    given = artifact({"method": "Extra"}, input={"kind": "confidence"}, rule=rule)
    prediction, confidence, accept = document.answers(given, np.array([at, np.nextafter(at, 0)]))
    assert prediction is None
    assert confidence.tolist() == [at, np.nextafter(at, 0)]
    assert accept.tolist() == [True, False]


def test_each_class_and_each_group_has_its_threshold(document: Any) -> None:
    rows = np.random.default_rng(0).normal(scale=2, size=(200, 3))
    thresholds = [{"basis": "given", "at": 0.5}, None, {"basis": "given", "at": "-inf"}]
    given = artifact({"method": "LogitsMargin"}, classes=3, rule={"by_class": thresholds})
    expected = abstain.Estimator.from_dict(given).answers(rows)
    assert expected.accept is not None
    for found, wanted in zip(document.answers(given, rows), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    each = [expected.accept[expected.prediction == label] for label in range(3)]
    assert 0 < each[0].sum() < len(each[0]) and not each[1].any() and each[2].all()
    groups = [["north", "south", "west"][row % 3] for row in range(len(rows))]
    given["rule"] = {"by_group": {"north": thresholds[0], "south": None}}
    _, confidence, accept = document.answers(given, rows, groups=groups)
    north = np.array(groups) == "north"
    np.testing.assert_array_equal(accept, north & (confidence >= 0.5))
    with pytest.raises(abstain.InputError, match="threshold for each group"):
        abstain.Estimator.from_dict(given).answers(rows)


def test_the_first_version_scores_alike(document: Any) -> None:
    rows = np.random.default_rng(1).normal(size=(50, 4))
    threshold = {"basis": "given", "at": 0.5}
    for field in [threshold, None]:
        old = {**artifact({"method": "MSP"}), "version": 1, "threshold": field}
        new = artifact({"method": "MSP"}, rule=field and {"threshold": field})
        for found, wanted in zip(document.answers(old, rows), document.answers(new, rows)):
            np.testing.assert_array_equal(found, wanted)
        agree(document, new, rows)
        assert abstain.Estimator.from_dict(old) == abstain.Estimator.from_dict(new)


def stacks() -> dict[str, tuple[dict[str, Any], np.ndarray, Any]]:
    """Fitted stacks of every kind, with rows and the extra column."""
    found: dict[str, tuple[dict[str, Any], np.ndarray, Any]] = {}
    for name in ["fashion-ce", "fashion-mixup", "imagenet-efficientnet-lite2"]:
        rows, labels, _ = read(DEMO / name)
        tuned = abstain.tune(rows, labels, methods="Stack", fallback="none")
        found[name] = (tuned.estimator.to_dict(), rows[:500], None)
        found[f"{name}, label-free"] = (abstain.label_free(rows).to_dict(), rows[:500], None)
    rows, labels = simulated(3000, 8)
    probabilities = np.exp(rows - rows.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    probabilities[:, 3][probabilities[:, 3] < 0.01] = 0
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    tuned = abstain.tune(probabilities, labels, input="probabilities", methods="Stack")
    found["probabilities"] = (tuned.estimator.to_dict(), probabilities, None)
    masked = rows.copy()
    masked[np.arange(len(rows)), (labels + 1) % 8] = -np.inf
    tuned = abstain.tune(masked, labels, input="masked", methods="Stack", fallback="none")
    found["masked"] = (tuned.estimator.to_dict(), masked, None)
    extra = np.random.default_rng(1).normal(size=len(rows)) + (rows.argmax(axis=1) == labels)
    tuned = abstain.tune(rows, labels, methods="Stack", extra=extra, fallback="none")
    found["extra"] = (tuned.estimator.to_dict(), rows, extra)
    return found


def test_fitted_stacks_agree(document: Any) -> None:
    seen = set()
    for name, (given, rows, extra) in stacks().items():
        estimator = given["estimator"]
        assert estimator["method"] in ("Stack", "LabelFree"), name
        seen |= {"class_offsets"} & set(estimator)
        seen |= {term["estimator"]["method"] for term in estimator["terms"]}
        agree(document, given, rows, extra)
        # As the first edition wrote it; offsets may be fewer than classes where these are unknown.
        older = {key: field for key, field in estimator.items() if key != "soft_clip"}
        agree(document, {**given, "estimator": older, "rule": None}, rows, extra)
        if "class_offsets" in estimator:
            few = {**estimator, "class_offsets": estimator["class_offsets"][:2]}
            unknown = {**given, "estimator": few, "classes": None, "rule": None}
            agree(document, unknown, rows, extra)
    assert seen >= {"class_offsets", "Extra", "MSP", "MaxLogit-pNorm", "LogitsMargin-pNorm"}


@pytest.mark.parametrize("method", ["Stack", "LabelFree"])
@pytest.mark.parametrize("soft_clip", [{}, {"soft_clip": 2.0}, {"soft_clip": 0.01}])
def test_stacks_of_every_estimator_agree(
    method: str, soft_clip: dict[str, float], document: Any
) -> None:
    """Terms enter by their value or their confidence, and infinite ones are clipped."""
    masked = np.array(CORPUS["case"][0]["rows"], dtype=float)
    masked[0, 1:] = -np.inf
    for estimator in ESTIMATORS:
        for mean, deviation in [(0.3, 0.7), (-2.0, 1e-3)]:
            term = {"estimator": estimator, "mean": mean, "deviation": deviation, "weight": -1.5}
            stack = {"method": method, "intercept": 0.25, "terms": [term, term], **soft_clip}
            agree(document, artifact(stack, input={"kind": "masked"}), masked)


def test_the_script_prints_what_it_finds(tmp_path: Path) -> None:
    rows = np.array([[4.0, 1.0, 0.5], [2.0, 1.9, 0.0], [0.0, 1.0, 9.0]])
    estimator = abstain.Estimator("MaxLogit-pNorm(p=5)").with_threshold(at=2.0)
    estimator.save(tmp_path / "estimator.json")
    np.save(tmp_path / "rows.npy", rows)
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "estimator.json", tmp_path / "rows.npy"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    header, *lines = done.stdout.splitlines()
    assert header == "prediction,confidence,accept"
    expected = estimator.answers(rows)
    assert expected.accept is not None
    for line, prediction, confidence, accept in zip(lines, *expected, strict=True):
        found = line.split(",")
        assert (found[0], found[2]) == (str(prediction), str(accept).lower())
        assert float(found[1]) == pytest.approx(confidence, rel=1e-9)


def examples() -> dict[str, Any]:
    """What the Python of the document defines."""
    defined: dict[str, Any] = {}
    section = DOCUMENT[DOCUMENT.index("### In numpy") :]
    blocks = re.findall(r"```python\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        exec(compile(code, "<docs/artifact.md>", "exec"), defined)
    return defined


@pytest.mark.parametrize("name", ["fashion-mixup", "imagenet-efficientnet-lite2"])
def test_the_example_of_the_document_agrees(name: str) -> None:
    defined = examples()
    rows, labels, _ = read(DEMO / name)
    rows = rows.astype(np.float64)
    tuned = abstain.tune(rows, labels, methods="Stack", fallback="none").estimator
    stack = tuned.to_dict()["estimator"]
    assert stack["method"] == "Stack"
    found = defined["stack"](rows, stack)
    np.testing.assert_allclose(found, tuned.confidence(rows), rtol=1e-9, atol=1e-9)
    for method in ["MSP", "LogitsMargin"]:
        found = defined["confidence"](rows, method)
        np.testing.assert_allclose(found, abstain.score(method, rows), rtol=1e-9)
    for p in [1, 2, 3.5, 6, 10]:
        for method in ["MaxLogit-pNorm", "LogitsMargin-pNorm"]:
            found = defined["confidence"](rows, method, p)
            expected = abstain.score(f"{method}(p={p})", rows)
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_document_names_every_method() -> None:
    names = {method.split("-")[0] for method, _ in _abstain.methods()}
    assert len(names) == 17
    for name in [*names, "Extra"]:
        assert f"`{name}`" in DOCUMENT, name


def test_confidences_are_rounded_as_the_document_says(document: Any) -> None:
    rng = np.random.default_rng(2)
    spread = rng.normal(size=2000) * 10.0 ** rng.integers(-90, 90, size=2000)
    halfway = (np.arange(1, 200) * 4096 + 2048 + np.float64(1.5).view(np.int64)).view(np.float64)
    extra = np.concatenate([spread, halfway, -halfway, [0.0, -0.0, 1e100, -1e100, 0.1]])
    rows = np.zeros((len(extra), 2))
    expected = abstain.Estimator.from_dict(
        artifact({"method": "Extra"})
    ).confidence(rows, extra=extra)
    assert (expected != extra).sum() > 2000
    for rounded in [document.rounded, examples()["rounded"]]:
        assert rounded(extra).tobytes() == expected.tobytes()


def test_confidences_mostly_agree_to_the_last_bit(document: Any) -> None:
    rows, labels, _ = read(DEMO / "fashion-mixup")
    tuned = abstain.tune(rows, labels, methods="Stack", fallback="none").estimator
    for estimator in [tuned, abstain.Estimator("MSP"), abstain.Estimator("MaxLogit-pNorm", p=4)]:
        found = document.answers(estimator.to_dict(), rows)[1]
        assert (found == estimator.confidence(rows)).mean() > 0.99, estimator
