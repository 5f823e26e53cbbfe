"""Confidence estimators."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Callable, NamedTuple, Sequence, Union, cast

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays
from ._arrays import Array
from ._evaluation import Evaluation
from ._options import EvaluationOptions, ThresholdOptions
from ._progress import Progress, callback
from ._threshold import Threshold
from .errors import InputError

__all__ = ["Answers", "Estimator", "load", "score"]

Path = Union[str, "os.PathLike[str]"]


class Answers(NamedTuple):
    """What a classifier answers to each row."""

    #: The predicted class: that of the largest logit, the first of them if several tie.
    prediction: npt.NDArray[np.int64]
    #: The confidence, on the scale of the threshold: higher is surer.
    confidence: npt.NDArray[np.float64]
    #: Whether the row is accepted; None without a threshold.
    accept: npt.NDArray[np.bool_] | None


class Estimator:
    """A confidence estimator: a method with its parameters, and perhaps a threshold.

    An estimator comes from :func:`abstain.tune`, from a file (:func:`abstain.load`), or from the
    name of a method. It is immutable: :meth:`with_threshold` and :meth:`certify` return another
    estimator.

    Parameters
    ----------
    name : str
        A method, such as ``"MaxLogit-pNorm"``, or a method with its parameters, such as
        ``"MaxLogit-pNorm(p=5)"``. :func:`abstain.methods` lists them.
    input : {"logits", "masked", "probabilities"}, default "logits"
        What the numbers of a row are: finite logits, logits in which ``-inf`` marks a class that
        is ruled out, or probabilities.
    floor : float, optional
        What replaces zeros; required for probabilities.
    tolerance : float, optional
        For probabilities, how far the sum of a row may differ from 1 (default: 0.001, in half
        precision 0.01).
    **parameters : float
        The parameters of the method, such as ``p=5`` or ``T=1.5``.

    Examples
    --------
    >>> import abstain
    >>> estimator = abstain.Estimator("MaxLogit-pNorm", p=5)
    >>> estimator
    Estimator('MaxLogit-pNorm(p=5)')
    >>> estimator.confidence([[4.0, 1.0, 0.5], [2.0, 1.9, 0.0]], values=True).round(3)
    array([0.982, 0.532])
    """

    __slots__ = ("_artifact",)

    _artifact: _abstain.Artifact

    def __init__(
        self,
        name: str,
        *,
        input: str = "logits",
        floor: float | None = None,
        tolerance: float | None = None,
        **parameters: float,
    ) -> None:
        if input == "probabilities" and floor is None:
            # Confidences can be compared only if all rows have the same floor.
            raise InputError("an estimator for probabilities needs a floor, which replaces zeros")
        self._artifact = _artifact(name, parameters, _arrays.encoding(input, floor, tolerance))

    @classmethod
    def _of(cls, artifact: _abstain.Artifact) -> Estimator:
        self = cls.__new__(cls)
        self._artifact = artifact
        return self

    # Files, JSON, pickles.

    @classmethod
    def load(cls, path: Path) -> Estimator:
        """Read an estimator from its file; see :func:`abstain.load`."""
        return cls._of(_abstain.Artifact.read(os.fsdecode(path)))

    def save(self, path: Path) -> None:
        """Write the estimator to a JSON file, completely or not at all.

        The program ``abstain`` reads the file and computes the same confidences to the last bit.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        """
        self._artifact.write(os.fsdecode(path))

    @classmethod
    def from_dict(cls, artifact: dict[str, Any]) -> Estimator:
        """Make an estimator from its JSON object; see :meth:`to_dict`."""
        return cls._of(_abstain.Artifact.of_json(json.dumps(artifact)))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that :meth:`save` writes."""
        return cast("dict[str, Any]", json.loads(self._artifact.json()))

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Estimator], tuple[dict[str, Any]]]:
        return (Estimator.from_dict, (self.to_dict(),))

    def __copy__(self) -> Estimator:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Estimator:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimator):
            return NotImplemented
        return self._artifact.json() == other._artifact.json()

    def __hash__(self) -> int:
        return hash(self._artifact.json())

    # Properties.

    @property
    def name(self) -> str:
        """The method and its parameters, such as ``"MaxLogit-pNorm(p=5)"``."""
        return self._artifact.name()

    @property
    def classes(self) -> int | None:
        """The number of classes that rows must have; None for any number."""
        return cast("int | None", self.to_dict()["classes"])

    @property
    def threshold(self) -> Threshold | None:
        """The threshold; None without one."""
        details = self.to_dict()["threshold"]
        return None if details is None else Threshold(details)

    def __repr__(self) -> str:
        threshold = self.threshold
        more = "" if threshold is None else f", {threshold!r}"
        return f"Estimator({self.name!r}{more})"

    def __str__(self) -> str:
        return self._artifact.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    # Scoring.

    def confidence(
        self, logits: Array, *, values: bool = False, extra: Array | None = None
    ) -> npt.NDArray[np.float64]:
        """Compute the confidence of each row: higher is surer.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier. C-contiguous float16, float32 and float64 is not copied.
        values : bool, default False
            By default the confidence is on the scale of the threshold, which does not saturate
            (for MSP the log-odds). If True, it is the value of the paper's formula (for MSP the
            probability), in which rows of high confidence may tie.
        extra : array-like of shape (rows,), optional
            One further number of each row, for an estimator that was tuned with one.

        Returns
        -------
        ndarray of shape (rows,)

        Examples
        --------
        >>> import abstain
        >>> abstain.Estimator("MSP").confidence([[2.0, 0.0]], values=True).round(3)
        array([0.881])
        """
        return self._artifact.confidence(_arrays.rows_with(logits, extra), bool(values))

    def answers(self, logits: Array, *, extra: Array | None = None) -> Answers:
        """Compute the prediction, the confidence and the acceptance of each row.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        extra : array-like of shape (rows,), optional
            One further number of each row, for an estimator that was tuned with one.

        Returns
        -------
        Answers

        Examples
        --------
        >>> import abstain
        >>> estimator = abstain.Estimator("MSP").with_threshold(value=0.8)
        >>> prediction, confidence, accept = estimator.answers([[0.0, 2.0], [0.1, 0.0]])
        >>> prediction.tolist(), accept.tolist()
        ([1, 0], [True, False])
        """
        return Answers(*self._artifact.answers(_arrays.rows_with(logits, extra)))

    def predict(
        self, logits: Array, *, abstention: int = -1, extra: Array | None = None
    ) -> npt.NDArray[np.int64]:
        """Predict the class of each row, or abstain.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        abstention : int, default -1
            What is returned for rows that are not accepted; it must not be a class.
        extra : array-like of shape (rows,), optional
            One further number of each row, for an estimator that was tuned with one.

        Returns
        -------
        ndarray of shape (rows,)

        Raises
        ------
        InputError
            If the estimator has no threshold.

        Examples
        --------
        >>> import abstain
        >>> estimator = abstain.Estimator("MSP").with_threshold(value=0.8)
        >>> estimator.predict([[0.0, 2.0], [0.1, 0.0]]).tolist()
        [1, -1]
        """
        array = _arrays.rows(logits)
        abstention = _arrays.integer(abstention, "abstention")
        if 0 <= abstention < array.shape[1]:
            raise InputError(f"abstention is {abstention}, which is a class", value=abstention)
        prediction, _, accept = self.answers(array, extra=extra)
        if accept is None:
            hint = ".with_threshold() and .certify() return an estimator that has one"
            raise InputError(f"the estimator has no threshold; {hint}")
        return np.where(accept, prediction, np.int64(abstention))

    # Thresholds.

    def with_threshold(
        self,
        logits: Array | None = None,
        labels: Array | None = None,
        *,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        coverage: float | None = None,
        at: float | None = None,
        value: float | None = None,
        delta: float | None = None,
        procedure: str | None = None,
        tried: int | None = None,
        loss: Array | None = None,
        extra: Array | None = None,
    ) -> Estimator:
        """Return the same estimator with a threshold.

        Give one of `target_accuracy`, `target_risk`, `coverage`, `at` and `value`. A target needs
        rows and labels, a coverage needs rows.

        Parameters
        ----------
        logits : array-like of shape (rows, classes), optional
            The rows on which the threshold is found.
        labels : array-like of shape (rows,), optional
            Their labels.
        target_accuracy : float, optional
            Accept as many rows as possible at this selective accuracy.
        target_risk : float, optional
            Accept as many rows as possible at this selective risk.
        coverage : float, optional
            Accept this share of the rows, or a little more where confidences tie.
        at : float, optional
            Accept rows with this confidence or more.
        value : float, optional
            Accept rows with this value of the paper's formula or more, such as a probability.
        delta : float, optional
            Certify the target: over the draw of the rows, the guarantee fails with at most this
            probability. Fix the target before looking at the rows.
        procedure : {"fixed-sequence", "sgr"}, optional
            How to certify (default: by a fixed sequence of tests).
        tried : int, optional
            How many estimators were compared on these rows, this one included; they share `delta`.
            Comparisons that the estimator has a record of are counted in any case.
        loss : str or array-like, optional
            What an error costs, as in :func:`abstain.tune` (default: the loss that the estimator
            was tuned for).
        extra : array-like of shape (rows,), optional
            One further number of each row, for an estimator that was tuned with one.

        Returns
        -------
        Estimator

        Raises
        ------
        InfeasibleError
            If no threshold meets the target, or none can be certified; the message says what is
            missing.
        InputError
            If the estimator was tuned on the rows that shall certify it.

        See Also
        --------
        abstain.TuneResult.with_threshold : Find the threshold on the rows that tuning measured.

        Examples
        --------
        >>> import numpy as np, abstain
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 3, 600)
        >>> logits = rng.normal(size=(600, 3)) + 3 * np.eye(3)[labels]
        >>> msp = abstain.Estimator("MSP")
        >>> msp.with_threshold(logits, coverage=0.5).threshold.coverage
        0.5
        >>> certified = msp.with_threshold(logits, labels, target_accuracy=0.95, delta=0.05)
        >>> certified.threshold.basis, certified.threshold.certificate["rows"]
        ('certified', 600)
        """
        if target_accuracy is not None or target_risk is not None:
            _refuse("a target", coverage=coverage, at=at, value=value)
            if logits is None or labels is None:
                hint = "TuneResult.with_threshold uses the rows that tuning measured"
                raise InputError(f"a target needs logits and labels; {hint}")
            options = threshold_options(target_accuracy, target_risk, delta, procedure, tried)
            return self._meeting_target(_arrays.rows_with(logits, extra), labels, loss, options)
        certified = {"delta": delta, "procedure": procedure, "tried": tried, "loss": loss}
        if coverage is not None:
            _refuse("coverage", at=at, value=value, labels=labels, **certified)
            if logits is None:
                raise InputError("coverage needs rows: give logits")
            share = _arrays.number(coverage, "coverage")
            return Estimator._of(self._artifact.with_coverage(_arrays.rows_with(logits, extra), share))
        if at is None and value is None:
            raise InputError("give one of target_accuracy, target_risk, coverage, at, value")
        _refuse("at or value", logits=logits, labels=labels, extra=extra, **certified)
        at, value = _arrays.optional_number(at, "at"), _arrays.optional_number(value, "value")
        return Estimator._of(self._artifact.with_threshold_at(at, value))

    def certify(
        self,
        logits: Array,
        labels: Array,
        *,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        delta: float = 0.05,
        procedure: str | None = None,
        tried: int | None = None,
        loss: Array | None = None,
        extra: Array | None = None,
    ) -> Estimator:
        """Return the same estimator with a certified threshold.

        Parameters
        ----------
        logits, labels
            The certifying rows. They must come from the distribution on which the estimator will
            be used, and must not have tuned it.
        target_accuracy, target_risk, delta, procedure, tried, loss, extra
            As in :meth:`with_threshold`.

        Returns
        -------
        Estimator

        Raises
        ------
        InfeasibleError
            If no threshold can be certified; the message says what is missing.
        InputError
            If the estimator was tuned on these rows.

        Examples
        --------
        >>> import numpy as np, abstain
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 3, 600)
        >>> logits = rng.normal(size=(600, 3)) + 3 * np.eye(3)[labels]
        >>> abstain.Estimator("MSP").certify(logits, labels, target_accuracy=0.95)
        Estimator('MSP', Threshold(..., certified, risk <= 0.05 with probability 0.95, ...))
        """
        # Without a delta there would be no guarantee.
        delta = _arrays.number(delta, "delta")
        options = threshold_options(target_accuracy, target_risk, delta, procedure, tried)
        return self._meeting_target(_arrays.rows_with(logits, extra), labels, loss, options)

    def _meeting_target(
        self, rows: Any, labels: Array, loss: Array | None, options: ThresholdOptions
    ) -> Estimator:
        artifact = self._artifact.with_threshold_on(
            rows,
            _arrays.labels(labels),
            None if loss is None else _arrays.loss(loss),
            options,
        )
        return Estimator._of(artifact)

    # Measuring.

    def evaluate(
        self,
        logits: Array,
        labels: Array,
        *,
        metrics: str | Sequence[str] | None = None,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        confidences: dict[str, Array] | None = None,
        loss: Array | None = None,
        extra: Array | None = None,
        replicates: int | None = None,
        seed: int = 0,
        check_target: bool = False,
        min_coverage: float | None = None,
        min_accuracy: float | None = None,
        name: str = "rows",
        progress: Progress = None,
    ) -> Evaluation:
        """Measure the estimator on labelled rows and compare it with MSP.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        labels : array-like of shape (rows,)
            The true classes, counted from 0.
        metrics : str or sequence of str, optional
            The metrics, such as ``["NAURC", "SAC@0.98"]`` (default: the usual ones).
        target_accuracy, target_risk : float, optional
            What the accepted rows must meet (default: the target of the threshold, or a usual
            one).
        confidences : dict of str to array-like, optional
            Further confidences of the same rows, by name, to compare.
        loss : str or array-like, optional
            What an error costs, as in :func:`abstain.tune` (default: the loss that the estimator
            was tuned for).
        extra : array-like of shape (rows,), optional
            One further number of each row, for an estimator that was tuned with one.
        replicates : int, optional
            The number of resamples of a bootstrap behind each interval, in place of closed forms.
            It misses what these rows miss; see :func:`abstain.interval`.
        seed : int, default 0
            The seed of the resamples.
        check_target : bool, default False
            Whether `Evaluation.gate` checks the target of the threshold, as ``abstain eval
            --fail-if-violated`` does: it fails where the rows show, with an error probability of at
            most 5 %, that the selective risk is above the target.
        min_coverage, min_accuracy : float, optional
            The least coverage at the threshold, and the least accuracy of the rows that it accepts
            (of all rows without a threshold), for `Evaluation.gate`.
        name : str, default "rows"
            The name of the set of rows in the report.
        progress : bool or callable, optional
            As in :func:`abstain.tune`.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> import numpy as np, abstain
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 5, 400)
        >>> logits = rng.normal(size=(400, 5)) + 2 * np.eye(5)[labels]
        >>> estimator = abstain.Estimator("MaxLogit-pNorm", p=3)
        >>> naurc = estimator.evaluate(logits, labels)["NAURC"]
        >>> naurc.low < naurc.estimate < naurc.high
        True
        """
        others: list[tuple[str, npt.NDArray[np.float64]]] = []
        for key, column in ({} if confidences is None else confidences).items():
            others.append((str(key), _arrays.vector(column, "confidence")))
        options: EvaluationOptions = {
            "name": _arrays.text(name, "name"),
            "metrics": None if metrics is None else _arrays.texts(metrics, "metrics"),
            "target_accuracy": _arrays.optional_number(target_accuracy, "target_accuracy"),
            "target_risk": _arrays.optional_number(target_risk, "target_risk"),
            "replicates": _arrays.optional_count(replicates, "replicates"),
            "seed": _arrays.count(seed, "seed"),
            "check_target": bool(check_target),
            "min_coverage": _arrays.optional_number(min_coverage, "min_coverage"),
            "min_accuracy": _arrays.optional_number(min_accuracy, "min_accuracy"),
        }
        with callback(progress) as on_progress:
            evaluation = _abstain.evaluate(
                self._artifact,
                _arrays.rows_with(logits, extra),
                _arrays.labels(labels),
                None if loss is None else _arrays.loss(loss),
                others,
                options,
                on_progress,
            )
        return Evaluation(evaluation)


def threshold_options(
    target_accuracy: float | None,
    target_risk: float | None,
    delta: float | None,
    procedure: str | None,
    tried: int | None,
) -> ThresholdOptions:
    """Convert the keywords of a threshold for the extension."""
    if delta is None and tried is not None:
        raise InputError("tried is for certificates: give delta")
    return {
        "target_accuracy": _arrays.optional_number(target_accuracy, "target_accuracy"),
        "target_risk": _arrays.optional_number(target_risk, "target_risk"),
        "delta": _arrays.optional_number(delta, "delta"),
        "procedure": procedure_name(procedure, delta),
        "tried": None if tried is None else _arrays.count(tried, "tried", 1),
    }


def procedure_name(procedure: str | None, delta: float | None) -> str:
    """The procedure that certifies a threshold."""
    if procedure is None:
        return "fixed-sequence"
    if delta is None:
        raise InputError("procedure is for certificates: give delta")
    return _arrays.text(procedure, "procedure")


def _refuse(chosen: str, **others: Any) -> None:
    """Refuse keywords that the chosen kind of threshold does not take."""
    for name, value in others.items():
        if value is not None:
            raise InputError(f"{name} cannot be combined with {chosen}")


def load(path: Path) -> Estimator:
    """Read an estimator from a file of this package or of the program ``abstain``.

    Parameters
    ----------
    path : str or path
        A file of :meth:`Estimator.save` or of ``abstain tune --output``.

    Returns
    -------
    Estimator

    Raises
    ------
    OSError
        If the file cannot be read.
    InputError
        If the file does not hold an estimator.

    Examples
    --------
    >>> import abstain, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "estimator.json")
    ...     abstain.Estimator("MaxLogit-pNorm", p=5).save(path)
    ...     abstain.load(path)
    Estimator('MaxLogit-pNorm(p=5)')
    """
    return Estimator.load(path)


def score(
    name: str,
    logits: Array,
    *,
    values: bool = False,
    input: str = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
    **parameters: float,
) -> npt.NDArray[np.float64]:
    """Compute the confidence of each row by the name of a method.

    Parameters
    ----------
    name : str
        A method of :func:`abstain.methods`, such as ``"MSP"`` or ``"MaxLogit-pNorm"``.
    logits : array-like of shape (rows, classes)
        The outputs of the classifier. C-contiguous float16, float32 and float64 is not copied.
    values : bool, default False
        By default the confidence is on a scale that does not saturate (for MSP the log-odds). If
        True, it is the value of the paper's formula (for MSP the probability), in which rows of
        high confidence may tie.
    input : {"logits", "masked", "probabilities"}, default "logits"
        What the numbers of a row are: finite logits, logits in which ``-inf`` marks a class that
        is ruled out, or probabilities.
    floor : float, optional
        For probabilities, what replaces zeros (default: the smallest positive probability of the
        rows).
    tolerance : float, optional
        For probabilities, how far the sum of a row may differ from 1 (default: 0.001, in half
        precision 0.01).
    **parameters : float
        The parameters of the method, such as ``p=5``.

    Returns
    -------
    ndarray of shape (rows,)
        The confidences: higher is surer.

    Examples
    --------
    >>> import abstain
    >>> logits = [[4.0, 1.0, 0.5], [2.0, 1.9, 0.0]]
    >>> abstain.score("MaxLogit-pNorm", logits, p=5, values=True).round(3)
    array([0.982, 0.532])
    >>> abstain.score("MSP", logits, values=True).round(3)
    array([0.926, 0.49 ])
    """
    artifact = _artifact(name, parameters, _arrays.encoding(input, floor, tolerance))
    return artifact.confidence(_arrays.rows(logits), bool(values))


def _artifact(
    name: str, parameters: dict[str, float], encoding: _arrays.Encoding
) -> _abstain.Artifact:
    name = _arrays.text(name, "name")
    if parameters and "(" in name:
        raise InputError(f"the parameters of {name!r} are given twice")
    if parameters:
        # The shortest decimals that read back as the same numbers.
        texts = [f"{key}={_arrays.number(value, key)!r}" for key, value in parameters.items()]
        name = f"{name}({', '.join(texts)})"
    return _abstain.Artifact.of_text(name, encoding)
