"""The functions :func:`abstain.bench` and :func:`abstain.study`: many models at once."""

from __future__ import annotations

import json
import os
from typing import Any, Sequence, Union, cast

from . import _abstain, _arrays
from ._options import ZooOptions
from ._progress import Progress, callback
from ._types import Space

__all__ = ["bench", "study"]

_Path = Union[str, "os.PathLike[str]"]


def bench(
    zoo: _Path,
    *,
    output: _Path | None = None,
    page: _Path | None = None,
    models: str | Sequence[str] = (),
    splits: int = 10,
    holdout: float | int | None = None,
    smaller: Sequence[int] = (1000, 500),
    space: Space = "standard",
    fallback: str = "paper",
    epsilon: float = 0.01,
    target_accuracy: float = 0.98,
    certified: bool = False,
    delta: float = 0.05,
    seed: int = 0,
    replicates: int = 200,
    progress: Progress = None,
) -> dict[str, Any]:
    """Compare many models: every one is tuned and measured on the same random splits.

    Parameters
    ----------
    zoo : str or path
        A folder with ``labels.npy`` and one file of logits for each model, or a manifest,
        ``zoo.toml``, that names the files.
    output : str or path, optional
        A folder for the tables, and for records of finished work: an interrupted run continues.
    page : str or path, optional
        Write an HTML page that shows the result.
    models : str or sequence of str, optional
        Only these models, by name.
    splits : int, default 10
        The number of random splits, the same for all models.
    holdout : float or int, optional
        The tuning rows, as a share or a number (default: half of the rows, at most 5,000).
    smaller : sequence of int, default (1000, 500)
        Smaller hold-outs to measure as well.
    space, fallback
        As in :func:`abstain.tune`; here the fallback is that of the paper.
    epsilon : float, default 0.01
        Gains in NAURC up to this count as none in averages.
    target_accuracy : float, default 0.98
        The selective accuracy at which coverages are measured.
    certified : bool, default False
        Show certified coverages instead of those measured on the test rows.
    delta : float, default 0.05
        The probability with which a certified coverage may fail.
    seed : int, default 0
        The seed of everything random.
    replicates : int, default 200
        The number of bootstrap resamples behind standard errors.
    progress : bool or callable, optional
        As in :func:`abstain.tune`.

    Returns
    -------
    dict
        What ``abstain bench --json`` prints.

    Examples
    --------
    >>> import abstain, numpy as np, tempfile
    >>> random = np.random.default_rng(0)
    >>> labels = random.integers(3, size=200)
    >>> logits = random.normal(size=(200, 3)) + 2 * np.eye(3)[labels]
    >>> with tempfile.TemporaryDirectory() as zoo:
    ...     np.save(f"{zoo}/labels.npy", labels)
    ...     np.save(f"{zoo}/net.npy", logits)
    ...     found = abstain.bench(zoo, splits=2, smaller=[50], replicates=20)
    >>> [line["model"] for line in found["models"]]
    ['net']
    """
    options = _options(locals())
    file = None if page is None else os.fsdecode(page)
    with callback(progress) as on_progress:
        found = _abstain.bench(os.fsdecode(zoo), options, file, on_progress)
    return cast("dict[str, Any]", json.loads(found))


def study(
    name: str,
    zoo: _Path,
    *,
    output: _Path | None = None,
    show: str | Sequence[str] = (),
    realisations: int = 50,
    models: str | Sequence[str] = (),
    splits: int = 10,
    holdout: float | int | None = None,
    smaller: Sequence[int] = (1000, 500),
    space: Space = "standard",
    fallback: str = "paper",
    epsilon: float = 0.01,
    target_accuracy: float = 0.98,
    certified: bool = False,
    delta: float = 0.05,
    seed: int = 0,
    replicates: int = 200,
    progress: Progress = None,
) -> dict[str, Any]:
    """Run the paper's experiments on many models.

    Parameters
    ----------
    name : str
        A study, such as ``"methods"`` or ``"shift"``, or ``"all"`` for every study that the zoo has
        rows for.
    zoo : str or path
        As in :func:`abstain.bench`.
    output : str or path, optional
        A folder for tables (Markdown, CSV, LaTeX), figures (SVG, PNG), numbers (JSON) and an index, and
        for records of finished work.
    show : str or sequence of str, optional
        Models to show individually, by name (default: those with the largest, the median and the
        smallest gain).
    realisations : int, default 50
        The number of random hold-outs of each size in the study of efficiency.
    models, splits, holdout, smaller, space, fallback, epsilon, target_accuracy, certified, delta
        As in :func:`abstain.bench`.
    seed, replicates, progress
        As in :func:`abstain.bench`.

    Returns
    -------
    dict
        What ``abstain study --json`` prints: the numbers of each study by its name.

    Examples
    --------
    >>> import abstain, numpy as np, tempfile
    >>> random = np.random.default_rng(0)
    >>> labels = random.integers(3, size=200)
    >>> logits = random.normal(size=(200, 3)) + 2 * np.eye(3)[labels]
    >>> with tempfile.TemporaryDirectory() as zoo:
    ...     np.save(f"{zoo}/labels.npy", labels)
    ...     np.save(f"{zoo}/net.npy", logits)
    ...     found = abstain.study("epsilon", zoo, splits=2, smaller=[50], replicates=20)
    >>> list(found)
    ['epsilon']
    """
    options = _options(locals())
    shown, count = _arrays.texts(show, "show"), _arrays.count(realisations, "realisations", 1)
    with callback(progress) as on_progress:
        found = _abstain.study(
            _arrays.text(name, "name"), os.fsdecode(zoo), options, shown, count, on_progress
        )
    return cast("dict[str, Any]", json.loads(found))


def _options(given: dict[str, Any]) -> ZooOptions:
    """The keywords that both functions have, checked."""
    output, holdout = given["output"], given["holdout"]
    return {
        "output": None if output is None else os.fsdecode(output),
        "models": _arrays.texts(given["models"], "models"),
        "splits": _arrays.count(given["splits"], "splits", 1),
        "holdout": None if holdout is None else str(holdout),
        "smaller": [_arrays.count(rows, "smaller") for rows in given["smaller"]],
        "space": _arrays.text(given["space"], "space"),
        "fallback": _arrays.text(given["fallback"], "fallback"),
        "epsilon": _arrays.number(given["epsilon"], "epsilon"),
        "target_accuracy": _arrays.number(given["target_accuracy"], "target_accuracy"),
        "certified": bool(given["certified"]),
        "delta": _arrays.number(given["delta"], "delta"),
        "seed": _arrays.count(given["seed"], "seed"),
        "replicates": _arrays.count(given["replicates"], "replicates", 2),
    }
