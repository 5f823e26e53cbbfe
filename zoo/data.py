"""Fashion-MNIST as arrays, and how files are written."""

import gzip
import os
from pathlib import Path

import numpy as np

# Where Debian's package dataset-fashion-mnist puts the files.
SOURCE = Path("/usr/share/datasets/fashion-mnist")

# The first rows of the training set train; the rest are held back, and only the set v2 uses them.
TRAINING_ROWS = 55_000

# Mean and standard deviation of the pixels of the training rows, in [0, 1].
PIXEL_MEAN, PIXEL_DEVIATION = 0.286, 0.353


def read_idx(name: str) -> np.ndarray:
    """Reads an idx file of bytes: a magic number that ends in the number of axes, their sizes, the bytes."""
    content = gzip.decompress((SOURCE / name).read_bytes())
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, 4)
    # A copy, for torch takes no arrays that it may not write to.
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape).copy()


def training() -> tuple[np.ndarray, np.ndarray]:
    images, labels = read_idx("train-images-idx3-ubyte.gz"), read_idx("train-labels-idx1-ubyte.gz")
    return images[:TRAINING_ROWS], labels[:TRAINING_ROWS]


def held_back() -> tuple[np.ndarray, np.ndarray]:
    images, labels = read_idx("train-images-idx3-ubyte.gz"), read_idx("train-labels-idx1-ubyte.gz")
    return images[TRAINING_ROWS:], labels[TRAINING_ROWS:]


def test() -> tuple[np.ndarray, np.ndarray]:
    return read_idx("t10k-images-idx3-ubyte.gz"), read_idx("t10k-labels-idx1-ubyte.gz")


def save_array(path: Path, array: np.ndarray) -> None:
    """Writes under a temporary name and renames, so that a file that exists is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with open(partial, "wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    os.replace(partial, path)
