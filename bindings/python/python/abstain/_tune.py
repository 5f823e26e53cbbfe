"""The function :func:`abstain.tune`."""

from __future__ import annotations

import warnings
from typing import Sequence

from . import _abstain, _arrays
from ._arrays import Array
from ._estimator import procedure_name
from ._options import TuneOptions
from ._progress import Progress, callback
from ._result import TuneResult
from .errors import InputError, NoThresholdWarning

__all__ = ["tune"]


def tune(
    logits: Array,
    labels: Array,
    *,
    test: tuple[Array, Array] | None = None,
    methods: str | Sequence[str] = "all",
    objective: str = "AURC",
    fallback: str = "standard-errors=1",
    space: str = "standard",
    loss: Array = "zero-one",
    target_accuracy: float | None = None,
    target_risk: float | None = None,
    delta: float | None = None,
    procedure: str | None = None,
    holdout: float | int | None = None,
    splits: int = 1,
    replicates: int = 1000,
    seed: int = 0,
    input: str = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
    progress: Progress = None,
) -> TuneResult:
    """Find the best confidence estimator for a classifier from its logits and labels.

    A random part of the rows, the tuning rows, tunes every method. All methods are measured on the
    others, the test rows. The chosen estimator is the recommended method (the stack, or the best of
    the requested methods on the tuning rows), or MSP where the test rows do not confirm that it is
    better. The same rows, options and seed always give the same result, and so does the program
    ``abstain tune``.

    Parameters
    ----------
    logits : array-like of shape (rows, classes)
        The outputs of the classifier on rows that it was not trained on. C-contiguous float16,
        float32 and float64 is not copied; a memory-mapped file works.
    labels : array-like of shape (rows,)
        The true classes, counted from 0.
    test : (logits, labels), optional
        Separate test rows; all of `logits` are tuning rows then.
    methods : str or sequence of str, default "all"
        Methods of :func:`abstain.methods`; ``"all"`` for those of the paper and the stack.
    objective : str, default "AURC"
        What to tune for: a metric such as ``"AURC"`` or ``"SAC@0.98"``, or ``"NLL"``.
    fallback : str, default "standard-errors=1"
        When a method falls back to MSP on the tuning rows: ``"none"``, ``"paper"``,
        ``"standard-errors=1"``, ``"cross-validation=5"``.
    space : {"standard", "paper", "published-code", "fine"}, default "standard"
        The search space of the parameters.
    loss : str or array-like, default "zero-one"
        What an error costs: ``"zero-one"``, ``"top-5"``, one loss per row, or a matrix of shape
        (classes, classes) with the cost of predicting the column where the row is true.
    target_accuracy, target_risk : float, optional
        What the accepted rows must meet. Either of them requests a threshold.
    delta : float, optional
        Certify the threshold: its guarantee fails with at most this probability.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    holdout : float or int, optional
        The tuning rows, as a share or a number (default: half of the rows, at most 5,000).
    splits : int, default 1
        The number of random splits that the table is averaged over; choice and certificate are
        those of the first.
    replicates : int, default 1000
        The number of bootstrap resamples behind each interval.
    seed : int, default 0
        The seed of everything random.
    input, floor, tolerance
        What the numbers of `logits` are, as in :func:`abstain.score`.
    progress : bool or callable, optional
        True for a progress bar (tqdm), False for none, or a function that is called with ``(done,
        total, task)``. By default a bar on a terminal, if the work takes more than a second.

    Returns
    -------
    TuneResult
        ``.estimator`` is the estimator to use.

    Warns
    -----
    NoThresholdWarning
        If a threshold was requested and does not exist; the message says what is missing.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 2000)
    >>> logits = rng.normal(size=(2000, 10)) + 2 * np.eye(10)[labels]
    >>> logits *= rng.uniform(0.2, 5, size=(2000, 1))        # rows of very different scale
    >>> result = abstain.tune(logits, labels, methods="MaxLogit-pNorm", target_accuracy=0.9)
    >>> result.estimator.name.startswith("MaxLogit-pNorm(p=")
    True
    >>> prediction = result.estimator.predict(logits)
    >>> bool((prediction == -1).any())                       # it abstains
    True
    """
    if test is not None:
        if not (isinstance(test, (tuple, list)) and len(test) == 2):
            raise InputError("test must be a pair: logits and labels")
        if holdout is not None or splits != 1:
            raise InputError("holdout and splits cannot be combined with test")
    options: TuneOptions = {
        "methods": _arrays.texts(methods, "methods"),
        "objective": _arrays.text(objective, "objective"),
        "fallback": _arrays.text(fallback, "fallback"),
        "space": _arrays.text(space, "space"),
        "target_accuracy": _arrays.optional_number(target_accuracy, "target_accuracy"),
        "target_risk": _arrays.optional_number(target_risk, "target_risk"),
        "delta": _arrays.optional_number(delta, "delta"),
        "procedure": procedure_name(procedure, delta),
        "holdout": None if holdout is None else str(holdout),
        "splits": _arrays.count(splits, "splits", 1),
        "replicates": _arrays.count(replicates, "replicates"),
        "seed": _arrays.count(seed, "seed"),
    }
    if not options["methods"]:
        raise InputError("methods is empty")
    test_rows = None
    if test is not None:
        test_rows = (_arrays.rows(test[0], "test logits"), _arrays.labels(test[1], "test labels"))
    with callback(progress) as on_progress:
        tuning = _abstain.tune(
            _arrays.rows(logits),
            _arrays.labels(labels),
            test_rows,
            _arrays.loss(loss),
            _arrays.encoding(input, floor, tolerance),
            options,
            on_progress,
        )
    result = TuneResult(tuning)
    if result.refusal is not None:
        warnings.warn(result.refusal, NoThresholdWarning, stacklevel=2)
    return result
