"""The cost of one operation: recorded, not recorded, and with its backward."""

from collections.abc import Callable
from typing import Any

import tinynet
from benchmarks.tables import Table
from benchmarks.turns import compare

Case = Callable[[Any], Callable[[], object]]  # library -> what is timed


def _pair(tn: Any, size: int, requires_grad: bool) -> tuple[Any, Any]:
    a = tn.ones(size, requires_grad=requires_grad)
    return a, tn.full((size,), 2.0, requires_grad=requires_grad)


def mul_recorded(tn: Any) -> Callable[[], object]:
    """Elementwise product of 8 floats that require grad."""
    a, b = _pair(tn, 8, True)
    return lambda: a * b


def mul_unrecorded(tn: Any) -> Callable[[], object]:
    """The same under no_grad."""
    a, b = _pair(tn, 8, True)

    def run() -> object:
        return a * b

    return tn.no_grad()(_many(run))


def _many(run: Callable[[], object]) -> Callable[[], object]:
    """Call a function 100 times, so that entering no_grad is negligible."""

    def hundred() -> object:
        for _ in range(100):
            run()
        return None

    return hundred


def mul_number(tn: Any) -> Callable[[], object]:
    """Product with a Python number, recorded."""
    a, _ = _pair(tn, 8, True)
    return lambda: a * 2.0


def exp_recorded(tn: Any) -> Callable[[], object]:
    """exp of 8 floats, recorded."""
    a, _ = _pair(tn, 8, True)
    return lambda: a.exp()


def chain_forward_backward(tn: Any) -> Callable[[], object]:
    """A chain of 100 products and its backward."""
    a, b = _pair(tn, 8, True)
    start = tn.ones(8)

    def run() -> object:
        x = a
        for _ in range(100):
            x = x * b
        x.backward(start)
        a.grad = b.grad = None
        return None

    return run


def inplace_add(tn: Any) -> Callable[[], object]:
    """In-place sum of 8 floats, not recorded."""
    a, b = _pair(tn, 8, False)
    return lambda: a.add_(b)


def select(tn: Any) -> Callable[[], object]:
    """A row of a matrix, recorded."""
    a = tn.ones(4, 8, requires_grad=True)
    return lambda: a[2]


def matmul(tn: Any) -> Callable[[], object]:
    """A 32x64 by 64x64 matrix product, recorded."""
    a = tn.ones(32, 64, requires_grad=True)
    b = tn.ones(64, 64, requires_grad=True)
    return lambda: a @ b


CASES: tuple[Case, ...] = (
    mul_recorded,
    mul_unrecorded,
    mul_number,
    exp_recorded,
    chain_forward_backward,
    inplace_add,
    select,
    matmul,
)


def report(torch: Any, rounds: int, only: str) -> Table:
    """Measure single operations."""
    heads = ["case", "tinynet µs", "PyTorch µs", "tinynet / PyTorch"]
    table = Table("Single operations", heads)
    for case in CASES:
        if only not in case.__name__:
            continue
        ours, theirs, ratio = compare(case(tinynet), case(torch), rounds)
        calls = 100 if case is mul_unrecorded else 1
        table.add(case.__name__, ours / calls * 1e6, theirs / calls * 1e6, ratio)
    return table
