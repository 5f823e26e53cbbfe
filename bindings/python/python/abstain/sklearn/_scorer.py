"""Scorers of the confidence."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
from sklearn import get_config
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import column_or_1d

from .._abstain import metric_kinds
from .._estimator import Estimator, score
from .._metrics import metric as measure
from .._types import ResponseMethod
from ..errors import InputError, UndefinedError
from ._responses import (
    against_scores,
    answer_log_odds,
    check_response_method,
    encoding_of,
    places,
    response_method_of,
    rows_of,
    smallest_probability,
)

_HIGHER_IS_BETTER = [name.lower() for name, _, higher in metric_kinds() if higher]


class _Scorer:
    def __init__(
        self, metric: str, method: str | None, response_method: str, parameters: dict[str, Any]
    ) -> None:
        self.metric = metric
        self.method = method
        self.response_method = response_method
        self.parameters = parameters
        name = metric.split("@")[0].strip().lower()
        self.sign = 1 if name in _HIGHER_IS_BETTER else -1
        self._request = MetadataRequest(owner=repr(self))

    def set_score_request(self, *, sample_weight: bool | str | None) -> _Scorer:
        """Request weights of the rows from metadata routing, as scorers of scikit-learn do."""
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "metadata routing is not enabled: sklearn.set_config(enable_metadata_routing=True)"
            )
        self._request = MetadataRequest(owner=repr(self))
        self._request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> Any:
        return self._request

    def __repr__(self) -> str:
        name = ("" if self.sign > 0 else "neg_") + self.metric.lower()
        details = [] if self.method is None else [self.method]
        details += [f"{key}={value:g}" for key, value in self.parameters.items()]
        return f"{name}({', '.join(details)})" if details else name

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        estimator, X = _with_confidence(estimator, X)
        # All rows count, accepted or not. Not `isinstance`, because the classifier may be frozen.
        selective = hasattr(estimator, "confidence_estimator_")
        classifier = estimator.estimator_ if selective else estimator
        predictions = np.asarray(classifier.predict(X))
        if self.method is None and hasattr(estimator, "confidence"):
            confidence = estimator.confidence(X)
        else:
            confidence = self._confidence(classifier, X, predictions)
        loss = predictions != column_or_1d(y)
        try:
            return self.sign * measure(self.metric, confidence, loss, sample_weight=sample_weight)
        except UndefinedError as error:
            warnings.warn(f"{self.metric} is {error}", UndefinedMetricWarning, stacklevel=2)
            return float("nan")


    def _confidence(self, classifier: Any, X: Any, predictions: Any) -> Any:
        """The confidence of the answers: that of the method where they have the largest score."""
        method = response_method_of(classifier, X, self.response_method)
        scores = rows_of(classifier, X, method)
        name = self.method or "MSP"
        confidence = score(name, scores, input=encoding_of(method), **self.parameters)
        answers = places(predictions, np.asarray(classifier.classes_))
        against = against_scores(scores, answers)
        confidence[against] = -np.inf
        if against.any() and name.upper() == "MSP":
            floor = smallest_probability(scores, method)
            odds = answer_log_odds(scores[against], answers[against], method, floor)
            confidence[against] = odds
        return confidence


def _has_confidence(estimator: Any) -> bool:
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, Pipeline):
        return _has_confidence(estimator[-1])
    return hasattr(estimator, "confidence")


def _with_confidence(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The part of a pipeline or search that has a confidence, and the rows as it sees them."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if not isinstance(estimator, Pipeline) or not _has_confidence(estimator):
        return estimator, X
    return _with_confidence(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)


def scorer(
    metric: str = "AURC",
    method: str | None = None,
    *,
    response_method: ResponseMethod = "auto",
    **parameters: Any,
) -> Callable[..., float]:
    """Make a scorer of the confidence, for ``scoring=`` of scikit-learn.

    It measures how well a confidence separates correct from wrong predictions.

    Parameters
    ----------
    metric : str, default "AURC"
        A metric of :func:`abstain.metric_names`, such as ``"AUROC"`` or ``"SAC@0.98"``. If lower
        is better, the metric is negated and its name has a prefix: ``neg_aurc``. AURC is low for a
        classifier that is accurate and that ranks its errors last; it is defined without errors,
        too. ``"NAURC"`` warns: it measures the ranking alone.
    method : str, optional
        The confidence: a method of :func:`abstain.methods`. By default that of the estimator, if
        it is a :class:`SelectiveClassifier` (also at the end of a pipeline) or has a method
        `confidence`; otherwise MSP. Where a classifier answers with another class than that of the
        largest score, MSP is that of the answer, and other methods rank the row last.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The scores that `method` is computed from, as in :class:`SelectiveClassifier`.
    **parameters : float
        The parameters of the method, such as ``p=5``.

    Returns
    -------
    callable
        A function of ``(estimator, X, y, sample_weight=None)`` that returns a number; higher is
        better. With metadata routing, request weights by ``set_score_request``. Where the metric is
        undefined, such as AUROC without errors, it warns (``UndefinedMetricWarning``) and returns
        NaN.

    Warns
    -----
    UserWarning
        For NAURC: it does not choose between classifiers of different accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from abstain.sklearn import scorer
    >>> X, y = load_digits(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer("AUROC")).round(1)
    array([0.8, 0.8, 0.7, 0.7, 0.7])
    >>> scorer("AURC", "MaxLogit-pNorm", p=5)
    neg_aurc(MaxLogit-pNorm, p=5)
    """
    # Check the names now, and not after hours of fitting.
    measure(metric, [1.0, 0.0], [0.0, 1.0])
    check_response_method(response_method)
    if method is None and parameters:
        raise InputError(f"{', '.join(parameters)}: parameters without a method")
    if method is not None:
        Estimator(method, **parameters)
    if metric.strip().lower() == "naurc":
        warnings.warn(
            "NAURC ignores the accuracy of the classifier and is undefined where there are no "
            "errors, so that a search may prefer the worst model; scorer('AURC') counts both",
            UserWarning,
            stacklevel=2,
        )
    return _Scorer(metric, method, response_method, dict(parameters))
