"""Tuning, thresholds, artifacts and evaluations, compared with the program."""

from __future__ import annotations

import copy
import json
import pickle
import re
from inspect import signature
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import simulated

import abstain

Rows = tuple[np.ndarray, np.ndarray]
Program = Callable[..., str]

#: For tests that do not depend on the methods.
FEW = ["MaxLogit-pNorm", "MSP-TS-AURC", "Stack"]


def files(folder: Path, rows: Rows) -> tuple[Path, Path]:
    np.save(folder / "logits.npy", rows[0])
    np.save(folder / "labels.npy", rows[1])
    return folder / "logits.npy", folder / "labels.npy"


@pytest.mark.parametrize(
    "options, arguments",
    [
        ({}, []),
        (
            {"target_accuracy": 0.95, "delta": 0.05, "methods": FEW, "seed": 3},
            "--target-accuracy 0.95 --delta 0.05 --method MaxLogit-pNorm,MSP-TS-AURC,Stack "
            "--seed 3",
        ),
        (
            {"target_risk": 0.1, "holdout": 0.3, "fallback": "paper", "methods": "MaxLogit-pNorm"},
            "--target-risk 0.1 --holdout 0.3 --fallback paper --method MaxLogit-pNorm",
        ),
        (
            {"loss": "top-5", "space": "paper", "methods": ["MSP-pNorm"], "objective": "SAC@0.98",
             "splits": 2, "replicates": 50},
            "--loss top-5 --space paper --method MSP-pNorm --objective SAC@0.98 --splits 2 "
            "--replicates 50",
        ),
        (
            {"target_accuracy": 0.9, "delta": 0.1, "procedure": "sgr", "methods": FEW},
            "--target-accuracy 0.9 --delta 0.1 --procedure sgr "
            "--method MaxLogit-pNorm,MSP-TS-AURC,Stack",
        ),
        (
            {"folds": 3, "max_rows": 700, "methods": FEW, "target_accuracy": 0.9},
            "--folds 3 --max-rows 700 --method MaxLogit-pNorm,MSP-TS-AURC,Stack "
            "--target-accuracy 0.9",
        ),
        (
            {"fallback": "veto=0", "methods": ["HTS", "LabelFree"], "replicates": 50},
            "--fallback veto=0 --method HTS,LabelFree --replicates 50",
        ),
    ],
    ids=["everything", "certified", "risk", "top-5", "sgr", "folds", "veto"],
)
def test_tuning_equals_that_of_the_program(
    options: dict[str, Any],
    arguments: Any,
    imagenet: Rows,
    program: Program,
    tmp_path: Path,
) -> None:
    words = arguments.split() if isinstance(arguments, str) else arguments
    theirs = json.loads(program("tune", *files(tmp_path, imagenet), *words, "--json"))
    ours = abstain.tune(*imagenet, **options)
    assert ours.estimator.to_dict() == theirs["artifact"]
    assert ours.report == theirs["report"]


def test_the_defaults_are_those_of_the_program(program: Program) -> None:
    text = " ".join(program("tune", "--help").split())
    defaults = {key: value.default for key, value in signature(abstain.tune).parameters.items()}
    for name in ("folds", "max_rows", "fallback", "objective", "space", "splits", "seed"):
        option = re.search(rf"--{name.replace('_', '-')} <.*?\[default: (.*?)\]", text)
        assert option is not None and option.group(1) == str(defaults[name]), name
    label_free = signature(abstain.label_free).parameters
    assert label_free["max_rows"].default == defaults["max_rows"]


def test_tuning_on_probabilities_equals_that_of_the_program(
    program: Program, tmp_path: Path
) -> None:
    logits, labels = simulated(3000, 6)
    probabilities = np.exp(logits - logits.max(axis=1, keepdims=True)).astype(np.float32)
    probabilities[probabilities < 1e-6] = 0
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    halves = [(probabilities[:1500], labels[:1500]), (probabilities[1500:], labels[1500:])]
    names = []
    for index, half in enumerate(halves):
        (tmp_path / str(index)).mkdir()
        names.append(files(tmp_path / str(index), half))
    words = ["--probs", "--method", "MaxLogit-pNorm", "--fallback", "none", "--json"]
    theirs = json.loads(program("tune", *names[0], "--test", *names[1], *words))
    ours = abstain.tune(
        *halves[0], test=halves[1], input="probabilities", methods="MaxLogit-pNorm", fallback="none"
    )
    assert ours.estimator.to_dict() == theirs["artifact"]
    assert ours.estimator.to_dict()["input"]["kind"] == "probabilities"


def test_all_rows_tune_and_each_is_measured_out_of_fold(imagenet: Rows) -> None:
    rows = len(imagenet[1])
    report = abstain.tune(*imagenet, methods=FEW).report
    assert (report["tuning_rows"], report["test_rows"], report["folds"]) == (rows, rows, 5)
    interval = report["methods"][1]["gain"]["interval"]
    assert interval["replicates"] is None and interval["low"] < interval["estimate"]
    report = abstain.tune(*imagenet, methods=FEW, max_rows=500, replicates=50).report
    assert (report["rows"], report["tuning_rows"], report["test_rows"]) == (rows, 500, 500)
    assert report["methods"][1]["gain"]["interval"]["replicates"] == 50
    held_out: list[tuple[dict[str, Any], int]] = [
        ({"holdout": 300}, 300),
        ({"splits": 2}, rows // 2),
        ({"target_accuracy": 0.9, "delta": 0.1}, min(rows // 8 + max(rows - 1000, 0) // 6, 1000)),
    ]
    for options, tuning in held_out:
        report = abstain.tune(*imagenet, methods="MaxLogit-pNorm", **options).report
        found = report["tuning_rows"], report["test_rows"], report["folds"]
        assert found == (tuning, rows - tuning, None)


@pytest.mark.parametrize("holdout", [None, 0.5])
def test_tuning_for_a_deployment_equals_that_of_the_program(
    holdout: float | None, fashion: Rows, program: Program, tmp_path: Path
) -> None:
    deployed = 2 * fashion[0][3000:] + np.random.default_rng(0).normal(size=(7000, 10))
    rows = fashion[0][:3000], fashion[1][:3000]
    np.save(tmp_path / "deployed.npy", deployed)
    words: list[Any] = ["--unlabelled", tmp_path / "deployed.npy", "--max-rows", 2000]
    words += [] if holdout is None else ["--holdout", holdout]
    words += ["--method", ",".join(FEW), "--fallback", "none", "--json"]
    theirs = json.loads(program("tune", *files(tmp_path, rows), *words))
    options: dict[str, Any] = {"methods": FEW, "fallback": "none", "holdout": holdout}
    ours = abstain.tune(*rows, unlabelled=deployed, max_rows=2000, **options)
    assert ours.estimator.to_dict() == theirs["artifact"]
    assert ours.report == theirs["report"]
    plain = abstain.tune(*rows, max_rows=2000, **options)
    assert plain.estimator.name == ours.estimator.name == "Stack"
    assert plain.estimator != ours.estimator


def test_an_extra_column_is_one_more_term(fashion: Rows, program: Program, tmp_path: Path) -> None:
    logits, labels = fashion[0][:2000], fashion[1][:2000]
    right = logits.argmax(1) == labels
    extra = 5.0 + 2.0 * right + np.random.default_rng(0).normal(size=2000)
    tuned = abstain.tune(logits[:1000], labels[:1000], extra=extra[:1000], methods="Stack")
    plain = abstain.tune(logits[:1000], labels[:1000], methods="Stack")
    terms = [term["estimator"]["method"] for term in tuned.estimator.to_dict()["estimator"]["terms"]]
    assert "Extra" in terms
    fresh: dict[str, Any] = {"logits": logits[1000:], "labels": labels[1000:]}
    better = tuned.estimator.evaluate(**fresh, extra=extra[1000:])["NAURC"]
    assert better.high < plain.estimator.evaluate(**fresh)["NAURC"].low
    # The same numbers as those of the program, from the same artifact.
    files(tmp_path, (logits[1000:], labels[1000:]))
    np.save(tmp_path / "extra.npy", extra[1000:])
    tuned.estimator.save(tmp_path / "estimator.json")
    scores = program("score", tmp_path / "estimator.json", tmp_path / "logits.npy", "--extra",
                     tmp_path / "extra.npy")
    theirs = np.array([float(line.split(",")[1]) for line in scores.splitlines()[1:]])
    confidence = tuned.estimator.confidence(logits[1000:], extra=extra[1000:])
    assert np.array_equal(confidence, theirs)
    # Every call takes it, and refuses to do without.
    with_threshold = tuned.estimator.with_threshold(fresh["logits"], coverage=0.5, extra=extra[1000:])
    assert (with_threshold.predict(fresh["logits"], extra=extra[1000:]) == -1).sum() == 500
    certified = tuned.estimator.certify(**fresh, target_risk=0.1, extra=extra[1000:])
    assert certified.threshold.basis == "certified"
    for call in (tuned.estimator.confidence, tuned.estimator.answers):
        with pytest.raises(abstain.InputError, match="needs an extra column.*extra"):
            call(logits)
    with pytest.raises(abstain.InputError, match="extra"):
        tuned.estimator.confidence(logits, extra=extra[:5])
    with pytest.raises(abstain.InputError, match="no term for an extra column"):
        plain.estimator.confidence(logits, extra=extra)
    with pytest.raises(abstain.InputError, match="row 3 of the extra column is NaN"):
        tuned.estimator.confidence(logits[:4], extra=[1.0, 2.0, 3.0, float("nan")])
    with pytest.raises(abstain.InputError, match="one set of rows"):
        abstain.tune(logits, labels, extra=extra, unlabelled=logits)


def test_unlabelled_rows_cannot_certify(fashion: Rows) -> None:
    logits, labels = fashion[0][:2000], fashion[1][:2000]
    with pytest.raises(abstain.InputError, match="cannot certify"):
        abstain.tune(logits, labels, unlabelled=logits, target_risk=0.1, delta=0.1, methods="Stack")
    tuned = abstain.tune(logits[:900], labels[:900], unlabelled=logits[900:], methods="Stack")
    with pytest.raises(abstain.InputError, match="was tuned on these rows"):
        tuned.estimator.certify(logits[900:], labels[900:], target_risk=0.1)


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_the_label_free_rule_equals_that_of_the_program(
    kind: str, fashion: Rows, program: Program, tmp_path: Path
) -> None:
    rows, words = fashion[0], ["--max-rows", 3000]
    if kind == "probabilities":
        odds = np.exp(rows.astype(np.float64) - rows.max(axis=1, keepdims=True))
        rows, words = odds / odds.sum(axis=1, keepdims=True), [*words, "--probs"]
        rows[rows < 1e-7] = 0
    logits, _ = files(tmp_path, (rows, fashion[1]))
    theirs = tmp_path / "theirs.json"
    program("tune", logits, "--no-labels", *words, "--output", theirs, "--quiet")
    ours = abstain.label_free(rows, input=kind, max_rows=3000)
    ours.save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == theirs.read_bytes()
    assert ours.name == "LabelFree" and ours.threshold is None and ours.classes == 10
    assert ours.to_dict()["tuning"]["rows"] == 2500
    assert ours != abstain.label_free(rows, input=kind)
    # It is an estimator like any other, but its rows cannot certify it.
    assert pickle.loads(pickle.dumps(ours)) == ours
    loss = abstain.losses(rows, fashion[1], input=kind)
    assert abstain.naurc(ours.confidence(rows), loss) < 0.5
    with pytest.raises(abstain.InputError, match="the estimator was tuned on these rows"):
        ours.certify(rows, fashion[1], target_accuracy=0.9)
    assert ours.certify(rows[:5000], fashion[1][:5000], target_accuracy=0.9).threshold is not None


def test_the_label_free_rule_of_two_classes_is_msp() -> None:
    assert abstain.label_free(simulated(100, 2)[0]).name == "MSP"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_artifacts_are_exchanged_with_the_program_and_score_the_same_bits(
    dtype: Any, imagenet: Rows, program: Program, tmp_path: Path
) -> None:
    rows = (imagenet[0].astype(dtype), imagenet[1])
    paths = files(tmp_path, rows)
    theirs, ours, scores = (tmp_path / name for name in ("theirs.json", "ours.json", "scores.npy"))
    words = ["--target-accuracy", "0.9", "--method", "Stack", "--fallback", "none"]
    program("tune", *paths, *words, "--output", theirs, "--quiet")
    estimator = abstain.load(theirs)
    estimator.save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    program("score", ours, paths[0], "--output", scores, "--values", "--quiet")
    table = np.load(scores)
    answers = estimator.answers(rows[0])
    np.testing.assert_array_equal(answers.confidence, table["confidence"])
    np.testing.assert_array_equal(answers.prediction, table["prediction"])
    np.testing.assert_array_equal(answers.accept, table["accept"])
    value = estimator.confidence(rows[0], values=True)
    np.testing.assert_allclose(value, table["value"], rtol=1e-11)


def test_thresholds_equal_those_of_the_program(
    imagenet: Rows, program: Program, tmp_path: Path
) -> None:
    logits, labels = files(tmp_path, imagenet)
    name = "MaxLogit-pNorm(p=5)"
    cases: list[tuple[dict[str, Any], list[Any]]] = [
        ({"target_accuracy": 0.9}, ["threshold", name, logits, labels, "--target-accuracy", 0.9]),
        ({"target_risk": 0.05}, ["threshold", name, logits, labels, "--target-risk", 0.05]),
        ({"target_risk": 1.5}, ["threshold", name, logits, labels, "--target-risk", 1.5]),
        (
            {"target_accuracy": 0.9, "delta": 0.05},
            ["certify", name, logits, labels, "--target-accuracy", 0.9],
        ),
        (
            {"target_risk": 0.1, "delta": 0.1, "procedure": "sgr", "tried": 3},
            ["certify", name, logits, labels, "--target-risk", 0.1, "--delta", 0.1, "--procedure",
             "sgr", "--tried", 3],
        ),
    ]
    for options, words in cases:
        ours = abstain.Estimator(name).with_threshold(*imagenet, **options)
        assert ours.to_dict() == json.loads(program(*words, "--json"))["artifact"]
    for coverage in (0.4, 1.0):
        ours = abstain.Estimator(name).with_threshold(imagenet[0], coverage=coverage)
        theirs = json.loads(program("threshold", name, logits, "--coverage", coverage, "--json"))["artifact"]
        assert ours.to_dict() == theirs
    ours = abstain.Estimator("MSP").with_threshold(value=0.9)
    assert ours.to_dict() == json.loads(program("threshold", "MSP", "--value", 0.9, "--json"))["artifact"]
    ours = abstain.Estimator("MSP").with_threshold(at=-2.5)
    assert ours.to_dict() == json.loads(program("threshold", "MSP", "--at", -2.5, "--json"))["artifact"]


def test_evaluation_equals_that_of_the_program(
    imagenet: Rows, program: Program, tmp_path: Path
) -> None:
    logits, labels = files(tmp_path, imagenet)
    random = np.random.default_rng(0).random(len(imagenet[1]))
    np.save(tmp_path / "mine.npy", random)
    estimator = abstain.Estimator("MaxLogit-pNorm", p=5).with_threshold(at=2.0)
    estimator.save(tmp_path / "estimator.json")
    words = ["eval", tmp_path / "estimator.json", logits, labels, "--json", "--replicates", 100]
    words += ["--confidence", tmp_path / "mine.npy"]
    theirs = json.loads(program(*words))[0]
    assert theirs.pop("input")["rows"] == theirs["rows"]
    ours = estimator.evaluate(
        *imagenet, replicates=100, confidences={"mine": random}, name="logits"
    )
    assert ours.report == theirs
    assert ours.contenders == ["MaxLogit-pNorm(p=5)", "mine", "MSP"]
    assert ours["naurc"].estimate == abstain.naurc(
        estimator.confidence(imagenet[0]), abstain.losses(*imagenet)
    )
    gain = ours.difference("NAURC")
    assert gain.high < 0 and ours.verdict == "better"
    assert ours.value("NAURC", "mine").estimate > 0.8
    assert ours.at_threshold is not None and 0 < ours.at_threshold["coverage"] < 1
    assert "NAURC" in str(ours) and ours.ece is None
    with pytest.raises(abstain.InputError, match="'SAC@0.5' was not measured"):
        ours["SAC@0.5"]
    with pytest.raises(abstain.InputError, match="no contender is called 'x'"):
        ours.value("NAURC", "x")


def test_requirements_are_checked_as_by_the_program(
    fashion: Rows, program: Program, tmp_path: Path
) -> None:
    logits, labels = files(tmp_path, fashion)
    estimator = abstain.Estimator("MSP").with_threshold(at=2.0)
    estimator.save(tmp_path / "estimator.json")
    assert estimator.evaluate(*fashion).gate is None
    words = ["eval", tmp_path / "estimator.json", logits, labels, "--json", "--fail-if-violated"]
    words += ["--target-risk", 0.5, "--min-coverage", 0.01, "--min-accuracy", 0.5]
    theirs = json.loads(program(*words))[0]
    assert theirs.pop("input")["rows"] == theirs["rows"]
    ours = estimator.evaluate(
        *fashion,
        target_risk=0.5,
        check_target=True,
        min_coverage=0.01,
        min_accuracy=0.5,
        name="logits",
    )
    assert ours.report == theirs
    assert ours.gate is not None and ours.gate["passed"]
    names = [check["check"] for check in ours.gate["checks"]]
    assert names == ["target-risk", "min-coverage", "min-accuracy"]
    failed = estimator.evaluate(*fashion, min_coverage=1.0).gate
    assert failed is not None and not failed["passed"]
    with pytest.raises(abstain.InputError, match="no threshold"):
        abstain.Estimator("MSP").evaluate(*fashion, min_coverage=0.5)


def test_evaluation_of_msp_has_no_verdict(fashion: Rows) -> None:
    loss, random = abstain.losses(*fashion), np.random.default_rng(0).random(len(fashion[1]))
    msp = abstain.Estimator("MSP")
    found = msp.evaluate(*fashion, replicates=20, confidences={"mine": random})
    assert (found.contenders, found.name, found.verdict) == (["mine", "MSP"], "MSP", None)
    assert found["NAURC"].estimate == abstain.naurc(msp.confidence(fashion[0]), loss)
    assert found.ece == pytest.approx(abstain.ece(msp.confidence(fashion[0], values=True), loss))
    assert found.value("NAURC", "mine").estimate == abstain.naurc(random, loss)
    for taken in ("MSP", "MaxLogit"):
        with pytest.raises(abstain.InputError, match=f"the name '{taken}' is taken"):
            abstain.Estimator("MaxLogit").evaluate(*fashion, confidences={taken: random})
    assert msp.evaluate(*fashion, replicates=20, metrics="AURC").metrics == ["AURC"]


def test_a_target_is_taken_from_the_keywords_or_the_threshold(fashion: Rows) -> None:
    msp = abstain.Estimator("MSP")
    assert "SAC@0.9" in msp.evaluate(*fashion, replicates=2, target_accuracy=0.9).metrics
    found = msp.evaluate(*fashion, replicates=2, target_risk=0.03)
    assert "CoverageAtRisk@0.03" in found.metrics
    certified = msp.certify(*fashion, target_accuracy=0.93)
    assert "SAC@0.93" in certified.evaluate(*fashion, replicates=2).metrics


def test_estimators_are_immutable_values(fashion: Rows) -> None:
    msp = abstain.Estimator("MSP")
    accepting = msp.with_threshold(at=1.5)
    assert msp.threshold is None and accepting.threshold == 1.5
    for name in ("threshold", "name", "classes", "other"):
        with pytest.raises(AttributeError):
            setattr(msp, name, 1)
    assert msp == abstain.Estimator("MSP") != accepting
    assert {msp: 1, accepting: 2}[abstain.Estimator("MSP")] == 1
    assert hash(msp.with_threshold(at=1.5)) == hash(accepting)
    assert copy.copy(msp) is msp and copy.deepcopy([msp])[0] is msp
    tuned = abstain.tune(*fashion, methods="MaxLogit-pNorm", fallback="none").estimator
    assert tuned.with_threshold(at=1.0) != tuned and tuned.threshold is None


def test_a_threshold_on_the_test_rows_equals_that_of_tuning(imagenet: Rows) -> None:
    at_once = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    before = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.9, delta=0.1)
    later = before.with_threshold(target_accuracy=0.95, delta=0.05)
    assert before.estimator.threshold != at_once.estimator.threshold
    assert later.estimator == at_once.estimator
    threshold = later.estimator.threshold
    assert threshold is not None and threshold.basis == "certified"
    assert threshold.certificate is not None and threshold.certificate["tried"] == 1
    assert threshold.coverage == threshold.certificate["accepted"] / threshold.certificate["rows"]
    few, many = (
        later.with_threshold(target_accuracy=0.9, delta=0.1, tried=tried).estimator.threshold
        for tried in (2, 20)
    )
    assert few is not None and many is not None and many.coverage < few.coverage
    plain = later.with_threshold(target_accuracy=0.95).estimator.threshold
    assert plain is not None and plain.basis == "risk" and plain.coverage > threshold.coverage
    assert plain.selective_risk is not None and plain.selective_risk <= 0.05


def test_every_view_shows_the_threshold_of_the_result(imagenet: Rows, tmp_path: Path) -> None:
    at_once = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    before = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.9, delta=0.1)
    later = before.with_threshold(target_accuracy=0.95, delta=0.05)
    assert at_once.estimator.name == before.estimator.name
    assert later.report == at_once.report
    assert str(later) == str(at_once) != str(before)
    assert later._repr_html_() == at_once._repr_html_() != before._repr_html_()
    for result, name in [(later, "a.html"), (at_once, "b.html")]:
        result.page(tmp_path / name)
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    plain = later.with_threshold(target_accuracy=0.95)
    assert plain.report["certificate"] is None
    assert "Certified" in later._repr_html_() and "Certified" not in plain._repr_html_()


def test_without_test_rows_nothing_is_certified(fashion: Rows) -> None:
    result = abstain.tune(*fashion, methods=FEW, target_accuracy=0.9)
    later = result.with_threshold(target_accuracy=0.95)
    assert later.estimator == abstain.tune(*fashion, methods=FEW, target_accuracy=0.95).estimator
    hint = "tune with delta, or certify on other rows with Estimator.certify"
    with pytest.raises(abstain.InputError, match=f"every row tuned the estimator; .*: {hint}"):
        result.with_threshold(target_accuracy=0.9, delta=0.05)
    with pytest.raises(abstain.InputError, match="the estimator was tuned on these rows"):
        result.estimator.certify(*fashion, target_accuracy=0.9)


def test_texts_name_test_rows_only_where_there_are_some(fashion: Rows, tmp_path: Path) -> None:
    for options, named in [({}, False), ({"holdout": 0.5}, True)]:
        result = abstain.tune(*fashion, methods=FEW, **options)
        assert ("test rows" in str(result)) is named
        assert ("on the test rows" in result._repr_html_()) is named
        assert ("out of fold" in result._repr_html_()) is not named
        assert "test rows" not in str(result.estimator)


def test_rows_that_the_estimator_has_seen_are_recognised(fashion: Rows) -> None:
    tuning = fashion[0][:5000], fashion[1][:5000]
    test = fashion[0][5000:], fashion[1][5000:]
    result = abstain.tune(*tuning, test=test, methods=FEW, target_accuracy=0.95)
    estimator = result.estimator
    assert "tuned on" in estimator.evaluate(*tuning, replicates=20).notes[0]
    assert "compared with MSP" in estimator.evaluate(*test, replicates=20).notes[0]
    with pytest.raises(abstain.InputError, match="the estimator was tuned on these rows"):
        estimator.certify(*tuning, target_accuracy=0.9)
    certified = estimator.certify(*test, target_accuracy=0.9).threshold
    assert certified is not None and certified.certificate is not None
    assert certified.certificate["tried"] == 2


def test_rows_at_or_above_the_threshold_are_accepted(fashion: Rows) -> None:
    estimator = abstain.tune(*fashion, methods=FEW, target_accuracy=0.95).estimator
    threshold = estimator.threshold
    assert threshold is not None
    prediction, confidence, accept = estimator.answers(fashion[0])
    assert accept is not None
    np.testing.assert_array_equal(accept, confidence >= threshold)
    np.testing.assert_array_equal(prediction, fashion[0].argmax(axis=1))
    predicted = estimator.predict(fashion[0], abstention=-7)
    np.testing.assert_array_equal(predicted == -7, ~accept)
    np.testing.assert_array_equal(predicted[accept], prediction[accept])
    with pytest.raises(abstain.InputError, match="abstention is 3, which is a class"):
        estimator.predict(fashion[0], abstention=3)


def test_scores_by_name_equal_those_of_estimators(fashion: Rows) -> None:
    names = [name for name in abstain.methods() if name not in ("Stack", "LabelFree")]
    values = {
        "p": 3.0, "tau": 0.5, "gamma": 0.5, "T": 1.5, "a": 1.0, "b": -0.5, "w": 0.5, "N": 4, "M": 7,
    }  # fmt: skip
    takes = dict(abstain._abstain.methods())
    for name in names:
        parameters = {key: values[key] for key in takes[name]}
        estimator = abstain.Estimator(name, **parameters)
        score = abstain.score(name, fashion[0][:200], **parameters)
        np.testing.assert_array_equal(score, estimator.confidence(fashion[0][:200]))
        assert abstain.Estimator(estimator.name) == estimator


def test_pickles_keep_estimators_and_thresholds(imagenet: Rows) -> None:
    result = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    estimator = result.estimator
    again = pickle.loads(pickle.dumps(estimator))
    assert again == estimator and again != abstain.Estimator("MSP")
    np.testing.assert_array_equal(again.confidence(imagenet[0]), estimator.confidence(imagenet[0]))
    threshold = pickle.loads(pickle.dumps(estimator.threshold))
    assert threshold == estimator.threshold and threshold.basis == "certified"
    assert copy.copy(result) is result and copy.deepcopy([result])[0] is result
    with pytest.raises(TypeError, match="a TuneResult cannot be pickled; keep its .estimator"):
        pickle.dumps(result)


def test_results_and_estimators_are_shown_as_text_and_html(imagenet: Rows) -> None:
    result = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    assert "risk <= 0.05 with probability 0.95" in repr(result.estimator)
    assert repr(result) == f"TuneResult({result.estimator!r})"
    assert result.verdict in str(result)
    assert "\x1b" not in str(result) + str(result.estimator)
    page = result._repr_html_()
    assert result.verdict in page and "<svg" in page and "Certified" in page
    assert "<pre>" in result.estimator._repr_html_()


def test_tables_are_frames(imagenet: Rows) -> None:
    pandas = pytest.importorskip("pandas")
    result = abstain.tune(*imagenet, methods=FEW)
    table = result.table()
    assert isinstance(table, pandas.DataFrame)
    assert table.method.tolist() == ["MSP", *FEW]
    assert table.method[table.chosen].tolist() == ["Stack"]
    best = table.set_index("method").naurc
    assert best["MaxLogit-pNorm"] < best["MSP"]
    assert (table.naurc_low <= table.naurc).all() and (table.naurc <= table.naurc_high).all()
    assert (table.coverage.between(table.coverage_low, table.coverage_high)).all()
    found = result.estimator.evaluate(*imagenet, replicates=20, metrics=["AURC", "SAC@0.9"])
    table = found.table()
    assert table.metric.unique().tolist() == ["AURC", "SAC@0.9"]
    assert len(found.notes) == 1 and "tuned on some of these" in found.notes[0]


def test_tables_are_lists_without_pandas(imagenet: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    table = abstain.tune(*imagenet, methods="MaxLogit-pNorm").table()
    assert [line["method"] for line in table] == ["MSP", "MaxLogit-pNorm"]
    assert table[1]["parameters"].keys() == {"p"}


def test_plots_show_the_curves_and_the_threshold(
    imagenet: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    result = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    _, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert ax.get_xlabel() == "coverage" and ax.get_ylabel() == "selective risk"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[:2] == ["MSP", "Stack"] and names[3].startswith("certified: ")
    line = ax.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), result.report["before"]["coverage"])
    plt.close("all")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        result.plot()


def test_pages_contain_title_and_class_names(imagenet: Rows, tmp_path: Path) -> None:
    result = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    names = [f"class {index}" for index in range(1000)]
    result.page(tmp_path / "tuning.html", title="EfficientNet <1>", class_names=names)
    page = (tmp_path / "tuning.html").read_text()
    assert "EfficientNet &lt;1&gt;" in page and "class 999" in page
    assert result.verdict in page
    found = result.estimator.evaluate(*imagenet, replicates=20)
    found.page(tmp_path / "evaluation.html", title="again")
    assert "<title>again" in (tmp_path / "evaluation.html").read_text()


def test_cost_matrices_and_losses_per_row(fashion: Rows) -> None:
    logits, labels = fashion[0][:2000], fashion[1][:2000]
    rng = np.random.default_rng(0)
    costs = rng.random((10, 10)) * (1 - np.eye(10))
    options: dict[str, Any] = {"methods": "MaxLogit-pNorm", "replicates": 50}
    by_class = abstain.tune(logits, labels, loss=costs, **options)
    per_row = abstain.losses(logits, labels, loss=costs)
    np.testing.assert_array_equal(per_row, costs[labels, logits.argmax(axis=1)])
    by_row = abstain.tune(logits, labels, loss=per_row, **options)
    assert by_class.report == by_row.report
    kinds = [result.estimator.to_dict()["tuning"]["loss"] for result in (by_class, by_row)]
    assert kinds == ["costs", "per-row"]
    estimator = by_class.estimator
    with pytest.raises(abstain.InputError, match="made for other losses"):
        estimator.evaluate(logits, labels)
    found = estimator.evaluate(logits, labels, loss=costs, replicates=20)
    assert found.report["zero_one"] is False
    with pytest.raises(abstain.InputError, match="only losses of 0 and 1 can be certified"):
        fresh = fashion[0][2000:2500], fashion[1][2000:2500]
        estimator.certify(*fresh, target_accuracy=0.9, loss=costs)
    with pytest.raises(abstain.InputError, match="tuned on these rows, or on many.*give other rows"):
        estimator.certify(logits[:500], labels[:500], target_accuracy=0.9, loss="zero-one")


def test_progress_functions_are_called(fashion: Rows) -> None:
    seen: list[tuple[int, int, str]] = []
    # All methods: steps that are over before the next look are not reported.
    abstain.tune(*fashion, progress=lambda *step: seen.append(step))
    assert seen[0][0] == 0 and seen[-1][2] == "done"
    assert any(task.startswith("tuning") for _, _, task in seen)


def test_progress_bars_are_shown_on_request(
    capfd: pytest.CaptureFixture[str], fashion: Rows
) -> None:
    pytest.importorskip("tqdm")
    abstain.tune(*fashion, methods="MaxLogit-pNorm", progress=False)
    abstain.tune(*fashion, methods="MaxLogit-pNorm")
    assert capfd.readouterr().err == ""
    # A bar appears after a second of work.
    result = abstain.tune(*fashion, replicates=20_000, methods=FEW, progress=True)
    assert "measuring" in capfd.readouterr().err
    result.estimator.evaluate(*fashion, replicates=20_000, progress=True)
    assert "measuring" in capfd.readouterr().err


def test_certificates_hold() -> None:
    """A simulation: at delta = 20 %, at most that share of the draws may break the guarantee."""
    population = simulated(200_000, 4, seed=1)
    msp = abstain.score("MSP", population[0])
    loss = abstain.losses(*population)
    rng = np.random.default_rng(0)
    broken = certified = 0
    for _ in range(150):
        drawn = rng.integers(0, len(loss), 400)
        rows = population[0][drawn], population[1][drawn]
        try:
            estimator = abstain.Estimator("MSP").certify(*rows, target_accuracy=0.92, delta=0.2)
        except abstain.InfeasibleError:
            continue
        certified += 1
        broken += loss[msp >= estimator.threshold].mean() > 0.08
    assert certified > 100
    assert broken <= 0.2 * 150
