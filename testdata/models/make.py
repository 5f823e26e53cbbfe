"""Makes the small models of the tests: `pip install onnx`, then `python testdata/models/make.py`.

`colours.onnx` takes images of 8 x 8 pixels and says how blue, green and red they are on average, as
logits of three classes. `colours-probabilities.onnx` ends in a softmax. `colours-fixed.onnx` takes
four images at a time, with the channels last.
"""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = Path(__file__).parent
PREPROCESS = {
    "input_size": [3, 8, 8],
    "interpolation": "bilinear",
    "crop_pct": 1.0,
    "mean": [0.5, 0.5, 0.5],
    "std": [0.25, 0.25, 0.25],
}


def model(name, shape, softmax=False):
    last = shape[-1] == 3
    weights = np.array([[0, 0, 4], [0, 4, 0], [4, 0, 0]], np.float32)
    nodes = []
    image = "image"
    if last:
        nodes.append(helper.make_node("Transpose", [image], ["first"], perm=[0, 3, 1, 2]))
        image = "first"
    nodes += [
        helper.make_node("GlobalAveragePool", [image], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["mean"]),
        helper.make_node("Gemm", ["mean", "weights"], ["logits"], transB=1),
    ]
    output = "logits"
    if softmax:
        nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1))
        output = "probabilities"
    graph = helper.make_graph(
        nodes,
        "colours",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [shape[0], 3])],
        [numpy_helper.from_array(weights, "weights")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(made, {"abstain.preprocess": json.dumps(PREPROCESS)})
    save(made, FOLDER / name)


model("colours.onnx", ["batch", 3, 8, 8])
model("colours-probabilities.onnx", ["batch", 3, 8, 8], softmax=True)
model("colours-fixed.onnx", [4, 8, 8, 3])
