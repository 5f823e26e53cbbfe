"""What is done to an image before a model sees it, as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..errors import InputError
from ._needs import needed


@dataclass(frozen=True)
class Preprocess:
    """Resize, crop and normalise an image, as timm's evaluation does.

    The shorter side is resized to `floor(size / crop_pct)` by Pillow, and the middle is cropped;
    with the crop mode `squash`, both sides are resized to it. Pixels from 0 to 1 then become
    `(pixel - mean) / std`.

    Parameters
    ----------
    input_size : (int, int, int)
        Channels, which must be 3, height and width of what the model sees.
    interpolation : str
        A filter of Pillow: `nearest`, `bilinear`, `bicubic`, `lanczos`, `box` or `hamming`.
    crop_pct : float
        The share of the resized side that is left after the crop.
    mean, std : (float, float, float)
        Of red, green and blue.
    crop_mode : str
        `center` or `squash`.

    Examples
    --------
    >>> from abstain.collect import Preprocess
    >>> preprocess = Preprocess((3, 224, 224), "bicubic", 0.875, (0.5,) * 3, (0.5,) * 3)
    >>> preprocess.config()["crop_pct"]
    0.875
    """

    input_size: tuple[int, int, int]
    interpolation: str
    crop_pct: float
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    crop_mode: str = "center"

    def __post_init__(self) -> None:
        channels, height, width = self.input_size
        if channels != 3 or min(height, width) < 1:
            raise InputError(f"input_size is {self.input_size}, but must be 3, height and width")
        if not 0 < self.crop_pct <= 1:
            raise InputError(f"crop_pct is {self.crop_pct}, but must be above 0 and up to 1")
        if self.crop_mode not in ("center", "squash"):
            raise InputError(f"crop_mode is {self.crop_mode!r}, but must be center or squash")
        if self.crop_mode == "center" and height != width:
            raise InputError("the crop mode center needs an equal height and width")

    @classmethod
    def of(cls, transform: Any) -> Optional["Preprocess"]:
        """What a transform does, if it is a `Preprocess` or belongs to weights of torchvision."""
        if isinstance(transform, cls):
            return transform
        try:
            (crop,), (resize,) = transform.crop_size, transform.resize_size
            mean, std = tuple(transform.mean), tuple(transform.std)
            return cls(
                (3, crop, crop), transform.interpolation.value, _share(crop, resize), mean, std
            )
        except (AttributeError, TypeError, ValueError):
            return None

    @classmethod
    def of_timm(cls, config: Mapping[str, Any]) -> Optional["Preprocess"]:
        """What a data configuration of timm does, if it is one of the two modes."""
        names = ("input_size", "interpolation", "crop_pct", "mean", "std", "crop_mode")
        given: dict[str, Any] = {name: config[name] for name in names if name in config}
        for name in ("input_size", "mean", "std"):
            given[name] = tuple(given.get(name, ()))
        try:
            return cls(**given)
        except (TypeError, ValueError):
            return None

    def config(self) -> dict[str, Any]:
        """The same as JSON, with the names of timm's `pretrained_cfg`."""
        config: dict[str, Any] = {
            "input_size": list(self.input_size),
            "interpolation": self.interpolation,
            "crop_pct": self.crop_pct,
            "mean": list(self.mean),
            "std": list(self.std),
        }
        if self.crop_mode != "center":
            config["crop_mode"] = self.crop_mode
        return config

    def __call__(self, image: Any) -> Any:
        """The tensor (3, height, width) of an image of Pillow."""
        torch, pillow = needed("torch"), needed("PIL.Image")
        _, height, width = self.input_size
        resized = (math.floor(width / self.crop_pct), math.floor(height / self.crop_pct))
        if self.crop_mode == "center":
            # torchvision's rule for the longer side.
            short, long = sorted(image.size)
            longer = int(resized[0] * long / short)
            resized = (resized[0], longer) if image.width <= image.height else (longer, resized[0])
        image = image.convert("RGB").resize(resized, pillow.Resampling[self.interpolation.upper()])
        # Half pixels are rounded to the even side, as torchvision does.
        left, top = round((resized[0] - width) / 2), round((resized[1] - height) / 2)
        pixels = np.asarray(image.crop((left, top, left + width, top + height)), np.float32)
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)
        pixels = (pixels / np.float32(255) - mean) / std
        return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))


def _share(size: int, resized: int) -> float:
    """The shortest number that leads from a size to the resized side: floor(size / share)."""
    shares = (round(size / resized, digits) for digits in range(1, 17))
    return next(share for share in shares if share and math.floor(size / share) == resized)
