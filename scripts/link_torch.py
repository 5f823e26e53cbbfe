"""Links this interpreter's PyTorch and torchvision, and no other of its packages, into another
environment. Without torchvision, it links PyTorch alone.

    python link_torch.py SITE_PACKAGES

An environment that sees all of the system's packages mixes them with those of the registry. With
Debian's protobuf, for example, the registry's onnx cannot be imported.
"""

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

site_packages = Path(sys.argv[1])


def link(name: str, modules: str) -> None:
    found = distribution(name)
    names = (found.read_text("top_level.txt") or modules).split()
    origin = Path(found.locate_file("."))
    metadata = [path for kind in ("dist", "egg") for path in origin.glob(f"{name}-*.{kind}-info")]
    for path in [origin / each for each in names] + metadata:
        if path.exists():
            (site_packages / path.name).symlink_to(path.resolve())


link("torch", "torch\ntorchgen\nfunctorch")
try:
    link("torchvision", "torchvision")
except PackageNotFoundError:
    print("torchvision is not there", file=sys.stderr)
