"""Confidence estimators."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Callable, NamedTuple, Sequence, Union, cast

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays, _frames, _labels
from ._arrays import Array
from ._evaluation import Evaluation
from ._options import EvaluationOptions, ExportOptions, ThresholdOptions
from ._progress import Progress, callback
from ._threshold import Threshold
from ._thresholds import refuse, threshold_costs, threshold_options
from ._types import Input, Precision, Procedure
from .errors import InfeasibleError, InputError, warn_of

__all__ = ["Answers", "Estimator", "load", "score"]

Path = Union[str, "os.PathLike[str]"]


class _Answers(NamedTuple):
    #: The predicted class: that of the largest logit, the first of them if several tie. A number
    #: from 0 on, or the name of the class with ``names=True``.
    prediction: npt.NDArray[Any]
    #: The confidence, on the scale of the threshold: higher is surer.
    confidence: npt.NDArray[np.float64]
    #: Whether the row is accepted; None without a threshold.
    accept: npt.NDArray[np.bool_] | None


class Answers(_Answers):
    """What a classifier answers to each row: ``prediction``, ``confidence`` and ``accept``.

    Examples
    --------
    >>> import abstain, pandas
    >>> frame = pandas.DataFrame({"logit_0": [0.0, 0.1], "logit_1": [2.0, 0.0]}, index=["a", "b"])
    >>> abstain.Estimator("MSP").with_threshold(value=0.8).answers(frame).to_frame()
       prediction  confidence  accept
    a           1         2.0    True
    b           0         0.1   False
    """

    # That of the frame with the logits; None if they have none.
    _index: Any = None

    def to_frame(self) -> Any:
        """Return the answers as a frame of pandas, with the index of the frame that was given.

        Returns
        -------
        pandas.DataFrame
            A column for each field; none for `accept` without a threshold.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas") from None
        columns = {name: column for name, column in self._asdict().items() if column is not None}
        return pandas.DataFrame(columns, index=self._index)


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
    input : {"logits", "masked", "probabilities", "binary-probability", "binary-logit"}, \
            default "logits"
        What the numbers of a row are, as in :func:`abstain.score`.
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

    __slots__ = ("_artifact", "_found", "_hash", "_threshold")

    _artifact: _abstain.Artifact
    # What is known of the rows that the threshold was just found on.
    _found: dict[str, Any] | None
    # Made when they are first needed: the estimator does not change.
    _hash: int | None
    _threshold: Threshold | None

    def __init__(
        self,
        name: str,
        *,
        input: Input = "logits",
        floor: float | None = None,
        tolerance: float | None = None,
        **parameters: float,
    ) -> None:
        if input in ("probabilities", "binary-probability") and floor is None:
            # Confidences can be compared only if all rows have the same floor.
            raise InputError("an estimator for probabilities needs a floor, which replaces zeros")
        artifact = _artifact(name, parameters, _arrays.encoding(input, floor, tolerance))
        self._set(artifact, None)

    @classmethod
    def _of(cls, artifact: _abstain.Artifact, found: dict[str, Any] | None = None) -> Estimator:
        self = cls.__new__(cls)
        self._set(artifact, found)
        return self

    def _set(self, artifact: _abstain.Artifact, found: dict[str, Any] | None) -> None:
        self._artifact, self._found = artifact, found
        self._hash = self._threshold = None

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

    def to_onnx(
        self,
        path: Path,
        model: Path | None = None,
        *,
        logits: str | None = None,
        prefix: str = "",
        precision: Precision = "float32",
        opset: int | None = None,
    ) -> dict[str, Any]:
        """Write the estimator into an ONNX model, as ``abstain export`` does.

        The model gets the outputs ``prediction``, ``confidence``, ``probability_right`` (where the
        estimator has one) and ``accept`` (where it has a threshold), and runs wherever it ran
        before. :func:`abstain.load` reads the estimator back from it.

        Parameters
        ----------
        path : str or path
            The file to write; an existing one is replaced.
        model : str or path, optional
            The model; without one, a graph from logits to the outputs is written.
        logits : str, optional
            The value of the model that holds the logits (default: its only output, or what the
            softmax that ends the model is taken of). Without a model, the name of the input.
        prefix : str, default ""
            What the names of the outputs begin with.
        precision : {"float32", "float64"}, default "float32"
            The numbers in which the confidence is computed.
        opset : int, optional
            The version of the operators, without a model.

        Returns
        -------
        dict
            What was written, as ``abstain export --json`` prints it.
        """
        options: ExportOptions = {
            "model": None if model is None else os.fsdecode(model),
            "output": os.fsdecode(path),
            "logits": logits,
            "prefix": prefix,
            "precision": precision,
            "opset": opset,
        }
        return cast("dict[str, Any]", json.loads(self._artifact.export(options)))

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
        return self._artifact.same(other._artifact)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._artifact.json())
        return self._hash

    # Properties.

    @property
    def name(self) -> str:
        """The method and its parameters, such as ``"MaxLogit-pNorm(p=5)"``."""
        return self._artifact.name()

    @property
    def classes(self) -> int | None:
        """The number of classes that rows must have; None for any number."""
        return self._artifact.classes()

    @property
    def class_names(self) -> list[str] | None:
        """The names of the classes, in the order of the columns; None if they are not known."""
        return self._artifact.class_names()

    def _rows(self, logits: Array, extra: Array | None) -> _arrays.RowsWith:
        input = self._artifact.input()
        rows = _frames.logits_of(logits, self.class_names, input)
        return _arrays.rows_with(rows, extra, input)

    def _labelled(
        self,
        logits: Array,
        labels: Array | None,
        extra: Array | None,
        class_names: Sequence[str] | None,
    ) -> tuple[_arrays.RowsWith, _labels.Target, list[str] | None]:
        """Rows, the class of each, and the names of the classes if they are known."""
        input, known = self._artifact.input(), self.class_names
        names = known if class_names is None else class_names
        logits, labels, _ = _frames.labelled(logits, labels, names, input)
        rows = _arrays.rows_with(logits, extra, input)
        classes = _arrays.classes(rows, input)
        given = _labels.class_names(class_names, classes)
        if None not in (known, given) and known != given:
            raise InputError("class_names: the estimator was tuned with other names")
        return rows, *_labels.labels(labels, classes, known or given)

    @property
    def threshold(self) -> Threshold | None:
        """The threshold of all rows; None without one, and where classes or groups have several."""
        if self._threshold is None:
            known = self._artifact.threshold()
            if known is None:
                return None
            details, reference = known
            # What a monitor compares with is in a file, too.
            found = {"reference": None if reference is None else json.loads(reference)}
            self._threshold = Threshold(json.loads(details), {**found, **(self._found or {})})
        return self._threshold

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
        return self._artifact.confidence(self._rows(logits, extra), bool(values))

    def answers(
        self, logits: Array, *, names: bool = False, extra: Array | None = None
    ) -> Answers:
        """Compute the prediction, the confidence and the acceptance of each row.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        names : bool, default False
            Return the names of the predicted classes instead of their numbers; the estimator must
            know them (`class_names` of :func:`abstain.tune`).
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
        prediction, confidence, accept = self._artifact.answers(self._rows(logits, extra))
        found: npt.NDArray[Any] = prediction
        if names:
            known = self.class_names
            if known is None:
                hint = "give class_names= to abstain.tune, or string labels"
                raise InputError(f"the estimator does not know the names of the classes; {hint}")
            found = np.asarray(known)[prediction]
        answers = Answers(found, confidence, accept)
        # Not a method, as `index` of lists and tuples is.
        index = getattr(logits, "index", None)
        answers._index = None if callable(index) else index
        return answers

    def predict(
        self,
        logits: Array,
        *,
        abstention: int | str = "auto",
        names: bool = False,
        extra: Array | None = None,
    ) -> npt.NDArray[Any]:
        """Predict the class of each row, or abstain.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        abstention : int or str, default "auto"
            What is returned for rows that are not accepted; it must not be a class. ``"auto"`` is
            ``-1``, or ``"abstain"`` with `names`.
        names : bool, default False
            Return the names of the classes instead of their numbers, as in :meth:`answers`.
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
        input = self._artifact.input()
        array = _arrays.rows(_frames.logits_of(logits, self.class_names, input), input=input)
        prediction, _, accept = self.answers(array, names=names, extra=extra)
        if isinstance(abstention, str) and abstention == "auto":
            abstention = "abstain" if names else -1
        if names:
            value: Any = _arrays.text(abstention, "abstention")
            is_class = value in (self.class_names or [])
        else:
            value = np.int64(_arrays.integer(abstention, "abstention"))
            is_class = 0 <= value < _arrays.classes(array, self._artifact.input())
        if is_class:
            raise InputError(f"abstention is {value}, which is a class", value=abstention)
        if accept is None:
            hint = ".with_threshold() and .certify() return an estimator that has one"
            raise InputError(f"the estimator has no threshold; {hint}")
        return np.where(accept, prediction, value)

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
        cost_error: float | None = None,
        cost_abstain: float | None = None,
        delta: float | None = None,
        procedure: Procedure | None = None,
        tried: int | None = None,
        loss: Array | None = None,
        extra: Array | None = None,
        class_names: Sequence[str] | None = None,
        groups: Array | None = None,
    ) -> Estimator:
        """Return the same estimator with a threshold.

        Give one of `target_accuracy`, `target_risk`, `coverage`, `at` and `value`, or both costs. A
        target and costs need rows and labels, a coverage needs rows.

        Parameters
        ----------
        logits : array-like of shape (rows, classes), or table, optional
            The rows on which the threshold is found, as in :func:`abstain.tune`.
        labels : array-like of shape (rows,), optional
            Their labels; of a table, the name of a column (default: as in :func:`abstain.tune`).
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
        cost_error, cost_abstain : float, optional
            What an error among the accepted rows costs, and what an abstention costs: accept the
            rows for which the sum is lowest.
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
        class_names : sequence of str, optional
            The names of the classes, in the order of the columns, as in :func:`abstain.tune`
            (default: those that the estimator was tuned with).
        groups : array-like of shape (rows,), optional
            The group of each row, for a target: `Threshold.breakdown` counts what is accepted in
            each.

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
        hint = "TuneResult.with_threshold uses the rows that tuning measured"
        costs = threshold_costs(cost_error, cost_abstain)
        if target_accuracy is not None or target_risk is not None:
            refuse("a target", coverage=coverage, at=at, value=value, cost_error=cost_error)
            if not _has_labels(logits, labels):
                raise InputError(f"a target needs logits and labels; {hint}")
            options = threshold_options(target_accuracy, target_risk, delta, procedure, tried)
            rows = self._labelled(logits, labels, extra, class_names)
            return self._meeting_target(rows, loss, groups, options)
        certified = {"delta": delta, "procedure": procedure, "tried": tried}
        if costs is not None:
            refuse("costs", coverage=coverage, at=at, value=value, groups=groups, **certified)
            if not _has_labels(logits, labels):
                raise InputError(f"costs need logits and labels; {hint}")
            rows = self._labelled(logits, labels, extra, class_names)
            return self._meeting_target(rows, loss, None, costs)
        others = {"loss": loss, "class_names": class_names, "groups": groups, **certified}
        if coverage is not None:
            refuse("coverage", at=at, value=value, labels=labels, **others)
            if logits is None:
                raise InputError(f"coverage needs rows: give logits; {hint}")
            share = _arrays.number(coverage, "coverage")
            return Estimator._of(self._artifact.with_coverage(self._rows(logits, extra), share))
        if at is None and value is None:
            wanted = "target_accuracy, target_risk, coverage, at, value, cost_error"
            raise InputError(f"give one of {wanted}")
        refuse("at or value", logits=logits, labels=labels, extra=extra, **others)
        at, value = _arrays.optional_number(at, "at"), _arrays.optional_number(value, "value")
        return Estimator._of(self._artifact.with_threshold_at(at, value))

    def certify(
        self,
        logits: Array,
        labels: Array | None = None,
        *,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        delta: float = 0.05,
        procedure: Procedure | None = None,
        tried: int | None = None,
        loss: Array | None = None,
        extra: Array | None = None,
        class_names: Sequence[str] | None = None,
        groups: Array | None = None,
        repeats: str = "once",
        group_folds: Array | None = None,
        seed: int = 0,
    ) -> Estimator:
        """Return the same estimator with a certified threshold.

        Parameters
        ----------
        logits, labels
            The certifying rows. They must come from the distribution on which the estimator will
            be used, and must not have tuned it.
        target_accuracy, target_risk, delta, procedure, tried, loss, extra, class_names, groups
            As in :meth:`with_threshold`.
        repeats : {"once", "keep"}, default "once"
            What rows count as that are equal in more digits than chance repeats: once, as copies,
            or each of them.
        group_folds : array-like of shape (rows,), optional
            What near-copies share, such as the video of a frame: of the rows with equal ones, one
            drawn at random certifies, and the guarantee is for the population in which every group
            counts the same.
        seed : int, default 0
            The seed of the rows that are drawn. Fix it before looking at the rows.

        Returns
        -------
        Estimator

        Warns
        -----
        DataWarning
            If something about the rows looks wrong, also where no threshold can be certified.

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
        options["repeats"] = _arrays.text(repeats, "repeats")
        options["group_folds"] = _arrays.groups(group_folds, "group_folds")
        options["seed"] = _arrays.count(seed, "seed")
        rows = self._labelled(logits, labels, extra, class_names)
        return self._meeting_target(rows, loss, groups, options)

    def _meeting_target(
        self,
        labelled: tuple[_arrays.RowsWith, _labels.Target, list[str] | None],
        loss: Array | None,
        groups: Array | None,
        wanted: ThresholdOptions | tuple[float, float],
    ) -> Estimator:
        rows, found, names = labelled
        losses = None if loss is None else _arrays.loss(loss)
        known = None
        if isinstance(wanted, tuple):
            artifact = self._artifact.with_costs(rows, found, losses, wanted)
        else:
            try:
                artifact, text = self._artifact.with_threshold_on(
                    rows, found, names, losses, _arrays.groups(groups), wanted
                )
            except InfeasibleError:
                # What looks wrong with the rows may be why.
                warn_of(json.loads(self._artifact.warnings(rows, found, losses)), stacklevel=4)
                raise
            known = json.loads(text)
            warn_of(known["warnings"], stacklevel=4)
        if names is not None:
            artifact = artifact.with_class_names(names)
        return Estimator._of(artifact, known)

    # Measuring.

    def evaluate(
        self,
        logits: Array,
        labels: Array | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        target_accuracy: float | None = None,
        target_risk: float | None = None,
        confidences: dict[str, Array] | None = None,
        loss: Array | None = None,
        extra: Array | None = None,
        class_names: Sequence[str] | None = None,
        groups: Array | None = None,
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
        logits : array-like of shape (rows, classes), or table
            The outputs of the classifier, as in :func:`abstain.tune`.
        labels : array-like of shape (rows,), optional
            The true classes, or the name of their column in a table, as in :func:`abstain.tune`.
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
        class_names : sequence of str, optional
            The names of the classes, as in :meth:`with_threshold`.
        groups : array-like of shape (rows,), optional
            The group of each row: ``report["breakdown"]`` counts what is accepted in each.
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
            "groups": _arrays.groups(groups),
        }
        rows, found, names = self._labelled(logits, labels, extra, class_names)
        with callback(progress) as on_progress:
            evaluation = _abstain.evaluate(
                self._artifact,
                rows,
                found,
                names,
                None if loss is None else _arrays.loss(loss),
                others,
                options,
                on_progress,
            )
        result = Evaluation(evaluation, names)
        warn_of(result.report["warnings"], stacklevel=3)
        return result


def _has_labels(logits: Array | None, labels: Array | None) -> bool:
    """Whether there are rows with labels; a table may hold them itself."""
    return logits is not None and (labels is not None or _frames.is_table(logits))


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
    input: Input = "logits",
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
    input : {"logits", "masked", "probabilities", "binary-probability", "binary-logit"}, \
            default "logits"
        What the numbers of a row are: finite logits, logits in which ``-inf`` marks a class that
        is ruled out, or probabilities. Of a binary classifier that gives one number for each row,
        `logits` has the shape (rows,) or (rows, 1): the probability of the positive class, or its
        logit (the log-odds). Class 1 is the positive one; at 0.5 the prediction is 0.
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
    rows = _arrays.rows(_frames.logits_of(logits, None, input), input=input)
    return artifact.confidence(rows, bool(values))


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
