"""Packages that are imported when they are needed."""

import importlib
from typing import Any

#: What to install for a module.
_PACKAGES = {
    "PIL": "pillow",
    "PIL.Image": "pillow",
    "torch": "torch",
    "torchvision.models": "torchvision",
    "timm": "timm",
}


def needed(module: str) -> Any:
    """A module, or an error that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        top, package = module.partition(".")[0], _PACKAGES[module]
        if error.name is not None and error.name.partition(".")[0] != top:
            raise ImportError(f"{top} cannot be imported: {error}") from error
        raise ImportError(f"{top} is missing: pip install {package}") from error
