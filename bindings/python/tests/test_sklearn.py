"""The classifier and the scorers, compared with scikit-learn's checks and with the package."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from inspect import signature
from typing import Any, Iterator

import numpy as np
import pytest

import abstain

pytest.importorskip("sklearn", minversion="1.6")

import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from abstain.sklearn import SelectiveClassifier, scorer


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """On data this small, threads would spend most of the time waiting."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def digits() -> Any:
    """Training rows, tuning rows, new rows, each with their labels."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X / 16, y, random_state=0, test_size=500)
    X, X_tune, y, y_tune = train_test_split(X, y, random_state=0, test_size=900)
    return X, y, X_tune, y_tune, X_new, y_new


@pytest.fixture(scope="module")
def fitted(digits: Any) -> LogisticRegression:
    return LogisticRegression().fit(digits[0], digits[1])


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:, :4]), y


# The estimator checks of scikit-learn.


@parametrize_with_checks(
    [
        SelectiveClassifier(LogisticRegression(), cv=3),
        SelectiveClassifier(LinearSVC(), cv=3, methods=["MSP", "MaxLogit-pNorm"]),
        SelectiveClassifier(GaussianNB(), cv=3, methods="MSP"),
        SelectiveClassifier(DecisionTreeClassifier(random_state=0), cv=3, methods="MSP"),
    ]
)
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning:sklearn")
def test_estimator_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# Tuning.


def test_prefit_equals_tune_on_the_scores(digits: Any, fitted: Any) -> None:
    _, _, X, y, X_new, _ = digits
    options: dict[str, Any] = {"target_accuracy": 0.97, "delta": 0.1, "seed": 3}
    expected = abstain.tune(fitted.decision_function(X), y, **options).estimator
    for wrapped, cv in [(fitted, "prefit"), (FrozenEstimator(fitted), 5)]:
        found = SelectiveClassifier(wrapped, cv=cv, **options).fit(X, y)
        assert found.estimator_ is wrapped
        assert found.confidence_estimator_ == expected
        assert found.threshold_ == expected.threshold
        assert found.threshold_.basis == "certified"
        logits = fitted.decision_function(X_new)
        assert np.array_equal(found.confidence(X_new), expected.confidence(logits))
        assert np.array_equal(found.predict(X_new), expected.predict(logits))
        assert np.array_equal(found.predict(X_new) != -1, found.accept(X_new))
        assert found.tune_result_.estimator == expected
        assert len(found.tune_result_.table()) > 5


def test_the_defaults_are_those_of_tune() -> None:
    tuning, wrapped = (
        {key: value.default for key, value in signature(function).parameters.items()}
        for function in (abstain.tune, SelectiveClassifier)
    )
    shared = set(tuning) & set(wrapped)
    assert {"methods", "objective", "fallback", "space", "holdout", "seed"} <= shared
    assert {name: wrapped[name] for name in shared} == {name: tuning[name] for name in shared}


def test_cross_validation_equals_tune_on_the_scores_of_the_folds(digits: Any) -> None:
    X, y = digits[2], digits[3]
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    found = SelectiveClassifier(GaussianNB(), cv=folds, target_risk=0.1, holdout=300).fit(X, y)
    scores = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    options: dict[str, Any] = {"target_risk": 0.1, "holdout": 300, "input": "probabilities"}
    expected = abstain.tune(scores, y, **options).estimator
    assert found.response_method_ == "predict_proba"
    assert found.confidence_estimator_ == expected
    # The classifier that predicts is fitted on all rows.
    everything = GaussianNB().fit(X, y)
    assert np.array_equal(found.predict_proba(X), everything.predict_proba(X))
    assert found.score(X, y) == everything.score(X, y)


def test_without_a_target_it_never_abstains(digits: Any) -> None:
    X, y, _, _, X_new, y_new = digits
    found = SelectiveClassifier(GaussianNB(), methods="MSP").fit(X, y)
    assert found.threshold_ is None
    assert np.array_equal(found.predict(X_new), GaussianNB().fit(X, y).predict(X_new))
    assert found.accept(X_new).all()
    assert found.score(X_new, y_new) == np.mean(found.predict(X_new) == y_new)


def test_the_target_is_met_on_new_rows(digits: Any) -> None:
    X, y, X_tune, y_tune, X_new, y_new = digits
    found = SelectiveClassifier(GaussianNB(), cv=3, target_accuracy=0.9)
    found.fit(np.r_[X, X_tune], np.r_[y, y_tune])
    accept = found.accept(X_new)
    right = found.estimator_.predict(X_new) == y_new
    assert right.mean() < 0.87 < right[accept].mean()
    assert 0.5 < accept.mean() < 1
    # An abstention does not count as an error.
    assert found.score(X_new, y_new) == right.mean()


def test_certificates_hold() -> None:
    centers = [[0, 0], [2, 0], [0, 2]]
    trained = GaussianNB().fit(*make_blobs(300, centers=centers, random_state=0))
    found = SelectiveClassifier(
        FrozenEstimator(trained), methods="MSP", target_accuracy=0.9, delta=0.1
    )
    X_new, y_new = make_blobs(50_000, centers=centers, random_state=1)
    accuracies, coverages = [], []
    for seed in range(100):
        X, y = make_blobs(1000, centers=centers, random_state=2 + seed)
        try:
            found.set_params(seed=seed).fit(X, y)
        except abstain.InfeasibleError:
            continue
        accept = found.accept(X_new)
        accuracies.append(found.score(X_new[accept], y_new[accept]))
        coverages.append(accept.mean())
    assert len(accuracies) > 90
    # Ten misses are expected at most; twenty are practically impossible.
    assert sum(accuracy < 0.9 for accuracy in accuracies) < 20
    assert trained.score(X_new, y_new) < 0.8 and 0.3 < np.mean(coverages) < 0.6


# Responses.


@pytest.mark.parametrize(
    "classifier, expected",
    [
        (LogisticRegression(), "decision_function"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "decision_function"),
        (GradientBoostingClassifier(n_estimators=2), "decision_function"),
        (OneVsRestClassifier(LogisticRegression()), "predict_proba"),
        (RandomForestClassifier(n_estimators=5, random_state=0), "predict_proba"),
        (LinearSVC(), "decision_function"),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_logits_are_preferred(classifier: Any, expected: str, classes: int) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[y < classes, :2], y[y < classes]
    if classes == 2 and isinstance(classifier, OneVsRestClassifier):
        expected = "decision_function"
    found = SelectiveClassifier(classifier, cv=3, methods="MSP").fit(X, y)
    assert found.response_method_ == expected
    assert found.confidence(X).shape == y.shape
    # The same one row at a time.
    each = [found.confidence(X[row : row + 1])[0] for row in range(20)]
    assert np.allclose(each, found.confidence(X)[:20], rtol=1e-12)


def test_responses_of_two_classes_agree(cancer: Any) -> None:
    X, y = cancer
    confidences = []
    for response in ("predict_proba", "decision_function"):
        found = SelectiveClassifier(LogisticRegression(), response_method=response, methods="MSP")
        confidences.append(found.fit(X, y).confidence(X))
    logits = found.decision_function(X)
    assert np.allclose(confidences[1], np.abs(logits), rtol=1e-12)
    assert np.allclose(*confidences, rtol=1e-6)
    assert np.array_equal(found.predict(X), (logits > 0).astype(int))
    probability = found.predict_proba(X).max(axis=1)
    assert np.allclose(found.confidence(X, values=True), probability, rtol=1e-12)


def test_losses_are_those_of_the_predictions(cancer: Any) -> None:
    X, y = cancer
    strict = FixedThresholdClassifier(LogisticRegression(), threshold=0.95)
    found = SelectiveClassifier(strict, cv=3, methods="MSP", target_accuracy=0.93).fit(X, y)
    predictions = found.predict(X)
    accept = found.accept(X)
    unfiltered = strict.fit(X, y).predict(X)
    assert np.array_equal(predictions[accept], unfiltered[accept])
    assert (predictions[~accept] == -1).all()
    # The confidence is that of the answer: the score of the class that is predicted.
    answers = cross_val_predict(strict, X, y, cv=3)
    logits = cross_val_predict(strict, X, y, cv=3, method="decision_function")
    confidence = np.where(answers == 1, logits, -logits)
    assert (confidence < 0).any()
    expected = abstain.threshold(confidence, answers == y, target_accuracy=0.93)
    assert float(found.threshold_) == pytest.approx(float(expected), rel=1e-9)
    assert found.threshold_.accepted == expected.accepted


def test_rows_of_zeros_are_uncertain_and_other_sums_are_refused(digits: Any) -> None:
    X, y, _, _, X_new, _ = digits

    class Silent(GaussianNB):
        def predict_proba(self, X: Any) -> Any:
            found = super().predict_proba(X)
            return np.where(found.max(axis=1, keepdims=True) < 0.99, 0, found)

    found = SelectiveClassifier(Silent(), cv=3, methods="MSP").fit(X, y)
    silent = found.predict_proba(X_new).sum(axis=1) == 0
    confidence = found.confidence(X_new)
    assert silent.any() and confidence[silent].max() < confidence[~silent].min()

    class Odd(GaussianNB):
        def predict_proba(self, X: Any) -> Any:
            return super().predict_proba(X) / 2

    with pytest.raises(abstain.InputError, match="row 0: the probabilities sum to 0.5, not to 1"):
        SelectiveClassifier(Odd(), cv=3).fit(X, y)


def test_unusable_responses_are_refused(digits: Any, fitted: Any) -> None:
    X, y = digits[:2]
    pairs = SVC(decision_function_shape="ovo")
    with pytest.raises(abstain.InputError, match="scores pairs of classes.*_shape='ovr'"):
        SelectiveClassifier(pairs).fit(X, y)
    with pytest.raises(abstain.InputError, match="LinearSVC has no predict_proba"):
        SelectiveClassifier(LinearSVC(), response_method="predict_proba").fit(X, y)
    with pytest.raises(abstain.InputError, match="response_method is 'logits'"):
        SelectiveClassifier(FrozenEstimator(fitted), response_method="logits").fit(X, y)
    with pytest.raises(AttributeError):
        SelectiveClassifier(LinearSVC()).predict_proba
    with pytest.raises(AttributeError):
        SelectiveClassifier(LinearRegression()).fit(X, y)


class _Counting(LogisticRegression):
    """A classifier that counts how often it is fitted."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"target_accuracy": 98}, "target accuracy is 98"),
        ({"target_accuracy": 0.9, "methods": "Stak"}, "Stack"),
    ],
)
def test_what_no_rows_could_mend_is_refused_before_any_fit(
    keywords: dict[str, Any], message: str
) -> None:
    X, y = load_digits(return_X_y=True)
    _Counting.fits = 0
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(_Counting(max_iter=100), **keywords).fit(X[:200], y[:200])
    assert _Counting.fits == 0


# Labels and abstentions.


@pytest.mark.parametrize(
    "names, abstention, dtype, expected",
    [
        ([0, 1, 2], "auto", np.int64, -1),
        (np.array([3, 5, 9], dtype=np.uint8), "auto", np.int16, -1),
        ([1.0, 2.0, 3.0], "auto", np.float64, -1.0),
        (["a", "b", "c"], "auto", np.dtype("<U7"), "abstain"),
        (np.array(["a", "b", "c"], dtype=object), "auto", object, "abstain"),
        ([0, 1, 2], 99, np.int64, 99),
        ([0, 1, 2], float("nan"), np.float64, float("nan")),
        ([0, 1, 2], None, object, None),
        ([0, 1, 2], "ask", object, "ask"),
        (["a", "b", "c"], -1, object, -1),
    ],
)
def test_abstentions_fit_the_type_of_the_classes(
    names: Any, abstention: Any, dtype: Any, expected: Any
) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:, :2], np.asarray(names)[y]
    found = SelectiveClassifier(LogisticRegression(), cv=3, methods="MSP", abstention=abstention)
    found.set_params(target_accuracy=0.9).fit(X, y)
    predictions, accept = found.predict(X), found.accept(X)
    assert 0 < accept.sum() < len(accept)
    assert predictions.dtype == dtype
    assert np.array_equal(predictions[accept], found.estimator_.predict(X)[accept])
    if expected == expected:
        assert all(prediction == expected for prediction in predictions[~accept])
    else:
        assert np.isnan(predictions[~accept]).all()
    # The type is the same if all rows are accepted.
    assert found.predict(X[accept][:1]).dtype == dtype


def test_an_abstention_must_not_be_a_class(cancer: Any) -> None:
    X, y = cancer
    found = SelectiveClassifier(GaussianNB(), cv=3, methods="MSP").fit(X, 2 * y - 1)
    assert set(found.predict(X)) == {-1, 1}
    message = "abstention is -1, which is a class: set abstention= .* such as abstention=0"
    with pytest.raises(abstain.InputError, match=message):
        found.set_params(target_accuracy=0.95).fit(X, 2 * y - 1)
    found.set_params(abstention=0).fit(X, 2 * y - 1)
    assert set(found.predict(X)) == {-1, 0, 1}
    yes = y == 1
    predictions = found.set_params(abstention=None).fit(X, yes).predict(X)
    assert {str(prediction) for prediction in predictions} == {"True", "False", "None"}


# Invalid requests.


def test_delta_needs_a_fitted_classifier(digits: Any) -> None:
    with pytest.raises(ValueError, match="delta needs a fitted classifier.*FrozenEstimator"):
        SelectiveClassifier(GaussianNB(), target_accuracy=0.9, delta=0.1).fit(*digits[:2])


def test_an_infeasible_target_raises_and_keeps_the_earlier_fit(digits: Any, fitted: Any) -> None:
    X, y = digits[2:4]
    frozen = FrozenEstimator(fitted)
    with pytest.raises(abstain.InfeasibleError, match="it takes 29,956 at least"):
        SelectiveClassifier(frozen, target_accuracy=0.9999, delta=0.05).fit(X, y)
    with pytest.raises(abstain.InfeasibleError, match="no threshold reaches the target"):
        SelectiveClassifier(DummyClassifier(), target_accuracy=0.9).fit(X, y)
    # The earlier fit is intact after an error.
    found = SelectiveClassifier(frozen, methods="MSP", target_accuracy=0.9).fit(X, y)
    before = found.predict(X)
    with pytest.raises(abstain.InfeasibleError):
        found.set_params(target_accuracy=0.9999, delta=0.05).fit(X, y)
    assert np.array_equal(found.predict(X), before)


def test_unfitted_classifiers_are_refused(digits: Any) -> None:
    X, y = digits[:2]
    with pytest.raises(NotFittedError):
        SelectiveClassifier(GaussianNB(), cv="prefit").fit(X, y)
    with pytest.raises(NotFittedError):
        SelectiveClassifier(GaussianNB()).predict(X)
    with pytest.raises(abstain.InputError, match="sample_weight: the classifier is already fitted"):
        frozen = FrozenEstimator(GaussianNB().fit(X, y))
        SelectiveClassifier(frozen).fit(X, y, sample_weight=np.ones(len(y)))


def test_invalid_options_are_refused(digits: Any) -> None:
    X, y = digits[:2]
    invalid = [{"methods": "MPS"}, {"objective": "x"}, {"target_accuracy": 2.0}, {"delta": 0.1}]
    for options in invalid:
        with pytest.raises(abstain.InputError):
            SelectiveClassifier(GaussianNB().fit(X, y), cv="prefit", **options).fit(X, y)


# Small and unusual data.


def test_without_errors_all_rows_are_accepted() -> None:
    X, y = make_blobs(60, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    found = SelectiveClassifier(GaussianNB(), target_accuracy=0.95).fit(X, y)
    assert found.confidence_estimator_.name == "MSP"
    assert found.accept(X).all() and np.array_equal(found.predict(X), y)


@pytest.mark.parametrize("rows", [4, 5, 9])
def test_few_rows_are_enough_for_msp(rows: int) -> None:
    X, y = np.arange(rows, dtype=float)[:, None], np.arange(rows) % 2
    frozen = FrozenEstimator(GaussianNB().fit([[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1]))
    found = SelectiveClassifier(frozen).fit(X, y)
    assert found.confidence_estimator_.name == "MSP"
    assert np.isfinite(found.confidence(X)).all()


def test_too_few_rows_are_refused() -> None:
    frozen = FrozenEstimator(GaussianNB().fit([[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1]))
    with pytest.raises(abstain.InputError, match="too few to tune and measure"):
        SelectiveClassifier(frozen).fit([[0.0], [1.0], [0.2]], [0, 1, 0])
    with pytest.raises(abstain.InputError, match="cannot be split"):
        SelectiveClassifier(frozen, holdout=0.5).fit([[0.0]], [0])
    with pytest.raises(ValueError, match="n_splits=5"):
        SelectiveClassifier(GaussianNB()).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_refused() -> None:
    X = np.arange(20, dtype=float)[:, None]
    with pytest.raises(abstain.InputError, match="1 class"):
        SelectiveClassifier(DecisionTreeClassifier()).fit(X, np.zeros(20))
    # All tuning rows may have the same class, but it must be one of the classifier.
    frozen = FrozenEstimator(GaussianNB().fit(X, X[:, 0] > 9))
    assert SelectiveClassifier(frozen).fit(X, np.zeros(20, dtype=bool)).classes_.tolist() == [0, 1]
    with pytest.raises(abstain.InputError, match="label 7 is no class"):
        SelectiveClassifier(frozen).fit(X, np.full(20, 7))


@pytest.mark.filterwarnings("ignore:The least populated class in y has only 1 members")
@pytest.mark.parametrize(
    "classifier", [GaussianNB(), LogisticRegression(), LinearSVC(), DecisionTreeClassifier()]
)
@pytest.mark.parametrize("others", [2, 3])
def test_a_class_may_be_missing_from_a_fold(classifier: Any, others: int) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[y < others, :2], y[y < others]
    y[0] = 5
    found = SelectiveClassifier(classifier, cv=3).fit(X, y)
    assert found.classes_.tolist() == [*range(others), 5]
    assert np.isfinite(found.confidence(X)).all()


# Together with other parts of scikit-learn.


def test_clones_and_pickles_predict_the_same(digits: Any) -> None:
    X, y, _, _, X_new, _ = digits
    found = SelectiveClassifier(GaussianNB(), cv=3, target_accuracy=0.9).fit(X, y)
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.predict(X_new), found.predict(X_new))
    assert again.threshold_ == found.threshold_
    assert hasattr(found, "tune_result_") and not hasattr(again, "tune_result_")
    fresh = clone(found)
    assert fresh.get_params()["target_accuracy"] == 0.9 and not hasattr(fresh, "threshold_")
    assert np.array_equal(fresh.fit(X, y).predict(X_new), found.predict(X_new))
    # A frozen classifier can be cloned and wrapped again.
    assert np.array_equal(clone(FrozenEstimator(found)).predict(X_new), found.predict(X_new))


def test_pipelines_work_inside_and_outside(digits: Any) -> None:
    X, y, _, _, X_new, _ = digits
    options: dict[str, Any] = {"cv": 3, "methods": "MSP", "target_accuracy": 0.97}
    outside = make_pipeline(StandardScaler(), SelectiveClassifier(LogisticRegression(), **options))
    inside = SelectiveClassifier(make_pipeline(StandardScaler(), LogisticRegression()), **options)
    for found in (outside, inside):
        predictions = found.fit(X, y).predict(X_new)
        assert (predictions == -1).any() and found.classes_.tolist() == list(range(10))
    assert inside.n_features_in_ == 64


def test_feature_names_of_frames_are_kept() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    kinds = y.map({0: "barolo", 1: "grignolino", 2: "barbera"})
    found = SelectiveClassifier(GaussianNB(), cv=3, methods="MSP", target_accuracy=0.85)
    predictions = found.fit(X.iloc[:, :2], kinds).predict(X.iloc[:, :2])
    assert found.feature_names_in_.tolist() == ["alcohol", "malic_acid"]
    assert found.n_features_in_ == 2
    assert set(pandas.unique(predictions)) == {"barolo", "grignolino", "barbera", "abstain"}
    assert not hasattr(found.fit(X.to_numpy(), y), "feature_names_in_")


def test_a_search_covers_the_parameters_of_both(digits: Any) -> None:
    X, y = digits[2:4]
    grid = {
        "estimator__var_smoothing": [1e-9, 1e-2],
        "methods": ["MSP", ["MaxLogit-pNorm", "MSP-TS-NLL"]],
    }
    search = GridSearchCV(
        SelectiveClassifier(GaussianNB(), cv=2), grid, scoring=scorer(), cv=2, error_score="raise"
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() < 0
    assert search.best_params_["estimator__var_smoothing"] == 1e-2
    # The score of a search is that of its best estimator.
    assert scorer()(search, X, y) == scorer()(search.best_estimator_, X, y)


def test_fit_parameters_reach_the_classifier(cancer: Any) -> None:
    X, y = cancer
    weight = np.where(y == 1, 5.0, 1.0)
    found = SelectiveClassifier(GaussianNB(), cv=3, methods="MSP")
    expected = GaussianNB().fit(X, y, sample_weight=weight)
    found.fit(X, y, sample_weight=weight)
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))
    folds = cross_val_predict(
        GaussianNB(), X, y, cv=3, params={"sample_weight": weight}, method="predict_proba"
    )
    tuned = abstain.tune(folds, y, methods="MSP", input="probabilities")
    assert found.confidence_estimator_ == tuned.estimator
    with pytest.raises(TypeError, match="unexpected"):
        found.fit(X, y, weights=weight)


def test_metadata_is_routed(cancer: Any) -> None:
    X, y = cancer
    groups = np.arange(len(y)) // 10
    weight = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = GaussianNB().set_fit_request(sample_weight=True)
        found = SelectiveClassifier(classifier, cv=GroupKFold(3), methods="MSP")
        found.set_score_request(sample_weight=True)
        found.fit(X, y, sample_weight=weight, groups=groups)
        with pytest.raises(TypeError, match="unexpected"):
            found.fit(X, y, other=weight)
        cross_val_score(found, X, y, params={"sample_weight": weight, "groups": groups}, cv=2)
    splits = list(GroupKFold(3).split(X, y, groups))
    expected = SelectiveClassifier(GaussianNB(), cv=splits, methods="MSP")
    expected.fit(X, y, sample_weight=weight)
    assert found.confidence_estimator_ == expected.confidence_estimator_


def test_splitters_and_iterables_of_splits_agree(digits: Any) -> None:
    X, y = digits[:2]
    first = SelectiveClassifier(GaussianNB(), cv=KFold(3), methods="MSP").fit(X, y)
    second = SelectiveClassifier(GaussianNB(), cv=list(KFold(3).split(X)), n_jobs=2, methods="MSP")
    with parallel_config(backend="threading"):
        second.fit(X, y)
    assert first.confidence_estimator_ == second.confidence_estimator_
    with pytest.raises(ValueError, match="only works for partitions"):
        SelectiveClassifier(GaussianNB(), cv=TimeSeriesSplit(3)).fit(X, y)


def test_kernels_are_split_on_both_sides(digits: Any) -> None:
    X, y = digits[0][:150], digits[1][:150]
    found = SelectiveClassifier(SVC(kernel="precomputed"), cv=3, methods="MSP").fit(X @ X.T, y)
    expected = SelectiveClassifier(SVC(kernel="linear"), cv=3, methods="MSP").fit(X, y)
    assert np.allclose(found.confidence(X @ X.T), expected.confidence(X))


# Scorers.


METRICS = [
    "AURC",
    "E-AURC",
    "NAURC",
    "AUROC",
    "AUGRC",
    "SAC@0.95",
    "CoverageAtRisk@0.05",
    "RiskAtCoverage@0.5",
    "PartialAURC@0.2..0.8",
    "Accuracy",
]


def test_every_registered_metric_is_tested() -> None:
    names = [name.split("@")[0] for name in abstain.metric_names()]
    assert names == [name.split("@")[0] for name in METRICS]


@pytest.mark.parametrize("name", METRICS)
def test_scorers_equal_the_metrics(digits: Any, name: str) -> None:
    X, y, _, _, X_new, y_new = digits
    classifier = GaussianNB().fit(X, y)
    probabilities = classifier.predict_proba(X_new)
    loss = abstain.losses(probabilities, y_new, input="probabilities")
    for method, parameters in [("MSP", {}), ("MaxLogit-pNorm", {"p": 5})]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "NAURC ignores")
            scoring = scorer(name, method, **parameters)
        confidence = abstain.score(method, probabilities, input="probabilities", **parameters)
        expected = abstain.metric(name, confidence, loss)
        assert abs(scoring(classifier, X_new, y_new)) == expected
    # The ideal confidence scores higher than the worst one.
    if name != "Accuracy":
        sign = -1 if repr(scoring).startswith("neg_") else 1
        ideal, worst = (sign * abstain.metric(name, side * loss, loss) for side in (-1, 1))
        assert ideal > worst
    again = pickle.loads(pickle.dumps(scoring))
    assert again(classifier, X_new, y_new) == scoring(classifier, X_new, y_new)


def test_cross_validated_scores_equal_those_of_a_loop(digits: Any) -> None:
    X, y = digits[2:4]
    scores = cross_val_score(GaussianNB(), X, y, cv=3, scoring=scorer("AURC"))
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        fitted = GaussianNB().fit(X[train], y[train])
        confidence = abstain.score("MSP", fitted.predict_proba(X[test]), input="probabilities")
        expected.append(-abstain.aurc(confidence, fitted.predict(X[test]) != y[test]))
    assert scores.tolist() == expected
    both = {"auroc": scorer("AUROC"), "coverage": scorer("SAC@0.9")}
    found = cross_validate(GaussianNB(), X, y, cv=3, scoring=both)
    assert (found["test_auroc"] > 0.6).all() and (found["test_coverage"] > 0).all()


def test_scorers_use_the_confidence_of_the_estimator(digits: Any) -> None:
    X, y, _, _, X_new, y_new = digits
    found = SelectiveClassifier(
        GaussianNB(), cv=3, methods="MaxLogit-pNorm", fallback="none", target_accuracy=0.8
    ).fit(X, y)
    assert found.confidence_estimator_.name.startswith("MaxLogit-pNorm")
    loss = found.estimator_.predict(X_new) != y_new
    expected = -abstain.aurc(found.confidence(X_new), loss)
    assert scorer()(found, X_new, y_new) == expected
    assert scorer()(FrozenEstimator(found), X_new, y_new) == expected
    piped = make_pipeline(StandardScaler(with_mean=False), clone(found)).fit(X, y)
    rows = piped[0].transform(X_new)
    loss = piped[-1].estimator_.predict(rows) != y_new
    expected = -abstain.aurc(piped[-1].confidence(rows), loss)
    assert scorer()(piped, X_new, y_new) == expected
    # A method by name is computed from the scores of the wrapped classifier.
    assert scorer("AURC", "MSP")(found, X_new, y_new) == scorer()(found.estimator_, X_new, y_new)


def test_scorers_take_strings_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    kinds = pandas.Series(y).map({0: "x", 1: "y", 2: "z"})
    for classifier in (GaussianNB(), LinearSVC()):
        scores = [
            cross_val_score(classifier, X.iloc[:, :2], labels, scoring=scorer("AUROC"), cv=3)
            for labels in (y, kinds)
        ]
        assert scores[0].tolist() == scores[1].tolist()


def test_undefined_metrics_warn_and_are_nan() -> None:
    X, y = make_blobs(60, centers=[[0, 0], [50, 0]], random_state=0)
    with pytest.warns(UndefinedMetricWarning, match="AUROC is undefined"):
        scores = cross_val_score(GaussianNB(), X, y, scoring=scorer("AUROC"), error_score="raise")
    assert np.isnan(scores).all()
    assert cross_val_score(GaussianNB(), X, y, scoring=scorer()).tolist() == [0] * 5


def test_scorers_have_names_and_check_them() -> None:
    assert repr(scorer()) == "neg_aurc"
    with pytest.warns(UserWarning, match="NAURC ignores the accuracy") as caught:
        assert repr(scorer("NAURC")) == "neg_naurc"
    assert len(caught) == 1 and caught[0].filename == __file__
    assert repr(scorer("AUROC")) == "auroc"
    assert repr(scorer("SAC@0.98", "MSP")) == "sac@0.98(MSP)"
    assert repr(scorer("E-AURC", "MSP-TS", T=2)) == "neg_e-aurc(MSP-TS, T=2)"
    invalid = [(("NAURK",), {}), (("AURC", "MPS"), {}), (("AURC",), {"p": 5})]
    for names, parameters in invalid:
        with pytest.raises(abstain.InputError):
            scorer(*names, **parameters)


def test_import_without_scikit_learn_says_what_is_missing() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; import abstain\n"
        "try: import abstain.sklearn\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "abstain.sklearn needs scikit-learn 1.6 or later" in done.stdout
