"""Threads that share the work of a kernel; memory that is kept."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import tinynet as tn
from tinynet import memory, threads


@pytest.fixture
def three():
    before = threads.get_count()
    threads.set_count(3)
    yield
    threads.set_count(before)


def test_every_part_is_done_once(three):
    done = []
    threads.share(done.append, range(100))
    assert sorted(done) == list(range(100))
    threads.share(done.append, [])
    assert len(done) == 100


def test_helpers_work_at_the_same_time(three):
    meeting = threading.Barrier(3, timeout=60)
    names = set()

    def part(_):
        meeting.wait()
        names.add(threading.current_thread().name)

    threads.share(part, range(3))
    assert len(names) > 1  # helpers have one name


def test_slices_cover_a_length():
    assert threads.slices(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert threads.slices(0, 3) == []


def test_the_first_failure_is_raised_and_the_next_work_is_done(three):
    done = []

    def part(number):
        done.append(number)
        if number in (4, 7):
            raise ValueError(number)

    with pytest.raises(ValueError, match="4"):
        threads.share(part, range(10))
    assert sorted(done) == list(range(10))
    threads.share(done.append, range(5))
    assert len(done) == 15


def test_work_of_work_and_of_other_threads_is_done_by_whoever_has_it(three):
    def outer(_):
        inner = []
        threads.share(inner.append, range(4))
        assert inner == [0, 1, 2, 3]

    threads.share(outer, range(6))
    failures = []

    def other():
        try:
            for _ in range(50):
                done = []
                threads.share(done.append, range(7))
                assert sorted(done) == list(range(7))
        except BaseException as error:
            failures.append(error)

    others = [threading.Thread(target=other) for _ in range(4)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in others)


def test_blas_uses_one_thread_meanwhile(three):
    if threads._blas() is None:
        pytest.skip("another BLAS")
    get, _ = threads._blas()
    assert get() == 3
    during = []
    threads.share(lambda _: during.append(get()), range(4))
    assert during == [1] * 4 and get() == 3


def test_floating_point_reports_are_those_of_the_caller(three):
    x = np.zeros(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(divide="ignore", invalid="ignore"):
            threads.share(lambda _: x / x, range(50))


def test_a_forked_process_starts_its_own_threads(three):
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    code = """
import os, threading
from tinynet import threads
threads.set_count(2)
done = []
threads.share(done.append, range(4))
child = os.fork()
if not child:
    assert threading.active_count() == 1
    meeting = threading.Barrier(2, timeout=60)
    threads.share(lambda _: meeting.wait(), range(2))
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_without_threads_the_caller_does_it_all(three, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pool", threads._Pool())
    threads.set_count(3)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    done = []
    threads.share(done.append, range(4))
    assert done == [0, 1, 2, 3] and threads.get_count() == 1


def test_nothing_is_started_by_the_import():
    code = "import threading, tinynet; assert threading.active_count() == 1"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_set_num_threads_is_for_kernels_too():
    before = tn.get_num_threads()
    tn.set_num_threads(2)
    assert threads.get_count() == 2 == tn.get_num_threads()
    tn.set_num_threads(before)


@pytest.mark.parametrize("size", [0, 1, 5, 4099])
def test_aligned_memory(size):
    for made in (memory.aligned(size) for _ in range(20)):
        assert made.shape == (size,) and made.dtype == np.float32 and made.flags.writeable
        assert made.ctypes.data % memory.LINE == 0
        made[:] = 1


def test_the_settings_of_the_environment_are_left_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    assert not memory.keep_freed()
    monkeypatch.delenv("MALLOC_ARENA_MAX")
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert not memory.keep_freed()
