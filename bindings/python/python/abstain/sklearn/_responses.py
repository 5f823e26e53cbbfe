"""The scores of a fitted classifier, and the confidence of its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags, indexable

from .._types import Input
from ..errors import InputError

_Array = npt.NDArray[Any]
_Floats = npt.NDArray[np.float64]
_RESPONSES = ("predict_proba", "decision_function")


def answered(
    estimator: Any, X: Any, method: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """The response of a fitted classifier, rows × classes, and what it predicts.

    Most classifiers predict by their response. While one predicts, its response to the same rows is
    the one that it gave, so that it runs once.
    """
    estimator, X = _innermost(estimator, X)
    response = np.asarray(getattr(estimator, method)(X))

    def known(rows: Any, *others: Any, **more: Any) -> Any:
        if rows is X and not others and not more:
            return response.copy()
        return getattr(estimator, method)(rows, *others, **more)

    # A stand-in, because other threads may use the classifier.
    stand_in = estimator
    if isinstance(estimator, BaseEstimator):
        stand_in = object.__new__(type(estimator))
        vars(stand_in).update(vars(estimator), **{method: known})
    return _scores(estimator, response, method), np.asarray(stand_in.predict(X))


def _innermost(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The classifier inside frozen ones, searches and pipelines, and the rows as it sees them."""
    if isinstance(estimator, FrozenEstimator):
        return _innermost(estimator.estimator, X)
    if isinstance(estimator, BaseSearchCV):
        return _innermost(estimator.best_estimator_, X)
    if type(estimator) is Pipeline and len(estimator) > 1:
        return _innermost(estimator[-1], estimator[:-1].transform(X))
    return estimator, X


def rows_of(estimator: Any, X: Any, method: str) -> npt.NDArray[np.float64]:
    """The response of a fitted classifier: rows × classes."""
    return _scores(estimator, getattr(estimator, method)(X), method)


def _scores(estimator: Any, response: Any, method: str) -> npt.NDArray[np.float64]:
    scores = np.asarray(response, dtype=np.float64)
    if scores.ndim == 1 and method == "decision_function":
        # The softmax of the two halves is the logistic function of the score. Halves, so that no
        # class is favoured by methods that depend on more than the softmax.
        scores = np.column_stack([-scores / 2, scores / 2])
    if method == "decision_function" and scores_pairs(estimator):
        raise InputError(_pairs_message(estimator))
    if scores.ndim != 2 or scores.shape[1] != len(estimator.classes_):
        classes = f"{len(estimator.classes_)} classes"
        raise InputError(f"{method} returned shape {scores.shape}, but there are {classes}")
    if method == "predict_proba":
        # A row of zeros, as one-versus-rest returns if every class is rejected, prefers no class.
        scores = np.where(scores.any(axis=1, keepdims=True), scores, 1 / scores.shape[1])
    return scores


def scores_pairs(estimator: Any) -> bool:
    """Whether `decision_function` scores pairs of classes: with three of them there are as many."""
    if len(estimator.classes_) < 3:
        return False
    while not hasattr(estimator, "decision_function_shape"):
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
            continue
        if isinstance(estimator, Pipeline):
            estimator = estimator[-1]
            continue
        # Searches, feature selections, bagging: they return what the wrapped classifier returns.
        wrapped = [name for name in ("best_estimator_", "estimator_") if hasattr(estimator, name)]
        if not wrapped:
            return False
        estimator = getattr(estimator, wrapped[0])
    return bool(estimator.decision_function_shape == "ovo")


def _pairs_message(estimator: Any) -> str:
    name = type(estimator).__name__
    return (
        f"decision_function of {name} scores pairs of classes, not classes: set "
        "decision_function_shape='ovr', or use a classifier with predict_proba"
    )


def check_response_method(requested: str) -> None:
    if requested not in ("auto", *_RESPONSES):
        allowed = f"'auto' or one of {_RESPONSES}"
        raise InputError(f"response_method is {requested!r}, but must be {allowed}")


def response_method_of(estimator: Any, X: Any, requested: str) -> str:
    """The response method of a fitted classifier to use."""
    check_response_method(requested)
    available = [name for name in _RESPONSES if hasattr(estimator, name)]
    if not available or requested not in ("auto", *available):
        missing = requested if requested != "auto" else "predict_proba or decision_function"
        raise InputError(f"{type(estimator).__name__} has no {missing}")
    if "decision_function" in available and scores_pairs(estimator):
        if requested == "decision_function" or len(available) == 1:
            raise InputError(_pairs_message(estimator))
        return "predict_proba"
    if requested != "auto":
        return requested
    if len(available) == 2:
        few = _safe_indexing(indexable(X)[0], slice(0, 100))
        scores = np.asarray(estimator.decision_function(few))
        if scores.ndim == 1 or scores.shape[1] == len(estimator.classes_):
            # With two classes there is one score per row.
            scores = rows_of(estimator, few, "decision_function")
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            probabilities = odds / odds.sum(axis=1, keepdims=True)
            if np.allclose(probabilities, estimator.predict_proba(few), atol=1e-6):
                return "decision_function"
            # Those whose largest is the prediction: for SVC(probability=True) `decision_function`.
            more = _safe_indexing(indexable(X)[0], slice(0, 1000))
            predictions = places(estimator.predict(more), np.asarray(estimator.classes_))
            against = {
                name: against_scores(rows_of(estimator, more, name), predictions).sum()
                for name in available
            }
            return min(available, key=lambda name: against[name])
    return available[0]


def encoding_of(method: str) -> Input:
    return "probabilities" if method == "predict_proba" else "logits"


def places(labels: Any, classes: _Array) -> npt.NDArray[np.int64]:
    """The indices of labels among the classes."""
    distinct, inverse = np.unique(np.asarray(labels), return_inverse=True)
    indices = {label: index for index, label in enumerate(classes.tolist())}
    unknown = [label for label in distinct.tolist() if label not in indices]
    if unknown:
        raise InputError(f"the label {unknown[0]!r} is no class of the classifier")
    return np.array([indices[label] for label in distinct.tolist()], dtype=np.int64)[inverse]


def against_scores(scores: _Floats, predictions: _Array) -> npt.NDArray[np.bool_]:
    """Which rows are answered with a class whose score is not the largest.

    `predictions` are indices of classes. Scores that equal the largest up to rounding count as it.
    """
    largest = scores.max(axis=1)
    given = np.take_along_axis(scores, predictions[:, None], axis=1)[:, 0]
    found: npt.NDArray[np.bool_] = largest - given > 1e-9 * np.maximum(1, np.abs(largest))
    return found


def answer_log_odds(
    scores: _Floats, predictions: _Array, method: str, floor: float | None
) -> _Floats:
    """The log-odds of the probability that is given to the predicted class.

    It is the confidence of MSP where that class has the largest score, and below 0 for two classes
    where it has not. Probabilities below `floor` count as the floor.
    """
    logits = scores if method == "decision_function" else np.log(np.maximum(scores, floor or 0))
    place = predictions[:, None]
    given = np.take_along_axis(logits, place, axis=1)[:, 0]
    others = logits.copy()
    np.put_along_axis(others, place, -np.inf, axis=1)
    largest = others.max(axis=1)
    rest = np.log(np.exp(others - largest[:, None]).sum(axis=1))
    found: _Floats = given - largest - rest
    return found


def smallest_probability(scores: _Floats, method: str) -> float | None:
    """The smallest positive probability: what replaces zeros."""
    if method != "predict_proba":
        return None
    # One half at most: of certain rows alone, the smallest would be 1.
    return float(min(scores[scores > 0].min(initial=0.5), 0.5))


class HeldOut(BaseEstimator):
    """What tuning needs of a fold: the scores of all classes, and the index of the prediction."""

    def __init__(self, estimator: Any, classes: _Array, method: str) -> None:
        self.estimator = estimator
        self.classes = classes
        self.method = method

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def get_metadata_routing(self) -> Any:
        return self.estimator.get_metadata_routing()

    def fit(self, X: Any, y: Any, **fit_params: Any) -> HeldOut:
        self.estimator.fit(X, y, **fit_params)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        scores, predictions = answered(self.estimator, X, self.method)
        # A class that is missing from the fold is no likelier than any other.
        least = 0.0 if self.method == "predict_proba" else scores.min(axis=1, keepdims=True)
        columns = np.empty((len(scores), len(self.classes) + 1))
        columns[:, :-1] = least
        columns[:, places(self.estimator.classes_, self.classes)] = scores
        columns[:, -1] = places(predictions, self.classes)
        return columns
