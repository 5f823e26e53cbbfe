"""Selective classification in the manner of scikit-learn.

>>> from sklearn.datasets import load_digits
>>> from sklearn.ensemble import RandomForestClassifier
>>> from abstain.sklearn import SelectiveClassifier
>>> X, y = load_digits(return_X_y=True)
>>> forest = RandomForestClassifier(n_estimators=20, random_state=0)
>>> classifier = SelectiveClassifier(forest, target_accuracy=0.98).fit(X[:1200], y[:1200])
>>> answers = classifier.predict(X[1200:])
>>> bool((answers == -1).any())                              # it abstains
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
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError as error:
    raise ImportError(
        "abstain.sklearn needs scikit-learn 1.6 or later: pip install -U scikit-learn"
    ) from error

from ._abstain import metric_kinds
from ._estimator import Estimator, Threshold, score
from ._metrics import metric as measured
from ._tune import tune
from .errors import InfeasibleError, InputError, NoThresholdWarning, UndefinedError

__all__ = ["SelectiveClassifier", "scorer"]

_Array = npt.NDArray[Any]
_RESPONSES = ("predict_proba", "decision_function")
_HIGHER_IS_BETTER = [name.lower() for name, _, higher in metric_kinds() if higher]


def _rows(estimator: Any, X: Any, method: str) -> npt.NDArray[np.float64]:
    """The scores of a fitted classifier: rows × classes."""
    scores = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if scores.ndim == 1 and method == "decision_function":
        # The softmax of the two halves is the logistic function of the score, and neither class is
        # favoured by methods that look at more than the softmax.
        scores = np.column_stack([-scores / 2, scores / 2])
    if scores.ndim != 2 or scores.shape[1] != len(estimator.classes_):
        classes = f"{len(estimator.classes_)} classes"
        raise InputError(f"{method} has the shape {scores.shape}, but there are {classes}")
    if method == "predict_proba":
        # Nothing is known of a row of zeros, as one-versus-rest has them where all say no.
        scores = np.where(scores.any(axis=1, keepdims=True), scores, 1 / scores.shape[1])
    return scores


def _check_response_method(wanted: str) -> None:
    if wanted not in ("auto", *_RESPONSES):
        raise InputError(f"response_method is {wanted!r}, but must be 'auto' or one of {_RESPONSES}")


def _chosen_method(estimator: Any, X: Any, wanted: str) -> str:
    """The response method to use of a fitted classifier."""
    _check_response_method(wanted)
    there = [name for name in _RESPONSES if hasattr(estimator, name)]
    if not there or wanted not in ("auto", *there):
        missing = wanted if wanted != "auto" else "predict_proba, nor decision_function"
        raise InputError(f"{type(estimator).__name__} has no {missing}")
    if wanted != "auto":
        return wanted
    if len(there) == 2:
        few = _safe_indexing(indexable(X)[0], slice(0, 100))
        scores = np.asarray(estimator.decision_function(few))
        if scores.ndim == 1 or scores.shape[1] == len(estimator.classes_):
            # Of two classes there is one score a row.
            scores = _rows(estimator, few, "decision_function")
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            probabilities = odds / odds.sum(axis=1, keepdims=True)
            if np.allclose(probabilities, estimator.predict_proba(few), atol=1e-6):
                return "decision_function"
    return there[0]


def _kind(method: str) -> str:
    return "probabilities" if method == "predict_proba" else "logits"


def _places(labels: Any, classes: _Array) -> npt.NDArray[np.int64]:
    """The numbers of labels among the classes."""
    own, inverse = np.unique(np.asarray(labels), return_inverse=True)
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    strange = [label for label in own.tolist() if label not in numbers]
    if strange:
        raise InputError(f"the label {strange[0]!r} is no class of the classifier")
    return np.array([numbers[label] for label in own.tolist()], dtype=np.int64)[inverse]


class _HeldOut(BaseEstimator):
    """What tuning needs of a fold: scores of all classes, and the number of the answer."""

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
        # A class that the fold has not seen is no likelier than any other.
        least = 0.0 if self.method == "predict_proba" else scores.min(axis=1, keepdims=True)
        found = np.empty((len(scores), len(self.classes) + 1))
        found[:, :-1] = least
        found[:, _places(self.estimator.classes_, self.classes)] = scores
        found[:, -1] = _places(self.estimator.predict(X), self.classes)
        return found


def _delegated(method: str) -> Any:
    """A method of the wrapped classifier, there if the classifier has it."""

    def delegated(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(X)

    delegated.__name__ = method
    delegated.__doc__ = f"`{method}` of the wrapped classifier, whatever the confidence."
    there = available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))
    return there(delegated)


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that answers only where it can be trusted.

    Its answers are those of the wrapped classifier. What it adds is a confidence, tuned by
    :func:`abstain.tune`, and, if a target is given, a threshold below which it abstains.

    Parameters
    ----------
    estimator : classifier
        Any classifier with `predict_proba` or `decision_function`.
    cv : int, splitter, iterable or "prefit", default 5
        How to come by scores of rows that the classifier was not trained on: by cross-validation,
        after which it is fitted once more on all rows. With ``"prefit"``, or if `estimator` is a
        :class:`sklearn.frozen.FrozenEstimator`, it is fitted already, and :meth:`fit` must be given
        rows that it was not trained on.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The scores to use. ``"auto"`` takes `decision_function` where its softmax is `predict_proba`
        (as of logistic regression and gradient boosting), since these are the logits and do not
        saturate; else `predict_proba`, whose numbers mean the same for every classifier; else
        `decision_function` (as of linear support vector machines), as if they were logits.
    methods, objective, fallback, space, holdout, seed
        As in :func:`abstain.tune`.
    target_accuracy, target_risk : float, optional
        What is asked of the answers that are given. Without a target it never abstains.
    delta : float, optional
        Certify the threshold: its guarantee fails with at most this probability. Only for a
        classifier that is fitted already, since a certificate is about the classifier whose scores
        were seen, and cross-validation sees those of others.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    abstention : object, default "auto"
        What stands for "I do not know"; no class may be equal to it. ``"auto"`` is ``-1``, or
        ``"abstain"`` where the classes are strings.
    n_jobs : int, optional
        Folds to fit at the same time.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (classes,)
        Its classes.
    confidence_estimator_ : Estimator
        What was tuned: ``.table()``, ``.plot()``, ``.verdict_``, ``.save(path)``. Pickling keeps
        what scores rows, but not the table and the plot.
    threshold_ : Threshold or None
        The threshold; None if it never abstains.
    response_method_ : str
        Which scores are used.
    n_features_in_, feature_names_in_
        Those of the classifier, if it has them.

    Notes
    -----
    A threshold without `delta` is the one that reaches the target on the rows it was found on; on
    others it may miss it, the more so the fewer they were.

    Where the answers of the classifier are not the classes with the largest scores, as of
    :class:`sklearn.model_selection.FixedThresholdClassifier`, the errors that count are those of
    its answers.

    Probabilities must sum to one, up to rounding. Zeros, as of trees, are replaced by the smallest
    other probability of the tuning rows; a row of nothing but zeros says that no class is likelier.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from abstain.sklearn import SelectiveClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X, X_kept_apart, y, y_kept_apart = train_test_split(X, y, random_state=0, test_size=0.6)
    >>> fitted = GaussianNB().fit(X, y)

    With rows that were kept apart, the accuracy of the answers is guaranteed.

    >>> classifier = SelectiveClassifier(FrozenEstimator(fitted), target_accuracy=0.9, delta=0.05)
    >>> classifier.fit(X_kept_apart, y_kept_apart).threshold_
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
        fallback: str = "standard-errors=1",
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
        """Fits the classifier, unless it is fitted already, and tunes its confidence.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.
        y : array-like of shape (rows,)
            Their labels.
        **fit_params
            Passed on to `fit` of the classifier, such as `sample_weight`; with metadata routing, to
            where they are requested, such as `groups` by the splitter. In tuning, every row counts
            once.

        Returns
        -------
        SelectiveClassifier

        Raises
        ------
        InfeasibleError
            If no threshold does what is asked.
        """
        prefit = isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )
        if self.delta is not None and not prefit:
            raise InputError(
                "delta certifies the classifier whose scores were seen, but after cross-validation "
                "another one answers: fit the classifier first, wrap it in FrozenEstimator, and "
                "tune on rows that it was not trained on"
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
                raise InputError(f"{', '.join(fit_params)}: the classifier is fitted already")
        else:
            estimator = clone(estimator).fit(X, y, **fit_params)
        classes = np.asarray(estimator.classes_)
        if len(classes) < 2:
            raise InputError("there is 1 class: with 2 classes at least there is something to tell")
        if self.target_accuracy is not None or self.target_risk is not None:
            self._abstention(classes)
        labels = _places(y, classes)
        method = _chosen_method(estimator, X, self.response_method)
        held_out = _HeldOut(self.estimator, classes, method)
        if prefit:
            found = held_out.predict(X)
        else:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
            found = cross_val_predict(
                held_out, X, y, cv=splits, n_jobs=self.n_jobs, params=fit_params
            )
        confidence = self._tuned(found[:, :-1], found[:, -1], labels, _kind(method))
        # All at once: if something fails, what was fitted before is left as it was.
        self.estimator_, self.classes_ = estimator, classes
        self.response_method_, self.confidence_estimator_ = method, confidence
        return self

    def _tuned(self, scores: _Array, answers: _Array, labels: _Array, kind: str) -> Estimator:
        with warnings.catch_warnings():
            # It is an error here.
            warnings.simplefilter("ignore", NoThresholdWarning)
            found = tune(
                scores,
                labels,
                methods=self.methods,
                objective=self.objective,
                fallback=self.fallback,
                space=self.space,
                loss="zero-one" if (answers == scores.argmax(axis=1)).all() else answers != labels,
                target_accuracy=self.target_accuracy,
                target_risk=self.target_risk,
                delta=self.delta,
                procedure=self.procedure,
                holdout=self.holdout,
                seed=self.seed,
                input=kind,
                progress=False,
            )
        refusal = found._tuned("refusal was kept").refusal()
        if refusal is not None:
            raise InfeasibleError(refusal)
        return found

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
        """The threshold; None if it never abstains."""
        return self.confidence_estimator_.threshold_

    @property
    def n_features_in_(self) -> int:
        """The features that the classifier was fitted with."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> _Array:
        """Their names, if it was given any."""
        return np.asarray(self.estimator_.feature_names_in_)

    def confidence(self, X: Any, *, values: bool = False) -> npt.NDArray[np.float64]:
        """The confidence of each row: higher is surer.

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
        """Whether to trust the answer to each row; without a threshold, all of them.

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
        """The class of each row, or `abstention` where the answer is not to be trusted.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.

        Returns
        -------
        ndarray of shape (rows,)
            Of the type of the classes, widened to hold `abstention`; of objects where one is a
            number and the other is not.
        """
        check_is_fitted(self)
        answers = np.asarray(self.estimator_.predict(X))
        if self.threshold_ is None:
            return answers
        value = self._abstention(self.classes_)
        own = np.min_scalar_type(value)
        dtype: Any = object
        if {answers.dtype.kind, own.kind} <= set("iuf") or answers.dtype.kind == own.kind == "U":
            dtype = np.result_type(self.classes_.dtype, own)
        answers = answers.astype(dtype)
        answers[~self.accept(X)] = value
        return answers

    predict_proba = _delegated("predict_proba")
    predict_log_proba = _delegated("predict_log_proba")
    decision_function = _delegated("decision_function")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the classifier on all rows, whether they are accepted or not.

        An abstention is neither right nor wrong; :func:`scorer` measures how well the confidence
        tells right answers from wrong ones.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.
        y : array-like of shape (rows,)
            Their labels.
        sample_weight : array-like of shape (rows,), optional
            What each row counts.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(accuracy_score(y, self.estimator_.predict(X), sample_weight=sample_weight))

    def get_metadata_routing(self) -> Any:
        """Where metadata goes: to `fit` of the classifier, and to the splitter."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        fitting = MethodMapping().add(caller="fit", callee="fit")
        splitting = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self.estimator, method_mapping=fitting)
        return router.add(splitter=self.cv, method_mapping=splitting)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = own.input_tags
        if own.classifier_tags is not None:
            tags.classifier_tags = own.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags


class _Scorer:
    def __init__(
        self, metric: str, method: str | None, response_method: str, numbers: dict[str, Any]
    ) -> None:
        self.metric = metric
        self.method = method
        self.response_method = response_method
        self.numbers = numbers
        kind = metric.split("@")[0].strip().lower()
        self.sign = 1 if kind in _HIGHER_IS_BETTER else -1

    def __repr__(self) -> str:
        name = ("" if self.sign > 0 else "neg_") + self.metric.lower()
        how = [] if self.method is None else [self.method]
        how += [f"{key}={own:g}" for key, own in self.numbers.items()]
        return f"{name}({', '.join(how)})" if how else name

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        estimator, X = _answering(estimator, X)
        # Withheld answers count too. Told by its attribute, since it may be frozen.
        selective = hasattr(estimator, "confidence_estimator_")
        classifier = estimator.estimator_ if selective else estimator
        if self.method is None and hasattr(estimator, "confidence"):
            confidence = estimator.confidence(X)
        else:
            method = _chosen_method(classifier, X, self.response_method)
            confidence = score(
                self.method or "MSP",
                _rows(classifier, X, method),
                input=_kind(method),
                **self.numbers,
            )
        loss = np.asarray(classifier.predict(X)) != column_or_1d(y)
        try:
            return self.sign * measured(self.metric, confidence, loss)
        except UndefinedError as error:
            warnings.warn(f"{self.metric} is {error}", UndefinedMetricWarning, stacklevel=2)
            return float("nan")


def _has_confidence(estimator: Any) -> bool:
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, Pipeline):
        return _has_confidence(estimator[-1])
    return hasattr(estimator, "confidence")


def _answering(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The part of an estimator that has a confidence, which pipelines and searches do not show, and
    its rows."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if not isinstance(estimator, Pipeline) or not _has_confidence(estimator):
        return estimator, X
    return _answering(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)


def scorer(
    metric: str = "NAURC",
    method: str | None = None,
    *,
    response_method: str = "auto",
    **numbers: Any,
) -> Callable[[Any, Any, Any], float]:
    """How well a confidence tells right answers from wrong ones, for ``scoring=`` of scikit-learn.

    Parameters
    ----------
    metric : str, default "NAURC"
        A metric of :func:`abstain.metric_names`, such as ``"AUROC"`` or ``"SAC@0.98"``. Those of
        which lower is better are negated, and called so: ``neg_naurc``.
    method : str, optional
        The confidence, by a name of :func:`abstain.methods`. By default that of the estimator, if
        it is a :class:`SelectiveClassifier` (also at the end of a pipeline) or has a method
        `confidence`; otherwise MSP.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The scores that `method` is given, as in :class:`SelectiveClassifier`.
    **numbers : float
        The numbers of the method, such as ``p=5``.

    Returns
    -------
    callable
        Called with ``(estimator, X, y)``: a number, higher is better. Where the metric does not
        exist, as NAURC without errors, it warns (``UndefinedMetricWarning``) and returns NaN.

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
    # A misspelt name is found now, and not after hours of fitting.
    measured(metric, [1.0, 0.0], [0.0, 1.0])
    _check_response_method(response_method)
    if method is None and numbers:
        raise InputError(f"{', '.join(numbers)}: the numbers of no method")
    if method is not None:
        Estimator(method, **numbers)
    return _Scorer(metric, method, response_method, dict(numbers))
