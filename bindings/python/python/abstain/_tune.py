"""Tune, measure, choose, certify."""

from __future__ import annotations

import warnings
from typing import Sequence

from . import _abstain, _arrays
from ._arrays import Array
from ._estimator import Estimator
from ._options import TuneOptions
from ._progress import Progress, callback
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
    bootstrap: int = 1000,
    seed: int = 0,
    input: str = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
    progress: Progress = None,
) -> Estimator:
    """Finds the best confidence estimator for a classifier from the logits and labels of held-out rows.

    A random part of the rows tunes every method; everything that is reported is measured on the others.
    The recommended method (the stack, or the best on the tuning rows of those asked for) is returned, or
    MSP where the other rows do not confirm that it is better. What it returns, it returns again: the
    same rows, options and seed give the same estimator, and so does the program ``abstain tune``.

    Parameters
    ----------
    logits : array-like of shape (rows, classes)
        The outputs of the classifier on rows that it was not trained on. C-contiguous float16, float32
        and float64 is not copied; a memory-mapped file works.
    labels : array-like of shape (rows,)
        The true classes, counted from 0.
    test : (logits, labels), optional
        Measure on these rows instead, and tune on all of `logits`.
    methods : str or sequence of str, default "all"
        Which methods of :func:`abstain.methods`; ``"all"`` for those of the paper and the stack.
    objective : str, default "AURC"
        What to tune for: a metric such as ``"AURC"`` or ``"SAC@0.98"``, or ``"NLL"``.
    fallback : str, default "standard-errors=1"
        When a tuned method is given up for MSP: ``"none"``, ``"paper"``, ``"standard-errors=1"``,
        ``"cross-validation=5"``.
    space : {"standard", "paper", "published-code", "fine"}, default "standard"
        The values to try.
    loss : str or array-like, default "zero-one"
        What an error costs: ``"zero-one"``, ``"top-5"``, one loss a row, or (classes, classes) costs of
        predicting the column where the row is true.
    target_accuracy, target_risk : float, optional
        What is asked of the answers that are kept; sets a threshold.
    delta : float, optional
        Certify the threshold: its guarantee fails with at most this probability.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    holdout : float or int, optional
        Rows to tune on, as a share or a number (default: half of them, at most 5,000).
    splits : int, default 1
        Random splits to average the table over; choice and certificate are those of the first.
    bootstrap : int, default 1000
        Replicates of the intervals.
    seed : int, default 0
        The seed of everything random.
    input, floor, tolerance
        What the numbers of `logits` are, as in :func:`abstain.score`.
    progress : bool or callable, optional
        True for a bar (tqdm), False for none, or a function that is told ``(done, all, what)``. By
        default a bar on terminals, if the work takes more than a second.

    Returns
    -------
    Estimator
        Show it in a notebook for the verdict and the curve, or print it for the whole table.

    Warns
    -----
    NoThresholdWarning
        If a threshold was asked for and there is none; the message says what is missing.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 2000)
    >>> logits = rng.normal(size=(2000, 10)) + 2 * np.eye(10)[labels]
    >>> logits *= rng.uniform(0.2, 5, size=(2000, 1))        # rows of very different scale
    >>> estimator = abstain.tune(logits, labels, methods=["MaxLogit-pNorm"], target_accuracy=0.9)
    >>> estimator.name.startswith("MaxLogit-pNorm(p=")
    True
    >>> prediction = estimator.predict(logits)
    >>> bool((prediction == -1).any())                       # it abstains
    True
    """
    if procedure is not None and delta is None:
        raise InputError("procedure is how to certify: give delta")
    if test is not None and (holdout is not None or splits != 1):
        raise InputError("holdout and splits divide the rows: leave them out, or test")
    if test is not None and not (isinstance(test, (tuple, list)) and len(test) == 2):
        raise InputError("test must be a pair: logits and labels")
    options: TuneOptions = {
        "methods": _arrays.texts(methods, "methods"),
        "objective": _arrays.text(objective, "objective"),
        "fallback": _arrays.text(fallback, "fallback"),
        "space": _arrays.text(space, "space"),
        "accuracy": _arrays.maybe(target_accuracy, "target_accuracy"),
        "risk": _arrays.maybe(target_risk, "target_risk"),
        "delta": _arrays.maybe(delta, "delta"),
        "procedure": _arrays.text(procedure or "fixed-sequence", "procedure"),
        "holdout": None if holdout is None else str(holdout),
        "splits": _arrays.count(splits, "splits", 1),
        "replicates": _arrays.replicates(bootstrap),
        "seed": _arrays.count(seed, "seed"),
    }
    if not options["methods"]:
        raise InputError("there are no methods to tune")
    apart = None
    if test is not None:
        apart = (_arrays.rows(test[0], "test logits"), _arrays.labels(test[1], "test labels"))
    with callback(progress) as told:
        tuning = _abstain.tune(
            _arrays.rows(logits),
            _arrays.labels(labels),
            apart,
            _arrays.loss(loss),
            _arrays.kind(input, floor, tolerance),
            options,
            told,
        )
    refusal = tuning.refusal()
    if refusal is not None:
        warnings.warn(refusal, NoThresholdWarning, stacklevel=2)
    return Estimator._of(tuning.artifact(), tuning)
