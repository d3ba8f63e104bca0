"""Threads that share the parts of kernels."""

import os
import select
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tinynet as tn
from tinynet import numba_kernels
from tinynet.numba_kernels import activations, compiler, sharing
from tinynet.numba_kernels import helper_threads as helpers
from tinynet.numba_kernels.shared import declared, shared


@shared("x", parts="pieces")
def add_numbers(x, low, slow, pieces):
    """Add the place of each number, and what stands there at first, many times over."""
    for _ in range(slow):
        for i in range(x.size):
            x[i] += 1


@shared("sizes", parts="sizes.shape[0]")
def fill_memory(sizes, out):
    """Take so much memory."""
    for size in sizes:
        out[0] = np.zeros(size, np.float32).sum()


@pytest.fixture(scope="module")
def adding():
    tn.backends.numba.enabled = True
    yield compiler._compile_shared(declared[add_numbers])
    tn.backends.numba.enabled = False


def of_helpers():
    return [t for t in threading.enumerate() if t in helpers._crew.threads]


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("parts", [1, 2, 7, 64])
def test_each_part_is_done_once(adding, threads, number, parts):
    threads(number)
    for slow in (1, 1, 3, 1000):
        x = np.zeros(1000)
        adding(x, 0, slow, parts)
        np.testing.assert_array_equal(x, slow)


def test_helpers_that_slept_wake_up(adding, threads):
    threads(2)
    for _ in range(5):
        time.sleep(3 * helpers.PATIENCE)
        x = np.zeros(64)
        adding(x, 0, 10**5, 64)
        np.testing.assert_array_equal(x, 10**5)


def test_helpers_are_woken_up_no_more_often_than_they_sleep(adding, threads):
    """Else they would look for work for long after there is none."""
    threads(3)
    for slow in (1, 10**4, 10**6, 1, 10**6, 10**4):
        adding(np.zeros(64), 0, slow, 2)  # helpers without a part lose patience meanwhile
    asleep = sharing.board[sharing.ASLEEP : sharing.ASLEEP + 2]
    until(lambda: asleep.all())
    time.sleep(3 * helpers.PATIENCE)
    assert asleep.all() and not select.select([p for p, _ in helpers._crew.pipes], [], [], 0)[0]


def until(true):
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.001)


def test_two_threads_that_share_work_at_once(adding, threads):
    threads(3)
    arrays = [np.zeros(1000) for _ in range(4)]

    def work(x):
        for _ in range(200):
            adding(x, 0, 10, 8)

    workers = [threading.Thread(target=work, args=(x,)) for x in arrays]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    np.testing.assert_array_equal(arrays, np.full((4, 1000), 2000.0))
    assert not sharing.board[[sharing.OPEN, sharing.INSIDE, sharing.BUSY]].any()


@pytest.mark.parametrize("number", [1, 3])
def test_a_part_that_finds_no_memory(adding, threads, number):
    threads(number)
    filling = compiler._compile_shared(declared[fill_memory])
    sizes, out = np.array([10, 2**60, 10, 10]), np.zeros(1)
    with pytest.raises(MemoryError):
        filling(sizes, out)
    sizes[1] = 10
    filling(sizes, out)
    x = np.zeros(100)
    adding(x, 0, 1, 8)
    np.testing.assert_array_equal(x, 1)


def test_helpers_follow_the_number_of_threads_and_the_switch(adding, threads):
    for number in (3, 1, 2):
        threads(number)
        assert len(of_helpers()) == number - 1
    tn.backends.numba.enabled = False
    try:
        assert not of_helpers()
        threads(3)
        assert not of_helpers()
    finally:
        tn.backends.numba.enabled = True
    assert len(of_helpers()) == 2


def test_shared_kernels_as_plain_python():
    x, out = np.array([-1, 2], np.float32), np.zeros(2, np.float32)
    compiler.plain(activations.relu)(x, out)
    np.testing.assert_array_equal(out, [0, 2])
    x = np.zeros(10)
    declared[add_numbers].plain()(x, 0, 2, 3)
    np.testing.assert_array_equal(x, 2)
    with pytest.raises(RuntimeError, match="only in compiled code"):
        sharing.call(0, 0, 0, 0)


PROGRAM = """
import os, sys, time
import numpy as np
import tinynet as tn

tn.set_num_threads(3)
tn.backends.numba.enabled = True
x = tn.ones(400, 400).numpy()
large = tn.from_numpy(np.ones(2**20, np.float32))
print(tn.relu(large).sum().item(), flush=True)
{}
"""
ENDS = {
    "at once": "",
    "asleep": "time.sleep(0.01)",
    "in a fork": """
pid = os.fork()
print(tn.relu(large).sum().item(), flush=True)
if not pid:
    tn.set_num_threads(2)
    print(tn.relu(large).sum().item(), flush=True)
    sys.exit()
sys.exit(os.waitpid(pid, 0)[1])
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_processes_end_well(end):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM.format(ENDS[end])],
        capture_output=True, text=True, timeout=120, env=os.environ,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("1048576.0") == (4 if end == "in a fork" else 1)


def test_no_kernel_is_shared_where_threads_are_missing(adding, threads, monkeypatch):
    threads(1)  # ends those that ran from the start, where there are several threads
    monkeypatch.setattr(helpers, "_system", lambda: None)
    threads(2)
    assert not of_helpers()
    assert numba_kernels.on
    x = np.zeros(100)
    adding(x, 0, 1, 8)
    np.testing.assert_array_equal(x, 1)


def test_no_kernel_calls_a_shared_one(adding):
    """A cached kernel that did would not know where the parts are."""
    kernels = {id(made) for made in compiler._shared}
    for module in compiler.MODULES:
        for made in vars(module).values():
            code = getattr(getattr(made, "py_func", None), "__code__", None)
            used = code.co_names if code and made.py_func.__module__ == module.__name__ else ()
            assert not {id(vars(module).get(name)) for name in used} & kernels, made
    for kernel in compiler._shared.values():
        space = kernel.whole.__globals__
        assert not {id(space.get(name)) for name in kernel.whole.__code__.co_names} & kernels
