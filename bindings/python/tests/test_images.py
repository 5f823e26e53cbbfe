"""`abstain logits` on images, against Pillow and ONNX Runtime in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import PROJECT

Image = pytest.importorskip("PIL.Image")
ort = pytest.importorskip("onnxruntime", minversion="1.22")

MODEL = PROJECT / "testdata" / "models" / "colours.onnx"
CLASSES = ("blue", "green", "red")

#: Resized values may differ from Pillow's by one of 255 levels: here, a third of an image's may.
ROUNDING = 4 / 255 / 0.25 / 3


def is_resized(path: Path) -> bool:
    with Image.open(path) as image:
        return image.size != (8, 8)


def compare(found: np.ndarray, photos: Path) -> None:
    wanted = expected(photos)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ROUNDING)
    resized = [is_resized(path) for path in sorted(photos.rglob("*.png"))]
    assert 20 < sum(resized) < 40
    as_they_are = ~np.array(resized)
    np.testing.assert_allclose(found[as_they_are], wanted[as_they_are], rtol=0, atol=1e-5)


def library() -> Path:
    """The library that Python's package has."""
    found = sorted((Path(ort.__file__).parent / "capi").glob("*onnxruntime.*so*"))
    named = [path for path in found if path.name.startswith("libonnxruntime.so")]
    if not named:
        pytest.skip("the package has no library of ONNX Runtime for Linux")
    return named[0]


def picture(number: int) -> Any:
    rng = np.random.default_rng(number)
    # Some have the size of the model, and are not resized.
    height, width = (8, 8) if number % 4 == 0 else rng.integers(8, 60, 2)
    pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    pixels[..., 2 - number % 3] //= 2
    return Image.fromarray(255 - pixels)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    for number in range(45):
        image, place = picture(number), folder / CLASSES[number % 3]
        place.mkdir(exist_ok=True)
        modes = ["RGB", "L", "RGBA", "P", "1"]
        image.convert(modes[number // 3 % 5]).save(place / f"{number:03}.png")
    return folder


def expected(photos: Path) -> np.ndarray:
    """Logits by Pillow and ONNX Runtime: the shorter side is resized to 8, the middle is cropped."""
    rows = []
    for path in sorted(photos.rglob("*.png")):
        with Image.open(path) as opened:
            image = opened.convert("RGB")
        width, height = image.size
        short = min(width, height)
        size = (8 * width // short, 8 * height // short)
        image = image.resize(size, Image.Resampling.BILINEAR)
        left, top = (round((side - 8) / 2) for side in size)
        image = image.crop((left, top, left + 8, top + 8))
        rows.append((np.asarray(image, np.float32).transpose(2, 0, 1) / 255 - 0.5) / 0.25)
    session = ort.InferenceSession(MODEL, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: np.stack(rows)})[0]


@pytest.mark.parametrize("runtime", ["rten", "onnxruntime"])
def test_logits_are_those_of_pillow_and_onnx_runtime(
    photos: Path, tmp_path: Path, program: Callable[..., Any], runtime: str
) -> None:
    zoo = tmp_path / "zoo"
    chosen = ["--runtime", "rten"] if runtime == "rten" else ["--onnxruntime", library()]
    result = json.loads(program("logits", MODEL, photos, "-o", zoo, "--json", "-q", *chosen))
    found = np.load(zoo / "colours.npy")
    compare(found, photos)
    labels = np.load(zoo / "labels.npy")
    assert labels.tolist() == sorted(labels.tolist())
    (entry,) = result
    assert entry["rows"] == 45
    assert entry["accuracy"] == pytest.approx((found.argmax(1) == labels).mean())


def test_images_that_datasets_stored_are_read(
    photos: Path, tmp_path: Path, program: Callable[..., Any]
) -> None:
    datasets = pytest.importorskip("datasets")
    paths = sorted(photos.rglob("*.png"))
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=list(CLASSES))}
    )
    images = [{"bytes": path.read_bytes(), "path": path.name} for path in paths]
    labels = [CLASSES.index(path.parent.name) for path in paths]
    stored = datasets.Dataset.from_dict({"image": images, "label": labels}, features=features)
    stored.to_parquet(tmp_path / "photos.parquet")
    renamed = stored.rename_columns({"image": "picture", "label": "kind"})
    renamed.to_parquet(tmp_path / "renamed.parquet")
    options = ["--runtime", "rten", "-q"]
    program("logits", MODEL, tmp_path / "photos.parquet", "-o", tmp_path / "zoo", *options)
    names = ["--image-name", "picture", "--labels-name", "kind"]
    program("logits", MODEL, tmp_path / "renamed.parquet", "-o", tmp_path / "b", *names, *options)
    for zoo in (tmp_path / "zoo", tmp_path / "b"):
        compare(np.load(zoo / "colours.npy"), photos)
        assert np.load(zoo / "labels.npy").tolist() == labels
