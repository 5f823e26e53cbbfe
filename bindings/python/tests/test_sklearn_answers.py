"""Classifiers whose answer is not the class of the largest score; thresholds and reports."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest

import abstain

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from abstain.sklearn import SelectiveClassifier, scorer


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def imbalanced(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One row in eight is positive, with the probability of a logistic regression."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    probability = 1 / (1 + np.exp(2.6 - X @ [1.2, 0.8, -0.5, 0.0]))
    return X, (rng.uniform(size=rows) < probability).astype(int)


class CostSensitive(ClassifierMixin, BaseEstimator):
    """Predicts the class of the lowest expected cost."""

    def __init__(self, costs: Any) -> None:
        self.costs = costs

    def fit(self, X: Any, y: Any) -> CostSensitive:
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.predict_proba(X) @ np.asarray(self.costs)).argmin(axis=1)]


LENIENT = FixedThresholdClassifier(LogisticRegression(), threshold=0.2)
BALANCED = TunedThresholdClassifierCV(LogisticRegression(), scoring="balanced_accuracy")
COSTS = CostSensitive([[0, 1], [4, 0]])


# Answers against the largest score.


@pytest.mark.parametrize("classifier", [LENIENT, BALANCED, COSTS], ids=["fixed", "tuned", "costs"])
@pytest.mark.parametrize("target", [0.9, 0.95])
def test_the_confidence_is_that_of_the_answer(classifier: Any, target: float) -> None:
    found = SelectiveClassifier(classifier, target_accuracy=target).fit(*imbalanced(6000, 0))
    X, y = imbalanced(40_000, 1)
    assert found.answer_confidence_
    probability, answer = found.predict_proba(X), found.estimator_.predict(X)
    given = probability[np.arange(len(X)), answer]
    # Probabilities below all of those that tuned count as the smallest of them.
    usual = probability.min(axis=1) > 0.002
    odds = np.log(given / (1 - given))
    assert np.allclose(found.confidence(X)[usual], odds[usual], rtol=1e-6, atol=1e-9)
    assert np.allclose(found.confidence(X, values=True)[usual], given[usual], rtol=1e-6)
    right, accept = answer == y, found.accept(X)
    assert right.mean() < 0.85
    assert right[accept].mean() > target - 0.01 and accept.mean() > 0.5
    # Rows that are answered 1 at a probability of a fifth to a quarter are mostly wrong.
    doubtful = (answer == 1) & (probability[:, 1] < 0.25)
    assert doubtful.sum() > 1000 and right[doubtful].mean() < 0.3
    assert not accept[doubtful].any()
    # Every row that is accepted is surer than every row that is not.
    assert given[accept].min() >= given[~accept].max() - 1e-9
    evaluation = found.evaluate(X[:4000], y[:4000])
    expected = abstain.aurc(found.confidence(X[:4000]), ~right[:4000])
    assert evaluation["AURC"].estimate == pytest.approx(expected, rel=1e-12)
    assert evaluation.at_threshold is not None
    assert evaluation.at_threshold["accepted"] == accept[:4000].sum()
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.predict(X[:100]), found.predict(X[:100]))


def test_certificates_of_answers_hold() -> None:
    fitted = clone(LENIENT).fit(*imbalanced(3000, 0))
    X_new, y_new = imbalanced(40_000, 1)
    right = fitted.predict(X_new) == y_new
    broken = issued = 0
    for seed in range(60):
        found = SelectiveClassifier(FrozenEstimator(fitted), target_accuracy=0.92, delta=0.1)
        found.fit(*imbalanced(1500, 100 + seed))
        assert found.threshold_.rows == 1500, "nothing is tuned, so that all rows certify"
        issued += 1
        broken += right[found.accept(X_new)].mean() < 0.92
    assert issued == 60
    # Six are expected at most; sixteen are practically impossible.
    assert broken < 16


def test_scorers_measure_the_answer() -> None:
    X, y = imbalanced(4000, 0)
    for classifier in (LENIENT, COSTS):
        fitted = clone(classifier).fit(X, y)
        selective = SelectiveClassifier(FrozenEstimator(fitted)).fit(X, y)
        loss = fitted.predict(X) != y
        expected = abstain.auroc(selective.confidence(X), loss)
        assert scorer("AUROC")(selective, X, y) == expected
        assert scorer("AUROC", "MSP")(fitted, X, y) == pytest.approx(expected, abs=1e-9)
        largest = abstain.score("MSP", fitted.predict_proba(X), input="probabilities")
        assert expected > abstain.auroc(largest, loss) + 0.015
        # Methods that have no confidence of such answers rank them last.
        against = fitted.predict(X) != fitted.predict_proba(X).argmax(axis=1)
        last = np.where(against, -np.inf, largest)
        found = scorer("AUROC", "LogitsMargin")(fitted, X, y)
        assert found == pytest.approx(abstain.auroc(last, loss), abs=1e-9)


def test_methods_that_do_not_apply_to_answers_are_refused() -> None:
    X, y = imbalanced(1000, 0)
    with pytest.raises(abstain.InputError, match="of 1000 rows are answered with another class"):
        SelectiveClassifier(LENIENT, methods=["MaxLogit-pNorm"]).fit(X, y)
    with pytest.raises(abstain.InputError, match="loss is 'top-5', but predictions"):
        SelectiveClassifier(LENIENT, loss="top-5").fit(X, y)


def three(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(rows, centers=[[0, 0], [2, 0], [0, 2]], random_state=seed)


def test_many_answers_against_the_scores_of_three_classes() -> None:
    # To miss class 2 costs much, so that many rows are answered 2 against their largest score.
    costs = np.array([[0, 1, 1], [1, 0, 1], [6, 6, 0]])
    classifier = CostSensitive(costs)
    found = SelectiveClassifier(classifier, target_accuracy=0.85).fit(*three(3000, 0))
    assert found.answer_confidence_
    X, y = three(20_000, 1)
    answer, accept = found.estimator_.predict(X), found.accept(X)
    probability = found.predict_proba(X)
    given = probability[np.arange(len(X)), answer]
    # Probabilities below all of those that tuned count as the smallest of them.
    usual = probability.min(axis=1) > 0.002
    odds = np.log(given / (1 - given))
    assert np.allclose(found.confidence(X)[usual], odds[usual], rtol=1e-6, atol=1e-9)
    assert (answer == y)[accept].mean() > 0.84
    against = answer != probability.argmax(axis=1)
    assert against.mean() > 0.1 and accept[against].mean() < 0.2 * accept.mean()
    # The costs as the loss: those of the answers.
    costly = SelectiveClassifier(classifier, loss=costs, target_risk=0.2).fit(*three(3000, 0))
    assert costs[y, answer][costly.accept(X)].mean() < 0.25 < costs[y, answer].mean()


def test_a_few_answers_against_the_scores_of_three_classes_are_never_accepted() -> None:
    classifier = CostSensitive([[0, 1, 1], [1, 0, 1], [1.15, 1.15, 0]])
    found = SelectiveClassifier(classifier, target_accuracy=0.85).fit(*three(3000, 0))
    assert not found.answer_confidence_
    assert found.confidence_estimator_.name == "Stack"
    X, y = three(20_000, 1)
    answer, accept = found.estimator_.predict(X), found.accept(X)
    against = answer != found.predict_proba(X).argmax(axis=1)
    assert 0 < against.mean() < 0.05
    assert not accept[against].any() and np.isneginf(found.confidence(X)[against]).all()
    assert (found.predict(X)[against] == -1).all()
    assert (answer == y)[accept].mean() > 0.84
    evaluation = found.evaluate(X, y)
    assert evaluation.at_threshold is not None
    assert evaluation.at_threshold["accepted"] == accept.sum()
    expected = abstain.aurc(found.confidence(X), answer != y)
    assert evaluation["AURC"].estimate == pytest.approx(expected, rel=1e-9)
    covering = SelectiveClassifier(classifier, target_coverage=0.5, methods="MSP")
    assert covering.fit(*three(3000, 0)).accept(X).mean() == pytest.approx(0.5, abs=0.02)
    with pytest.raises(abstain.InfeasibleError, match="rows are answered by their largest score"):
        covering.set_params(target_coverage=1.0).fit(*three(3000, 0))


# Scores of pairs of classes.


PAIRS = SVC(decision_function_shape="ovo")


@pytest.mark.parametrize(
    "classifier",
    [
        PAIRS,
        make_pipeline(StandardScaler(), PAIRS),
        GridSearchCV(PAIRS, {"C": [1.0]}, cv=2),
        make_pipeline(make_pipeline(PAIRS)),
    ],
    ids=["plain", "pipeline", "search", "nested"],
)
def test_scores_of_pairs_are_not_scores_of_classes(classifier: Any) -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :2]
    message = "decision_function of .* scores pairs of classes.*decision_function_shape='ovr'"
    for wrapped in (classifier, FrozenEstimator(clone(classifier).fit(X, y))):
        for response in ("auto", "decision_function"):
            found = SelectiveClassifier(wrapped, cv=3, methods="MSP", response_method=response)
            with pytest.raises(abstain.InputError, match=message):
                found.fit(X, y)
    with pytest.raises(abstain.InputError, match=message):
        scorer()(clone(classifier).fit(X, y), X, y)
    # Two classes have one score, and one-versus-rest has one for each class.
    SelectiveClassifier(classifier, cv=3, methods="MSP").fit(X[y < 2], y[y < 2])
    SelectiveClassifier(OneVsRestClassifier(PAIRS), cv=3, methods="MSP").fit(X, y)
    ranked = SVC(decision_function_shape="ovr").fit(*three(500, 0))
    assert scorer("AUROC")(ranked, *three(2000, 1)) > 0.65


def test_probabilities_replace_scores_of_pairs() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :2]
    bagged = BaggingClassifier(PAIRS, n_estimators=3, random_state=0)
    for classifier in (CalibratedClassifierCV(PAIRS, ensemble=False, cv=3), bagged):
        found = SelectiveClassifier(classifier, cv=3, methods="MSP").fit(X, y)
        assert found.response_method_ == "predict_proba"


def test_scores_that_contradict_most_predictions_are_refused() -> None:
    class Reversed(ClassifierMixin, BaseEstimator):
        def fit(self, X: Any, y: Any) -> Reversed:
            self.model_ = LogisticRegression().fit(X, y)
            self.classes_ = self.model_.classes_
            return self

        def decision_function(self, X: Any) -> Any:
            return -self.model_.decision_function(X)

        def predict(self, X: Any) -> Any:
            return self.model_.predict(X)

    with pytest.raises(abstain.InputError, match="does not seem to score the classes"):
        SelectiveClassifier(Reversed(), cv=3).fit(*three(300, 0))


# Scorers and model selection.


def test_a_search_by_the_default_scorer_prefers_the_accurate_model() -> None:
    X, y = make_blobs(600, centers=[[0, 0], [3.5, 0]], random_state=0)
    grid = {"n_estimators": [30], "max_features": [1, None], "max_depth": [1, 8]}
    search = GridSearchCV(RandomForestClassifier(random_state=0), grid, scoring=scorer(), cv=5)
    search.fit(X, y)
    # Also where folds have no errors, every score is a number.
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    guess = DummyClassifier(strategy="prior")
    score = {
        type(model): cross_val_score(model, X, y, scoring=scorer()).mean()
        for model in (guess, GaussianNB())
    }
    assert score[DummyClassifier] < score[GaussianNB]


# Labels and abstentions.


def test_reports_of_scikit_learn_take_predictions_of_booleans() -> None:
    X, y = imbalanced(2000, 0)
    found = SelectiveClassifier(LogisticRegression(), target_accuracy=0.95).fit(X, y == 1)
    predictions = found.predict(X)
    assert predictions.dtype == np.int64 and set(predictions) == {-1, 0, 1}
    accept = found.accept(X)
    expected = (found.estimator_.predict(X) == (y == 1))[accept].mean()
    assert accuracy_score((y == 1)[accept], predictions[accept]) == expected
    assert "accuracy" in classification_report(y == 1, predictions, zero_division=0.0)
    assert confusion_matrix(y == 1, predictions).shape == (3, 3)
    assert found.set_params(target_accuracy=None).fit(X, y == 1).predict(X).dtype == bool
    nan = found.set_params(target_accuracy=0.95, abstention=float("nan")).fit(X, y == 1).predict(X)
    assert nan.dtype == np.float64


# Thresholds.


def test_thresholds_by_coverage_and_by_costs() -> None:
    X, y = three(2000, 0)
    found = SelectiveClassifier(GaussianNB(), methods="MSP", target_coverage=0.6).fit(X, y)
    assert found.threshold_.basis == "coverage" and found.threshold_.coverage == 0.6
    assert found.accept(X).mean() == pytest.approx(0.6, abs=0.02)
    costs = SelectiveClassifier(GaussianNB(), methods="MSP", cost_error=5, cost_abstain=1).fit(X, y)
    assert costs.threshold_.basis == "cost"
    # A calibrated probability of an error is worth an answer below one fifth.
    assert costs.confidence(X, values=True)[costs.accept(X)].min() == pytest.approx(0.8, abs=0.05)
    fitted = FrozenEstimator(GaussianNB().fit(X, y))
    invalid: list[tuple[dict[str, Any], str]] = [
        ({"target_coverage": 0.5, "target_accuracy": 0.9}, "cannot be combined with target_cov"),
        ({"target_coverage": 0.5, "delta": 0.1}, "delta cannot be combined with target_coverage"),
        ({"cost_error": 5}, "give both cost_error and cost_abstain"),
        ({"cost_error": 5, "cost_abstain": 1, "target_risk": 0.1}, "cannot be combined with costs"),
        ({"target_coverage": 1.5}, "coverage"),
        ({"loss": np.ones((2, 2))}, r"loss: expected shape \(3, 3\)"),
        ({"loss": np.ones(2000)}, r"loss: expected shape \(3, 3\)"),
    ]
    for options, message in invalid:
        with pytest.raises(abstain.InputError, match=message):
            SelectiveClassifier(fitted, methods="MSP", **options).fit(X, y)


def test_the_loss_of_a_classifier_is_that_of_tune() -> None:
    X, y = three(1500, 0)
    costs = np.array([[0, 1, 2], [1, 0, 3], [2, 5, 0]])
    fitted = LogisticRegression().fit(*three(500, 1))
    found = SelectiveClassifier(FrozenEstimator(fitted), loss=costs, target_risk=0.2).fit(X, y)
    options: dict[str, Any] = {"loss": costs, "target_risk": 0.2}
    expected = abstain.tune(fitted.decision_function(X), y, **options).estimator
    assert found.confidence_estimator_ == expected
    assert clone(found).fit(X, y).confidence_estimator_ == expected


# Reports.


def test_evaluations_plots_and_pages(tmp_path: Path) -> None:
    X, y = three(1500, 0)
    names = np.array(["ape", "bee", "cow"])[y]
    fitted = FrozenEstimator(LogisticRegression().fit(*three(500, 1)))
    numbers = SelectiveClassifier(fitted, target_accuracy=0.9).fit(X, y)
    X_new, y_new = three(2000, 2)
    evaluation = numbers.evaluate(X_new, y_new, metrics=["AURC"], name="new")
    logits = fitted.decision_function(X_new)
    expected = numbers.confidence_estimator_.evaluate(logits, y_new, metrics=["AURC"], name="new")
    assert evaluation.report == expected.report
    X_train, y_train = three(500, 1)
    named = LogisticRegression().fit(X_train, np.array(["ape", "bee", "cow"])[y_train])
    found = SelectiveClassifier(FrozenEstimator(named), target_accuracy=0.9).fit(X, names)
    assert found.confidence_estimator_.class_names == ["ape", "bee", "cow"]
    found.evaluate(X, names).page(tmp_path / "evaluation.html")
    found.page(tmp_path / "tuning.html", title="blobs")
    for page in ("evaluation.html", "tuning.html"):
        assert "bee" in (tmp_path / page).read_text()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = found.plot()
    assert axes.get_xlabel() == "coverage"
    axes.figure.clear()
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(abstain.InputError, match="pickles do not contain the result of tuning"):
        again.plot()
    assert again.evaluate(X, names).report == found.evaluate(X, names).report


def test_modules_are_imported_on_first_use() -> None:
    code = (
        "import sys, abstain\n"
        "assert 'sklearn' not in sys.modules\n"
        "print(abstain.sklearn.SelectiveClassifier.__name__)\n"
        "try: abstain.keras\n"
        "except AttributeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [
        "SelectiveClassifier",
        "module 'abstain' has no attribute 'keras'",
    ]
    code = (
        "import sys; sys.modules['sklearn'] = sys.modules['torch'] = None; import abstain\n"
        "for name in ('sklearn', 'torch'):\n"
        "    try: getattr(abstain, name)\n"
        "    except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "abstain.sklearn needs scikit-learn" in done.stdout and "torch" in done.stdout


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that predicts by its probabilities, as most do, and counts how often it runs."""

    runs = 0

    def fit(self, X: Any, y: Any) -> Counting:
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        type(self).runs += 1
        return self.inner_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("wrap", ["plain", "frozen", "pipeline", "search"])
def test_a_classifier_runs_once_for_a_prediction_and_its_confidence(wrap: str) -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model: Any = Counting()
    if wrap == "pipeline":
        model = make_pipeline(StandardScaler(), Counting())
    elif wrap == "search":
        model = GridSearchCV(Counting(), {}, cv=2)
    fitted = model.fit(X[:600], y[:600])
    model = FrozenEstimator(fitted) if wrap == "frozen" else fitted
    selective = SelectiveClassifier(model, cv="prefit", target_accuracy=0.95)
    selective.fit(X[600:1200], y[600:1200])
    for method in ("predict", "accept", "confidence"):
        Counting.runs = 0
        found = getattr(selective, method)(X[1200:])
        assert Counting.runs == 1, method
        if method == "predict":
            answered = found != -1
            assert (found[answered] == fitted.predict(X[1200:])[answered]).all()
            assert answered.any() and not answered.all()
    # The classifier is not changed.
    assert "predict_proba" not in vars(fitted)
