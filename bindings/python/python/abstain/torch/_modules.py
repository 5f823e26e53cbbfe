"""Estimators as modules."""

import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor, nn

from .._estimator import Estimator
from ..errors import InputError
from ._methods import method_of, resolved
from ._scores import row_of

#: An estimator, its `to_dict`, or the file of an artifact.
EstimatorLike = Union[Estimator, Mapping[str, Any], str, "os.PathLike[str]"]


def _artifact(estimator: EstimatorLike) -> dict[str, Any]:
    if isinstance(estimator, Mapping):
        estimator = Estimator.from_dict(dict(estimator))
    elif not isinstance(estimator, Estimator):
        estimator = Estimator.load(estimator)
    return estimator.to_dict()


class ConfidenceModule(nn.Module):
    """An estimator as a module: logits to confidences.

    Classes are along the last dimension; there may be any number of others. Confidences are
    float64, equal to those of the core up to rounding errors, and rounded like them to 41
    significant bits. A row that the core refuses (NaN or infinite logits, probabilities that do
    not sum to 1, all classes masked) has the confidence NaN.

    Parameters
    ----------
    estimator : Estimator, dict, str or path
        The estimator, its `to_dict`, or the file of an artifact.

    Examples
    --------
    >>> import torch
    >>> from abstain.torch import ConfidenceModule
    >>> margin = ConfidenceModule({"method": "LogitsMargin"})
    >>> margin(torch.tensor([[4.0, 1.0, 0.5], [1.0, 1.0, 0.0]]))
    tensor([3., 0.], dtype=torch.float64)
    """

    def __init__(self, estimator: EstimatorLike) -> None:
        super().__init__()
        artifact = _artifact(estimator)
        source = artifact["input"]
        self.kind: str = source["kind"]
        if self.kind not in ("logits", "masked", "probabilities"):
            hint = "tune on both columns, such as torch.stack([-z / 2, z / 2], -1)"
            raise InputError(f"the estimator takes {self.kind}, not one number per class; {hint}")
        self.floor = float(source["floor"]) if self.kind == "probabilities" else 0.0
        # -1 stands for None, which TorchScript does not compare with numbers.
        self.tolerance = -1.0 if source.get("tolerance") is None else float(source["tolerance"])
        self.classes = -1 if artifact["classes"] is None else int(artifact["classes"])
        self.method = method_of(artifact["estimator"])

    def forward(self, logits: Tensor) -> Tensor:
        """Compute the confidence of each row: higher is surer."""
        # Not while tracing: shapes are tensors there, and the check would become a constant.
        if not torch.jit.is_tracing() and self.classes >= 0 and logits.shape[-1] != self.classes:
            raise ValueError(f"rows have {logits.shape[-1]} classes, not {self.classes}")
        z = logits.double()
        largest_logit = 1e100
        if self.kind == "probabilities":
            half = logits.dtype == torch.float16 or logits.dtype == torch.bfloat16
            tolerance = 0.01 if half else 0.001
            if self.tolerance >= 0.0:
                tolerance = self.tolerance
            valid = ((z >= -tolerance) & (z <= 1.0 + tolerance)).all(-1)
            valid = valid & ((z.sum(-1) - 1.0).abs() <= tolerance)
            z = torch.log(z.clamp(min=self.floor))
        elif self.kind == "masked":
            valid = ((z.abs() <= largest_logit) | (z == -math.inf)).all(-1)
            valid = valid & (z > -math.inf).any(-1)
        else:
            valid = (z.abs() <= largest_logit).all(-1)
        confidence = resolved(self.method(row_of(z))).squeeze(-1)
        return confidence.masked_fill(~valid, math.nan)


class SelectiveOutput(NamedTuple):
    """The output of a `SelectiveModule`."""

    logits: Tensor  #: The output of the classifier.
    confidence: Tensor  #: One float64 per row; higher is surer.
    accept: Tensor  #: One boolean per row: whether it is accepted.


class SelectiveModule(nn.Module):
    """A classifier with a confidence and a threshold.

    It can be exported (`torch.export`), scripted, traced, and exported to ONNX (opset 13 or later),
    for batches of any size. A row is accepted if its confidence is at or above the threshold; a row
    whose confidence is NaN never is.

    Parameters
    ----------
    model : torch.nn.Module
        The classifier: a tensor to logits, or to probabilities if the estimator takes those.
    estimator : Estimator, dict, str or path
        The estimator, its `to_dict`, or the file of an artifact.
    threshold : float, optional
        The threshold to use instead of the estimator's.

    Notes
    -----
    For the same logits, acceptance differs from that of the core only where the confidence equals
    the threshold up to rounding errors: a relative 1e-11, except for LDAM and Leon, which lose
    digits on rows whose probabilities are nearly equal. The logits of a classifier, however, differ
    in their last digits between batch sizes and runtimes, and a threshold that was found on rows is
    the confidence of one of them: that row may be decided either way.

    Examples
    --------
    >>> import torch
    >>> from abstain.torch import SelectiveModule
    >>> model = SelectiveModule(torch.nn.Identity(), {"method": "LogitsMargin"}, threshold=2.0)
    >>> output = model(torch.tensor([[4.0, 1.0, 0.5], [1.0, 1.0, 0.0]]))
    >>> output.accept
    tensor([ True, False])
    >>> output.confidence
    tensor([3., 0.], dtype=torch.float64)
    """

    def __init__(
        self, model: nn.Module, estimator: EstimatorLike, *, threshold: Optional[float] = None
    ) -> None:
        super().__init__()
        # Read once: the file may be replaced between two readings.
        artifact = _artifact(estimator)
        rule = artifact["rule"] or {}
        if threshold is None and not rule:
            raise InputError(
                "the estimator has no threshold: use Estimator.with_threshold or "
                "Estimator.certify, or pass threshold="
            )
        if threshold is None and "threshold" not in rule:
            raise InputError("the estimator has several thresholds, and a module applies one")
        self.model = model
        self.head = ConfidenceModule(artifact)
        self.threshold = float(rule["threshold"]["at"] if threshold is None else threshold)
        if math.isnan(self.threshold):
            raise InputError("the threshold is NaN")

    def forward(self, x: Tensor) -> SelectiveOutput:
        """Compute the logits, the confidence of each row, and which rows are accepted."""
        logits = self.model(x)
        confidence = self.head(logits)
        return SelectiveOutput(logits, confidence, confidence >= self.threshold)
