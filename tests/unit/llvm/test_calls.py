"""Calls of compiled functions from Python: forms of arguments, memory, threads."""

import sys
import threading
import tracemalloc

import numpy as np
import pytest

from tinynet.kernels.llvm import store
from tinynet.kernels.llvm.kernel import Kernel

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: None)


def total(x, factor):
    found = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found += x[i, j] * factor
    return found


X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "x",
    [X, X.astype("f4"), X.astype("i4"), X.astype("u1"), X > 3, X.T, X[::2, ::-1], X[:0]],
    ids=["float64", "float32", "int32", "uint8", "bool", "transposed", "strided", "empty"],
)
def test_a_kernel_takes_arrays_of_all_forms(x):
    kernel = Kernel(total, "a test")
    for _ in range(2):
        assert kernel(x, 0.5) == total(x, 0.5)
    assert kernel(X, 0.5) == total(X, 0.5)


def last_of(x, factor):
    return x.shape[0] * factor / 2


@pytest.mark.parametrize("first", range(1, 4))
def test_a_kernel_takes_arrays_of_all_ranks(first):
    """An array without dimensions has no memory for their lengths."""
    arrays = [np.ones((2,) * n) for n in range(4)]
    kernel = Kernel(last_of, "a test")
    kernel(arrays[first], 1.0)
    for _ in range(3):
        for x in arrays[1:]:
            assert kernel(x, 2.0) == 2.0
    with pytest.raises((TypeError, IndexError)):
        kernel(arrays[0], 2.0)


def test_both_integers_of_c_that_have_64_bits():
    kernel = Kernel(total, "a test")
    for dtype in (np.long, np.longlong, np.int64, np.intc):
        assert kernel(X.astype(dtype), 0.5) == 33


@pytest.mark.parametrize("factor", [2, 0.25, np.float32(0.5), np.int64(3), True])
def test_a_kernel_takes_numbers(factor):
    assert Kernel(total, "a test")(X, factor) == total(X, factor)


@pytest.mark.parametrize(
    "x", [X.astype(">f8"), X.astype("f2"), X.astype(complex), X.tolist(), None, "text"]
)
def test_other_arguments_are_refused(x):
    kernel = Kernel(total, "a test")
    assert kernel(X, 2.0) == 132
    with pytest.raises(TypeError, match="compiled functions take no"):
        kernel(x, 2.0)


def test_what_is_no_number_is_refused():
    kernel = Kernel(total, "a test")
    kernel(X, 2.0)
    with pytest.raises(TypeError, match="compiled functions take no str"):
        kernel(X, "text")


def test_numbers_of_other_kinds():
    kernel = Kernel(total, "a test")
    assert kernel(X, 2) == 132
    assert kernel(X, 0.5) == kernel(X, np.float32(0.5)) == 33


def test_too_many_arguments():
    kernel = Kernel(total, "a test")
    kernel(X, 2.0)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        kernel(X, 2.0, 3)


def nothing(x):
    x[0, 0] += 1


def test_counts_of_references_stay():
    kernel, x = Kernel(nothing, "a test"), X.copy()
    kernel(x)
    things = None, NotImplemented, x
    before = np.array([*map(sys.getrefcount, things)])
    for _ in range(1000):
        assert kernel(x) is None
    after = np.array([*map(sys.getrefcount, things)])
    assert (abs(after - before) < 100).all() and x[0, 0] == 1001


def chain(x):
    a = np.zeros(x.size)
    for i in range(x.size):
        a[i] = x[i]
    b = np.zeros(x.size)
    for i in range(x.size):
        b[i] = a[i] + 1
    c = np.zeros(x.size)
    for i in range(x.size):
        c[i] = b[i] + 1
    return c[0] + c[x.size - 1]


def test_arrays_are_freed_after_their_last_use():
    kernel, x = Kernel(chain, "a test"), np.ones(1 << 16)
    kernel(x)
    tracemalloc.start()
    try:
        assert kernel(x) == 6
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2 * x.nbytes <= peak < 2.5 * x.nbytes and now < 10_000


def huge(n):
    x = np.empty(n)
    x[0] = 1.0
    return x[0]


def test_memory_that_is_not_there_is_an_error():
    kernel = Kernel(huge, "a test")
    assert kernel(10) == 1
    with pytest.raises(MemoryError):
        kernel(1 << 58)
    assert kernel(10) == 1


def spin(x, count):
    for k in range(count):
        x[0] = x[0] * 0.5 + k


def test_other_threads_go_on_beside_it():
    kernel, x = Kernel(spin, "a test"), np.zeros(1)
    kernel(x, 1)
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(kernel(x, 300_000_000)))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # only a thread that gives its lock away lets another run
    try:
        thread.start()
        began = bool(done)
    finally:
        sys.setswitchinterval(interval)
    assert not began
    thread.join()
    assert done == [None]
