"""Weights of rows: repeated rows, scikit-learn's numbers, and metadata routing."""

from __future__ import annotations

import json
import inspect
from typing import Any, Callable

import numpy as np
import pytest

import abstain

#: Every function that takes weights, with the arguments beyond confidence and loss.
FUNCTIONS: list[tuple[Callable[..., Any], tuple[float, ...]]] = [
    (abstain.accuracy, ()),
    (abstain.aurc, ()),
    (abstain.e_aurc, ()),
    (abstain.naurc, ()),
    (abstain.auroc, ()),
    (abstain.augrc, ()),
    (abstain.sac, (0.7,)),
    (abstain.coverage_at_risk, (0.3,)),
    (abstain.risk_at_coverage, (0.4,)),
    (abstain.partial_aurc, (0.2, 0.8)),
    (abstain.ece, ()),
    (abstain.reliability, ()),
    (abstain.risk_coverage_curve, ()),
]
functions = pytest.mark.parametrize(
    "function, arguments", FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS]
)


def rows(seed: int = 0, count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Confidences with ties, and losses."""
    rng = np.random.default_rng(seed)
    confidence = rng.integers(0, 50, count) / 50
    return confidence, (rng.random(count) > 0.4 + 0.5 * confidence).astype(float)


def close(found: Any, expected: Any) -> None:
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def test_every_metric_function_is_tested() -> None:
    metrics = {"metric", *(function.__name__ for function, _ in FUNCTIONS)}
    takes = {
        name
        for name in abstain.__all__
        if callable(found := getattr(abstain, name))
        and not inspect.isclass(found)
        and "sample_weight" in inspect.signature(found).parameters
    }
    # Thresholds have tests below.
    assert takes == metrics | {"certify", "threshold"}


@functions
def test_whole_weights_are_repeated_rows(function: Any, arguments: Any) -> None:
    confidence, loss = rows()
    weight = np.random.default_rng(1).integers(0, 5, len(loss))
    found = function(confidence, loss, *arguments, sample_weight=weight)
    close(found, function(np.repeat(confidence, weight), np.repeat(loss, weight), *arguments))


@functions
def test_weights_of_one_change_nothing(function: Any, arguments: Any) -> None:
    confidence, loss = rows(2)
    found = function(confidence, loss, *arguments, sample_weight=np.ones(len(loss)))
    close(found, function(confidence, loss, *arguments))


def test_weighted_metrics_equal_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in range(20):
        confidence, loss = rows(seed)
        weight = np.random.default_rng(seed).exponential(size=len(loss)) ** 3
        weight[:10] = 0
        for scale in (1.0, 1e-6, 1 / weight.sum()):
            how = {"sample_weight": weight * scale}
            expected = metrics.roc_auc_score(loss == 0, confidence, **how)
            assert abstain.auroc(confidence, loss, **how) == pytest.approx(expected, rel=1e-12)
            expected = metrics.accuracy_score(np.zeros(len(loss)), loss, **how)
            assert abstain.accuracy(confidence, loss, **how) == pytest.approx(expected, rel=1e-12)


def test_ece_weighs_the_gap_of_each_bin() -> None:
    confidence, loss = rows(3)
    weight = np.random.default_rng(3).exponential(size=len(loss))
    place = np.clip(np.ceil(confidence * 10 - 1e-9).astype(int) - 1, 0, 9)
    gap = np.bincount(place, weight * (1 - loss - confidence), minlength=10)
    expected = np.abs(gap).sum() / weight.sum()
    found = abstain.ece(confidence, loss, bins=10, sample_weight=weight)
    assert found == pytest.approx(expected, rel=1e-12)


def test_aurc_of_real_weights_against_digamma() -> None:
    digamma = pytest.importorskip("scipy.special").digamma
    rng = np.random.default_rng(4)
    confidence, loss, weight = rng.random(100), rng.random(100), rng.exponential(size=100)
    order = np.argsort(-confidence)
    loss_of, weight_of = loss[order], weight[order]
    upper = np.cumsum(weight_of)
    lower = upper - weight_of
    before = np.cumsum(weight_of * loss_of) - weight_of * loss_of
    slope = digamma(upper + 1) - digamma(lower + 1)
    sums = loss_of * weight_of + (before - loss_of * lower) * slope
    expected = sums.sum() / weight.sum()
    found = abstain.aurc(confidence, loss, sample_weight=weight)
    assert found == pytest.approx(expected, rel=1e-12)


def test_bad_weights_are_refused_with_their_place() -> None:
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(abstain.InputError, match="row 1: weight") as caught:
            abstain.aurc([0.9, 0.8], [0, 1], sample_weight=[1, bad])
        assert caught.value.row == 1 and caught.value.value == pytest.approx(bad, nan_ok=True)
    with pytest.raises(abstain.InputError, match="weights: 1 rows where 2 were expected"):
        abstain.aurc([0.9, 0.8], [0, 1], sample_weight=[1])
    with pytest.raises(abstain.InputError, match="sample_weight: expected one number per row"):
        abstain.aurc([0.9, 0.8], [0, 1], sample_weight=[[1, 2]])
    with pytest.raises(abstain.InputError, match="all 2 weights are 0"):
        abstain.ece([0.9, 0.8], [0, 1], sample_weight=[0, 0])
    with pytest.raises(abstain.InputError, match="takes no weights"):
        abstain.aurc([0.9, 0.8], [0, 1], convention="fd-shifts", sample_weight=[1, 1])


def judged(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences, correct flags and weights of whole numbers."""
    rng = np.random.default_rng(6)
    confidence = rng.uniform(size=count)
    correct = rng.uniform(size=count) < 0.5 + confidence / 2
    return confidence, correct, np.where(correct, 1, 3)


@pytest.mark.parametrize(
    "how", [{"target_accuracy": 0.8}, {"coverage": 0.3}, {"cost_error": 3, "cost_abstain": 1}]
)
def test_thresholds_of_weighted_rows_are_those_of_repeated_rows(how: dict[str, Any]) -> None:
    confidence, correct, weight = judged(500)
    repeated = np.repeat(confidence, weight), np.repeat(correct, weight)
    flags = () if "coverage" in how else (correct,)
    found = abstain.threshold(confidence, *flags, sample_weight=weight, **how)
    expected = abstain.threshold(*repeated[: 1 + len(flags)], **how)
    assert found == expected != abstain.threshold(confidence, *flags, **how)
    assert found.coverage == pytest.approx(expected.coverage, rel=1e-12)
    assert found.rows == 500
    if expected.selective_risk is not None:
        assert found.selective_risk == pytest.approx(expected.selective_risk, rel=1e-12)


def test_certificates_of_weighted_rows_rest_on_a_sample() -> None:
    confidence, correct, weight = judged(2000)
    options: dict[str, Any] = {"target_accuracy": 0.7, "sample_weight": weight, "max_weight": 3}
    found = abstain.certify(confidence, correct, **options)
    assert found.certificate is not None and found.sampled is not None
    assert found.sampled["rows"] == 2000 and found.rows == found.sampled["kept"] < 1500
    assert found._details == abstain.certify(confidence, correct, **options)._details
    assert found._details != abstain.certify(confidence, correct, seed=1, **options)._details
    assert "no weight in it is above 3" in found._details["assumptions"]
    assert abstain.certify(confidence, correct, target_accuracy=0.7).sampled is None


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sample_weight": [1, 2]}, "the largest of these rows is 2, and others may weigh more: give max_weight"),
        ({"sample_weight": [1, 2], "max_weight": 1.5}, "row 1: weight 2 is above the largest"),
        ({"sample_weight": [1, -2], "max_weight": 2}, "row 1: weight -2"),
        ({"sample_weight": [0, 0], "max_weight": 2}, "all 2 weights are 0"),
        ({"sample_weight": [1, 2, 1], "max_weight": 2}, "weights: 3 rows where 2 were expected"),
        ({"max_weight": 2}, "leave out max_weight, or give sample_weight"),
    ],
)
def test_certificates_with_wrong_weights_are_refused(options: Any, message: str) -> None:
    with pytest.raises(abstain.InputError, match=message):
        abstain.certify([0.9, 0.8], [1, 0], target_accuracy=0.5, **options)


def test_weights_count_as_in_the_program(program: Any, tmp_path: Any) -> None:
    confidence, correct, weight = judged(2000)
    lines = [f"{c!r},{int(r)},{w}" for c, r, w in zip(confidence.tolist(), correct, weight)]
    table = tmp_path / "judged.csv"
    table.write_text("\n".join(["confidence,correct,weight", *lines]))
    named = ["--weight-name", "weight", "--json", "-q", "--target-accuracy", "0.7"]
    more = ["--max-weight", "4", "--seed", "5"]
    theirs = json.loads(program("certify", "Confidence", table, *named, *more))
    options: dict[str, Any] = {"target_accuracy": 0.7, "sample_weight": weight}
    ours = abstain.certify(confidence, correct, max_weight=4, seed=5, **options)
    assert ours._details == theirs["artifact"]["rule"]["threshold"]
    assert ours.sampled == theirs["sampled"]
    theirs = json.loads(program("threshold", "Confidence", table, *named))
    ours = abstain.threshold(confidence, correct, **options)
    assert ours._details == theirs["artifact"]["rule"]["threshold"]


def test_weights_that_sum_to_one_are_no_number_of_rows() -> None:
    confidence, loss = rows(5)
    weight = np.full(len(loss), 1 / len(loss))
    with pytest.raises(abstain.UndefinedError, match="scale them to sum to the number of rows"):
        abstain.naurc(confidence, loss, sample_weight=weight)
    scaled = weight * len(weight) / weight.sum()
    found = abstain.naurc(confidence, loss, sample_weight=scaled)
    assert found == pytest.approx(abstain.naurc(confidence, loss), rel=1e-12)


def weighted_digits() -> Any:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y, np.random.default_rng(0).integers(0, 4, len(y))


def test_scorers_take_weights() -> None:
    pytest.importorskip("sklearn")
    from sklearn.naive_bayes import GaussianNB

    from abstain.sklearn import scorer

    X, y, weight = weighted_digits()
    classifier = GaussianNB().fit(X[:900], y[:900])
    X, y, weight = X[900:], y[900:], weight[900:]
    for name in ("AURC", "AUROC", "RiskAtCoverage@0.5"):
        found = scorer(name)(classifier, X, y, sample_weight=weight)
        repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
        assert found == pytest.approx(scorer(name)(classifier, *repeated), rel=1e-12)
        assert found != scorer(name)(classifier, X, y)


def test_scorers_are_routed_weights() -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import GridSearchCV, cross_validate
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from abstain.sklearn import scorer

    X, y, weight = weighted_digits()
    with pytest.raises(RuntimeError, match="metadata routing is not enabled"):
        scorer("AURC").set_score_request(sample_weight=True)
    splits = [(np.arange(900), np.arange(900, len(y))), (np.arange(900, len(y)), np.arange(900))]
    with sklearn.config_context(enable_metadata_routing=True):
        expected = [
            scorer("AURC")(GaussianNB().fit(X[a], y[a]), X[b], y[b], sample_weight=weight[b])
            for a, b in splits
        ]
        classifier = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            GaussianNB(var_smoothing=1e-9).set_fit_request(sample_weight=False),
        )
        plain = GaussianNB().set_fit_request(sample_weight=False)
        weighted = scorer("AURC").set_score_request(sample_weight=True)
        renamed = scorer("AURC").set_score_request(sample_weight="importance")
        for scoring, name in ((weighted, "sample_weight"), (renamed, "importance")):
            found = cross_validate(plain, X, y, cv=splits, scoring=scoring, params={name: weight})
            assert found["test_score"].tolist() == expected
        # Beside a scorer of scikit-learn, in a search, and without a request.
        accuracy = make_scorer(sklearn.metrics.accuracy_score).set_score_request(sample_weight=True)
        both = {"aurc": weighted, "accuracy": accuracy, "plain": scorer("AURC")}
        params = {"sample_weight": weight}
        found = cross_validate(plain, X, y, cv=splits, scoring=both, params=params)
        assert found["test_aurc"].tolist() == expected
        assert found["test_plain"].tolist() != expected
        grid = {"gaussiannb__var_smoothing": [1e-9, 1e-2]}
        search = GridSearchCV(classifier, grid, scoring=weighted, cv=splits, error_score="raise")
        search.fit(X, y, sample_weight=weight)
        assert search.score(X, y, sample_weight=weight) == weighted(
            search.best_estimator_, X, y, sample_weight=weight
        )
