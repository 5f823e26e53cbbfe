"""The words that arguments take, and that results have."""

from typing import Literal

#: What the numbers of a row are.
Input = Literal["logits", "masked", "probabilities", "binary-probability", "binary-logit"]

#: How to certify.
Procedure = Literal["fixed-sequence", "sgr"]

#: The search space of parameters.
Space = Literal["standard", "paper", "published-code", "fine"]

#: The numbers in which an ONNX graph computes.
Precision = Literal["float32", "float64"]

#: The scores of a classifier of scikit-learn.
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]

#: The AURC of another project.
Convention = Literal[
    "geifman-el-yaniv", "fix-selective-classification", "torch-uncertainty", "fd-shifts"
]

#: What a threshold rests on.
Basis = Literal["certified", "anytime", "risk", "coverage", "cost", "given"]

#: How a confidence compares with MSP.
Comparison = Literal["better", "worse", "unclear", "same"]
