"""Images to logits: `abstain logits` against Python's onnxruntime with Pillow, in one run.

    pip install numpy onnxruntime pillow
    cargo build --release --features abstain-cli/models
    python crates/bench/compare_images.py IMAGES MODEL.onnx... [--repeats 3]

IMAGES is a folder with a subfolder for each class, whose name is the number of the class; models
have the metadata `abstain.preprocess`, as zoo/efficientnet_lite.py writes them. Python prepares images
in a pool of as many threads as there are cores, while ONNX Runtime runs the batch before.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

PROGRAM = Path(__file__).resolve().parents[2] / "target/release/abstain"
LIBRARY = next(Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so*"))
CORES = os.cpu_count()
BATCH = 16


def prepared(path, config):
    """An image as timm and Pillow prepare it."""
    size = config["input_size"][1]
    shorter = math.floor(size / config["crop_pct"])
    image = Image.open(path).convert("RGB")
    scale = shorter / min(image.size)
    target = [shorter if side == min(image.size) else int(side * scale) for side in image.size]
    image = image.resize(target, getattr(Image.Resampling, config["interpolation"].upper()))
    left, top = (int(round((side - size) / 2)) for side in image.size)
    image = image.crop((left, top, left + size, top + size))
    values = np.asarray(image, np.float32) / np.float32(255)
    mean, std = np.float32(config["mean"]), np.float32(config["std"])
    return ((values - mean) / std).transpose(2, 0, 1)


def python(model, files):
    """The logits, and the seconds from loading the model to the last row."""
    start = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = CORES
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    config = json.loads(session.get_modelmeta().custom_metadata_map["abstain.preprocess"])
    name = session.get_inputs()[0].name
    batches = [files[at : at + BATCH] for at in range(0, len(files), BATCH)]
    rows = []
    with ThreadPoolExecutor(CORES) as pool:
        waiting = None
        for batch in [*batches, None]:
            following = batch and [pool.submit(prepared, file, config) for file in batch]
            if waiting:
                inputs = np.stack([image.result() for image in waiting])
                rows.append(session.run(None, {name: inputs})[0])
            waiting = following
    return np.concatenate(rows), time.perf_counter() - start


def program(model, images, runtime):
    """The logits of `abstain logits`, and the seconds of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "logits", model, images, "-o", folder, "-q", "--class-order", "number"]
        start = time.perf_counter()
        subprocess.run([*command, *runtime, "--batch", str(BATCH)], check=True, capture_output=True)
        seconds = time.perf_counter() - start
        return np.load(Path(folder) / f"{Path(model).stem}.npy"), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    folders = sorted(path for path in Path(arguments.images).iterdir() if path.is_dir())
    files = [file for folder in folders for file in sorted(folder.iterdir())]
    ways = {
        "Python": lambda model: python(model, files),
        "ONNX Runtime": lambda model: program(
            model, arguments.images, ["--onnxruntime", LIBRARY]
        ),
        "rten": lambda model: program(model, arguments.images, ["--runtime", "rten"]),
    }
    print(f"{len(files)} images, {CORES} cores, onnxruntime {onnxruntime.__version__}")
    print("model | way | images/s | times Python | largest difference | same predictions")
    for model in arguments.models:
        best = {}
        for _ in range(arguments.repeats):
            for way, run in ways.items():
                rows, seconds = run(model)
                if way not in best or seconds < best[way][1]:
                    best[way] = rows, seconds
        expected, baseline = best["Python"]
        for way, (rows, seconds) in best.items():
            same = np.mean(rows.argmax(1) == expected.argmax(1))
            print(
                f"{Path(model).stem} | {way} | {len(files) / seconds:.0f} | {baseline / seconds:.2f} | "
                f"{np.abs(rows - expected).max():.3f} | {same:.2f}"
            )


main()
