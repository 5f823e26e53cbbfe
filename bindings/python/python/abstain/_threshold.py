"""Thresholds that know what they rest on."""

from __future__ import annotations

import json
import os
from typing import Any, cast

from . import _abstain
from ._types import Basis

__all__ = ["Threshold"]


class Threshold(float):
    """A threshold: a number, together with what it rests on.

    Rows with a confidence at or above it are accepted.

    Examples
    --------
    >>> import abstain
    >>> threshold = abstain.Estimator("MSP").with_threshold(value=0.9).threshold
    >>> threshold.basis
    'given'
    >>> round(threshold, 3)                  # the log-odds of 0.9
    2.197
    """

    _details: dict[str, Any]
    _found: dict[str, Any]

    def __new__(cls, details: dict[str, Any], found: dict[str, Any] | None = None) -> Threshold:
        # JSON has no infinity; it is written as a string, which `float` reads.
        self = super().__new__(cls, float(details["at"]))
        self._details = details
        self._found = {} if found is None else found
        return self

    def __reduce__(self) -> tuple[type[Threshold], tuple[dict[str, Any], dict[str, Any]]]:
        return (Threshold, (self._details, self._found))

    def _artifact(self) -> _abstain.Artifact:
        """The threshold on a confidence that is computed elsewhere, with what it was found on."""
        reference = self._found.get("reference")
        return _abstain.artifact_of_threshold(
            json.dumps(self._details), None if reference is None else json.dumps(reference)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the threshold of a bare confidence to a JSON file, completely or not at all.

        The program ``abstain`` reads the file, and so do :func:`abstain.load` and
        :class:`abstain.Monitor`. For the threshold of an estimator, save the estimator.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.

        Examples
        --------
        >>> import abstain, os, tempfile
        >>> threshold = abstain.threshold([0.9, 0.8, 0.7, 0.6], coverage=0.5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "threshold.json")
        ...     threshold.save(path)
        ...     abstain.load(path)
        Estimator('confidence', Threshold(0.8, coverage, coverage 0.500))
        """
        self._artifact().write(os.fsdecode(path))

    @property
    def basis(self) -> Basis:
        """What it rests on.

        ``"certified"``, ``"anytime"`` (certified by a :class:`abstain.Monitor`), ``"risk"``,
        ``"coverage"``, ``"cost"`` or ``"given"``.
        """
        return cast(Basis, self._details["basis"])

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The guarantee and its evidence, if the threshold is certified.

        `errors` among the `accepted` of `rows` certifying rows show that the selective risk is at
        most `risk`. Over the draw of these rows, that fails with probability `delta` at most.
        `tried` estimators share `delta`, and so do the `starts` of a fixed sequence of tests. If
        labels of a stream certified it, `labels` says how many and `selective_risk` what they show.
        """
        return self._details.get("certificate")

    @property
    def rows(self) -> int | None:
        """The number of rows that it was found on."""
        return (self.certificate or self._details).get("rows")

    @property
    def accepted(self) -> int | None:
        """The number of these rows that it accepts."""
        return (self.certificate or self._details).get("accepted")

    @property
    def coverage(self) -> float | None:
        """The share of these rows that it accepts, by weight if they have weights."""
        if not self.rows or self.accepted is None:
            return None
        weighted: float | None = self._details.get("weighted_coverage")
        return self.accepted / self.rows if weighted is None else weighted

    @property
    def breakdown(self) -> dict[str, Any] | None:
        """What it accepts of these rows, as ``abstain certify --json`` has it.

        ``by_class`` and ``by_group`` list the ``rows``, and how many of them are ``accepted``,
        ``right`` and ``wrong``. None if the threshold was not just found on labelled rows: a file
        does not keep it.
        """
        return self._found.get("breakdown")

    @property
    def sampled(self) -> dict[str, Any] | None:
        """Of rows with weights, how many were ``kept`` of the ``rows``, and certify."""
        return self._found.get("sampled")

    @property
    def selective_risk(self) -> float | None:
        """The mean loss of the rows that it accepts, by weight if they have weights."""
        certificate = self.certificate or {}
        if "selective_risk" in certificate:
            return cast(float, certificate["selective_risk"])
        if self.certificate is not None:
            return cast(float, self.certificate["errors"] / self.certificate["accepted"])
        return self._details.get("selective_risk")

    def __repr__(self) -> str:
        parts = [f"{float(self):.6g}", self.basis]
        if self.certificate is not None:
            risk, probability = self.certificate["risk"], 1 - self.certificate["delta"]
            parts.append(f"risk <= {risk:g} with probability {probability:g}")
        elif self.selective_risk is not None:
            parts.append("not certified")
        if self.coverage is not None:
            parts.append(f"coverage {self.coverage:.3f}")
        return f"Threshold({', '.join(parts)})"
