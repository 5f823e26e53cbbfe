"""Selective classification for scikit-learn.

>>> from sklearn.datasets import load_digits
>>> from sklearn.ensemble import RandomForestClassifier
>>> from abstain.sklearn import SelectiveClassifier
>>> X, y = load_digits(return_X_y=True)
>>> forest = RandomForestClassifier(n_estimators=20, random_state=0)
>>> classifier = SelectiveClassifier(forest, target_accuracy=0.98).fit(X[:1200], y[:1200])
>>> predictions = classifier.predict(X[1200:])
>>> bool((predictions == -1).any())                              # it abstains
True
"""

from __future__ import annotations

import warnings
from typing import Any, Callable, Sequence

import numpy as np
import numpy.typing as npt

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.frozen import FrozenEstimator
    from sklearn.metrics import accuracy_score
    from sklearn.model_selection import check_cv, cross_val_predict
    from sklearn.pipeline import Pipeline
    from sklearn.utils import _safe_indexing, assert_all_finite, get_tags, indexable
    from sklearn.utils.metadata_routing import (
        MetadataRequest,
        MetadataRouter,
        MethodMapping,
        process_routing,
    )
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError as error:
    raise ImportError(
        "abstain.sklearn needs scikit-learn 1.6 or later: pip install -U scikit-learn"
    ) from error

from ._abstain import metric_kinds
from ._estimator import Estimator, score
from ._metrics import metric as measure
from ._result import TuneResult
from ._threshold import Threshold
from ._tune import tune
from .errors import InfeasibleError, InputError, NoThresholdWarning, UndefinedError

__all__ = ["SelectiveClassifier", "scorer"]

_Array = npt.NDArray[Any]
_RESPONSES = ("predict_proba", "decision_function")
_HIGHER_IS_BETTER = [name.lower() for name, _, higher in metric_kinds() if higher]


def _rows(estimator: Any, X: Any, method: str) -> npt.NDArray[np.float64]:
    """The response of a fitted classifier: rows × classes."""
    scores = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if scores.ndim == 1 and method == "decision_function":
        # The softmax of the two halves is the logistic function of the score. Halves, so that no
        # class is favoured by methods that depend on more than the softmax.
        scores = np.column_stack([-scores / 2, scores / 2])
    if scores.ndim != 2 or scores.shape[1] != len(estimator.classes_):
        classes = f"{len(estimator.classes_)} classes"
        raise InputError(f"{method} returned shape {scores.shape}, but there are {classes}")
    if method == "predict_proba":
        # A row of zeros, as one-versus-rest returns if every class is rejected, prefers no class.
        scores = np.where(scores.any(axis=1, keepdims=True), scores, 1 / scores.shape[1])
    return scores


def _check_response_method(requested: str) -> None:
    if requested not in ("auto", *_RESPONSES):
        allowed = f"'auto' or one of {_RESPONSES}"
        raise InputError(f"response_method is {requested!r}, but must be {allowed}")


def _response_method(estimator: Any, X: Any, requested: str) -> str:
    """The response method of a fitted classifier to use."""
    _check_response_method(requested)
    available = [name for name in _RESPONSES if hasattr(estimator, name)]
    if not available or requested not in ("auto", *available):
        missing = requested if requested != "auto" else "predict_proba or decision_function"
        raise InputError(f"{type(estimator).__name__} has no {missing}")
    if requested != "auto":
        return requested
    if len(available) == 2:
        few = _safe_indexing(indexable(X)[0], slice(0, 100))
        scores = np.asarray(estimator.decision_function(few))
        if scores.ndim == 1 or scores.shape[1] == len(estimator.classes_):
            # With two classes there is one score per row.
            scores = _rows(estimator, few, "decision_function")
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            probabilities = odds / odds.sum(axis=1, keepdims=True)
            if np.allclose(probabilities, estimator.predict_proba(few), atol=1e-6):
                return "decision_function"
    return available[0]


def _encoding(method: str) -> str:
    return "probabilities" if method == "predict_proba" else "logits"


def _places(labels: Any, classes: _Array) -> npt.NDArray[np.int64]:
    """The indices of labels among the classes."""
    distinct, inverse = np.unique(np.asarray(labels), return_inverse=True)
    indices = {label: index for index, label in enumerate(classes.tolist())}
    unknown = [label for label in distinct.tolist() if label not in indices]
    if unknown:
        raise InputError(f"the label {unknown[0]!r} is no class of the classifier")
    return np.array([indices[label] for label in distinct.tolist()], dtype=np.int64)[inverse]


class _HeldOut(BaseEstimator):
    """What tuning needs of a fold: the scores of all classes, and the index of the prediction."""

    def __init__(self, estimator: Any, classes: _Array, method: str) -> None:
        self.estimator = estimator
        self.classes = classes
        self.method = method

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def get_metadata_routing(self) -> Any:
        return self.estimator.get_metadata_routing()

    def fit(self, X: Any, y: Any, **fit_params: Any) -> _HeldOut:
        self.estimator.fit(X, y, **fit_params)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        scores = _rows(self.estimator, X, self.method)
        # A class that is missing from the fold is no likelier than any other.
        least = 0.0 if self.method == "predict_proba" else scores.min(axis=1, keepdims=True)
        columns = np.empty((len(scores), len(self.classes) + 1))
        columns[:, :-1] = least
        columns[:, _places(self.estimator.classes_, self.classes)] = scores
        columns[:, -1] = _places(self.estimator.predict(X), self.classes)
        return columns


def _delegated(method: str) -> Any:
    """A method of the wrapped classifier, available if the classifier has it."""

    def delegated(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(X)

    delegated.__name__ = method
    delegated.__doc__ = f"`{method}` of the wrapped classifier, whatever the confidence."
    has_method = available_if(
        lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)
    )
    return has_method(delegated)


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that abstains from rows of low confidence.

    Its predictions are those of the wrapped classifier. It adds a confidence, tuned by
    :func:`abstain.tune`, and, if a target is given, a threshold below which it abstains.

    Parameters
    ----------
    estimator : classifier
        Any classifier with `predict_proba` or `decision_function`.
    cv : int, splitter, iterable or "prefit", default 5
        How to obtain scores of rows that the classifier was not trained on: by cross-validation,
        after which it is fitted on all rows. With ``"prefit"``, or if `estimator` is a
        :class:`sklearn.frozen.FrozenEstimator`, it is already fitted, and :meth:`fit` must be given
        rows that it was not trained on.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The scores to use. ``"auto"`` is `decision_function` if its softmax is `predict_proba` (as
        for logistic regression and gradient boosting), since these are logits and do not saturate;
        else `predict_proba`; else `decision_function` (as for linear support vector machines),
        which is used as logits.
    methods, objective, fallback, space, holdout, seed
        As in :func:`abstain.tune`.
    target_accuracy, target_risk : float, optional
        What the accepted rows must meet. Without a target the classifier never abstains.
    delta : float, optional
        Certify the threshold: its guarantee fails with at most this probability. Only for a
        classifier that is already fitted: a certificate holds for the classifier whose scores it
        rests on, and those of cross-validation come from other classifiers.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    abstention : object, default "auto"
        What is predicted for rows that are not accepted; it must not be a class. ``"auto"`` is
        ``-1``, or ``"abstain"`` if the classes are strings.
    n_jobs : int, optional
        The number of folds to fit in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (classes,)
        Its classes.
    confidence_estimator_ : Estimator
        The tuned confidence estimator.
    tune_result_ : TuneResult
        The result of tuning: its report, table and plot. Pickles do not contain it.
    threshold_ : Threshold or None
        The threshold; None if the classifier never abstains.
    response_method_ : str
        The scores that are used.
    n_features_in_, feature_names_in_
        Those of the classifier, if it has them.

    Notes
    -----
    A threshold without `delta` meets the target on the rows it was found on; on new rows it may
    miss it, the more so the fewer rows there were.

    Where the predictions of the classifier are not the classes with the largest scores, as for
    :class:`sklearn.model_selection.FixedThresholdClassifier`, losses are those of its predictions.

    Probabilities must sum to 1, up to rounding. Zeros, as from trees, are replaced by the smallest
    positive probability of all rows; a row of zeros only prefers no class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from abstain.sklearn import SelectiveClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X, X_held_out, y, y_held_out = train_test_split(X, y, random_state=0, test_size=0.6)
    >>> fitted = GaussianNB().fit(X, y)

    On rows that did not train the classifier, a threshold can be certified:

    >>> classifier = SelectiveClassifier(FrozenEstimator(fitted), target_accuracy=0.9, delta=0.05)
    >>> classifier.fit(X_held_out, y_held_out).threshold_
    Threshold(..., certified, risk <= 0.1 with probability 0.95, coverage ...)
    >>> classifier.predict(X[:5])
    array([...])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        response_method: str = "auto",
        methods: str | Sequence[str] = "all",
        objective: str = "AURC",
        fallback: str = "veto=2",
        space: str = "standard",
        holdout: float | int | None = None,
        seed: int = 0,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        delta: float | None = None,
        procedure: str | None = None,
        abstention: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.response_method = response_method
        self.methods = methods
        self.objective = objective
        self.fallback = fallback
        self.space = space
        self.holdout = holdout
        self.seed = seed
        self.target_accuracy = target_accuracy
        self.target_risk = target_risk
        self.delta = delta
        self.procedure = procedure
        self.abstention = abstention
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, **fit_params: Any) -> SelectiveClassifier:
        """Fit the classifier, unless it is already fitted, and tune its confidence.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.
        y : array-like of shape (rows,)
            Their labels.
        **fit_params
            Passed to `fit` of the classifier, such as `sample_weight`; with metadata routing, to
            the object that requests them, such as `groups` to the splitter. Tuning weights all
            rows equally.

        Returns
        -------
        SelectiveClassifier

        Raises
        ------
        InfeasibleError
            If no threshold meets the target, or none can be certified.
        """
        prefit = isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )
        if self.delta is not None and not prefit:
            raise InputError(
                "delta needs a fitted classifier, because cross-validation scores other "
                "classifiers than the one that predicts: fit the classifier, wrap it in "
                "FrozenEstimator, and call fit with rows that it was not trained on"
            )
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        split_params: dict[str, Any] = {}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            fit_params, split_params = routed.estimator.fit, routed.splitter.split
        estimator = self.estimator
        if prefit:
            check_is_fitted(estimator)
            if fit_params:
                raise InputError(f"{', '.join(fit_params)}: the classifier is already fitted")
        else:
            estimator = clone(estimator).fit(X, y, **fit_params)
        classes = np.asarray(estimator.classes_)
        if len(classes) < 2:
            raise InputError("there is 1 class, but at least 2 are needed")
        if self.target_accuracy is not None or self.target_risk is not None:
            self._abstention(classes)
        labels = _places(y, classes)
        method = _response_method(estimator, X, self.response_method)
        held_out = _HeldOut(self.estimator, classes, method)
        if prefit:
            columns = held_out.predict(X)
        else:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
            columns = cross_val_predict(
                held_out, X, y, cv=splits, n_jobs=self.n_jobs, params=fit_params
            )
        result = self._tune(columns[:, :-1], columns[:, -1], labels, _encoding(method))
        # Set together at the end, so that an error leaves an earlier fit intact.
        self.estimator_, self.classes_, self.response_method_ = estimator, classes, method
        self.tune_result_, self.confidence_estimator_ = result, result.estimator
        return self

    def _tune(
        self, scores: _Array, predictions: _Array, labels: _Array, encoding: str
    ) -> TuneResult:
        usual = (predictions == scores.argmax(axis=1)).all()
        with warnings.catch_warnings():
            # An error is raised instead.
            warnings.simplefilter("ignore", NoThresholdWarning)
            result = tune(
                scores,
                labels,
                methods=self.methods,
                objective=self.objective,
                fallback=self.fallback,
                space=self.space,
                loss="zero-one" if usual else predictions != labels,
                target_accuracy=self.target_accuracy,
                target_risk=self.target_risk,
                delta=self.delta,
                procedure=self.procedure,
                holdout=self.holdout,
                seed=self.seed,
                input=encoding,
                progress=False,
            )
        if result.refusal is not None:
            raise InfeasibleError(result.refusal)
        return result

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # It holds the measured rows, and cannot be pickled.
        state.pop("tune_result_", None)
        return state

    def _abstention(self, classes: _Array) -> Any:
        value = self.abstention
        if isinstance(value, str) and value == "auto":
            text = all(isinstance(label, str) for label in classes.tolist())
            value = "abstain" if text else -1
        if value in classes.tolist():
            raise InputError(f"abstention is {value!r}, which is a class", value=value)
        return value

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        return _rows(self.estimator_, X, self.response_method_)

    @property
    def threshold_(self) -> Threshold | None:
        """The threshold; None if the classifier never abstains."""
        return self.confidence_estimator_.threshold

    @property
    def n_features_in_(self) -> int:
        """The number of features of the wrapped classifier."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> _Array:
        """The names of the features, if the wrapped classifier has them."""
        return np.asarray(self.estimator_.feature_names_in_)

    def confidence(self, X: Any, *, values: bool = False) -> npt.NDArray[np.float64]:
        """Compute the confidence of each row: higher is surer.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.
        values : bool, default False
            As in :meth:`abstain.Estimator.confidence`.

        Returns
        -------
        ndarray of shape (rows,)
        """
        scores = self._scores(X)
        return self.confidence_estimator_.confidence(scores, values=values)

    def accept(self, X: Any) -> npt.NDArray[np.bool_]:
        """Decide which rows are accepted; without a threshold, all of them.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.

        Returns
        -------
        ndarray of shape (rows,)
        """
        scores = self._scores(X)
        accept = self.confidence_estimator_.answers(scores).accept
        return np.ones(len(scores), dtype=bool) if accept is None else accept

    def predict(self, X: Any) -> _Array:
        """Predict the class of each row, or `abstention` for rows that are not accepted.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.

        Returns
        -------
        ndarray of shape (rows,)
            Of the type of the classes, widened to hold `abstention`; of type object where one is a
            number and the other is not.
        """
        check_is_fitted(self)
        predictions = np.asarray(self.estimator_.predict(X))
        if self.threshold_ is None:
            return predictions
        value = self._abstention(self.classes_)
        needed = np.min_scalar_type(value)
        kinds = {predictions.dtype.kind, needed.kind}
        dtype: Any = object
        if kinds <= set("iuf") or kinds == {"U"}:
            dtype = np.result_type(self.classes_.dtype, needed)
        predictions = predictions.astype(dtype)
        predictions[~self.accept(X)] = value
        return predictions

    predict_proba = _delegated("predict_proba")
    predict_log_proba = _delegated("predict_log_proba")
    decision_function = _delegated("decision_function")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy of the wrapped classifier on all rows, accepted or not.

        An abstention is neither right nor wrong; :func:`scorer` measures how well the confidence
        separates correct from wrong predictions.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.
        y : array-like of shape (rows,)
            Their labels.
        sample_weight : array-like of shape (rows,), optional
            The weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(accuracy_score(y, self.estimator_.predict(X), sample_weight=sample_weight))

    def get_metadata_routing(self) -> Any:
        """Route metadata to `fit` of the classifier and to the splitter."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        fitting = MethodMapping().add(caller="fit", callee="fit")
        splitting = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self.estimator, method_mapping=fitting)
        return router.add(splitter=self.cv, method_mapping=splitting)

    def __sklearn_tags__(self) -> Any:
        tags, wrapped = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = wrapped.input_tags
        if wrapped.classifier_tags is not None:
            tags.classifier_tags = wrapped.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags


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
        if self.method is None and hasattr(estimator, "confidence"):
            confidence = estimator.confidence(X)
        else:
            method = _response_method(classifier, X, self.response_method)
            confidence = score(
                self.method or "MSP",
                _rows(classifier, X, method),
                input=_encoding(method),
                **self.parameters,
            )
        loss = np.asarray(classifier.predict(X)) != column_or_1d(y)
        try:
            return self.sign * measure(self.metric, confidence, loss, sample_weight=sample_weight)
        except UndefinedError as error:
            warnings.warn(f"{self.metric} is {error}", UndefinedMetricWarning, stacklevel=2)
            return float("nan")


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
    metric: str = "NAURC",
    method: str | None = None,
    *,
    response_method: str = "auto",
    **parameters: Any,
) -> Callable[..., float]:
    """Make a scorer of the confidence, for ``scoring=`` of scikit-learn.

    It measures how well a confidence separates correct from wrong predictions.

    Parameters
    ----------
    metric : str, default "NAURC"
        A metric of :func:`abstain.metric_names`, such as ``"AUROC"`` or ``"SAC@0.98"``. If lower
        is better, the metric is negated and its name has a prefix: ``neg_naurc``.
    method : str, optional
        The confidence: a method of :func:`abstain.methods`. By default that of the estimator, if
        it is a :class:`SelectiveClassifier` (also at the end of a pipeline) or has a method
        `confidence`; otherwise MSP.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The scores that `method` is computed from, as in :class:`SelectiveClassifier`.
    **parameters : float
        The parameters of the method, such as ``p=5``.

    Returns
    -------
    callable
        A function of ``(estimator, X, y, sample_weight=None)`` that returns a number; higher is
        better. With metadata routing, request weights by ``set_score_request``. Where the
        metric is undefined, such as NAURC without errors, it warns (``UndefinedMetricWarning``)
        and returns NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from abstain.sklearn import scorer
    >>> X, y = load_digits(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer("AUROC")).round(1)
    array([0.8, 0.8, 0.7, 0.7, 0.7])
    >>> scorer("NAURC", "MaxLogit-pNorm", p=5)
    neg_naurc(MaxLogit-pNorm, p=5)
    """
    # Check the names now, and not after hours of fitting.
    measure(metric, [1.0, 0.0], [0.0, 1.0])
    _check_response_method(response_method)
    if method is None and parameters:
        raise InputError(f"{', '.join(parameters)}: parameters without a method")
    if method is not None:
        Estimator(method, **parameters)
    return _Scorer(metric, method, response_method, dict(parameters))
