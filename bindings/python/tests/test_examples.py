"""The examples of the documentation are run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import abstain

MODULES = ["abstain", *(own.name for own in pkgutil.walk_packages(abstain.__path__, "abstain."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    for optional in ("sklearn", "torch"):
        if name.startswith(f"abstain.{optional}"):
            pytest.importorskip(optional)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert found.failed == 0


def test_everything_public_has_an_example_or_is_plain() -> None:
    plain = {"Answers", "Reliability", "RiskCoverageCurve", "InfeasibleError", "NoThresholdWarning",
             "Evaluation", "errors", "__version__"}
    for name in set(abstain.__all__) - plain:
        assert ">>> " in (getattr(abstain, name).__doc__ or ""), name
