"""The estimator: what tuning finds, files keep and services use."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence, Union, cast

import numpy as np
import numpy.typing as npt

from . import _abstain, _arrays
from ._arrays import Array
from ._evaluation import Evaluation
from ._options import Asked, EvaluationOptions
from ._progress import Progress, callback
from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Answers", "Estimator", "Threshold", "load", "score"]

Path = Union[str, "os.PathLike[str]"]


class Answers(NamedTuple):
    """What a classifier answers to each row."""

    #: The predicted class: the largest logit, the first of them if several tie.
    prediction: npt.NDArray[np.int64]
    #: The confidence, on the scale of the threshold: higher is surer.
    confidence: npt.NDArray[np.float64]
    #: Whether to trust it; None without a threshold.
    accept: npt.NDArray[np.bool_] | None


class Threshold(float):
    """A threshold, which is a number, and what it rests on. Rows with a confidence of at least the
    threshold are accepted.

    Examples
    --------
    >>> import abstain
    >>> estimator = abstain.Estimator("MSP")
    >>> threshold = estimator.threshold(value=0.9)
    >>> threshold.basis
    'given'
    >>> round(threshold, 3)                  # the log-odds of 0.9
    2.197
    """

    _details: dict[str, Any]

    def __new__(cls, details: dict[str, Any]) -> Threshold:
        # Infinity is written as text in JSON.
        self = super().__new__(cls, float(details["at"]))
        self._details = details
        return self

    def __reduce__(self) -> tuple[type[Threshold], tuple[dict[str, Any]]]:
        return (Threshold, (self._details,))

    @property
    def basis(self) -> str:
        """``"certified"``, ``"risk"``, ``"coverage"`` or ``"given"``."""
        return cast(str, self._details["basis"])

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What is guaranteed, and the evidence: `errors` in `accepted` of `rows` rows are few enough for
        the selective risk to be at most `risk`, but in a share of `delta` of all draws. `tried`
        estimators share `delta`, and so do the `starts` row counts from which a fixed sequence sets out.
        """
        return self._details.get("certificate")

    @property
    def rows(self) -> int | None:
        """The rows it was found on."""
        return (self.certificate or self._details).get("rows")

    @property
    def accepted(self) -> int | None:
        """Those of them that it accepts."""
        return (self.certificate or self._details).get("accepted")

    @property
    def coverage(self) -> float | None:
        """The share of them that it accepts."""
        if self.rows is None or self.accepted is None:
            return None
        return self.accepted / self.rows

    @property
    def selective_risk(self) -> float | None:
        """The mean loss among those that it accepts."""
        if self.certificate is not None:
            return cast(float, self.certificate["errors"] / self.certificate["accepted"])
        return self._details.get("selective_risk")

    def __repr__(self) -> str:
        parts = [f"{float(self):.6g}", self.basis]
        if self.certificate is not None:
            risk, sure = self.certificate["risk"], 1 - self.certificate["delta"]
            parts.append(f"risk <= {risk:g} with probability {sure:g}")
        elif self.selective_risk is not None:
            parts.append("not certified")
        if self.coverage is not None:
            parts.append(f"coverage {self.coverage:.3f}")
        return f"Threshold({', '.join(parts)})"


class Estimator:
    """A confidence estimator with its numbers, its threshold, and where it came from.

    Made by :func:`abstain.tune`, by :func:`abstain.load` from a file of this package or of the program
    ``abstain``, or by name.

    Parameters
    ----------
    name : str
        A method, such as ``"MaxLogit-pNorm"``, or a method with its numbers, such as
        ``"MaxLogit-pNorm(p=5)"``; :func:`abstain.methods` lists them.
    input : {"logits", "masked", "probabilities"}, default "logits"
        What the numbers of a row are: finite logits, logits in which ``-inf`` marks a class that was
        ruled out, or probabilities.
    floor : float, optional
        For probabilities, which need it: what replaces zeros.
    tolerance : float, optional
        For probabilities, how far a row may miss a sum of 1 (default: 0.001, in half precision 0.01).
    **numbers : float
        The numbers of the method, such as ``p=5`` or ``T=1.5``.

    Examples
    --------
    >>> import abstain
    >>> estimator = abstain.Estimator("MaxLogit-pNorm", p=5)
    >>> estimator
    Estimator('MaxLogit-pNorm(p=5)')
    >>> estimator.confidence([[4.0, 1.0, 0.5], [2.0, 1.9, 0.0]], values=True).round(3)
    array([0.982, 0.532])
    """

    _artifact: _abstain.Artifact
    _tuning: _abstain.Tuning | None
    #: What the threshold was asked for after tuning, until someone looks at what tuning says of it.
    _asked: Asked | None

    def __init__(
        self,
        name: str,
        *,
        input: str = "logits",
        floor: float | None = None,
        tolerance: float | None = None,
        **numbers: float,
    ) -> None:
        if input == "probabilities" and floor is None:
            # It must be the same for all rows that are to be compared.
            raise InputError("an estimator for probabilities needs a floor, which replaces zeros")
        self._artifact = _artifact(name, numbers, _arrays.kind(input, floor, tolerance))
        self._tuning = self._asked = None

    @classmethod
    def _of(cls, artifact: _abstain.Artifact, tuning: _abstain.Tuning | None = None) -> Estimator:
        self = cls.__new__(cls)
        self._artifact, self._tuning, self._asked = artifact, tuning, None
        return self

    # Files, JSON, pickles.

    @classmethod
    def load(cls, path: Path) -> Estimator:
        """Reads the file of an estimator; see :func:`abstain.load`."""
        return cls._of(_abstain.Artifact.read(os.fsdecode(path)))

    def save(self, path: Path) -> None:
        """Writes the estimator to a file of JSON, whole or not at all.

        The program ``abstain`` reads it, and scores with it to the same bits. What :func:`abstain.tune`
        knows of the rows is not part of it.

        Parameters
        ----------
        path : str or path
            The file; an earlier one is replaced.
        """
        self._artifact.write(os.fsdecode(path))

    @classmethod
    def from_dict(cls, artifact: dict[str, Any]) -> Estimator:
        """The estimator of a JSON object; see :meth:`to_dict`."""
        return cls._of(_abstain.Artifact.of_json(json.dumps(artifact)))

    def to_dict(self) -> dict[str, Any]:
        """The estimator as the JSON object that :meth:`save` writes."""
        return cast("dict[str, Any]", json.loads(self._artifact.json()))

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Estimator], tuple[dict[str, Any]]]:
        return (Estimator.from_dict, (self.to_dict(),))

    def __copy__(self) -> Estimator:
        own = Estimator._of(self._artifact, self._tuning)
        own._asked = self._asked
        return own

    def __deepcopy__(self, memo: dict[int, Any]) -> Estimator:
        # Nothing that is shared ever changes.
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimator):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    # What it is.

    @property
    def name(self) -> str:
        """The method and its numbers, such as ``"MaxLogit-pNorm(p=5)"``."""
        return self._artifact.name()

    @property
    def classes(self) -> int | None:
        """How many classes rows must have; None for any number."""
        return cast("int | None", self.to_dict()["classes"])

    @property
    def threshold_(self) -> Threshold | None:
        """The threshold, if there is one."""
        details = self.to_dict()["threshold"]
        return None if details is None else Threshold(details)

    def __repr__(self) -> str:
        threshold = self.threshold_
        more = "" if threshold is None else f", {threshold!r}"
        return f"Estimator({self.name!r}{more})"

    def __str__(self) -> str:
        if self._tuning is None:
            return self._artifact.text()
        more = "" if self._is_of_tuning() else f"\n{self._artifact.threshold_text()}\n"
        return self._tuned("").text(self._artifact) + more

    def _repr_html_(self) -> str:
        if self._tuning is None:
            return f"<pre>{html.escape(self._artifact.text())}</pre>"
        tuning = self._tuned("")
        said = [f"<b>{html.escape(tuning.verdict())}</b>"]
        if not self._is_of_tuning():
            said.append(html.escape(self._artifact.threshold_text()).replace("\n", "<br>"))
        elif (certified := tuning.certified(self._artifact)) is not None:
            said.append(html.escape(certified))
        return f"<div><p>{'<br>'.join(said)}</p>{tuning.svg(self._artifact)}</div>"

    def _is_of_tuning(self) -> bool:
        """Whether the threshold, if there is one, was found on the rows that tuning kept apart."""
        own = self._tuned("").artifact()
        return bool(json.loads(own.json())["threshold"] == self.to_dict()["threshold"])

    # Scoring.

    def confidence(self, logits: Array, *, values: bool = False) -> npt.NDArray[np.float64]:
        """The confidence of each row: higher is surer.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier. C-contiguous float16, float32 and float64 is not copied.
        values : bool, default False
            By default the confidence is on a scale that does not saturate (for MSP the log-odds), which
            is that of the threshold. With True it is the value of the paper's formula (for MSP the
            probability), on which sure rows may tie.

        Returns
        -------
        ndarray of shape (rows,)

        Examples
        --------
        >>> import abstain
        >>> abstain.Estimator("MSP").confidence([[2.0, 0.0]], values=True).round(3)
        array([0.881])
        """
        return self._artifact.confidence(_arrays.rows(logits), bool(values))

    def answers(self, logits: Array) -> Answers:
        """Prediction, confidence and acceptance of each row.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.

        Returns
        -------
        Answers

        Examples
        --------
        >>> import abstain
        >>> estimator = abstain.Estimator("MSP")
        >>> _ = estimator.threshold(value=0.8)
        >>> prediction, confidence, accept = estimator.answers([[0.0, 2.0], [0.1, 0.0]])
        >>> prediction.tolist(), accept.tolist()
        ([1, 0], [True, False])
        """
        return Answers(*self._artifact.answers(_arrays.rows(logits)))

    def predict(self, logits: Array, *, abstention: int = -1) -> npt.NDArray[np.int64]:
        """The predicted class of each row, or `abstention` where it is not to be trusted.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        abstention : int, default -1
            What stands for "I do not know"; no class may have this number.

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
        >>> estimator = abstain.Estimator("MSP")
        >>> _ = estimator.threshold(value=0.8)
        >>> estimator.predict([[0.0, 2.0], [0.1, 0.0]]).tolist()
        [1, -1]
        """
        array = _arrays.rows(logits)
        abstention = _arrays.count(abstention, "abstention", -(2**63))
        if 0 <= abstention < array.shape[1]:
            raise InputError(f"abstention is {abstention}, which is a class", value=abstention)
        prediction, _, accept = self._artifact.answers(array)
        if accept is None:
            raise InputError("the estimator has no threshold: .threshold() or .certify() sets one")
        return np.where(accept, prediction, np.int64(abstention))

    # Thresholds.

    def threshold(
        self,
        logits: Array | None = None,
        labels: Array | None = None,
        *,
        accuracy: float | None = None,
        risk: float | None = None,
        coverage: float | None = None,
        at: float | None = None,
        value: float | None = None,
        delta: float | None = None,
        procedure: str | None = None,
        tried: int | None = None,
        loss: Array | None = None,
    ) -> Threshold:
        """Sets the threshold, and returns it.

        The estimator stays the one it is. :func:`abstain.tune` with a target also asks whether MSP keeps
        more there, and then chooses that.

        Parameters
        ----------
        logits : array-like of shape (rows, classes), optional
            The rows to find it on. By default those that :func:`abstain.tune` kept apart from tuning.
        labels : array-like of shape (rows,), optional
            Their labels; `coverage` needs none.
        accuracy : float, optional
            Accept as many rows as this accuracy allows.
        risk : float, optional
            Accept as many rows as this selective risk allows.
        coverage : float, optional
            Accept this share of the rows, or a little more where rows tie.
        at : float, optional
            Accept from this confidence on.
        value : float, optional
            Accept from this value of the paper's formula on, such as a probability.
        delta : float, optional
            With `accuracy` or `risk`: certify the threshold. Over the draw of the rows, the guarantee
            fails with at most this probability. Decide on the target before looking at the rows.
        procedure : {"fixed-sequence", "sgr"}, optional
            How to certify (default: by a fixed sequence of tests).
        tried : int, optional
            How many estimators were compared on these very rows, this one included; they share `delta`.
            What this estimator knows of itself counts anyway.
        loss : str or array-like, optional
            What an error costs, as in :func:`abstain.tune` (default: what the estimator was made for).

        Returns
        -------
        Threshold
            A float that knows what it rests on.

        Raises
        ------
        InfeasibleError
            If no threshold does what is asked; the message says what is missing. The one that was there
            before stays.
        InputError
            If rows to certify on are those that tuned the estimator.

        Examples
        --------
        >>> import numpy as np, abstain
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 3, 600)
        >>> logits = rng.normal(size=(600, 3)) + 3 * np.eye(3)[labels]
        >>> estimator = abstain.Estimator("MSP")
        >>> estimator.threshold(logits, coverage=0.5).coverage
        0.5
        >>> certified = estimator.threshold(logits, labels, accuracy=0.95, delta=0.05)
        >>> certified.basis, certified.certificate["rows"]
        ('certified', 600)
        """
        ways = {"accuracy": accuracy, "risk": risk, "coverage": coverage, "at": at, "value": value}
        given = [name for name, own in ways.items() if own is not None]
        if len(given) != 1:
            raise InputError(f"give one of {', '.join(ways)}, not {len(given)} of them")
        if given[0] not in ("accuracy", "risk"):
            others = {"delta": delta, "procedure": procedure, "tried": tried, "loss": loss}
            for name, own in others.items():
                if own is not None:
                    raise InputError(f"{name} is for accuracy or risk, not for {given[0]}")
        elif delta is None and (procedure is not None or tried is not None):
            raise InputError("procedure and tried are for certificates: give delta")
        if given[0] in ("at", "value"):
            if logits is not None or labels is not None:
                raise InputError(f"{given[0]} needs no rows")
            self._artifact = self._artifact.with_threshold_at(
                _arrays.maybe(at, "at"), _arrays.maybe(value, "value")
            )
            self._asked = None
        elif coverage is not None:
            if labels is not None:
                raise InputError("coverage needs no labels")
            if logits is None:
                raise InputError("coverage needs rows: give logits")
            self._artifact = self._artifact.with_coverage(
                _arrays.rows(logits), _arrays.number(coverage, "coverage")
            )
            self._asked = None
        else:
            asked: Asked = {
                "accuracy": _arrays.maybe(accuracy, "accuracy"),
                "risk": _arrays.maybe(risk, "risk"),
                "delta": _arrays.maybe(delta, "delta"),
                "procedure": _arrays.text(procedure or "fixed-sequence", "procedure"),
                "tried": None if tried is None else _arrays.count(tried, "tried", 1),
            }
            self._artifact = self._found(logits, labels, loss, asked)
        return cast(Threshold, self.threshold_)

    def certify(
        self,
        logits: Array | None = None,
        labels: Array | None = None,
        *,
        accuracy: float | None = None,
        risk: float | None = None,
        delta: float = 0.05,
        procedure: str | None = None,
        tried: int | None = None,
        loss: Array | None = None,
    ) -> Threshold:
        """Sets a threshold with a guarantee: :meth:`threshold` with a `delta`.

        Parameters
        ----------
        logits, labels, accuracy, risk, delta, procedure, tried, loss
            As in :meth:`threshold`. The rows must be fresh: drawn like those that the estimator will be
            used on, and not those that it was tuned on.

        Returns
        -------
        Threshold
        """
        if delta is None:
            raise InputError("a certificate needs a delta; threshold() does without")
        return self.threshold(
            logits,
            labels,
            accuracy=accuracy,
            risk=risk,
            delta=delta,
            procedure=procedure,
            tried=tried,
            loss=loss,
        )

    def _found(
        self,
        logits: Array | None,
        labels: Array | None,
        loss: Array | None,
        asked: Asked,
    ) -> _abstain.Artifact:
        if logits is not None:
            if labels is None:
                raise InputError("there are logits but no labels")
            own = None if loss is None else _arrays.loss(loss)
            artifact = self._artifact.with_threshold_on(
                _arrays.rows(logits), _arrays.labels(labels), own, asked
            )
            self._asked = None
            return artifact
        if labels is not None:
            raise InputError("there are labels but no logits")
        if loss is not None:
            raise InputError("the loss is that of tuning, unless there are logits and labels")
        if self._tuning is None:
            raise InputError("there are no rows of tuning: give logits and labels")
        artifact, self._asked = self._tuning.with_threshold(asked), asked
        return artifact

    # What tuning knows.

    def _tuned(self, missing: str) -> _abstain.Tuning:
        if self._tuning is None:
            raise InputError(
                f"this estimator does not come from abstain.tune just now (files and pickles keep the "
                f"estimator alone), and no {missing}"
            )
        if self._asked is not None:
            # Measured again only now: most who set a threshold go on to use it.
            self._tuning = self._tuning.retargeted(self._artifact, self._asked)
            self._asked = None
        return self._tuning

    @property
    def report_(self) -> dict[str, Any]:
        """Everything that :func:`abstain.tune` found, as the JSON of ``abstain tune --json``."""
        return cast("dict[str, Any]", json.loads(self._tuned("report was kept").json(self._artifact)))

    @property
    def verdict_(self) -> str:
        """One sentence: what to use, and what it buys."""
        return self._tuned("verdict was kept").verdict()

    def table(self) -> Any:
        """Every method, tuned and measured: a line each.

        Returns
        -------
        pandas.DataFrame or list of dict
            A frame where pandas is installed, a list of dictionaries where it is not. ``gain`` is by how
            much NAURC falls below that of MSP; columns that end in ``_low`` and ``_high`` are 95 %
            intervals.
        """
        from ._tables import methods_table

        return methods_table(self.report_)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the risk-coverage curves of MSP and of the estimator on the rows kept apart.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw (default: the current axes).

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ._plot import plot_tuning

        # Other rows have other curves.
        own = self.threshold_ if self._tuned("curve was kept") and self._is_of_tuning() else None
        return plot_tuning(self.report_, own, ax)

    def report(
        self,
        path: Path,
        *,
        title: str = "logits",
        class_names: Sequence[str] | None = None,
    ) -> None:
        """Writes a page to look at: one HTML file that opens anywhere, also offline.

        Parameters
        ----------
        path : str or path
            The file; an earlier one is replaced.
        title : str, default "logits"
            What the rows are called.
        class_names : sequence of str, optional
            The names of the classes, in their order.
        """
        tuning = self._tuned("rows were kept to draw")
        own = _arrays.names(class_names)
        tuning.page(self._artifact, os.fsdecode(path), _arrays.text(title, "title"), own)

    # Measuring.

    def evaluate(
        self,
        logits: Array,
        labels: Array,
        *,
        metrics: Sequence[str] | None = None,
        accuracy: float | None = None,
        confidences: dict[str, Array] | None = None,
        loss: Array | None = None,
        bootstrap: int = 1000,
        seed: int = 0,
        name: str = "rows",
        progress: Progress = None,
    ) -> Evaluation:
        """Measures the estimator on labelled rows against MSP, with intervals.

        Parameters
        ----------
        logits : array-like of shape (rows, classes)
            The outputs of the classifier.
        labels : array-like of shape (rows,)
            The true classes, counted from 0.
        metrics : sequence of str, optional
            Which metrics, such as ``["NAURC", "SAC@0.98"]`` (default: the usual ones).
        accuracy : float, optional
            The accuracy asked of the answers that are kept (default: that of the threshold, or a usual
            one).
        confidences : dict of str to array-like, optional
            Further confidences of the same rows, by name, to be compared with it.
        loss : str or array-like, optional
            What an error costs, as in :func:`abstain.tune` (default: what the estimator was made for).
        bootstrap : int, default 1000
            The replicates of the intervals.
        seed : int, default 0
            Their seed.
        name : str, default "rows"
            What the rows are called.
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
        >>> found = abstain.Estimator("MaxLogit-pNorm", p=3).evaluate(logits, labels, bootstrap=100)
        >>> found["NAURC"].low < found["NAURC"].estimate < found["NAURC"].high
        True
        """
        others: list[tuple[str, npt.NDArray[np.float64]]] = []
        for key, own in ({} if confidences is None else dict(confidences)).items():
            taken = ["MSP", self.name, *(name for name, _ in others)]
            if str(key) in taken:
                raise InputError(f"confidences: the name {str(key)!r} is taken", value=key)
            others.append((str(key), _arrays.vector(own, "confidence")))
        options: EvaluationOptions = {
            "name": _arrays.text(name, "name"),
            "metrics": None if metrics is None else _arrays.texts(metrics, "metrics"),
            "accuracy": _arrays.maybe(accuracy, "accuracy"),
            "replicates": _arrays.replicates(bootstrap),
            "seed": _arrays.count(seed, "seed"),
        }
        with callback(progress) as told:
            found = _abstain.evaluate(
                self._artifact,
                _arrays.rows(logits),
                _arrays.labels(labels),
                None if loss is None else _arrays.loss(loss),
                others,
                options,
                told,
            )
        return Evaluation(found)


def load(path: Path) -> Estimator:
    """Reads the file of an estimator, of this package's or of the program ``abstain``.

    Parameters
    ----------
    path : str or path
        A file of :meth:`Estimator.save` or of ``abstain tune -o``.

    Returns
    -------
    Estimator

    Raises
    ------
    OSError
        If the file cannot be read.
    InputError
        If it is not an estimator.

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
    **numbers: float,
) -> npt.NDArray[np.float64]:
    """The confidence of each row by the name of an estimator.

    Parameters
    ----------
    name : str
        A method of :func:`abstain.methods`, such as ``"MSP"`` or ``"MaxLogit-pNorm"``.
    logits : array-like of shape (rows, classes)
        The outputs of the classifier. C-contiguous float16, float32 and float64 is not copied.
    values : bool, default False
        By default the confidence is on a scale that does not saturate (for MSP the log-odds). With True
        it is the value of the paper's formula (for MSP the probability), on which sure rows may tie.
    input : {"logits", "masked", "probabilities"}, default "logits"
        What the numbers are: finite logits, logits in which ``-inf`` marks a class that was ruled out,
        or probabilities.
    floor : float, optional
        For probabilities, what replaces zeros (default: the smallest other one of the rows).
    tolerance : float, optional
        For probabilities, how far a row may miss a sum of 1 (default: 0.001, in half precision 0.01).
    **numbers : float
        The numbers of the method, such as ``p=5``.

    Returns
    -------
    ndarray of shape (rows,)
        Higher is surer.

    Examples
    --------
    >>> import abstain
    >>> logits = [[4.0, 1.0, 0.5], [2.0, 1.9, 0.0]]
    >>> abstain.score("MaxLogit-pNorm", logits, p=5, values=True).round(3)
    array([0.982, 0.532])
    >>> abstain.score("MSP", logits, values=True).round(3)
    array([0.926, 0.49 ])
    """
    artifact = _artifact(name, numbers, _arrays.kind(input, floor, tolerance))
    return artifact.confidence(_arrays.rows(logits), bool(values))


def _artifact(
    name: str, numbers: dict[str, float], kind: tuple[str, float | None, float | None]
) -> _abstain.Artifact:
    name = _arrays.text(name, "name")
    if numbers and "(" in name:
        raise InputError(f"the numbers of {name!r} are given twice")
    # By their shortest text that reads back to the same number.
    own = ", ".join(f"{key}={_arrays.number(number, key)!r}" for key, number in numbers.items())
    return _abstain.Artifact.of_text(f"{name}({own})" if numbers else name, kind)
