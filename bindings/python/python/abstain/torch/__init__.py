"""Confidences inside a PyTorch model, and logits out of one.

`SelectiveModule` puts an estimator behind a classifier and returns which rows are accepted. It
consists of plain tensor operations and is scripted, traced and exported to ONNX together with the
classifier. `collect_logits` runs a classifier over a data loader, to get the logits for tuning.

The formulas are those of the core, on scales that do not saturate, in float64 whatever the type of
the logits or of the module; the device must support float64. The parameters of an estimator are
Python floats, which `module.half()` does not round.
"""

from ._collect import collect_logits
from ._modules import ConfidenceModule, SelectiveModule, SelectiveOutput

__all__ = ["ConfidenceModule", "SelectiveModule", "SelectiveOutput", "collect_logits"]
