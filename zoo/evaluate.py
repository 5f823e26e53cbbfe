"""Writes the labels, and the logits that are missing of the nets whose weights are in .work/."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

import data
from corruptions import SHIFTS, shifted, v2
from nets import ARCHITECTURES
from recipes import RUNS, SHIFTED, ZOO, clean_path, shift_path, v2_path, weights_path
from train import as_input, say


def logits_of(net: nn.Module, images: np.ndarray) -> np.ndarray:
    net.eval()
    with torch.no_grad():
        return torch.cat([net(batch) for batch in as_input(images).split(1000)]).numpy()


def load(name: str) -> nn.Module:
    if not weights_path(name).exists():
        sys.exit(f"{name}: no weights; delete clean/{name}.npy to train it again")
    (architecture,) = [run.architecture for run in RUNS if name in run.keeps.values()]
    net = ARCHITECTURES[architecture]().to(memory_format=torch.channels_last)
    net.load_state_dict(torch.load(weights_path(name)))
    return net


def write(path: Path, logits: np.ndarray) -> None:
    """Halves the precision, and says what that changes."""
    halved = logits.astype(np.float16)
    if not np.isfinite(halved).all():
        sys.exit(f"{path}: logits out of the range of float16")
    changed = int((halved.argmax(1) != logits.argmax(1)).sum())
    data.save_array(path, halved)
    say(f"{path.relative_to(ZOO)}: float16 changes {changed} of {len(logits)} predictions")


def main() -> None:
    torch.set_num_threads(1)
    test_images, test_labels = data.test()
    held_images, held_labels = data.held_back()
    data.save_array(ZOO / "labels.npy", test_labels)
    data.save_array(ZOO / "v2" / "labels.npy", held_labels)
    names = [name for run in RUNS for name in run.keeps.values()]

    # Every image set is made once and only if some net needs it; the nets are small enough to load again for each.
    def fill(paths: dict[str, Path], images: Callable[[], np.ndarray]) -> None:
        missing = {name: path for name, path in paths.items() if not path.exists()}
        if missing:
            batch = images()
            for name, path in missing.items():
                write(path, logits_of(load(name), batch))

    for shift in SHIFTS:
        fill(
            {name: shift_path(shift, name) for name in SHIFTED},
            lambda shift=shift: shifted(test_images, shift),
        )
    fill({name: v2_path(name) for name in names}, lambda: v2(held_images))
    # Last, for train.py takes a net with clean logits as finished.
    fill({name: clean_path(name) for name in names}, lambda: test_images)


if __name__ == "__main__":
    main()
