"""Checks every file that zoo.toml names, and prints what the nets do. Needs NumPy only."""

import sys
import tomllib
from pathlib import Path

import numpy as np

ZOO = Path(__file__).resolve().parent
LARGEST = 25_000_000  # bytes of data in all


def read_labels(path: str) -> np.ndarray:
    labels = np.load(ZOO / path)
    if labels.dtype != np.uint8 or labels.ndim != 1 or set(labels) != set(range(10)):
        sys.exit(f"{path}: not the labels of ten classes as bytes")
    return labels


def read_logits(path: str, rows: int) -> np.ndarray:
    logits = np.load(ZOO / path)
    if logits.dtype != np.float16 or not logits.flags.c_contiguous:
        sys.exit(f"{path}: not float16 in C order")
    if logits.shape != (rows, 10) or not np.isfinite(logits).all():
        sys.exit(f"{path}: not {rows} rows of 10 finite logits")
    return logits.astype(np.float64)


def accuracy(logits: np.ndarray, labels: np.ndarray) -> float:
    return float((logits.argmax(1) == labels).mean())


def confidence(logits: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Mean maximum softmax probability, and mean negative log-likelihood."""
    shifted = logits - logits.max(1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(1))
    own = shifted[np.arange(len(labels)), labels]
    return float(np.exp(-log_sum).mean()), float((log_sum - own).mean())


def main() -> None:
    manifest = tomllib.loads((ZOO / "zoo.toml").read_text())
    labels = read_labels(manifest["labels"])
    named = {manifest["labels"]}
    names = [model["name"] for model in manifest["model"]]

    found: dict[str, dict[str, float]] = {}
    print(f"{'net':16} {'accuracy':>8} {'mean MSP':>8} {'NLL':>6} {'logits':>16} {'v2':>6}")
    for entry in manifest["set"]:
        set_labels = read_labels(entry["labels"]) if "labels" in entry else labels
        named |= {entry["labels"]} if "labels" in entry else set()
        for name in entry.get("models", names):
            path = entry["logits"].replace("{model}", name)
            named.add(path)
            logits = read_logits(path, len(set_labels))
            found.setdefault(entry["name"], {})[name] = accuracy(logits, set_labels)
    for model in manifest["model"]:
        named.add(model["logits"])
        logits = read_logits(model["logits"], len(labels))
        msp, nll = confidence(logits, labels)
        span = f"{logits.min():.1f} to {logits.max():.1f}"
        name = model["name"]
        print(
            f"{name:16} {accuracy(logits, labels):8.4f} {msp:8.4f} {nll:6.3f} {span:>16} {found['v2'][name]:6.4f}"
        )

    shifted = next(entry["models"] for entry in manifest["set"] if "models" in entry)
    print("\naccuracy" + "".join(f" {name:>15}" for name in shifted))
    for entry in manifest["set"]:
        if "models" in entry:
            row = found[entry["name"]]
            print(f"{entry['name']:10}" + " ".join(f"{row[name]:15.4f}" for name in shifted))

    stored = {str(path.relative_to(ZOO)) for path in ZOO.rglob("*.npy")}
    if stored != named:
        sys.exit(f"files and manifest differ: {sorted(stored ^ named)}")
    size = sum((ZOO / path).stat().st_size for path in named)
    print(f"\n{len(named)} files, {size:,} bytes")
    if size >= LARGEST:
        sys.exit(f"more than {LARGEST:,} bytes")


if __name__ == "__main__":
    main()
