"""Links this interpreter's PyTorch, and no other of its packages, into another environment.

    python link_torch.py SITE_PACKAGES

An environment that sees all of the system's packages mixes them with those of the registry. With
Debian's protobuf, for example, the registry's onnx cannot be imported.
"""

import sys
from importlib.metadata import distribution
from pathlib import Path

site_packages = Path(sys.argv[1])
torch = distribution("torch")
modules = (torch.read_text("top_level.txt") or "torch\ntorchgen\nfunctorch").split()
origin = Path(torch.locate_file("."))
metadata = [path for kind in ("dist", "egg") for path in origin.glob(f"torch-*.{kind}-info")]
for path in [origin / name for name in modules] + metadata:
    if path.exists():
        (site_packages / path.name).symlink_to(path.resolve())
