"""Tuning, thresholds, artifacts, reports: the same through Python as through the program."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import simulated

import abstain

Rows = tuple[np.ndarray, np.ndarray]
Program = Callable[..., str]

#: A few methods are enough for what does not depend on them.
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
            "--target-accuracy 0.95 --delta 0.05 --method MaxLogit-pNorm,MSP-TS-AURC,Stack --seed 3",
        ),
        (
            {"target_risk": 0.1, "holdout": 0.3, "fallback": "paper", "methods": "MaxLogit-pNorm"},
            "--target-risk 0.1 --holdout 0.3 --fallback paper --method MaxLogit-pNorm",
        ),
        (
            {"loss": "top-5", "space": "paper", "methods": ["MSP-pNorm"], "objective": "SAC@0.98",
             "splits": 2, "bootstrap": 50},
            "--loss top-5 --space paper --method MSP-pNorm --objective SAC@0.98 --splits 2 "
            "--replicates 50",
        ),
        (
            {"target_accuracy": 0.9, "delta": 0.1, "procedure": "sgr", "methods": FEW},
            "--target-accuracy 0.9 --delta 0.1 --procedure sgr "
            "--method MaxLogit-pNorm,MSP-TS-AURC,Stack",
        ),
    ],
    ids=["everything", "certified", "risk", "top-5", "sgr"],
)
def test_tuning_is_the_programs(
    options: dict[str, Any],
    arguments: Any,
    imagenet: Rows,
    program: Program,
    tmp_path: Path,
) -> None:
    words = arguments.split() if isinstance(arguments, str) else arguments
    theirs = json.loads(program("tune", *files(tmp_path, imagenet), *words, "--json"))
    ours = abstain.tune(*imagenet, **options)
    assert ours.to_dict() == theirs["artifact"]
    assert ours.report_ == theirs["report"]


def test_test_rows_and_probabilities_are_the_programs(program: Program, tmp_path: Path) -> None:
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
    assert ours.to_dict() == theirs["artifact"]
    assert ours.to_dict()["input"]["kind"] == "probabilities"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_artifacts_go_both_ways_and_score_to_the_bit(
    dtype: Any, imagenet: Rows, program: Program, tmp_path: Path
) -> None:
    rows = (imagenet[0].astype(dtype), imagenet[1])
    paths = files(tmp_path, rows)
    theirs, ours, scores = (tmp_path / name for name in ("theirs.json", "ours.json", "scores.npy"))
    words = ["--target-accuracy", "0.9", "--method", "Stack", "--fallback", "none"]
    program("tune", *paths, *words, "-o", theirs, "-q")
    estimator = abstain.load(theirs)
    estimator.save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    program("score", ours, paths[0], "-o", scores, "--values", "-q")
    table = np.load(scores)
    answers = estimator.answers(rows[0])
    np.testing.assert_array_equal(answers.confidence, table["confidence"])
    np.testing.assert_array_equal(answers.prediction, table["prediction"])
    np.testing.assert_array_equal(answers.accept, table["accept"])
    value = estimator.confidence(rows[0], values=True)
    np.testing.assert_allclose(value, table["value"], rtol=1e-11)


def test_thresholds_are_the_programs(imagenet: Rows, program: Program, tmp_path: Path) -> None:
    logits, labels = files(tmp_path, imagenet)
    name = "MaxLogit-pNorm(p=5)"
    cases: list[tuple[dict[str, Any], list[Any]]] = [
        ({"accuracy": 0.9}, ["threshold", name, logits, labels, "--accuracy", 0.9]),
        ({"risk": 0.05}, ["threshold", name, logits, labels, "--risk", 0.05]),
        (
            {"accuracy": 0.9, "delta": 0.05},
            ["certify", name, logits, labels, "--target-accuracy", 0.9],
        ),
        (
            {"risk": 0.1, "delta": 0.1, "procedure": "sgr", "tried": 3},
            ["certify", name, logits, labels, "--target-risk", 0.1, "--delta", 0.1, "--procedure",
             "sgr", "--tried", 3],
        ),
    ]
    for options, words in cases:
        ours = abstain.Estimator(name)
        ours.threshold(*imagenet, **options)
        assert ours.to_dict() == json.loads(program(*words, "--json"))
    ours.threshold(imagenet[0], coverage=0.4)
    theirs = json.loads(program("threshold", name, logits, "--coverage", 0.4, "--json"))
    assert ours.to_dict() == theirs
    ours = abstain.Estimator("MSP")
    ours.threshold(value=0.9)
    assert ours.to_dict() == json.loads(program("threshold", "MSP", "--value", 0.9, "--json"))
    ours.threshold(at=-2.5)
    assert ours.to_dict() == json.loads(program("threshold", "MSP", "--at", -2.5, "--json"))


def test_evaluation_is_the_programs(imagenet: Rows, program: Program, tmp_path: Path) -> None:
    logits, labels = files(tmp_path, imagenet)
    own = np.random.default_rng(0).random(len(imagenet[1]))
    np.save(tmp_path / "mine.npy", own)
    estimator = abstain.Estimator("MaxLogit-pNorm", p=5)
    estimator.threshold(at=2.0)
    estimator.save(tmp_path / "estimator.json")
    words = ["eval", tmp_path / "estimator.json", logits, labels, "--json", "--replicates", 100]
    words += ["--confidence", tmp_path / "mine.npy"]
    theirs = json.loads(program(*words))[0]
    ours = estimator.evaluate(
        *imagenet, bootstrap=100, confidences={"mine": own}, name="logits"
    )
    assert ours.report_ == theirs
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


def test_evaluation_of_msp_itself_is_its_own(fashion: Rows) -> None:
    loss, own = abstain.losses(*fashion), np.random.default_rng(0).random(len(fashion[1]))
    msp = abstain.Estimator("MSP")
    found = msp.evaluate(*fashion, bootstrap=20, confidences={"mine": own})
    assert (found.contenders, found.name, found.verdict) == (["mine", "MSP"], "MSP", None)
    assert found["NAURC"].estimate == abstain.naurc(msp.confidence(fashion[0]), loss)
    assert found.ece == pytest.approx(abstain.ece(msp.confidence(fashion[0], values=True), loss))
    assert found.value("NAURC", "mine").estimate == abstain.naurc(own, loss)
    for taken in ("MSP", "MaxLogit"):
        with pytest.raises(abstain.InputError, match=f"the name '{taken}' is taken"):
            abstain.Estimator("MaxLogit").evaluate(*fashion, confidences={taken: own})
    assert msp.evaluate(*fashion, bootstrap=20, metrics="AURC").metrics == ["AURC"]


def test_thresholds_of_the_rows_kept_apart(imagenet: Rows) -> None:
    at_once = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    later = abstain.tune(*imagenet, methods=FEW)
    assert later.threshold_ is None
    threshold = later.threshold(accuracy=0.95, delta=0.05)
    assert later.threshold_ == threshold and threshold.basis == "certified"
    assert later.name == at_once.name
    assert later.to_dict()["threshold"] == at_once.to_dict()["threshold"]
    assert later.certify(accuracy=0.95) == threshold
    assert threshold.certificate is not None and threshold.certificate["tried"] == 2
    assert threshold.coverage == threshold.certificate["accepted"] / threshold.certificate["rows"]
    free = later.threshold(accuracy=0.95)
    assert free.basis == "risk" and free.coverage > threshold.coverage
    assert free.selective_risk is not None and free.selective_risk <= 0.05
    with pytest.raises(abstain.InputError, match="tuned on these very rows"):
        later.certify(*imagenet, accuracy=0.9)


def test_every_view_is_of_the_threshold_that_is_set(imagenet: Rows, tmp_path: Path) -> None:
    estimator = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.9, delta=0.1)
    at_once = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    assert at_once.name == estimator.name
    estimator.certify(accuracy=0.95, delta=0.05)
    # As if it had been asked for in the first place, but for what the choice was made at.
    ours, theirs = estimator.report_, at_once.report_
    assert ours["choice"].pop("decided_at") == {"accuracy": 0.9}
    assert theirs["choice"].pop("decided_at") == {"accuracy": 0.95}
    assert ours == theirs
    assert str(estimator) == str(at_once)
    assert estimator._repr_html_() == at_once._repr_html_()
    for own, name in [(estimator, "a.html"), (at_once, "b.html")]:
        own.report(tmp_path / name)
    made_at = '"decided_at":{{"accuracy":{}}}'.format
    page = (tmp_path / "a.html").read_text().replace(made_at(0.9), made_at(0.95))
    assert page == (tmp_path / "b.html").read_text()
    # One that was not found on those rows is told apart, and nothing is said of a certificate.
    estimator.threshold(at=1.25)
    for view in (str(estimator), estimator._repr_html_()):
        assert "accept a confidence of 1.25 or more" in view
        assert "certified" not in view.lower().replace("not certified", "")
    assert estimator.report_["certificate"] is None
    estimator.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert '"basis":"given"' in page and '"certificate":null' in page
    assert "Certified" not in page


def test_a_choice_says_at_which_target_it_was_made(fashion: Rows) -> None:
    estimator = abstain.tune(*fashion, methods=["MaxLogit-pNorm"], target_accuracy=0.9)
    assert estimator.report_["choice"]["reason"] == "worse-at-target"
    estimator.threshold(accuracy=0.99)
    assert "but at 90 % accuracy MSP keeps more" in str(estimator)


def test_rows_that_were_seen_before_are_told(fashion: Rows) -> None:
    tuning, test = ((own[0][half], own[1][half]) for own, half in
                    ((fashion, slice(0, 5000)), (fashion, slice(5000, None))))
    estimator = abstain.tune(*tuning, test=test, methods=FEW, target_accuracy=0.95)
    assert "tuned on" in estimator.evaluate(*tuning, bootstrap=20).notes[0]
    assert "chosen" in estimator.evaluate(*test, bootstrap=20).notes[0]
    with pytest.raises(abstain.InputError, match="tuned on these very rows"):
        estimator.certify(*tuning, accuracy=0.9)
    assert estimator.certify(*test, accuracy=0.9).certificate["tried"] == 2


def test_what_is_accepted_is_what_the_threshold_says(fashion: Rows) -> None:
    estimator = abstain.tune(*fashion, methods=FEW, target_accuracy=0.95)
    threshold = estimator.threshold_
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


def test_scores_by_name_are_those_of_estimators(fashion: Rows) -> None:
    names = [name for name in abstain.methods() if name != "Stack"]
    numbers = {
        "p": 3.0, "tau": 0.5, "gamma": 0.5, "T": 1.5, "a": 1.0, "b": -0.5, "w": 0.5, "N": 4, "M": 7,
    }  # fmt: skip
    takes = dict(abstain._abstain.methods())
    for name in names:
        own = {key: numbers[key] for key in takes[name]}
        estimator = abstain.Estimator(name, **own)
        score = abstain.score(name, fashion[0][:200], **own)
        np.testing.assert_array_equal(score, estimator.confidence(fashion[0][:200]))
        assert abstain.Estimator(estimator.name) == estimator


def test_repr_copies_and_pickles(imagenet: Rows) -> None:
    estimator = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    again = pickle.loads(pickle.dumps(estimator))
    assert again == estimator and again != abstain.Estimator("MSP")
    np.testing.assert_array_equal(again.confidence(imagenet[0]), estimator.confidence(imagenet[0]))
    for copied in (copy.copy(estimator), copy.deepcopy(estimator)):
        assert copied == estimator and copied.report_ == estimator.report_
        copied.threshold(at=1.0)
        assert estimator.threshold_ != 1.0
    threshold = pickle.loads(pickle.dumps(estimator.threshold_))
    assert threshold == estimator.threshold_ and threshold.basis == "certified"
    assert "risk <= 0.05 with probability 0.95" in repr(estimator)
    assert estimator.verdict_ in str(estimator)
    assert "\x1b" not in str(estimator) + str(again)
    page = estimator._repr_html_()
    assert estimator.verdict_ in page and "<svg" in page and "Certified" in page
    assert "<pre>" in again._repr_html_()


def test_tables(imagenet: Rows) -> None:
    pandas = pytest.importorskip("pandas")
    estimator = abstain.tune(*imagenet, methods=FEW)
    table = estimator.table()
    assert isinstance(table, pandas.DataFrame)
    assert table.method.tolist() == ["MSP", *FEW]
    assert table.method[table.chosen].tolist() == ["Stack"]
    best = table.set_index("method").naurc
    assert best["MaxLogit-pNorm"] < best["MSP"]
    assert (table.naurc_low <= table.naurc).all() and (table.naurc <= table.naurc_high).all()
    found = estimator.evaluate(*imagenet, bootstrap=20, metrics=["AURC", "SAC@0.9"])
    table = found.table()
    assert table.metric.unique().tolist() == ["AURC", "SAC@0.9"]
    assert found.notes == ["the estimator was tuned on some of these very rows"]


def test_tables_without_pandas(imagenet: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    table = abstain.tune(*imagenet, methods="MaxLogit-pNorm").table()
    assert [line["method"] for line in table] == ["MSP", "MaxLogit-pNorm"]
    assert table[1]["numbers"].keys() == {"p"}


def test_plots(imagenet: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    estimator = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    _, ax = plt.subplots()
    assert estimator.plot(ax) is ax
    assert ax.get_xlabel() == "coverage" and ax.get_ylabel() == "selective risk"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[:2] == ["MSP", "Stack"] and names[3].startswith("certified: ")
    line = ax.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), estimator.report_["before"]["coverage"])
    plt.close("all")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        estimator.plot()


def test_pages(imagenet: Rows, tmp_path: Path) -> None:
    estimator = abstain.tune(*imagenet, methods=FEW, target_accuracy=0.95, delta=0.05)
    names = [f"class {index}" for index in range(1000)]
    estimator.report(tmp_path / "tuning.html", title="EfficientNet <1>", class_names=names)
    page = (tmp_path / "tuning.html").read_text()
    assert "EfficientNet &lt;1&gt;" in page and "class 999" in page
    assert estimator.verdict_ in page
    found = estimator.evaluate(*imagenet, bootstrap=20)
    found.report(tmp_path / "evaluation.html", title="again")
    assert "<title>again" in (tmp_path / "evaluation.html").read_text()


def test_losses_of_ones_own(fashion: Rows) -> None:
    logits, labels = fashion[0][:2000], fashion[1][:2000]
    rng = np.random.default_rng(0)
    costs = rng.random((10, 10)) * (1 - np.eye(10))
    by_class = abstain.tune(logits, labels, loss=costs, methods="MaxLogit-pNorm", bootstrap=50)
    own = abstain.losses(logits, labels, loss=costs)
    np.testing.assert_array_equal(own, costs[labels, logits.argmax(axis=1)])
    by_row = abstain.tune(logits, labels, loss=own, methods="MaxLogit-pNorm", bootstrap=50)
    assert by_class.report_ == by_row.report_
    assert by_class.to_dict()["tuning"]["loss"] == "costs by class"
    with pytest.raises(abstain.InputError, match="made for other losses"):
        by_class.evaluate(logits, labels)
    assert by_class.evaluate(logits, labels, loss=costs, bootstrap=20).report_["zero_one"] is False
    with pytest.raises(abstain.UndefinedError, match="neither 0 nor 1"):
        by_class.certify(logits[:500], labels[:500], accuracy=0.9, loss=costs)


def test_progress_is_told(fashion: Rows) -> None:
    seen: list[tuple[int, int, str]] = []
    abstain.tune(*fashion, methods=FEW, progress=lambda *own: seen.append(own))
    assert seen[0][0] == 0 and seen[-1][2] == "done"
    assert any(what.startswith("tuning") for _, _, what in seen)


def test_progress_bars(capfd: pytest.CaptureFixture[str], fashion: Rows) -> None:
    pytest.importorskip("tqdm")
    abstain.tune(*fashion, methods="MaxLogit-pNorm", progress=False)
    abstain.tune(*fashion, methods="MaxLogit-pNorm")
    assert capfd.readouterr().err == ""
    # A bar appears after a second of work.
    estimator = abstain.tune(*fashion, bootstrap=20_000, methods=FEW, progress=True)
    assert "measuring" in capfd.readouterr().err
    estimator.evaluate(*fashion, bootstrap=20_000, progress=True)
    assert "measuring" in capfd.readouterr().err


def test_certificates_hold() -> None:
    """The guarantee, simulated: at delta = 20 % it fails in at most that share of the draws, and is not
    empty."""
    population = simulated(200_000, 4, seed=1)
    msp = abstain.score("MSP", population[0])
    loss = abstain.losses(*population)
    rng = np.random.default_rng(0)
    broken = certified = 0
    for _ in range(150):
        own = rng.integers(0, len(loss), 400)
        estimator = abstain.Estimator("MSP")
        try:
            at = estimator.certify(population[0][own], population[1][own], accuracy=0.92, delta=0.2)
        except abstain.InfeasibleError:
            continue
        certified += 1
        broken += loss[msp >= at].mean() > 0.08
    assert certified > 100
    assert broken <= 0.2 * 150
