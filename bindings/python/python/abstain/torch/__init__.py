"""Confidences inside a PyTorch model, and logits out of one.

`SelectiveModule` puts an estimator behind a classifier: what it returns says of every row whether
to trust it. It is made of plain tensor operations, so that it scripts, traces and exports to ONNX
with the classifier. `collect_logits` runs a classifier over a data loader, where tuning starts.

The formulas are those of the core, on scales that do not saturate, in float64 whatever the type of
the logits or of the module (so that the device must have float64). Every number of an estimator is
a Python float: `module.half()` cannot round it.
"""

from ._collect import collect_logits
from ._modules import ConfidenceModule, SelectiveModule, SelectiveOutput

__all__ = ["ConfidenceModule", "SelectiveModule", "SelectiveOutput", "collect_logits"]
