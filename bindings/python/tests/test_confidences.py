"""Thresholds on bare columns, by coverage and by costs, and binary classifiers of one number."""

from __future__ import annotations

import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from conftest import simulated

import abstain

LOGITS, LABELS = simulated(1500, 5)
CONFIDENCE = abstain.score("MSP", LOGITS)
CORRECT = LOGITS.argmax(axis=1) == LABELS


def same(found: abstain.Threshold, expected: abstain.Threshold) -> bool:
    """All but the fingerprint, which is that of the confidences or of the logits."""
    details = {key: value for key, value in expected._details.items() if key != "data"}
    assert ("data" in found._details) == ("data" in expected._details)
    return {key: value for key, value in found._details.items() if key != "data"} == {
        **details, **({"loss": found._details["loss"]} if "loss" in details else {})
    }  # fmt: skip


# Bare columns.


@pytest.mark.parametrize("options", [{}, {"procedure": "sgr"}, {"tried": 3}, {"delta": 0.2}])
@pytest.mark.parametrize("target", [{"target_accuracy": 0.9}, {"target_risk": 0.2}])
def test_certificates_of_columns_equal_those_of_estimators(target: Any, options: Any) -> None:
    found = abstain.certify(CONFIDENCE, CORRECT, **target, **options)
    expected = abstain.Estimator("MSP").certify(LOGITS, LABELS, **target, **options).threshold
    assert expected is not None and same(found, expected)
    assert found.basis == "certified"
    assert (CONFIDENCE >= found).sum() >= found.accepted > 0
    for column in (CORRECT.astype(int), CORRECT.astype(float).tolist()):
        assert abstain.certify(CONFIDENCE, column, **target, **options) == found
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_thresholds_of_columns_equal_those_of_estimators() -> None:
    msp = abstain.Estimator("MSP")
    found = abstain.threshold(CONFIDENCE, CORRECT, target_accuracy=0.9)
    expected = msp.with_threshold(LOGITS, LABELS, target_accuracy=0.9).threshold
    assert expected is not None and same(found, expected) and found.basis == "risk"
    covering = abstain.threshold(CONFIDENCE, coverage=0.25)
    expected = msp.with_threshold(LOGITS, coverage=0.25).threshold
    assert expected is not None and same(covering, expected)
    assert (CONFIDENCE >= covering).mean() == 0.25
    cheapest = abstain.threshold(CONFIDENCE, CORRECT, cost_error=4, cost_abstain=1)
    expected = msp.with_threshold(LOGITS, LABELS, cost_error=4, cost_abstain=1).threshold
    assert expected is not None and same(cheapest, expected)


def test_certificates_of_columns_hold() -> None:
    rng = np.random.default_rng(3)
    broken = issued = 0
    for _ in range(300):
        confidence = rng.uniform(size=400)
        correct = rng.uniform(size=400) < confidence
        try:
            at = abstain.certify(confidence, correct, target_accuracy=0.85, delta=0.1)
        except abstain.InfeasibleError:
            continue
        issued += 1
        # The accuracy above a threshold is the mean of a uniform variable there.
        broken += (1 + at) / 2 < 0.85
    assert issued > 150
    # At most 30 in expectation; 50 are practically impossible.
    assert broken < 50


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: abstain.certify([0.1, 0.2], [1, 0.5], target_accuracy=0.9), "row 1: 0.5 is not 1"),
        (lambda: abstain.certify([0.1, 0.2], [1, -1], target_accuracy=0.9), "row 1: -1 is not 1"),
        (lambda: abstain.certify([0.1], [1, 0], target_accuracy=0.9), "losses: 2 rows where 1"),
        (lambda: abstain.certify([0.1], [1]), "give target_accuracy or target_risk"),
        (lambda: abstain.threshold([0.1], [1]), "give a target, coverage, or cost_error and"),
        (lambda: abstain.threshold([0.1], target_accuracy=0.9), "need correct: 1 where"),
        (lambda: abstain.threshold([0.1], [1], coverage=0.5), "correct cannot be combined with"),
        (lambda: abstain.threshold([0.1], [1], cost_error=1), "give both cost_error and cost_abst"),
        (
            lambda: abstain.threshold([0.1], [1], cost_error=0, cost_abstain=1),
            "cost_error .* above 0",
        ),
    ],
)
def test_columns_that_are_none_are_refused(call: Any, message: str) -> None:
    with pytest.raises(abstain.InputError, match=message):
        call()


# Coverage and costs.


def test_costs_are_the_lowest_of_all_thresholds() -> None:
    for error, abstention in [(1, 1), (3, 1), (10, 1), (1, 3), (1000, 1)]:
        found = abstain.threshold(CONFIDENCE, CORRECT, cost_error=error, cost_abstain=abstention)

        def cost(at: float) -> float:
            accept = CONFIDENCE >= at
            return float(error * (accept & ~CORRECT).sum() + abstention * (~accept).sum())

        assert cost(found) == min(map(cost, [*CONFIDENCE, math.inf]))
        assert found.basis == "cost"
        assert found.accepted == (CONFIDENCE >= found).sum()
        assert found.selective_risk is None or found.selective_risk <= abstention / error
    nothing = abstain.threshold([0.9, 0.8], [0, 0], cost_error=5, cost_abstain=1)
    assert nothing == math.inf and nothing.accepted == 0 and nothing.selective_risk is None


def test_results_of_tune_take_a_coverage_and_costs() -> None:
    result = abstain.tune(LOGITS, LABELS, methods="MaxLogit-pNorm", target_accuracy=0.9)
    covering = result.with_threshold(coverage=0.3)
    assert covering.estimator.threshold is not None
    assert covering.estimator.threshold.basis == "coverage"
    assert covering.estimator.threshold.coverage == 0.3
    assert covering.estimator.name == result.estimator.name
    cheapest = result.with_threshold(cost_error=5, cost_abstain=1).estimator.threshold
    assert cheapest is not None and cheapest.basis == "cost" and 0 < cheapest.coverage < 1
    assert "cost least" in str(result.with_threshold(cost_error=5, cost_abstain=1).estimator)
    # A certificate belongs to its threshold.
    certified = abstain.tune(
        LOGITS, LABELS, methods="MSP", target_accuracy=0.8, delta=0.1
    ).with_threshold(coverage=0.5)
    assert certified.report["certificate"] is None and "Certified" not in str(certified)
    with pytest.raises(abstain.InputError, match="TuneResult.with_threshold uses the rows"):
        result.estimator.with_threshold(coverage=0.5)
    with pytest.raises(abstain.InputError, match="delta cannot be combined with coverage"):
        result.with_threshold(coverage=0.5, delta=0.1)
    with pytest.raises(abstain.InputError, match="target_risk cannot be combined with costs"):
        result.with_threshold(cost_error=1, cost_abstain=1, target_risk=0.1)


# Binary classifiers that give one number.


def binary() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 900)
    return rng.normal(size=900) + 4 * labels - 2, labels


def test_one_number_equals_two_columns() -> None:
    logit, labels = binary()
    probability = 1 / (1 + np.exp(-logit))
    both = np.column_stack([1 - probability, probability])
    options: dict[str, Any] = {"methods": "MSP", "target_accuracy": 0.9, "delta": 0.1}
    expected = abstain.tune(both, labels, input="probabilities", **options).estimator
    for column in (probability, probability[:, None], probability.tolist()):
        found = abstain.tune(column, labels, input="binary-probability", **options).estimator
        assert found.threshold == expected.threshold
        assert np.array_equal(found.confidence(column), expected.confidence(both))
        assert np.array_equal(found.predict(column), expected.predict(both))
        assert found.classes == 2
        again = found.certify(column[100:], labels[100:], target_accuracy=0.9, delta=0.1)
        assert again.threshold == expected.certify(
            both[100:], labels[100:], target_accuracy=0.9, delta=0.1
        ).threshold  # fmt: skip
        report = found.evaluate(column, labels).report
        assert report["metrics"] == expected.evaluate(both, labels).report["metrics"]
    logits = abstain.tune(logit, labels, input="binary-logit", **options).estimator
    assert np.allclose(logits.confidence(logit), np.abs(logit), rtol=1e-9)
    assert np.array_equal(logits.answers(logit).prediction, (logit > 0).astype(int))
    assert np.allclose(logits.confidence(logit), expected.confidence(both), rtol=1e-6)
    assert abstain.predictions([0.2, 0.7], input="binary-probability").tolist() == [0, 1]
    assert abstain.losses([0.2, 0.7], [0, 0], input="binary-probability").tolist() == [0, 1]
    mean = abstain.nll([0.25, 0.5], [0, 1], input="binary-probability")
    assert mean == pytest.approx(-(math.log(0.75) + math.log(0.5)) / 2)
    texts = np.array(["no", "yes"])[labels]
    named = abstain.tune(probability, texts, input="binary-probability", **options).estimator
    assert named.class_names == ["no", "yes"] and named.threshold == expected.threshold


def test_one_number_equals_the_columns_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.make_classification(2000, flip_y=0.1, class_sep=1.0, random_state=0)
    classifier = linear_model.LogisticRegression().fit(X[:1000], y[:1000])
    both = classifier.predict_proba(X[1000:])
    options: dict[str, Any] = {"methods": "MSP", "target_accuracy": 0.85, "delta": 0.1}
    expected = abstain.tune(both, y[1000:], input="probabilities", **options).estimator
    found = abstain.tune(both[:, 1], y[1000:], input="binary-probability", **options).estimator
    answers = found.answers(both[:, 1])
    assert np.array_equal(answers.prediction, classifier.predict(X[1000:]))
    # 1 − p of one column differs from the other column in the last bits.
    assert np.allclose(answers.confidence, expected.confidence(both), rtol=1e-9)
    assert found.threshold is not None and expected.threshold is not None
    assert found.threshold.certificate is not None and expected.threshold.certificate is not None
    ours, theirs = dict(found.threshold.certificate), dict(expected.threshold.certificate)
    assert ours.pop("threshold") == pytest.approx(theirs.pop("threshold"), rel=1e-9)
    assert ours == theirs
    logit = classifier.decision_function(X[1000:])
    assert np.allclose(
        abstain.score("MSP", logit, input="binary-logit"), answers.confidence, rtol=1e-6
    )


def test_one_number_is_refused_where_it_is_none() -> None:
    invalid: list[tuple[Any, dict[str, Any], str]] = [
        ([0.5, 1.5], {"input": "binary-probability"}, "row 1, column 0: 1.5 is not a probability"),
        ([0.5, np.nan], {"input": "binary-logit"}, "row 1, column 0: logit NaN"),
        (np.ones((2, 2)), {"input": "binary-logit"}, "expected one number per row"),
        ([0.5, 0.6], {}, 'input="binary-probability"'),
        ([0.5, 0.6], {"input": "confidence"}, "abstain.certify and abstain.threshold take"),
    ]
    for rows, options, message in invalid:
        with pytest.raises(abstain.InputError, match=re.escape(message)):
            abstain.score("MSP", rows, **options)
    with pytest.raises(abstain.InputError, match="needs a floor"):
        abstain.Estimator("MSP", input="binary-probability")
    bare = abstain.Estimator("MSP", input="binary-probability", floor=1e-6)
    bare = bare.with_threshold(value=0.8)
    assert bare.predict([0.9, 0.6, 0.1]).tolist() == [1, -1, 0]


# Small things.


def test_an_empty_batch_gives_empty_answers() -> None:
    estimator = abstain.tune(LOGITS, LABELS, methods="MSP", target_accuracy=0.8).estimator
    empty = np.empty((0, 5), dtype=np.float32)
    assert estimator.confidence(empty).shape == (0,)
    prediction, confidence, accept = estimator.answers(empty)
    assert accept is not None
    assert (prediction.dtype, confidence.dtype, accept.dtype) == (np.int64, np.float64, bool)
    assert len(prediction) == len(confidence) == len(accept) == 0
    assert estimator.predict(empty).shape == (0,)
    without = abstain.Estimator("MSP").answers(empty)
    assert without.accept is None
    for input in ("logits", "probabilities"):
        assert abstain.score("MSP", empty, input=input).shape == (0,)
        assert abstain.predictions(empty, input=input).shape == (0,)
    assert abstain.score("MSP", [], input="binary-probability").shape == (0,)
    with pytest.raises(abstain.InputError, match="4 classes, but the estimator was tuned on 5"):
        estimator.confidence(np.empty((0, 4)))
    for refused in (
        lambda: abstain.tune(empty, []),
        lambda: abstain.label_free(empty),
        lambda: estimator.with_threshold(empty, coverage=0.5),
        lambda: estimator.evaluate(empty, []),
    ):
        with pytest.raises(abstain.InputError, match="there are no rows"):
            refused()


def test_swapped_arguments_of_metrics_are_noticed() -> None:
    loss = (~CORRECT).astype(float)
    probability = abstain.score("MSP", LOGITS, values=True)
    for first in (loss, ~CORRECT, loss.astype(int)):
        for function in (abstain.aurc, abstain.auroc, abstain.naurc):
            with pytest.raises(abstain.InputError, match="the arguments look swapped"):
                function(first, probability)
    # Valid: graded losses, losses of 0 and 1, a constant confidence, one that accepts or not.
    graded = np.linspace(0, 3, 1500)
    assert abstain.aurc(probability, graded) > 0
    assert abstain.aurc(loss, loss) > 0
    assert abstain.aurc(np.ones(1500), graded) == pytest.approx(graded.mean())
    assert abstain.aurc(loss, np.where(graded < 2, 0, graded)) > 0
    assert abstain.aurc(2 * loss, graded) > 0


def test_a_method_without_parameters_certifies_on_all_rows() -> None:
    options: dict[str, Any] = {"target_accuracy": 0.8, "delta": 0.1}
    for methods in ("MSP", ["MSP", "MSP"]):
        result = abstain.tune(LOGITS, LABELS, methods=methods, **options)
        assert (result.report["tuning_rows"], result.report["test_rows"]) == (0, 1500)
        threshold = result.estimator.threshold
        expected = abstain.Estimator("MSP").certify(LOGITS, LABELS, **options).threshold
        assert threshold is not None and expected is not None
        assert threshold.certificate == expected.certificate
        assert "1,500 rows; nothing is tuned" in str(result)
    margin = abstain.tune(LOGITS, LABELS, methods="LogitsMargin", fallback="none", **options)
    assert margin.report["tuning_rows"] == 0 and margin.estimator.name == "LogitsMargin"
    # Where MSP may replace the method, or a parameter is tuned, some rows decide that.
    for methods, fallback in [("LogitsMargin", "veto=2"), ("MSP-TS", "none"), ("Stack", "none")]:
        result = abstain.tune(LOGITS, LABELS, methods=methods, fallback=fallback, **options)
        assert result.report["tuning_rows"] > 0, methods
    held_out = abstain.tune(LOGITS, LABELS, methods="MSP", holdout=100, **options)
    assert held_out.report["tuning_rows"] == 100


def test_few_rows_say_what_they_cannot_show() -> None:
    logits = np.tile([3.0, 0.0, 0.0], (10, 1)) + np.arange(10)[:, None]
    labels = np.zeros(10, dtype=int)
    result = abstain.tune(logits, labels)
    # 0.05 ** (1 / 10): the accuracy at which ten right rows are as likely as 5 %.
    sentence = (
        "10 rows cannot show 99.9 % accuracy: with no error among them the true accuracy may be as "
        "low as 74.1 % (95 % confidence)."
    )
    assert sentence in str(result) and sentence in result._repr_html_()
    assert "cannot show" not in str(abstain.tune(LOGITS, LABELS, methods="MSP"))


def test_certificates_of_graded_losses_name_what_to_do() -> None:
    costs = 2 * (1 - np.eye(5))
    message = 'only losses of 0 and 1 can be certified: leave out delta, or use loss="zero-one"'
    with pytest.raises(abstain.InputError, match=re.escape(message)):
        abstain.tune(LOGITS, LABELS, methods="MSP", loss=costs, target_risk=0.1, delta=0.1)
    with pytest.raises(abstain.InputError, match=re.escape(message)):
        abstain.Estimator("MSP").certify(LOGITS, LABELS, loss=costs, target_risk=0.1)
