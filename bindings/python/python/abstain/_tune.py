"""The functions :func:`abstain.tune` and :func:`abstain.label_free`."""

from __future__ import annotations

import warnings
from typing import Any, Sequence

from . import _abstain, _arrays, _frames, _labels
from ._arrays import Array
from ._estimator import Estimator
from ._options import TuneOptions
from ._progress import Progress, callback
from ._result import TuneResult
from ._thresholds import procedure_name
from ._types import Input, Procedure, Space
from .errors import InputError, NoThresholdWarning, warn_of

__all__ = ["label_free", "tune"]


def tune(
    logits: Array,
    labels: Array | None = None,
    *,
    test: tuple[Array, Array] | Array | None = None,
    unlabelled: Array | None = None,
    extra: Array | None = None,
    methods: str | Sequence[str] = "all",
    objective: str = "AURC",
    fallback: str = "veto=2",
    space: Space = "standard",
    loss: Array = "zero-one",
    target_accuracy: float | None = None,
    target_risk: float | None = None,
    delta: float | None = None,
    procedure: Procedure | None = None,
    folds: int = 5,
    holdout: float | int | None = None,
    splits: int = 1,
    max_rows: int = 20_000,
    replicates: int | None = None,
    seed: int = 0,
    input: Input = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
    class_names: Sequence[str] | None = None,
    groups: Array | None = None,
    repeats: str = "once",
    group_folds: Array | tuple[Array | None, Array | None] | None = None,
    progress: Progress = None,
) -> TuneResult:
    """Find the best confidence estimator for a classifier from its logits and labels.

    Every method is tuned on all rows. What the result shows is measured in folds: each row by
    estimators that were tuned on the other folds. The chosen estimator is the recommended method
    (the stack, or the best of the requested methods), or MSP where that is better by the rule
    `fallback`. With `delta` some rows are kept from tuning, and certify the threshold; with
    `holdout`, `splits` or `test`, part of the rows tune, and the others, the test rows, measure.
    The same rows, options and seed always give the same result, and so does the program
    ``abstain tune``.

    Parameters
    ----------
    logits : array-like of shape (rows, classes), or table
        The outputs of the classifier on rows that it was not trained on. Of a table (pandas, polars,
        Arrow, datasets), the columns that :func:`abstain.read_table` finds. C-contiguous float16,
        float32 and float64 is not copied; a memory-mapped file works.
    labels : array-like of shape (rows,), optional
        The true classes: numbers from 0 on, in the order of the columns; names of
        `class_names`; booleans, of two classes; or one-hot, of shape (rows, classes). Of a table,
        the name of a column (default: the one called ``label``, ``y_true`` or the like).
    test : (logits, labels) or table, optional
        Separate test rows: `logits` tune, and these measure.
    unlabelled : array-like of shape (rows, classes), optional
        Outputs of the same classifier in its deployment, without labels. The stack takes the means,
        deviations and skewness of its scores from them instead of from `logits`.
    extra : array-like of shape (rows,), optional
        One further number of each row, such as a distance to the training data or the score of a
        judge: one more term of the stack. The estimator then needs it of every row. It cannot be
        combined with `test` or `unlabelled`.
    methods : str or sequence of str, default "all"
        Methods of :func:`abstain.methods`; ``"all"`` for those of the paper and the stack.
    objective : str, default "AURC"
        What to tune for: a metric such as ``"AURC"`` or ``"SAC@0.98"``, or ``"NLL"``.
    fallback : str, default "veto=2"
        When a method falls back to MSP: ``"veto=2"`` if MSP is better by more than 2 standard
        errors of the difference, measured in folds; ``"paper"`` if the method is worse on the
        tuning rows themselves; ``"standard-errors=1"`` or ``"cross-validation=5"`` unless it is
        clearly better there; ``"none"`` never.
    space : {"standard", "paper", "published-code", "fine"}, default "standard"
        The search space of the parameters.
    loss : str or array-like, default "zero-one"
        What an error costs: ``"zero-one"``, ``"top-5"``, one loss per row, or a matrix of shape
        (classes, classes) with the cost of predicting the column where the row is true.
    target_accuracy, target_risk : float, optional
        What the accepted rows must meet. Either of them requests a threshold.
    delta : float, optional
        Certify the threshold: its guarantee fails with at most this probability. An eighth of the
        rows tune then, up to a quarter of 4,000 rows and 1,000 of more, unless `holdout` says how
        many; the others certify. Where nothing is tuned or chosen, as with ``methods="MSP"``, all
        rows certify.
    procedure : {"fixed-sequence", "sgr"}, optional
        How to certify (default: by a fixed sequence of tests).
    folds : int, default 5
        The number of folds in which the rows are measured.
    holdout : float or int, optional
        Tune on so many rows, a share or a number, drawn at random, and measure on the others,
        instead of in folds.
    splits : int, default 1
        The number of random splits into tuning and test rows that the table is averaged over;
        choice and certificate are those of the first. Half of the rows, at most 5,000, tune,
        unless `holdout` says how many.
    max_rows : int, default 20000
        The number of rows that tune at most, unless some are held out; of more, so many are drawn
        at random. Of `unlabelled`, too, no more are kept.
    replicates : int, optional
        The number of bootstrap resamples behind each interval. By default intervals are in closed
        form: the bootstrap misses errors so rare that the sample has none of them.
    seed : int, default 0
        The seed of everything random.
    input, floor, tolerance
        What the numbers of `logits` are, as in :func:`abstain.score`.
    class_names : sequence of str, optional
        The names of the classes, in the order of the columns. The estimator keeps them: it then
        takes labels by name, and its `predict` returns names on request. Without them, labels that
        are strings are the classes in sorted order, as in scikit-learn, if there are as many
        different ones as columns.
    groups : array-like of shape (rows,), optional
        The group of each row that is measured: of `logits`, or of `test` if that is given.
        ``report["breakdown"]`` counts what the threshold accepts in each.
    repeats : {"once", "keep"}, default "once"
        What rows count as that are equal in more digits than chance repeats: copies, which stay on
        one side of every split and fold and count once in a certificate, or each of them.
    group_folds : array-like of shape (rows,), optional
        What near-copies share, such as the video of a frame. Rows with equal ones stay on one side of
        every split and fold, and one of them, drawn at random, certifies: the guarantee is then for
        the population in which every group counts the same. With `test`, a pair: of `logits` and of
        `test`.
    progress : bool or callable, optional
        True for a progress bar (tqdm), False for none, or a function that is called with ``(done,
        total, task)``. By default a bar on a terminal, if the work takes more than a second.

    Returns
    -------
    TuneResult
        ``.estimator`` is the estimator to use.

    Warns
    -----
    DataWarning
        If something about the rows looks wrong, although they can be read.
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
        if not (_frames.is_table(test) or isinstance(test, (tuple, list)) and len(test) == 2):
            raise InputError("test must be a pair: logits and labels, or a table")
        if holdout is not None or splits != 1:
            raise InputError("holdout and splits cannot be combined with test")
    options = tune_options(
        methods=methods,
        objective=objective,
        fallback=fallback,
        space=space,
        target_accuracy=target_accuracy,
        target_risk=target_risk,
        delta=delta,
        procedure=procedure,
        folds=folds,
        holdout=holdout,
        splits=splits,
        max_rows=max_rows,
        replicates=replicates,
        seed=seed,
        groups=groups,
        repeats=repeats,
    )
    if test is None:
        options["group_folds"] = (_arrays.groups(group_folds, "group_folds"), None)
    elif group_folds is not None:
        if not (isinstance(group_folds, (tuple, list)) and len(group_folds) == 2):
            raise InputError("group_folds must be a pair with test: of logits and of test")
        here, there = (_arrays.groups(part, "group_folds") for part in group_folds)
        options["group_folds"] = (here, there)
    encoding = _arrays.encoding(input, floor, tolerance)
    logits, labels, class_names = _frames.labelled(logits, labels, class_names, input)
    rows = _arrays.rows_with(logits, extra, input)
    classes = _arrays.classes(rows, input)
    found, names = _labels.labels(labels, classes, _labels.class_names(class_names, classes))
    options["class_names"] = names
    test_rows = None
    if test is not None:
        pair: Any = (test, None) if _frames.is_table(test) else test
        logits, labels = pair
        test_logits, test_labels, _ = _frames.labelled(logits, labels, names, input)
        places, _ = _labels.labels(test_labels, classes, names, "test labels")
        test_rows = (_arrays.rows(test_logits, "test logits", input), places)
    deployment = None
    if unlabelled is not None:
        unlabelled = _frames.logits_of(unlabelled, names, input)
        deployment = _arrays.rows(unlabelled, "unlabelled logits", input)
    with callback(progress) as on_progress:
        tuning = _abstain.tune(
            rows,
            found,
            test_rows,
            deployment,
            _arrays.loss(loss),
            encoding,
            options,
            on_progress,
        )
    result = TuneResult(tuning)
    warn_of(result.report["warnings"], stacklevel=3)
    if result.refusal is not None:
        warnings.warn(result.refusal, NoThresholdWarning, stacklevel=2)
    return result


def tune_options(
    *,
    methods: str | Sequence[str],
    objective: str,
    fallback: str,
    space: str,
    target_accuracy: float | None,
    target_risk: float | None,
    delta: float | None,
    procedure: str | None,
    holdout: float | int | None,
    seed: int,
    folds: int = 5,
    splits: int = 1,
    max_rows: int = 20_000,
    replicates: int | None = None,
    groups: Array | None = None,
    repeats: str = "once",
) -> TuneOptions:
    """The keywords of :func:`tune`; refused if no rows could make them valid."""
    options: TuneOptions = {
        "methods": _arrays.texts(methods, "methods"),
        "objective": _arrays.text(objective, "objective"),
        "fallback": _arrays.text(fallback, "fallback"),
        "space": _arrays.text(space, "space"),
        "target_accuracy": _arrays.optional_number(target_accuracy, "target_accuracy"),
        "target_risk": _arrays.optional_number(target_risk, "target_risk"),
        "delta": _arrays.optional_number(delta, "delta"),
        "procedure": procedure_name(procedure, delta),
        "folds": _arrays.count(folds, "folds", 2),
        "holdout": None if holdout is None else str(holdout),
        "splits": _arrays.count(splits, "splits", 1),
        "max_rows": _arrays.count(max_rows, "max_rows", 1),
        "replicates": _arrays.optional_count(replicates, "replicates"),
        "seed": _arrays.count(seed, "seed"),
        "class_names": None,
        "groups": _arrays.groups(groups),
        "repeats": _arrays.text(repeats, "repeats"),
        "group_folds": (None, None),
    }
    if not options["methods"]:
        raise InputError("methods is empty")
    _abstain.check_tuning(options)
    return options


def label_free(
    logits: Array,
    *,
    input: Input = "logits",
    floor: float | None = None,
    tolerance: float | None = None,
    max_rows: int = 20_000,
) -> Estimator:
    """Make an estimator from logits alone, without labels.

    It is a weighted sum of several scores of the row. The weights depend on how skewed MSP is over
    the rows. Without labels it cannot be measured whether it ranks better than MSP, and no
    threshold can meet a target: label some other rows for :meth:`Estimator.evaluate` and
    :meth:`Estimator.certify`. With labels, use :func:`abstain.tune`. The program ``abstain tune
    --no-labels`` makes the same estimator.

    Parameters
    ----------
    logits : array-like of shape (rows, classes)
        The outputs of the classifier on rows like those it is used for.
    input, floor, tolerance
        What the numbers of `logits` are, as in :func:`abstain.score`.
    max_rows : int, default 20000
        The number of rows that are used at most: of more, every second, every fourth and so on.

    Returns
    -------
    Estimator
        The estimator, without a threshold. With two classes it is MSP: there, all of the scores
        rank alike.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> logits = 3 * rng.normal(size=(1000, 10))
    >>> estimator = abstain.label_free(logits)
    >>> estimator
    Estimator('LabelFree')
    >>> estimator.with_threshold(logits, coverage=0.8).threshold.coverage
    0.8
    """
    encoding = _arrays.encoding(input, floor, tolerance)
    limit = _arrays.count(max_rows, "max_rows", 1)
    rows = _arrays.rows(_frames.logits_of(logits, None, input), input=input)
    return Estimator._of(_abstain.label_free(rows, encoding, limit))
