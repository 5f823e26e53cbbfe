"""Logits of image classifiers, as a zoo that `abstain bench` and `abstain study` read.

`python -m abstain.collect IMAGES -o FOLDER --paper` runs the paper's 84 models over a folder of
images; `--models` names others. The function `collect` does the same in Python, for models from
anywhere. docs/collect.md describes the folders.

Nothing is imported before it is needed: torch and Pillow always, torchvision and timm for their
models.
"""

from ._collect import Collected, collect
from ._models import Classifier, paper_models
from ._onnx import export_onnx
from ._preprocess import Preprocess

__all__ = ["Classifier", "Collected", "Preprocess", "collect", "export_onnx", "paper_models"]
