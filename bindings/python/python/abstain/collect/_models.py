"""Which models to run: those of torchvision and timm by name, and those of a function."""

import difflib
import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Optional, Union

from ..errors import InputError
from ._needs import needed
from ._preprocess import Preprocess

#: What names may consist of, as in a zoo's manifest.
NAME = re.compile(r"[A-Za-z0-9_+@-][A-Za-z0-9_.+@-]*")


@dataclass(frozen=True)
class Classifier:
    """A model to run, by the function that loads it.

    Parameters
    ----------
    name : str
        Its name in the zoo: letters, digits and `- _ . + @`.
    load : callable
        Returns the model and its transform, which turns an image of Pillow into a tensor. With
        `Preprocess` as the transform, an exported ONNX file describes it.
    source : str, optional
        What it is, for the record beside its logits (default: the name of `load`). Finished logits
        of another source are not kept under the same name.

    Examples
    --------
    >>> from abstain.collect import Classifier
    >>> Classifier.named("torchvision:resnet50").name
    'resnet50'
    >>> Classifier.named("mine=timm:vit_base_patch16_224.sam_in1k").name
    'mine'
    """

    name: str
    load: Callable[[], tuple[Any, Any]]
    source: str = ""
    _unknown: Callable[[], Optional[str]] = field(default=lambda: None, repr=False)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InputError(f"the name {self.name!r} must be letters, digits and - _ . + @")
        if not self.source:
            source = f"{self.load.__module__}:{self.load.__qualname__}"
            object.__setattr__(self, "source", source)

    @classmethod
    def named(cls, text: str) -> "Classifier":
        """The model of a text `SOURCE:MODEL`, or `NAME=SOURCE:MODEL` under another name.

        `torchvision:resnet50` has its DEFAULT weights, `torchvision:resnet50@IMAGENET1K_V1` those
        named; `timm:NAME` is a pretrained model of timm; `module:function` and `file.py:function`
        call a function without arguments, which returns the model and its transform.
        """
        name, given, source = text.rpartition("=")
        origin, separator, identifier = source.rpartition(":")
        if not (separator and origin and identifier) or (given and not name):
            raise InputError(
                f"{text!r} is not a model: torchvision:NAME, timm:NAME or module:function"
            )
        name = name or identifier
        if origin == "torchvision":
            return cls(
                name, lambda: _torchvision(identifier), source, lambda: _not_torchvision(identifier)
            )
        if origin == "timm":
            return cls(name, lambda: _timm(identifier), source, lambda: _not_timm(identifier))
        return cls(name, lambda: _factory(origin, identifier)(), source)

    def unknown(self) -> Optional[str]:
        """Why its source does not have it, where that is known before it is loaded."""
        return self._unknown()


def paper_models() -> list[str]:
    """The 84 models of the paper, as texts for `Classifier.named`.

    All 80 classification models of torchvision 0.14, and four of timm.

    Examples
    --------
    >>> from abstain.collect import paper_models
    >>> len(paper_models())
    84
    """
    text = resources.files(__package__).joinpath("paper_models.json").read_text()
    return [f"{source}:{name}" for source, names in json.loads(text).items() for name in names]


def classifiers(models: Any) -> list[Classifier]:
    """The models to run, each name once."""
    given: list[Union[str, Classifier]] = (
        [models] if isinstance(models, (str, Classifier)) else [*models]
    )
    found = [Classifier.named(each) if isinstance(each, str) else each for each in given]
    if not found:
        raise InputError("no model is given")
    names: dict[str, Classifier] = {}
    for each in found:
        # Names become names of files, which may not tell cases apart.
        other = names.setdefault(each.name.lower(), each)
        if other is not each:
            raise InputError(
                f"{other.source} and {each.source} have the same name: call one NAME={each.source}"
            )
    return found


def _torchvision(identifier: str) -> tuple[Any, Any]:
    models = needed("torchvision.models")
    name, _, version = identifier.partition("@")
    known = models.get_model_weights(name)
    weights = known[version] if version else known.DEFAULT
    return models.get_model(name, weights=weights), weights.transforms()


def _not_torchvision(identifier: str) -> Optional[str]:
    models = needed("torchvision.models")
    name, _, version = identifier.partition("@")
    known = models.list_models(module=models)
    if name not in known:
        return _no_such("torchvision", name, known)
    weights = [each.name for each in models.get_model_weights(name)]
    if version and version not in weights:
        return f"torchvision's {name} has no weights {version}; there are {', '.join(weights)}"
    return None


def _timm(identifier: str) -> tuple[Any, Any]:
    timm = needed("timm")
    model = timm.create_model(identifier, pretrained=True)
    return model, TimmTransform(timm.data.resolve_data_config({}, model=model))


def _not_timm(identifier: str) -> Optional[str]:
    timm = needed("timm")
    known = timm.list_pretrained()
    # Without a tag it is the architecture with its first weights.
    if identifier in known or timm.is_model_pretrained(identifier):
        return None
    return _no_such("timm", identifier, known)


def _no_such(source: str, name: str, known: list[str]) -> str:
    near = [each for each in known if each.startswith(name)]
    near = near or difflib.get_close_matches(name, known, n=1)
    return f"{source} has no pretrained model {name}" + (f"; there is {near[0]}" if near else "")


class TimmTransform:
    """timm's transform for evaluation, and what it does as data."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.transform = needed("timm").data.create_transform(**config, is_training=False)
        self.preprocess = Preprocess.of_timm(config)

    def __call__(self, image: Any) -> Any:
        return self.transform(image)


def preprocess_of(transform: Any) -> Optional[Preprocess]:
    """What a transform does, if that is known."""
    if isinstance(transform, TimmTransform):
        return transform.preprocess
    return Preprocess.of(transform)


def _factory(origin: str, name: str) -> Callable[[], tuple[Any, Any]]:
    """A function of a module or of a file."""
    if origin.endswith(".py"):
        path = Path(origin)
        if not path.is_file():
            raise InputError(f"there is no file {origin}")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Processes that read images look it up by name.
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(origin)
    function: Callable[[], tuple[Any, Any]] = getattr(module, name)
    return function
