"""`python -m abstain.collect`: see `--help`."""

import argparse
import sys
from pathlib import Path
from typing import Optional

from ..errors import InputError
from . import collect, paper_models

_EPILOG = """\
models:
  torchvision:NAME            with its DEFAULT weights, or those of torchvision:NAME@WEIGHTS
  timm:NAME                   a pretrained model of timm, such as timm:vit_base_patch16_224.sam_in1k
  module:function             a function without arguments that returns the model and its transform,
  file.py:function            of a module or of a file
  NAME=...                    any of them under another name

examples:
  python -m abstain.collect val/ -o zoo --paper
  python -m abstain.collect val/ -o zoo --models torchvision:resnet50 timm:resnet50.a1_in1k
  python -m abstain.collect ILSVRC2012_img_val/ --labels val.txt -o zoo --paper --half
  python -m abstain.collect val/ -o zoo --models torchvision:resnet50 --set blur-3=blurred/
  abstain study all zoo/

The same command continues an interrupted run. It exits with 0, with 1 if a model failed, with 2 if
nothing could be run, and with 130 if it was interrupted.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m abstain.collect",
        description="Run pretrained classifiers over a folder of images, and write their logits as "
        "a zoo for abstain bench and abstain study.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("images", metavar="IMAGES", help="folders of classes with images, or images (--labels)")
    add("-o", "--output", metavar="FOLDER", required=True, help="folder of the zoo")
    add("--paper", action="store_true", help="the 84 models of the paper")
    add("--models", metavar="MODEL", nargs="+", action="extend", default=[], help="see below")
    add("--labels", metavar="FILE", help="table of images and labels: name,label in each line")
    add(
        "--class-names",
        metavar="NAMES",
        help="names of the classes in the models' order: a file with one per line, or "
        "'cat,dog,cow'. The names of folders and labels are matched with them",
    )
    add(
        "--class-order",
        choices=("sorted", "number"),
        help="which class a folder is of: its place among the sorted names, or the number that its "
        "name is [sorted, if that is certain]",
    )
    add(
        "--set",
        metavar="NAME=FOLDER",
        action="append",
        default=[],
        help="further images: the same rows changed, with the same names of files, or other rows; "
        "repeatable",
    )
    add("--batch-size", metavar="N", type=int, default=32, help="images at a time [32]")
    add("--workers", metavar="N", type=int, help="processes that read images [cores, at most 8]")
    add("--device", metavar="DEVICE", default="auto", help="auto, cpu, cuda or mps [auto]")
    add("--half", action="store_true", help="half precision; needs a graphics card")
    add(
        "--dtype",
        choices=("float32", "float16"),
        default="float32",
        help="type of stored logits [float32]",
    )
    add("--onnx", action="store_true", help="export each model to onnx/NAME.onnx as well")
    return parser


def main(arguments: Optional[list[str]] = None) -> int:
    """Run the command, and return its exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    sets: dict[str, str] = {}
    for text in given.set:
        name, separator, folder = text.partition("=")
        if not separator or name in sets:
            parser.error(f"--set {text}: expected NAME=FOLDER, each name once")
        sets[name] = folder
    models = (paper_models() if given.paper else []) + given.models
    if not models:
        parser.error("--paper or --models says what to run")
    try:
        result = collect(
            given.images,
            given.output,
            dict.fromkeys(models),
            labels=given.labels,
            class_names=given.class_names,
            class_order=given.class_order,
            sets=sets,
            batch_size=given.batch_size,
            workers=given.workers,
            device=given.device,
            half=given.half,
            dtype=given.dtype,
            onnx=given.onnx,
        )
    except (InputError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command continues", file=sys.stderr)
        return 130
    for name, reason in result.failed.items():
        print(f"FAILED: {name}: {reason}", file=sys.stderr)
    total = len(result.finished) + len(result.failed)
    zoo = Path(given.output)
    print(f"{len(result.finished)} of {total} models are in {zoo}: abstain study all {zoo}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
