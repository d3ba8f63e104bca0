"""Numbers and sizes that are too large are refused as PyTorch refuses them, never wrapped."""

import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tinynet as tn
from tests.tools.patience import PATIENCE
from tinynet import errors, nn
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
    "data, error, text",
    [
        (-1, OverflowError, "can't convert negative int to unsigned"),
        ([0, -1], OverflowError, "can't convert negative int to unsigned"),
        (2**64, OverflowError, "int too big to convert"),
        ([1, 2**70], OverflowError, "int too big to convert"),
        (1.0, TypeError, "an integer is required"),
        ([1, 1j], TypeError, "an integer is required"),
        ([np.int64(1)], TypeError, "an integer is required"),
        ("1", TypeError, "new(): invalid data type 'str'"),
    ],
)
def test_uint64_takes_python_integers_that_it_can_hold(data, error, text):
    for make in (tn.tensor, tn.as_tensor, tn.ones(1, dtype=tn.uint64).new_tensor):
        with pytest.raises(error) as caught:
            make(data, dtype=tn.uint64)
        assert str(caught.value) == text


def test_real_dtypes_refuse_complex_numbers():
    with pytest.raises(TypeError, match="must be real number, not complex"):
        tn.tensor([1, 1j], dtype=tn.float32)
    with pytest.raises(TypeError, match="'complex' object cannot be interpreted as an integer"):
        tn.tensor(1j, dtype=tn.int32)


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


X, PLANE = tn.ones(2, 3), tn.ones(2, 2, 3, 3)
SIZED = {
    "empty": tn.empty,
    "full": lambda n: tn.full((n,), 1.0),
    "eye": lambda n: tn.eye(2, n),
    "arange": tn.arange,
    "linspace": lambda n: tn.linspace(0, 1, n),
    "logspace": lambda n: tn.logspace(0, 1, n),
    "rand": tn.rand,
    "randint": lambda n: tn.randint(0, 3, (n,)),
    "randperm": tn.randperm,
    "normal": lambda n: tn.normal(0.0, 1.0, (n,)),
    "multinomial": lambda n: tn.multinomial(X[0], n, replacement=True),
    "new_zeros": X.new_zeros,
    "new_full": lambda n: X.new_full((n,), 2.0),
    "empty_strided": lambda n: tn.empty_strided((n,), (1,)),
    "resize_": lambda n: tn.ones(2).resize_(n),
    "resize_ in two dimensions": lambda n: tn.ones(2).resize_(n, 4),
    "zeros_like": lambda n: tn.zeros_like(tn.ones(1).expand(n)),
    "clone": lambda n: tn.ones(1).expand(n).clone(),
    "add": lambda n: tn.ones(1).expand(n) + 1,
    "cat": lambda n: tn.cat([tn.ones(1).expand(n)] * 2),
    "outer": lambda n: tn.outer(*[tn.ones(1).expand(n)] * 2),
    "meshgrid": lambda n: tn.meshgrid(tn.ones(1).expand(n), X[0], indexing="ij")[0] + 1,
    "cartesian_prod": lambda n: tn.cartesian_prod(tn.ones(1).expand(n), X[0]),
    "repeat": lambda n: X.repeat(n, 1),
    "tile": lambda n: tn.tile(X, (n,)),
    "repeat_interleave": lambda n: tn.repeat_interleave(X, n, 0),
    "repeat_interleave of a tensor": lambda n: tn.repeat_interleave(tn.tensor([n, n])),
    "tril_indices": lambda n: tn.tril_indices(n, n),
    "diag": lambda n: tn.diag(X[0], n),
    "diag_embed": lambda n: tn.diag_embed(tn.ones(1).expand(n)),
    "block_diag": lambda n: tn.block_diag(tn.ones(1, 1).expand(1, n), X),
    "bincount": lambda n: tn.bincount(tn.tensor([0]), minlength=n),
    "histc": lambda n: tn.histc(X, bins=n),
    "vander": lambda n: tn.vander(X[0], n),
    "one_hot": lambda n: F.one_hot(tn.tensor([0]), n),
    "pad": lambda n: F.pad(X, (n, 0)),
    "replicate": lambda n: F.pad(tn.ones(1, 2, 3), (n, 0), mode="replicate"),
    "interpolate": lambda n: F.interpolate(PLANE, size=(n, 2)),
    "scale_factor": lambda n: F.interpolate(PLANE, scale_factor=float(n)),
    "bilinear": lambda n: F.interpolate(PLANE, size=(n, 2), mode="bilinear"),
    "bicubic": lambda n: F.interpolate(PLANE, size=(n, 2), mode="bicubic"),
    "Upsample": lambda n: nn.Upsample(size=n)(tn.ones(1, 1, 4)),
    "adaptive_avg_pool2d": lambda n: F.adaptive_avg_pool2d(PLANE, (n, 2)),
    "adaptive_max_pool1d": lambda n: F.adaptive_max_pool1d(PLANE[0], n),
    "unfold": lambda n: F.unfold(PLANE, 2, padding=n),
    "affine_grid": lambda n: F.affine_grid(tn.ones(1, 2, 3), (1, 1, n, 2), False),
    "conv1d": lambda n: F.conv1d(tn.ones(1, 1, 4), tn.ones(1, 1, 2), padding=n),
    "conv_transpose1d": lambda n: F.conv_transpose1d(tn.ones(1, 1, 4), tn.ones(1, 1, 2), stride=n),
    "matmul": lambda n: tn.ones(1, 1).expand(n, 1) @ tn.ones(1, 1).expand(1, n),
    "Linear": lambda n: nn.Linear(n, 2),
    "Embedding": lambda n: nn.Embedding(n, 2),
}


OVERFLOW, NO_MEMORY = (
    "Storage size calculation overflowed",
    "can't allocate memory: you tried to al",
)
SQUARE = (OVERFLOW, OVERFLOW)  # 2**57 * 2**57 elements, or 2**57 windows of 2**57 places
TEXTS = {
    "outer": SQUARE,
    "diag": SQUARE,
    "diag_embed": SQUARE,
    "unfold": SQUARE,
    "scale_factor": (LONG, NO_MEMORY),  # 3 * 2.0**62 rows
}


@pytest.mark.parametrize("name", SIZED)
def test_what_no_memory_holds(name):
    """Numbers overflow for 2**62 elements; for 2**57, no processor has as many addresses."""
    for size, text in zip((HUGE, 2**57), TEXTS.get(name, (OVERFLOW, NO_MEMORY)), strict=True):
        with pytest.raises(RuntimeError, match=text):
            SIZED[name](size)


def test_an_error_of_memory_is_a_memory_error_and_shows_the_array():
    with pytest.raises(MemoryError) as caught:
        tn.ones(2, 3).repeat(2**55, 1)
    assert str(caught.value) == (
        f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {2 * 3 * 4 * 2**55} "
        "bytes. Error code 12 (Cannot allocate memory)\n"
        f"  for an array of shape [{2**55}, 6] and dtype float32"
    )


def test_an_error_of_memory_in_backward():
    class Large(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            np.empty((2**57,), np.float32)

    with pytest.raises(RuntimeError, match=f"you tried to allocate {2**59} bytes"):
        Large.apply(tn.ones(2, requires_grad=True)).sum().backward()


def test_other_value_errors_keep_their_cause():
    def broken():
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error

    with pytest.raises(ValueError, match="second") as caught:
        errors.allocating(broken)()
    assert isinstance(caught.value.__cause__, KeyError)


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
        assert program.wait(timeout=PATIENCE) == 7
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
