"""Trains the runs of recipes.py whose nets are not there yet, two at a time, and keeps their weights in .work/."""

import json
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import data
from nets import ARCHITECTURES, CLASSES
from recipes import RUNS, WORK, Run, clean_path, weights_path

BATCH = 256

# One thread for each of two processes: small nets gain little from a second thread, threads that wait for each other
# suffer badly when the machine has other work, and sums in one thread come out the same every time.
WORKERS = 2


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def as_input(images: np.ndarray) -> Tensor:
    """Bytes (n, 28, 28) to what the nets take; channels last, which convolutions on a CPU run faster on."""
    pixels = torch.from_numpy(images).float().div_(255)
    pixels = pixels.sub_(data.PIXEL_MEAN).div_(data.PIXEL_DEVIATION)[:, None]
    return pixels.contiguous(memory_format=torch.channels_last)


def augmented(batch: Tensor) -> Tensor:
    """Each image shifted by up to 2 pixels in both directions, and every other one mirrored."""
    reach = 2
    count, _, height, width = batch.shape
    # Black, as the background is: the value that a pixel of 0 has after normalisation.
    black = -data.PIXEL_MEAN / data.PIXEL_DEVIATION
    padded = functional.pad(batch[:, 0], (reach,) * 4, value=black)
    windows = padded.unfold(1, height, 1).unfold(2, width, 1)
    down, right = torch.randint(0, 2 * reach + 1, (2, count))
    shifted = windows[torch.arange(count), down, right]
    mirrored = torch.rand(count) < 0.5
    return torch.where(mirrored[:, None, None], shifted.flip(2), shifted)[:, None]


def targets(labels: Tensor, smoothing: float) -> Tensor:
    """One-hot labels that give the share `smoothing` to all classes alike."""
    one_hot = functional.one_hot(labels, CLASSES).float()
    return one_hot * (1 - smoothing) + smoothing / CLASSES


def rate_factor(run: Run, step: int, steps: int) -> float:
    """The share of the peak learning rate: one epoch of warm-up, then a cosine down to 0."""
    if run.constant:
        return 1.0
    warm_up = steps / run.epochs
    if step < warm_up:
        return (step + 1) / warm_up
    return (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up))) / 2


def optimizer_of(run: Run, net: nn.Module) -> torch.optim.Optimizer:
    if run.adam:
        return torch.optim.AdamW(net.parameters(), run.rate, weight_decay=run.decay)
    return torch.optim.SGD(
        net.parameters(), run.rate, momentum=0.9, nesterov=True, weight_decay=run.decay
    )


def save(net: nn.Module, name: str, note: dict[str, object]) -> None:
    """The note first and the weights by a rename: weights that exist are whole and have their note."""
    path = weights_path(name)
    path.with_suffix(".json").write_text(json.dumps(note))
    partial = path.with_suffix(".partial")
    torch.save(net.state_dict(), partial)
    os.replace(partial, path)


def train(run: Run) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # an overfitted net's tiny gradients would slow it down
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(run.seed)
    mixing = np.random.default_rng(run.seed)

    images, labels = data.training()
    pixels, classes = as_input(images), torch.from_numpy(labels.astype(np.int64))
    net = ARCHITECTURES[run.architecture]().to(memory_format=torch.channels_last)
    optimizer = optimizer_of(run, net)
    batches = len(pixels) // BATCH
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: rate_factor(run, step, run.epochs * batches)
    )

    began = time.monotonic()
    for epoch in range(1, run.epochs + 1):
        net.train()
        loss_sum = 0.0
        # What is left over after the last whole batch is left out: other rows each epoch.
        for rows in torch.randperm(len(pixels))[: batches * BATCH].split(BATCH):
            batch, target = pixels[rows], targets(classes[rows], run.smoothing)
            if run.augment:
                batch = augmented(batch)
            if run.mixup:
                share = float(mixing.beta(run.mixup, run.mixup))
                # The rows are in random order, so the batch backwards pairs each with a random other.
                batch = share * batch + (1 - share) * batch.flip(0)
                target = share * target + (1 - share) * target.flip(0)
            optimizer.zero_grad(set_to_none=True)
            loss = functional.cross_entropy(net(batch), target)
            loss.backward()
            optimizer.step()
            schedule.step()
            loss_sum += loss.item()
        seconds = time.monotonic() - began
        last = run.keeps[run.epochs]
        say(f"{last}: epoch {epoch}/{run.epochs}, loss {loss_sum / batches:.4f}, {seconds:.0f} s")
        if epoch in run.keeps:
            save(net, run.keeps[epoch], {"seconds": round(seconds), "loss": loss_sum / batches})


def finished(run: Run) -> bool:
    return all(
        weights_path(name).exists() or clean_path(name).exists() for name in run.keeps.values()
    )


def main() -> None:
    WORK.mkdir(exist_ok=True)
    missing = [run for run in RUNS if not finished(run)]
    began = time.monotonic()
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        # All results are asked for, so that a failed run fails the script.
        list(pool.map(train, missing))
    say(f"trained {len(missing)} of {len(RUNS)} runs in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
