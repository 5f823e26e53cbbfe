"""Agreement with independent implementations, on real and on simulated logits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import DEMO, ELSEWHERE, read, simulated

import abstain

Set = tuple[np.ndarray, np.ndarray, str]


def oracles() -> list[tuple[str, str]]:
    """Each set and method for which there are figures of an independent oracle in float64."""
    both = {}
    for folder in (ELSEWHERE, DEMO):
        if (folder / "expected.json").exists():
            both.update(json.loads((folder / "expected.json").read_text()))
    return [(name, method) for name, figures in both.items() for method in figures["methods"]]


@pytest.mark.parametrize("name, method", oracles())
def test_metrics_equal_those_of_the_oracle(name: str, method: str) -> None:
    folder = DEMO if (DEMO / name).exists() else ELSEWHERE
    expected = json.loads((folder / "expected.json").read_text())[name]
    rows, labels, kind = read(folder / name)
    # The oracle floors probabilities at the smallest float32 that is not subnormal.
    floor = 1.1754943508222875e-38 if kind == "probabilities" else None
    confidence = abstain.score(method, rows, input=kind, floor=floor)
    loss = abstain.losses(rows, labels, input=kind, floor=floor)
    assert abstain.accuracy(confidence, loss) == pytest.approx(expected["accuracy"], abs=1e-12)
    if rows.shape[1] == 2 and method.startswith("MaxLogit-pNorm") and method[-3:] != "=0)":
        # These rows tie; the oracle ranked them by rounding errors.
        assert len(np.unique(confidence)) == 1
        return
    if (name, method) == ("cifar10-resnet110-test", "MaxLogit-pNorm(p=1)"):
        pytest.skip("rows with one class above the mean tie, but not for the oracle")
    for metric, value in expected["methods"][method].items():
        found = abstain.metric(metric, confidence, loss)
        assert found == pytest.approx(value, abs=1e-6), metric


@pytest.fixture
def msp(real: Set) -> tuple[np.ndarray, np.ndarray]:
    """MSP on its rank scale, and the losses, of each real set."""
    rows, labels, kind = real
    return abstain.score("MSP", rows, input=kind), abstain.losses(rows, labels, input=kind)


def naive_aurc(confidence: np.ndarray, loss: np.ndarray) -> float:
    """The mean over k of the mean loss of the k surest rows, in expectation over orders of ties."""
    order = np.argsort(-confidence, kind="stable")
    confidence, loss = confidence[order], loss[order].astype(float)
    expected = loss.copy()
    start = 0
    for end in [*(np.flatnonzero(np.diff(confidence)) + 1), len(loss)]:
        expected[start:end] = loss[start:end].mean()
        start = end
    return float((np.cumsum(expected) / np.arange(1, len(loss) + 1)).mean())


def test_aurc_equals_that_of_a_loop(msp: tuple[np.ndarray, np.ndarray]) -> None:
    assert abstain.aurc(*msp) == pytest.approx(naive_aurc(*msp), abs=1e-12)


def test_aurc_with_ties_and_graded_losses_equals_that_of_a_loop() -> None:
    rng = np.random.default_rng(1)
    for rows in [1, 2, 17, 1000]:
        confidence = rng.integers(0, max(rows // 4, 1), rows).astype(float)
        for loss in [rng.random(rows) < 0.3, rng.exponential(size=rows)]:
            expected = naive_aurc(confidence, loss)
            assert abstain.aurc(confidence, loss) == pytest.approx(expected, abs=1e-12)


def test_auroc_equals_that_of_scikit_learn(msp: tuple[np.ndarray, np.ndarray]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    confidence, loss = msp
    assert abstain.auroc(confidence, loss) == pytest.approx(
        metrics.roc_auc_score(loss == 0, confidence), abs=1e-12
    )
    coarse = np.round(confidence)
    assert abstain.auroc(coarse, loss) == pytest.approx(
        metrics.roc_auc_score(loss == 0, coarse), abs=1e-12
    )


def test_nll_equals_that_of_scikit_learn(real: Set) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    special = pytest.importorskip("scipy.special")
    rows, labels, kind = real
    if kind == "probabilities":
        pytest.skip("where probabilities are zero, the floor decides")
    probabilities = special.softmax(rows.astype(float) / 1.7, axis=1)
    expected = metrics.log_loss(labels, probabilities, labels=range(rows.shape[1]))
    assert abstain.nll(rows, labels, temperature=1.7) == pytest.approx(expected, rel=1e-6)


def test_temperature_equals_the_optimum_of_scipy(real: Set) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    special = pytest.importorskip("scipy.special")
    rows, labels, kind = real
    rows, labels = rows[::2], labels[::2]
    if kind == "probabilities":
        rows = np.log(np.maximum(rows.astype(float), rows[rows > 0].min()))
    rows = rows.astype(float)

    def nll(log_temperature: float) -> float:
        scaled = rows / np.exp(log_temperature)
        of_label = scaled[np.arange(len(labels)), labels]
        return float((special.logsumexp(scaled, axis=1) - of_label).mean())

    best = optimize.minimize_scalar(nll, bounds=(-4, 4), method="bounded", options={"xatol": 1e-9})
    # With separate test rows, all of `rows` are tuning rows.
    result = abstain.tune(
        rows, labels, test=(rows[:50], labels[:50]), methods="MSP-TS-NLL", fallback="none",
        replicates=2,
    )
    temperature = result.estimator.to_dict()["estimator"]["T"]
    assert temperature == pytest.approx(np.exp(best.x), rel=1e-4)
    assert abstain.nll(rows, labels, temperature=temperature) <= best.fun + 1e-12


def test_ece_equals_that_of_torchmetrics(real: Set) -> None:
    torch = pytest.importorskip("torch")
    classification = pytest.importorskip("torchmetrics.functional.classification")
    rows, labels, kind = real
    probability = abstain.score("MSP", rows, values=True, input=kind)
    loss = abstain.losses(rows, labels, input=kind)
    expected = classification.binary_calibration_error(
        torch.tensor(probability), torch.tensor(loss == 0).long(), n_bins=15, norm="l1"
    )
    assert abstain.ece(probability, loss) == pytest.approx(float(expected), abs=2e-6)


def test_ece_equals_that_of_a_loop(msp: tuple[np.ndarray, np.ndarray]) -> None:
    probability, loss = 1 / (1 + np.exp(-msp[0])), msp[1]
    edges = np.linspace(0, 1, 16)
    ece = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        bin = (probability > low) & (probability <= high)
        if bin.any():
            ece += bin.mean() * abs((1 - loss[bin]).mean() - probability[bin].mean())
    assert abstain.ece(probability, loss) == pytest.approx(ece, abs=1e-9)


def test_scores_equal_those_of_numpy() -> None:
    logits, _ = simulated(500, 20)
    shifted = logits - logits.max(axis=1, keepdims=True)
    probability = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    top = np.sort(probability, axis=1)
    centred = logits - logits.mean(axis=1, keepdims=True)
    expected = {
        "MSP": probability.max(axis=1),
        "SoftmaxMargin": top[:, -1] - top[:, -2],
        "MaxLogit": logits.max(axis=1),
        "LogitsMargin": np.sort(logits, axis=1)[:, -1] - np.sort(logits, axis=1)[:, -2],
        "NegativeEntropy": (probability * np.log(probability)).sum(axis=1),
        "NegativeGini": (probability**2).sum(axis=1) - 1,
    }
    for name, values in expected.items():
        np.testing.assert_allclose(abstain.score(name, logits, values=True), values, rtol=1e-9)
    for p in [1, 2, 5, np.inf]:
        values = centred.max(axis=1) / np.linalg.norm(centred, p, axis=1)
        np.testing.assert_allclose(
            abstain.score("MaxLogit-pNorm", logits, p=p, values=True), values, rtol=1e-9
        )


def test_intervals_agree_with_a_naive_bootstrap() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.normal(size=2000)
    loss = rng.random(2000) < 1 / (1 + np.exp(confidence + 1))
    found = abstain.interval("AURC", confidence, loss, replicates=1000)
    assert found.estimate == abstain.aurc(confidence, loss)
    draws = [rng.integers(0, 2000, 2000) for _ in range(400)]
    naive = [naive_aurc(confidence[rows], loss[rows]) for rows in draws]
    assert found.standard_error == pytest.approx(np.std(naive), rel=0.15)
    assert found.low == pytest.approx(np.quantile(naive, 0.025), abs=0.3 * found.standard_error)
    assert found.high == pytest.approx(np.quantile(naive, 0.975), abs=0.3 * found.standard_error)
    closed = abstain.interval("AURC", confidence, loss)
    assert (found.replicates, closed.replicates) == (1000, None)
    assert closed.estimate == found.estimate
    assert closed.standard_error == pytest.approx(found.standard_error, rel=0.15)
    # With hundreds of errors both know the same, but for the error that was not seen.
    assert found.low - found.standard_error < closed.low < found.low + 0.3 * found.standard_error
    assert found.high - 0.3 * found.standard_error < closed.high
    assert closed.high < found.high + found.standard_error


def test_curve_equals_that_of_a_loop() -> None:
    rng = np.random.default_rng(4)
    confidence, loss = rng.integers(0, 30, 400).astype(float), rng.random(400) < 0.4
    curve = abstain.risk_coverage_curve(confidence, loss)
    thresholds = np.unique(confidence)[::-1]
    np.testing.assert_array_equal(curve.threshold, thresholds)
    for coverage, risk, threshold in zip(*curve):
        accepted = confidence >= threshold
        assert coverage == accepted.mean()
        assert risk == pytest.approx(loss[accepted].mean(), abs=1e-15)
