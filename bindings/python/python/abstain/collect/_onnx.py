"""Models as ONNX files that describe their preprocessing."""

import contextlib
import inspect
import json
import os
import shutil
import warnings
from pathlib import Path
from typing import Any, Optional

from ._needs import needed
from ._preprocess import Preprocess

#: The key of the preprocessing in the metadata of a model.
KEY = "abstain.preprocess"
#: The first that has a layer normalisation.
OPSET = 17


def export_onnx(
    model: Any,
    path: Path,
    example: Any,
    preprocess: Optional[Preprocess],
    opset: int = OPSET,
) -> Path:
    """Write a model as ONNX, with batches of any size as `images` and their `logits`.

    Parameters
    ----------
    model : torch.nn.Module
        The classifier, in evaluation mode.
    path : Path
        The file. Models beyond 2 GB become a folder of its name without the ending, because their
        weights are files beside the graph.
    example : torch.Tensor
        A batch of inputs.
    preprocess : Preprocess, optional
        Is written into the metadata as `abstain.preprocess`, in the words of timm's configurations.
    opset : int
        The version of the operators.

    Returns
    -------
    Path
        Where the graph is.
    """
    torch = needed("torch")
    folder = path.with_name(f".{path.stem}.partial")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # The exporter that works by tracing takes models as they are, without further packages.
    tracing = "dynamo" in inspect.signature(torch.onnx.export).parameters
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        cleanup.enter_context(warnings.catch_warnings())
        # Sizes become constants while tracing, as they should: all but the batch are fixed.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (example,),
            str(folder / path.name),
            opset_version=opset,
            input_names=["images"],
            output_names=["logits"],
            dynamic_axes={"images": {0: "batch"}, "logits": {0: "batch"}},
            **({"dynamo": False} if tracing else {}),
        )
        if preprocess is not None:
            with open(folder / path.name, "ab") as file:
                file.write(_metadata(KEY, json.dumps(preprocess.config())))
        if len(list(folder.iterdir())) == 1:
            os.replace(folder / path.name, path)
            return path
        whole = path.with_suffix("")
        shutil.rmtree(whole, ignore_errors=True)
        os.replace(folder, whole)
        return whole / path.name


def _metadata(key: str, value: str) -> bytes:
    """One more entry of `metadata_props`, which may stand at the end of a model."""
    return _field(14, _field(1, key.encode()) + _field(2, value.encode()))


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes of a protocol buffer."""
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
