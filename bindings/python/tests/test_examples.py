"""The examples of the documentation are run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from conftest import PROJECT, simulated

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


def blocks() -> list[tuple[str, str]]:
    """The Python of the documents for readers, block by block."""
    found = []
    for path in [PROJECT / "README.md", PROJECT / "bindings" / "python" / "README.md"]:
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)):
            found.append((f"{path.parent.name or 'root'}-{number}", code))
    return found


@pytest.mark.parametrize("code", [code for _, code in blocks()], ids=[name for name, _ in blocks()])
def test_documents(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logits, labels = simulated(6000, 5)
    given = {"abstain": abstain, "logits": logits, "labels": labels, "new_logits": logits[:10]}
    if "sklearn" in code:
        datasets = pytest.importorskip("sklearn.datasets")
        given["X"], given["y"] = datasets.load_digits(return_X_y=True)
        given["X_new"] = given["X"][:10]
        given["RandomForestClassifier"] = importlib.import_module(
            "sklearn.ensemble"
        ).RandomForestClassifier
        given["GaussianNB"] = importlib.import_module("sklearn.naive_bayes").GaussianNB
        given["cross_val_score"] = importlib.import_module(
            "sklearn.model_selection"
        ).cross_val_score
    if "torch" in code:
        torch = pytest.importorskip("torch")
        given["model"] = torch.nn.Identity()
        rows = [(torch.tensor(own), torch.tensor(label)) for own, label in zip(logits, labels)]
        given["loader"] = torch.utils.data.DataLoader(rows, batch_size=100)
    exec(compile(code, "<document>", "exec"), given)
    if "prediction" in given:
        assert set(given["prediction"].tolist()) <= {-1, 0, 1, 2, 3, 4}


def test_there_are_documents() -> None:
    assert len(blocks()) == 5
