"""The examples in docstrings and documents are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from conftest import PROJECT, simulated

import abstain

MODULES = [
    "abstain",
    *(module.name for module in pkgutil.walk_packages(abstain.__path__, "abstain.")),
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_pass(name: str) -> None:
    for optional in ("sklearn", "torch"):
        if name.startswith(f"abstain.{optional}"):
            pytest.importorskip(optional)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert found.failed == 0


def test_every_public_name_has_an_example() -> None:
    without = {
        "Answers", "Reliability", "RiskCoverageCurve", "InfeasibleError", "NoThresholdWarning",
        "AuditSample", "Evaluation", "LabelsNeeded", "errors", "__version__",
    }  # fmt: skip
    for name in set(abstain.__all__) - without:
        assert ">>> " in (getattr(abstain, name).__doc__ or ""), name


DOCUMENTS = [PROJECT / "README.md", PROJECT / "bindings" / "python" / "README.md"]


def blocks() -> list[tuple[str, str]]:
    """The blocks of Python in the documents."""
    found = []
    for path in DOCUMENTS:
        name = path.relative_to(PROJECT).parent.name or "root"
        codes = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
        found.extend((f"{name}-{number}", code) for number, code in enumerate(codes))
    return found


@pytest.mark.parametrize("code", [code for _, code in blocks()], ids=[name for name, _ in blocks()])
def test_document_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logits, labels = simulated(6000, 5)
    given = {"abstain": abstain, "logits": logits, "labels": labels, "new_logits": logits[:10]}
    if code.startswith("estimator = result.estimator"):
        given["result"] = abstain.tune(logits, labels, methods="MSP", target_accuracy=0.95)
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
        rows = [(torch.tensor(row), torch.tensor(label)) for row, label in zip(logits, labels)]
        given["loader"] = torch.utils.data.DataLoader(rows, batch_size=100)
    exec(compile(code, "<document>", "exec"), given)
    if "prediction" in given:
        assert set(given["prediction"].tolist()) <= {-1, 0, 1, 2, 3, 4}


def test_every_document_has_examples() -> None:
    assert {name.split("-")[0] for name, _ in blocks()} == {"root", "python"}
