"""docs/artifact.schema.json accepts what is written, and refuses what the package refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from conftest import DEMO, PROJECT
from estimators import artifact

import abstain
from abstain import _abstain

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads((PROJECT / "docs" / "artifact.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

#: Parameters that may be left out where an estimator is read, because they have a default.
WITH_DEFAULT = {"tau", "gamma", "M", "T"}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_no_object_has_further_fields() -> None:
    def objects(part: Any) -> Iterator[dict[str, Any]]:
        if isinstance(part, dict):
            if part.get("type") == "object":
                yield part
            for inner in part.values():
                yield from objects(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from objects(inner)

    found = list(objects(SCHEMA))
    assert len(found) > 20
    groups = SCHEMA["$defs"]["rule"]["oneOf"][2]["properties"]["by_group"]
    free = [SCHEMA["$defs"]["model"]["properties"]["metadata"], groups]
    assert all(part in free or part["additionalProperties"] is False for part in found)


def by_hand() -> dict[str, dict[str, Any]]:
    """What no command needs to write."""
    msp, inf = {"method": "MSP"}, {"basis": "given", "at": "inf"}
    in_norm = {"method": "MSP-pNorm", "p": "inf", "tau": 0.5}
    return {
        "bare": artifact(msp),
        "identity": artifact(
            msp,
            classes=2,
            class_names=["cat", "dog"],
            date="2026-11-17",
            model={"name": "net", "version": "2", "metadata": {"owner": "us"}},
        ),
        "infinite": artifact(in_norm, rule={"threshold": inf}),
        "binary-logit": artifact(msp, input={"kind": "binary-logit"}, classes=2),
        "binary-probability": artifact(
            {"method": "MSP-TS", "T": 1.5},
            input={"kind": "binary-probability", "floor": 1e-6, "tolerance": 0.01},
        ),
        "confidence": artifact({"method": "Extra"}, input={"kind": "confidence"}),
        "masked": artifact({"method": "GEN", "gamma": 0.1, "M": 100}, input={"kind": "masked"}),
        "by class": artifact(msp, classes=3, rule={"by_class": [inf, None, inf]}),
        "by group": artifact(msp, rule={"by_group": {"north": inf, "south": None}}),
        "families": artifact({"method": "ETS", "T": 2.0, "w": 0.25}),
    }


@pytest.fixture(scope="module")
def artifacts(
    program: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """Artifacts of every kind: those of the program, and those that are written by hand."""
    folder = tmp_path_factory.mktemp("artifacts")
    rows, labels = (np.load(DEMO / "fashion-mixup" / f"{name}.npy") for name in ("logits", "labels"))
    softmax = np.exp(rows.astype(float)) / np.exp(rows.astype(float)).sum(axis=1, keepdims=True)
    halves = {"tune": slice(0, 4000, 2), "fresh": slice(1, 4000, 2)}
    for name, half in halves.items():
        np.save(folder / f"{name}.npy", rows[half])
        np.save(folder / f"{name}-labels.npy", labels[half])
        np.save(folder / f"{name}-probs.npy", softmax[half].astype(np.float32))
    np.save(folder / "extra.npy", rows[halves["tune"]].max(axis=1).astype(float))

    def files(name: str, kind: str = "") -> list[Path]:
        return [folder / f"{name}{kind}.npy", folder / f"{name}-labels.npy"]

    found: dict[str, dict[str, Any]] = {}

    def run(name: str, *arguments: Any) -> Path:
        path = folder / f"{name}.json"
        program(*arguments, "-q", "-o", path)
        found[name] = json.loads(path.read_text(encoding="utf-8"))
        return path

    target, only = ["--target-accuracy", 0.9], ["--method", "Stack"]
    stack = run("stack", "tune", *files("tune"), *only)
    run("certified by tune", "tune", *files("tune"), *only, *target, "--delta", 0.05)
    run("sgr", "certify", stack, *files("fresh"), *target, "--procedure", "sgr")
    run("certified", "certify", stack, *files("fresh"), *target)
    run("risk", "threshold", stack, *files("fresh"), *target)
    run("coverage", "threshold", stack, folder / "fresh.npy", "--coverage", 0.7)
    run("given", "threshold", stack, "--at", 1.5)
    run("label-free", "tune", folder / "tune.npy", "--no-labels")
    run("unlabelled", "tune", *files("tune"), *only, "--unlabelled", folder / "fresh.npy")
    run("extra", "tune", *files("tune"), *only, "--extra", folder / "extra.npy")
    run("probabilities", "tune", *files("tune", "-probs"), *only, "--probs")
    search = ["--fallback", "cross-validation=5+0.5", "--objective", "SAC@0.95", "--loss", "top-2"]
    run("searched", "tune", *files("tune"), "--method", "MSP-TS-NLL", *search)
    run("paper", "tune", *files("tune"), "--method", "MaxLogit-pNorm", "--fallback", "paper")
    found.update(by_hand())
    fresh = rows[halves["fresh"]], labels[halves["fresh"]]
    # Where every answer is an error, it is best to accept nothing.
    for name, loss in [("cost", "zero-one"), ("nothing is accepted", np.ones(2000))]:
        cheapest = abstain.load(stack).with_threshold(
            *fresh, cost_error=5, cost_abstain=1, loss=loss
        )
        found[name] = cheapest.to_dict()
    assert found["nothing is accepted"]["rule"]["threshold"]["at"] == "inf"
    return found


def test_artifacts_of_every_kind_are_valid(artifacts: dict[str, dict[str, Any]]) -> None:
    for name, artifact in artifacts.items():
        assert not [error.message for error in VALIDATOR.iter_errors(artifact)], name
        # As the package writes it: with the fields that may be null.
        VALIDATOR.validate(abstain.Estimator.from_dict(artifact).to_dict())
    rules = [artifact.get("rule") or {} for artifact in artifacts.values()]
    assert {kind for rule in rules for kind in rule} == {"threshold", "by_class", "by_group"}
    bases = {rule.get("threshold", {}).get("basis") for rule in rules}
    assert bases == {None, "certified", "risk", "coverage", "cost", "given"}
    kinds = {artifact["input"]["kind"] for artifact in artifacts.values()}
    assert len(kinds) == 6
    used = {artifact["estimator"]["method"] for artifact in artifacts.values()}
    assert used >= {"Stack", "LabelFree", "Extra"}
    text = json.dumps(artifacts)
    for field in ["class_offsets", "soft_clip", "pilot", "unlabelled", "measured"]:
        assert f'"{field}": ' in text, field


def test_estimators_of_every_method_are_valid() -> None:
    usual = {"T": 1.5, "p": 4, "tau": 0.5, "gamma": 0.5, "w": 0.5, "a": 1, "b": 0.5, "N": 3, "M": 9}
    for method, names in _abstain.methods():
        if method not in ("Stack", "LabelFree"):
            parameters = {name: usual[name] for name in names}
            written = abstain.Estimator(method, **parameters).to_dict()
            VALIDATOR.validate(written)
            assert set(written["estimator"]) == {"method", *names}


def refused(artifact: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the schema and whether the package refuse it."""
    try:
        abstain.Estimator.from_dict(artifact)
    except abstain.InputError:
        return not VALIDATOR.is_valid(artifact), True
    return not VALIDATOR.is_valid(artifact), False


def objects(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all objects; of lists, those in the first place."""
    if isinstance(part, dict):
        yield path
        for key, inner in part.items():
            yield from objects(inner, (*path, key))
    elif isinstance(part, list) and part:
        yield from objects(part[0], (*path, 0))


def at(artifact: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        artifact = artifact[key]
    return artifact


def test_further_missing_and_wrong_fields_are_refused_by_both(
    artifacts: dict[str, dict[str, Any]],
) -> None:
    checked = 0
    for name, artifact in artifacts.items():
        for path in objects(artifact):
            further = copy.deepcopy(artifact)
            at(further, path)["surprise"] = 1
            assert refused(further) == (True, True), (name, path)
            for field, value in at(artifact, path).items():
                place = (name, path, field)
                missing = copy.deepcopy(artifact)
                del at(missing, path)[field]
                by_schema, by_package = refused(missing)
                if "estimator" in path and field in WITH_DEFAULT:
                    assert by_schema, place
                else:
                    assert by_schema == by_package, place
                wrong = copy.deepcopy(artifact)
                at(wrong, path)[field] = 7.5 if isinstance(value, (str, dict, list)) else "seven"
                if not (field in ("at", "threshold", "p") and isinstance(value, str)):
                    assert refused(wrong) == (True, True), place
                checked += 3
    assert checked > 500


@pytest.mark.parametrize(
    "path, value",
    [
        (("format",), "another"),
        (("version",), 3),
        (("estimator", "method"), "Magic"),
        (("estimator", "terms"), []),
        (("estimator", "soft_clip"), 0),
        (("estimator", "intercept"), 1e101),
        (("estimator", "terms", 0, "deviation"), 0),
        (("estimator", "terms", 0, "estimator", "method"), "Stack"),
        (("estimator",), {"method": "MSP-TS", "T": 0}),
        (("estimator",), {"method": "MaxLogit-pNorm", "p": -1}),
        (("estimator",), {"method": "MaxLogit-pNorm", "p": "-inf"}),
        (("estimator",), {"method": "MaxLogit-TS", "T": 2}),
        (("estimator",), {"method": "MaxLogit-pNorm", "p": 2, "tau": 1}),
        (("estimator",), {"method": "ETS", "T": 1, "w": 1.5}),
        (("estimator",), {"method": "LogitGap", "N": 2.5}),
        (("estimator",), {"method": "GEN", "gamma": 0, "M": 10}),
        (("classes",), 1),
        (("class_names",), ["cat", "cat"]),
        (("input",), {"kind": "votes"}),
        (("input",), {"kind": "logits", "floor": 0.1}),
        (("input",), {"kind": "probabilities", "floor": 0, "tolerance": None}),
        (("input",), {"kind": "probabilities", "floor": 1, "tolerance": None}),
        (("input",), {"kind": "binary-logit"}),
        (("input",), {"kind": "confidence"}),
        (("rule", "threshold", "basis"), "hope"),
        (("rule", "threshold", "at"), "nan"),
        (("rule", "threshold", "certificate", "risk"), 0),
        (("rule", "threshold", "certificate", "delta"), 1),
        (("rule", "threshold", "certificate", "tried"), 0),
        (("rule", "threshold", "certificate", "errors"), -1),
        (("rule", "threshold", "certificate", "procedure"), "luck"),
        (("rule",), {}),
        (("rule",), {"by_class": {}}),
        (("rule",), {"by_group": {"north": 0.5}}),
        (("tuning", "method"), "Magic"),
        (("tuning", "objective"), "Beauty"),
        (("tuning", "fallback"), "never"),
        (("tuning", "rows"), -1),
    ],
)
def test_numbers_and_names_out_of_range_are_refused_by_both(
    path: tuple[Any, ...], value: Any, artifacts: dict[str, dict[str, Any]]
) -> None:
    artifact = copy.deepcopy(artifacts["certified"])
    assert refused(artifact) == (False, False)
    at(artifact, path[:-1])[path[-1]] = value
    assert refused(artifact) == (True, True)


def test_the_example_of_the_document_is_valid() -> None:
    document = (PROJECT / "docs" / "artifact.md").read_text(encoding="utf-8")
    example = json.loads(document.split("```json\n")[1].split("```")[0])
    assert refused(example) == (False, False)
