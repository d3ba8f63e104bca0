"""Numbers and sizes that are too large are refused as PyTorch refuses them, never wrapped."""

import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn import functional as F

NAN, INF = math.nan, math.inf
LONG = "value cannot be converted to type int64_t without overflow"
BYTE = "value cannot be converted to type uint8_t without overflow"
UNPACKING, TOO_BIG = "Overflow when unpacking long long", "int too big to convert"


def byte():
    return tn.tensor([[1]], dtype=tn.uint8)


def long():
    return tn.tensor([1])


def mask():
    return tn.tensor([True])


def assign(x, value):
    x[0] = value


@pytest.mark.parametrize(
    "data",
    [
        2**63,
        2**64,
        -(2**63) - 1,
        [2**63],
        [1, 2**70],
        [True, 2**63],
        [-1, 2**63],
        [np.uint64(2**63)],
    ],
)
def test_integers_of_more_than_64_bits(data):
    with pytest.raises(ValueError, match=UNPACKING):
        tn.tensor(data)


@pytest.mark.parametrize(
    "data, dtype",
    [
        (300, tn.uint8), ([300], tn.uint8), (256, tn.uint8), (-300, tn.uint8), (-0.5, tn.uint8),
        (300.0, tn.uint8), (255.5, tn.uint8), ([[1], [200]], tn.int8), (40000, tn.int16),
        (2**31, tn.int32), ([0, -(2**31) - 1], tn.int32), (NAN, tn.int64), (INF, tn.int64),
        ([1.0, NAN], tn.int32), (1e30, tn.int64), ([np.int64(300)], tn.uint8),
    ],
)  # fmt: skip
def test_numbers_that_a_dtype_cannot_hold(data, dtype):
    text = f"value cannot be converted to type {dtype.name} without overflow"
    with pytest.raises(RuntimeError, match=text):
        tn.tensor(data, dtype=dtype)


def test_numbers_that_a_dtype_can_hold():
    assert tn.tensor([255, -1, -255], dtype=tn.uint8).tolist() == [255, 255, 1]
    assert tn.tensor([2**63 - 1, -(2**63)]).tolist() == [2**63 - 1, -(2**63)]
    assert tn.tensor([1.9, -1.9], dtype=tn.int64).tolist() == [1, -1]
    assert tn.tensor([2**70, 2], dtype=tn.float32).tolist() == [2.0**70, 2]
    assert tn.tensor([1.5, 2**70]).tolist() == [1.5, 2.0**70]
    assert tn.tensor([NAN, 0], dtype=tn.bool).tolist() == [True, False]
    assert tn.tensor(np.array([300]), dtype=tn.uint8).tolist() == [44]  # as PyTorch casts arrays
    x = byte()
    x[0] = -1
    assert x.item() == 255 and (byte() + 300).item() == 45  # arithmetic wraps around there


SCALARS = [
    (lambda: tn.full((2,), 2**63), RuntimeError, LONG),
    (lambda: tn.full((2,), 2**64), OverflowError, TOO_BIG),
    (lambda: tn.full((2,), -1.5, dtype=tn.uint8), RuntimeError, BYTE),
    (lambda: byte().fill_(300), RuntimeError, BYTE),
    (lambda: long().fill_(NAN), RuntimeError, LONG),
    (lambda: long().fill_(2**63), RuntimeError, LONG),
    (lambda: tn.ones(1).fill_(1e300), RuntimeError, "to type float without overflow"),
    (lambda: byte().fill_diagonal_(300), RuntimeError, BYTE),
    (lambda: byte().masked_fill(mask(), 300), RuntimeError, BYTE),
    (lambda: long().masked_fill(mask(), NAN), RuntimeError, LONG),
    (lambda: long().masked_fill_(mask(), 2**64), OverflowError, TOO_BIG),
    (lambda: byte().index_fill(0, tn.tensor([0]), 300), RuntimeError, BYTE),
    (lambda: byte().scatter(0, tn.tensor([[0]]), 300), RuntimeError, BYTE),
    (lambda: byte().clamp(0, 300), RuntimeError, BYTE),
    (lambda: byte().clamp_(max=300), RuntimeError, BYTE),
    (lambda: long().clamp(max=2**64), OverflowError, TOO_BIG),
    (lambda: assign(byte(), 300), RuntimeError, BYTE),
    (lambda: assign(long(), NAN), RuntimeError, LONG),
    (lambda: assign(long(), 1e30), RuntimeError, LONG),
    (lambda: assign(long(), 2**63), ValueError, UNPACKING),
    (lambda: assign(tn.ones(1), 1e300), RuntimeError, "to type float without overflow"),
    (lambda: long() * 2**64, OverflowError, TOO_BIG),
    (lambda: 2**64 * long(), OverflowError, TOO_BIG),
    (lambda: long() - 2**64, OverflowError, TOO_BIG),
    (lambda: long() // 2**64, OverflowError, TOO_BIG),
    (lambda: long() == 2**64, OverflowError, TOO_BIG),
    (lambda: long() < -(2**64), OverflowError, TOO_BIG),
    (lambda: byte().add_(2**64), OverflowError, TOO_BIG),
    (lambda: tn.add(byte(), 1, alpha=300), RuntimeError, BYTE),
    (lambda: tn.add(long(), long(), alpha=2**64), OverflowError, TOO_BIG),
    (lambda: tn.where(mask(), 300, byte()), RuntimeError, BYTE),
    (lambda: tn.where(mask(), byte(), 300), RuntimeError, BYTE),
    (lambda: tn.where(mask(), 2**64, long()), OverflowError, TOO_BIG),
    (lambda: byte().pow(300), RuntimeError, BYTE),
    (lambda: byte().pow_(300), RuntimeError, BYTE),
    (lambda: long() ** 2**64, OverflowError, TOO_BIG),
    (lambda: tn.scalar_tensor(300, dtype=tn.uint8), RuntimeError, BYTE),
    (lambda: tn.scalar_tensor(NAN, dtype=tn.int64), RuntimeError, LONG),
    (lambda: F.pad(byte(), (1, 1), value=300), RuntimeError, BYTE),
    (lambda: F.pad(byte(), (1, 1), value=NAN), RuntimeError, BYTE),
    (lambda: tn.arange(2**63), RuntimeError, LONG),
    (lambda: tn.arange(2**63 - 1, 2**63 + 1), RuntimeError, LONG),
    (lambda: tn.linspace(0, 300, 3, dtype=tn.uint8), RuntimeError, BYTE),
    (lambda: tn.linspace(NAN, 1, 3, dtype=tn.int64), RuntimeError, LONG),
    (lambda: tn.randint(0, 2**63, (3,)), ValueError, UNPACKING),
]


@pytest.mark.parametrize("call, kind, text", SCALARS)
def test_scalars(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


HUGE = 2**62


@pytest.mark.parametrize(
    "call",
    [
        lambda: tn.zeros(HUGE), lambda: tn.ones(2**32, 2**32), lambda: tn.rand(HUGE),
        lambda: tn.full((HUGE,), 1.0), lambda: tn.arange(HUGE), lambda: tn.linspace(0, 1, HUGE),
        lambda: tn.ones(2).new_zeros(HUGE), lambda: nn.Linear(2**40, 2**40),
        lambda: F.adaptive_avg_pool1d(tn.ones(1, 1, 4), HUGE),
        lambda: F.adaptive_max_pool1d(tn.ones(1, 1, 4), HUGE),
        lambda: F.adaptive_avg_pool2d(tn.ones(1, 1, 4, 4), 2**31),
        lambda: F.adaptive_max_pool3d(tn.ones(1, 1, 4, 4, 4), 2**40),
    ],
)  # fmt: skip
def test_sizes(call):
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed with sizes="):
        call()


@pytest.mark.parametrize("make", [tn.tensor, tn.from_numpy, tn.as_tensor])
def test_byte_order(make):
    text = "given numpy array has byte order different from the native byte order"
    with pytest.raises(ValueError, match=text):
        make(np.arange(3, dtype=np.dtype("i4").newbyteorder()))


FORK = """
import os, threading, time
import tinynet as tn

tn.rand(1)
threading.Thread(target=lambda: tn.rand(30_000_000), daemon=True).start()
lock = tn.default_generator.numpy.bit_generator.lock
while lock.acquire(blocking=False):  # until the thread draws
    lock.release()
    time.sleep(0)
child = os.fork()
tn.rand(2)
if not child:
    os._exit(7)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_while_another_thread_draws():
    program = subprocess.Popen([sys.executable, "-W", "ignore", "-c", FORK], start_new_session=True)
    try:
        assert program.wait(timeout=60) == 7
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
