"""A classifier that abstains."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .. import _arrays
from .._arrays import Array
from .._estimator import Estimator
from .._evaluation import Evaluation
from .._result import TuneResult
from .._threshold import Threshold
from .._thresholds import refuse, threshold_costs
from .._tune import tune, tune_options
from .._types import Procedure, ResponseMethod, Space
from ..errors import DataWarning, InfeasibleError, InputError, NoThresholdWarning
from ._responses import (
    HeldOut,
    against_scores,
    answer_log_odds,
    answered,
    encoding_of,
    places,
    response_method_of,
    smallest_probability,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Array = npt.NDArray[Any]
_Floats = npt.NDArray[np.float64]

#: Up to this share of the rows, answers against the largest score are never accepted; beyond, the
#: confidence is that of the answer for all rows.
_FEW = 0.05


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
    loss : str or array-like of shape (classes, classes), default "zero-one"
        What an error costs: ``"zero-one"``, ``"top-5"``, or the cost of predicting the class of the
        column where that of the row is true, both in the order of `classes_`.
    target_accuracy, target_risk : float, optional
        What the accepted rows must meet. Without a target, a coverage or costs the classifier
        never abstains.
    target_coverage : float, optional
        The share of the rows to accept, or a little more where confidences tie.
    cost_error, cost_abstain : float, optional
        What an error among the accepted rows costs, and what an abstention costs: the rows are
        accepted for which the sum is lowest.
    delta : float, optional
        Certify the threshold: its guarantee fails with at most this probability. Only for a
        classifier that is already fitted: a certificate holds for the classifier whose scores it
        rests on, and those of cross-validation come from other classifiers.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    abstention : object, default "auto"
        What is predicted for rows that are not accepted; it must not be a class. ``"auto"`` is
        ``-1``, or ``"abstain"`` if the classes are strings. Where -1 is a class, set another one,
        such as ``abstention=0``.
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
    answer_confidence_ : bool
        Whether the confidence is the log-odds of the class that is predicted; see the notes.
    n_features_in_, feature_names_in_
        Those of the classifier, if it has them.

    Notes
    -----
    A threshold without `delta` meets the target on the rows it was found on; on new rows it may
    miss it, the more so the fewer rows there were.

    The confidence is that of the answer. Some classifiers do not predict the class of the largest
    score, such as :class:`sklearn.model_selection.FixedThresholdClassifier`,
    :class:`sklearn.model_selection.TunedThresholdClassifierCV` and cost-sensitive ones. If the rows
    that tune show this, for two classes or in more than 5 % of the rows, the confidence of every
    row is the log-odds of the probability of the predicted class. It equals that of MSP where this
    class has the largest score, is lower elsewhere, and nothing else is tuned: `methods` must be
    ``"all"`` or ``"MSP"``. Otherwise rows that are answered against the largest score are never
    accepted: their confidence is ``-inf``. Losses are those of the predictions in any case.

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
        response_method: ResponseMethod = "auto",
        methods: str | Sequence[str] = "all",
        objective: str = "AURC",
        fallback: str = "veto=2",
        space: Space = "standard",
        holdout: float | int | None = None,
        seed: int = 0,
        loss: Array = "zero-one",
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        target_coverage: float | None = None,
        cost_error: float | None = None,
        cost_abstain: float | None = None,
        delta: float | None = None,
        procedure: Procedure | None = None,
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
        self.loss = loss
        self.target_accuracy = target_accuracy
        self.target_risk = target_risk
        self.target_coverage = target_coverage
        self.cost_error = cost_error
        self.cost_abstain = cost_abstain
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
        # Before the classifier is fitted, which may take long.
        self._wants_threshold()
        tune_options(
            methods=self.methods,
            objective=self.objective,
            fallback=self.fallback,
            space=self.space,
            target_accuracy=self.target_accuracy,
            target_risk=self.target_risk,
            delta=self.delta,
            procedure=self.procedure,
            holdout=self.holdout,
            seed=self.seed,
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
        self._check_loss(classes)
        if self._wants_threshold():
            self._abstention(classes)
        labels = places(y, classes)
        method = response_method_of(estimator, X, self.response_method)
        held_out = HeldOut(self.estimator, classes, method)
        if prefit:
            columns = held_out.predict(X)
        else:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
            columns = cross_val_predict(
                held_out, X, y, cv=splits, n_jobs=self.n_jobs, params=fit_params
            )
        scores, predictions = columns[:, :-1], columns[:, -1].astype(np.int64)
        bare = self._needs_answer_confidence(scores, predictions, method)
        named = all(isinstance(name, str) for name in classes.tolist())
        names = classes.tolist() if named else None
        result = self._tune(scores, predictions, labels, method, bare, names)
        # Set together at the end, so that an error leaves an earlier fit intact.
        self.estimator_, self.classes_, self.response_method_ = estimator, classes, method
        self.tune_result_, self.confidence_estimator_ = result, result.estimator
        self.answer_confidence_ = bare
        return self

    def _wants_threshold(self) -> bool:
        costs = threshold_costs(self.cost_error, self.cost_abstain)
        targets = {"target_accuracy": self.target_accuracy, "target_risk": self.target_risk}
        if self.target_coverage is not None:
            refuse("target_coverage", cost_error=self.cost_error, delta=self.delta, **targets)
        if costs is not None:
            refuse("costs", delta=self.delta, **targets)
        has_target = any(target is not None for target in targets.values())
        return has_target or self.target_coverage is not None or costs is not None

    def _check_loss(self, classes: _Array) -> None:
        loss = _arrays.loss(self.loss)
        if not isinstance(loss, str) and loss.shape != (len(classes), len(classes)):
            expected = f"({len(classes)}, {len(classes)}), the costs of classes_"
            raise InputError(f"loss: expected shape {expected}, got {loss.shape}")

    def _needs_answer_confidence(self, scores: _Floats, predictions: _Array, method: str) -> bool:
        """Whether so many answers are against the scores that their confidence must be another."""
        against = against_scores(scores, predictions)
        classes = scores.shape[1]
        if not against.any() or (classes > 2 and against.mean() <= _FEW):
            return False
        found = f"{against.sum()} of {len(against)} rows are answered with another class than that"
        if classes > 2 and method == "decision_function" and against.mean() > 0.5:
            raise InputError(
                f"{found} of the largest decision_function: it does not seem to score the classes; "
                "use response_method='predict_proba', or another classifier"
            )
        names = [name.upper() for name in _arrays.texts(self.methods, "methods")]
        if names not in (["ALL"], ["MSP"]):
            raise InputError(
                f"{found} of the largest score, as by a decision threshold: their confidence is "
                "the log-odds of the answer, to which other methods do not apply; use methods='MSP'"
            )
        return True

    def _tune(
        self,
        scores: _Floats,
        predictions: _Array,
        labels: _Array,
        method: str,
        bare: bool,
        names: list[str] | None,
    ) -> TuneResult:
        rows = len(scores)
        choice: dict[str, Any] = {"methods": self.methods, "fallback": self.fallback}
        if bare:
            floor = smallest_probability(scores, method)
            extra = answer_log_odds(scores, predictions, method, floor)
            choice = {"methods": "Extra", "fallback": "none", "extra": extra, "floor": floor}
        else:
            # They are never accepted, so that accepted rows are among the others.
            kept = ~against_scores(scores, predictions)
            scores, predictions, labels = scores[kept], predictions[kept], labels[kept]
        with warnings.catch_warnings():
            # An error is raised instead.
            warnings.simplefilter("ignore", NoThresholdWarning)
            # Labels and scores come from the classifier itself: there is nothing to mix up.
            warnings.simplefilter("ignore", DataWarning)
            result = tune(
                scores,
                labels,
                objective=self.objective,
                space=self.space,
                loss=self._losses(scores, predictions, labels),
                target_accuracy=self.target_accuracy,
                target_risk=self.target_risk,
                delta=self.delta,
                procedure=self.procedure,
                holdout=self.holdout,
                seed=self.seed,
                input=encoding_of(method),
                class_names=names,
                progress=False,
                **choice,
            )
        if result.refusal is not None:
            raise InfeasibleError(result.refusal)
        if self.target_coverage is not None:
            share = _arrays.number(self.target_coverage, "target_coverage") * rows / len(scores)
            if len(scores) < rows and share > 1:
                most = f"only {len(scores)} of {rows} rows are answered by their largest score"
                raise InfeasibleError(f"target_coverage is {self.target_coverage}, but {most}")
            return result.with_threshold(coverage=share)
        if self.cost_error is not None:
            return result.with_threshold(
                cost_error=self.cost_error, cost_abstain=self.cost_abstain
            )
        return result

    def _losses(self, scores: _Floats, predictions: _Array, labels: _Array) -> Any:
        """The loss by name or as costs, or of each row where a prediction is not the argmax."""
        if (predictions == scores.argmax(axis=1)).all():
            return self.loss
        if not isinstance(self.loss, str):
            return np.asarray(self.loss, dtype=np.float64)[labels, predictions]
        if self.loss != "zero-one":
            raise InputError(f"loss is {self.loss!r}, but predictions are not the largest scores")
        return predictions != labels

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
            free = next(number for number in (0, -1, -2, -3) if number not in classes.tolist())
            hint = f"set abstention= to a value that is none, such as abstention={free}"
            raise InputError(f"abstention is {value!r}, which is a class: {hint}", value=value)
        return value

    def _answers(self, X: Any) -> tuple[_Floats, _Array, npt.NDArray[np.bool_]]:
        """The scores, the indices of the predictions, and which of them are never accepted."""
        check_is_fitted(self)
        scores, answers = answered(self.estimator_, X, self.response_method_)
        predictions = places(answers, self.classes_)
        if self.answer_confidence_:
            return scores, predictions, np.zeros(len(scores), dtype=bool)
        return scores, predictions, against_scores(scores, predictions)

    def _extra(self, scores: _Floats, predictions: _Array) -> _Floats | None:
        """The log-odds of the answers, if they are the confidence."""
        if not self.answer_confidence_:
            return None
        floor = self.confidence_estimator_._artifact.floor()
        return answer_log_odds(scores, predictions, self.response_method_, floor)

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
        """Compute the confidence of each prediction: higher is surer.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The rows.
        values : bool, default False
            As in :meth:`abstain.Estimator.confidence`.

        Returns
        -------
        ndarray of shape (rows,)
            ``-inf`` for rows that are never accepted; see the notes of the class.
        """
        scores, predictions, never = self._answers(X)
        extra = self._extra(scores, predictions)
        if extra is not None and values:
            probability: _Floats = 1 / (1 + np.exp(-extra))
            return probability
        confidence = self.confidence_estimator_.confidence(scores, values=values, extra=extra)
        confidence[never] = -np.inf
        return confidence

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
        return self._decided(X)[1]

    def _decided(self, X: Any) -> tuple[_Array, npt.NDArray[np.bool_]]:
        """The predictions, and which of them are accepted."""
        scores, predictions, never = self._answers(X)
        extra = self._extra(scores, predictions)
        accept = self.confidence_estimator_.answers(scores, extra=extra).accept
        if accept is None:
            accept = np.ones(len(scores), dtype=bool)
        return self.classes_[predictions], accept & ~never

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
            number and the other is not. With an abstention that is a number, boolean classes are
            0 and 1.
        """
        check_is_fitted(self)
        if self.threshold_ is None:
            return np.asarray(self.estimator_.predict(X))
        predictions, accept = self._decided(X)
        value = self._abstention(self.classes_)
        needed = np.min_scalar_type(value)
        kinds = {predictions.dtype.kind, needed.kind}
        dtype: Any = object
        if kinds <= set("biuf") or kinds == {"U"}:
            # Numpy, and so the reports of scikit-learn, have no type of booleans and a number.
            known = np.dtype(np.int64) if predictions.dtype.kind == "b" else self.classes_.dtype
            dtype = np.result_type(known, needed)
        predictions = predictions.astype(dtype)
        predictions[~accept] = value
        return predictions

    def evaluate(self, X: Any, y: Any, **options: Any) -> Evaluation:
        """Measure the confidence on labelled rows and compare it with MSP.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            Rows that neither the classifier nor its confidence has seen.
        y : array-like of shape (rows,)
            Their labels.
        **options
            Those of :meth:`abstain.Estimator.evaluate`, such as `metrics`, `target_accuracy` and
            `check_target`.

        Returns
        -------
        Evaluation
        """
        scores, predictions, never = self._answers(X)
        labels, extra = places(column_or_1d(y), self.classes_), self._extra(scores, predictions)
        estimator = self.confidence_estimator_
        if never.any():
            estimator, extra = self._with_last(scores, never)
        loss = self._losses(scores, predictions, labels)
        names = [str(name) for name in self.classes_]
        return estimator.evaluate(
            scores, labels, loss=loss, extra=extra, class_names=names, **options
        )

    def _with_last(
        self, scores: _Floats, never: npt.NDArray[np.bool_]
    ) -> tuple[Estimator, _Floats]:
        """The confidences as numbers of the rows, below which are those that are never accepted."""
        confidence = self.confidence_estimator_.confidence(scores)
        threshold = self.threshold_
        finite = [*confidence[~never], *([] if threshold is None else [threshold])]
        last = min([value for value in finite if np.isfinite(value)], default=0.0) - 1
        confidence[never] = last
        floor = self.confidence_estimator_._artifact.floor()
        bare = Estimator("Extra", input=encoding_of(self.response_method_), floor=floor)
        if threshold is not None:
            bare = bare.with_threshold(at=max(float(threshold), last + 0.5))
        return bare, confidence

    def _result(self) -> TuneResult:
        check_is_fitted(self)
        if not hasattr(self, "tune_result_"):
            raise InputError("pickles do not contain the result of tuning: call fit, or evaluate")
        return self.tune_result_

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the risk-coverage curves of the tuning rows; see :meth:`abstain.TuneResult.plot`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on (default: the current ones).

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._result().plot(ax)

    def page(self, path: str | os.PathLike[str], *, title: str = "tuning rows") -> None:
        """Write the result of tuning as an HTML page; see :meth:`abstain.TuneResult.page`.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        title : str, default "tuning rows"
            The name of the rows.
        """
        names = [str(name) for name in self.classes_]
        self._result().page(path, title=title, class_names=names)

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
