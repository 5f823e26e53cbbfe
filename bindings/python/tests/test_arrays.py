"""Arrays, tensors, columns, lists: what is accepted, and what is copied."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import simulated

import abstain
from abstain import _arrays

LOGITS, LABELS = simulated(300, 7)
LOSS = (LOGITS.argmax(axis=1) != LABELS).astype(float)
CONFIDENCE = abstain.score("MSP", LOGITS)


def test_contiguous_floats_are_not_copied() -> None:
    for dtype in [np.float16, np.float32, np.float64]:
        logits = LOGITS.astype(dtype)
        assert np.shares_memory(_arrays.rows(logits), logits)
        assert _arrays.rows(logits).dtype == dtype
        part = logits[10:50]
        assert np.shares_memory(_arrays.rows(part), logits)
    assert np.shares_memory(_arrays.vector(CONFIDENCE, "confidence"), CONFIDENCE)
    labels = LABELS.astype(np.int64)
    assert np.shares_memory(_arrays.labels(labels), labels)


def test_large_calls_allocate_no_copy() -> None:
    pytest.importorskip("resource")
    # In another process, because the system reports only the maximum since the start.
    code = """
import resource, numpy as np, abstain
logits = np.zeros((100_000, 250), dtype=np.float32)
logits[:, 0] = 1
abstain.score("MSP", logits[:10])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
abstain.score("MSP", logits)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Kilobytes on Linux: the logits are 100 MB, the confidences 1.
    assert int(done.stdout) < 30_000


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "float128", "int32"])
def test_every_type_of_logits_is_accepted(dtype: str) -> None:
    try:
        logits = LOGITS.astype(dtype)
    except TypeError:
        pytest.skip(f"there is no {dtype} here")
    expected = abstain.score("MSP", logits.astype(np.float64))
    np.testing.assert_array_equal(abstain.score("MSP", logits), expected)


@pytest.mark.parametrize("order", ["strided", "fortran", "transposed", "reversed", "readonly"])
def test_every_layout_is_accepted(order: str) -> None:
    layouts = {
        "strided": np.repeat(LOGITS, 2, axis=1)[:, ::2],
        "fortran": np.asfortranarray(LOGITS),
        "transposed": np.ascontiguousarray(LOGITS.T).T,
        "reversed": LOGITS[::-1][::-1],
        "readonly": LOGITS.copy(),
    }
    layouts["readonly"].setflags(write=False)
    np.testing.assert_array_equal(abstain.score("MSP", layouts[order]), CONFIDENCE)


def test_lists_are_accepted() -> None:
    np.testing.assert_array_equal(abstain.score("MSP", LOGITS.tolist()), CONFIDENCE)
    assert abstain.aurc(CONFIDENCE.tolist(), LOSS.tolist()) == abstain.aurc(CONFIDENCE, LOSS)


def test_losses_of_every_type_are_accepted() -> None:
    expected = abstain.aurc(CONFIDENCE, LOSS)
    for dtype in [bool, np.int8, np.uint64, np.float32]:
        assert abstain.aurc(CONFIDENCE, LOSS.astype(dtype)) == expected


def test_labels_of_every_type_are_accepted() -> None:
    for dtype in [np.int8, np.uint8, np.int32, np.uint64, np.float32, object]:
        np.testing.assert_array_equal(abstain.losses(LOGITS, LABELS.astype(dtype)), LOSS)


def test_memory_maps_are_not_copied(tmp_path: pytest.TempPathFactory) -> None:
    np.save(f"{tmp_path}/logits.npy", LOGITS)
    mapped = np.load(f"{tmp_path}/logits.npy", mmap_mode="r")
    assert np.shares_memory(_arrays.rows(mapped), mapped)
    np.testing.assert_array_equal(abstain.score("MSP", mapped), CONFIDENCE)


def test_frames_and_columns_of_pandas_are_accepted() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LOGITS)
    np.testing.assert_array_equal(abstain.score("MSP", frame), CONFIDENCE)
    table = pandas.DataFrame({"confidence": CONFIDENCE, "loss": LOSS})
    table = table.sample(frac=1, random_state=0)
    assert abstain.aurc(table.confidence, table.loss) == abstain.aurc(CONFIDENCE, LOSS)
    nullable = pandas.Series([0.5, None, 0.7], dtype="Float64")
    with pytest.raises(abstain.InputError, match="row 1"):
        abstain.aurc(nullable, [0, 1, 0])


def test_frames_and_columns_of_polars_are_accepted() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(LOGITS)
    np.testing.assert_array_equal(abstain.score("MSP", frame), CONFIDENCE)
    column = polars.Series(CONFIDENCE)
    assert abstain.aurc(column, polars.Series(LOSS)) == abstain.aurc(CONFIDENCE, LOSS)
    with pytest.raises(abstain.InputError, match="row 1"):
        abstain.aurc(polars.Series([0.5, None, 0.7]), [0, 1, 0])


def test_tensors_are_accepted() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(LOGITS, requires_grad=True)
    assert np.shares_memory(_arrays.rows(tensor), tensor.detach().numpy())
    np.testing.assert_array_equal(abstain.score("MSP", tensor), CONFIDENCE)
    short = tensor.to(torch.bfloat16)
    expected = abstain.score("MSP", short.detach().float().numpy())
    np.testing.assert_array_equal(abstain.score("MSP", short), expected)
    assert abstain.aurc(torch.tensor(CONFIDENCE), torch.tensor(LOSS)) == abstain.aurc(
        CONFIDENCE, LOSS
    )


def test_masked_values_are_refused() -> None:
    masked = np.ma.masked_array(LOGITS, mask=False)
    np.testing.assert_array_equal(abstain.score("MSP", masked), CONFIDENCE)
    masked[3, 2] = np.ma.masked
    with pytest.raises(abstain.InputError, match="row 3, column 2: the value is masked"):
        abstain.score("MSP", masked)


def test_other_threads_run_during_a_call() -> None:
    rng = np.random.default_rng(0)
    confidence, loss = rng.normal(size=200_000), rng.random(200_000) < 0.1
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    # One call that takes at least some tenths of a second.
    before = ticks
    abstain.interval("AURC", confidence, loss, replicates=300)
    seen = ticks - before
    done.set()
    thread.join()
    assert seen > 20


def test_unaligned_arrays_are_accepted() -> None:
    raw = b"x" + LOGITS.tobytes()
    shifted = np.frombuffer(raw, dtype=np.float64, offset=1).reshape(LOGITS.shape)
    assert not shifted.flags.aligned
    np.testing.assert_array_equal(abstain.score("MSP", shifted), CONFIDENCE)
    packed = np.zeros(300, dtype=np.dtype([("x", "u1"), ("loss", "f8")]))
    packed["loss"] = LOSS
    assert abstain.aurc(CONFIDENCE, packed["loss"]) == abstain.aurc(CONFIDENCE, LOSS)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_calls_in_other_processes_return_the_same(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    logits, labels = simulated(20_000, 50)
    here = work((logits, labels))
    with multiprocessing.get_context(method).Pool(2) as pool:
        there = pool.map_async(work, [(logits, labels)] * 3).get(timeout=120)
    for confidence in there:
        np.testing.assert_array_equal(confidence, here)


def work(rows: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    result = abstain.tune(*rows, methods="MaxLogit-pNorm", fallback="none", replicates=20)
    return result.estimator.confidence(rows[0])
