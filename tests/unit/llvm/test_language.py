"""What compiled functions compute is what Python computes, with numpy's numbers."""

import ast
import math
import random
import textwrap

import numpy as np
import pytest

from tinynet.kernels import threads
from tinynet.kernels.llvm import kernel, memory, store
from tinynet.kernels.llvm.kernel import form_of
from tinynet.kernels.native import compiler

pytest.importorskip("llvmlite")


KINDS = "float32", "float64", "int32", "int64"


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: None)


def both(source, *args, **space):
    """What a function returns in Python and compiled, and the arrays that each leaves."""
    space = {"np": np, "math": math, **{name: getattr(np, name) for name in KINDS}} | space
    exec(textwrap.dedent(source), space)
    (tree,) = ast.parse(textwrap.dedent(source)).body
    compiled = kernel.compiled("f", "f", tuple(map(form_of, args)), lambda: (tree, space))
    mine = [a.copy("K") if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        return (space["f"](*args), args), (compiled(*mine), mine)


def agree(source, *args, **space):
    plain, compiled = both(source, *args, **space)
    np.testing.assert_equal(compiled, plain)


def expression(rng, depth):
    """The text of an expression of i, j (integers), x (float32), y (float64)."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(
            ["i", "j", "x", "y", "int64(3)", "float64(0.5)", "float32(2)", "int64(-7)"]
        )
    a, b, c = (expression(rng, depth - 1) for _ in range(3))
    return rng.choice([
        f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / ({b} * {b} + 1))", f"(-{a})",
        f"({a} if {b} > {c} else {a} + 0 * {c})", f"abs({a})", f"float32({a})", f"max({a}, {b})",
        f"(int64({a} < {b}) + int64({a} >= {c}))", f"np.floor(np.float64({a}))",
    ])  # fmt: skip


@pytest.mark.parametrize("seed", range(150))
def test_random_expressions(seed):
    rng = random.Random(seed)
    source = f"""
    def f(i, j, x, y, out):
        out[0] = {expression(rng, 4)}
    """
    whole = np.int64(rng.randint(-9, 9)), np.int64(rng.randint(1, 9))
    args = *whole, np.float32(rng.gauss(0, 2)), np.float64(rng.gauss(0, 2))
    plain, compiled = both(source, *args, np.zeros(1))
    (expected,), (found,) = plain[1][-1], compiled[1][-1]
    # FMA and 1 / x instead of a division; float32 occurs somewhere, and parts may cancel
    assert abs(found - expected) <= 1e-4 * max(1, abs(expected)) or not np.isfinite(expected)


@pytest.mark.parametrize("a", [-7, -6, -1, 0, 1, 6, 7])
@pytest.mark.parametrize("b", [-3, -1, 1, 2, 3])
def test_whole_numbers_round_down(a, b):
    source = """
    def f(a, b, out):
        out[0], out[1], out[2] = a // b, a % b, a / b
    """
    agree(source, a, b, np.zeros(3))


def test_bits():
    source = """
    def f(a, b, out):
        out[0], out[1], out[2], out[3], out[4] = a & b, a | b, a ^ b, a << 3, b >> 2
    """
    agree(source, 12, -10, np.zeros(5, np.int64))


def test_bits_of_numbers():
    source = """
    def f(x, out):
        for k in range(x.size):
            out[k] = (x[k].view(np.int32) >> int32(3)) + int32(x[k])
    """
    agree(source, np.float32([0.5, -3.7, 1e9]), np.zeros(3, np.int32))


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_loops_and_conditions(rows):
    source = """
    def f(x, out):
        found = 0
        for i in range(x.shape[0] - 1, -1 + 0 * len(x), 1):
            out[0] = i
        for i in range(x.shape[0]):
            if x[i, 0] < 0:
                continue
            elif x[i, 0] > 2:
                break
            else:
                found += 1
            for j in range(1, x.shape[1], 2):
                out[1] += x[i, j]
        out[2] = found
        return found
    """
    agree(source, np.arange(rows * 6.0).reshape(rows, 6) / 10 - 0.5, np.zeros(3))


def test_variables_have_their_widest_kind():
    source = """
    def f(x):
        total = 0
        for i in range(x.size):
            total += x[i]
        return total
    """
    agree(source, np.array([0.5, 0.25]))
    agree(source, np.array([], np.float64).reshape(0))


def test_an_operand_that_does_not_decide_is_not_computed():
    source = """
    def f(x, i):
        return 0 <= i < x.size and x[i] > 0 or i == -5000000000
    """
    for i in (-(10**12), 10**12, -5 * 10**9, 0, 1):
        agree(source, np.array([1.0, -1.0]), i)


def test_the_other_side_of_a_choice_is_not_computed():
    source = """
    def f(x, i):
        return x[i] if i < x.size else -1.0
    """
    agree(source, np.array([1.0]), 0)
    agree(source, np.array([1.0]), 10**12)


def test_tuples():
    source = """
    def f(x, out):
        a, b = (x[0], 1) if x[1] > 0 else (x[1], 2)
        shape = x.shape
        out[0], out[1], out[2] = b, a, shape[0]
    """
    agree(source, np.array([1.0, 2.0]), np.zeros(3))
    agree(source, np.array([1.0, -2.0]), np.zeros(3))


def test_parts_of_arrays():
    source = """
    def f(x, out):
        rows = slice(1, 3)
        a = x[rows, :, 2]
        b = x[2]
        c = x[1:][0, 1:3]
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] + b[j, 0] + c[0, 1]
        out[2, 1:] = a.strides[0] + c.itemsize
        out[3] = a.size + c.size + len(b)
    """
    agree(source, np.arange(60.0).reshape(3, 4, 5), np.zeros((4, 4)))
    agree(source, np.arange(60.0).reshape(5, 4, 3).T, np.zeros((4, 4)))


def test_a_slice_ends_with_its_array():
    source = """
    def f(x, n):
        return len(x[:n]) * 100 + len(x[2:n])
    """
    agree(source, np.zeros(5), 3)
    agree(source, np.zeros(5), 99)


def test_arrays_of_its_own():
    source = """
    def f(x, out):
        n = x.size
        part, whole = np.empty(n, np.float32), np.zeros((2, n))
        for i in range(n):
            part[i] = x[i]
            whole[1, i] = part[i]
        flat = whole.reshape(2 * n)
        part[:] = 2
        for i in range(n):
            out[i] = flat[i] + flat[n + i] + part[i]
    """
    agree(source, np.float32([0.1, 0.2, 0.3]), np.zeros(3))


def test_calls_of_functions_for_other_kinds():
    def twice(x):
        return x + x, x > 0

    source = """
    def f(x, y, out):
        a, positive = twice(x)
        b, _ = twice(y)
        out[0], out[1] = a, b
        return positive
    """
    agree(source, np.float32(0.1), 3, np.zeros(2), twice=twice)


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "sin", "cos", "tanh", "log1p", "expm1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_one_number(name, dtype):
    source = f"""
    def f(x, out):
        for i in range(x.size):
            out[i] = math.{name}(x[i])
    """
    x = dtype([0.1, 0.5, 2.5])
    _, (_, (_, found)) = both(source, x, np.zeros(3, dtype))
    np.testing.assert_allclose(found, getattr(np, name)(x.astype(float)), 4 * np.finfo(dtype).eps)


def test_not_a_number_and_infinity():
    source = """
    def f(x, out):
        for i in range(x.size):
            out[i] = (x[i] != x[i]) + 2 * (x[i] > 1) + 4 * (x[i] == x[i]) + 8 * (not x[i] < 0)
    """
    agree(source, np.array([np.nan, np.inf, -np.inf, 0.0]), np.zeros(4))


def test_both_sides_return():
    source = """
    def f(x, i):
        for k in range(3):
            if x[k] > 2:
                if i > 0:
                    return 1
                else:
                    return 2
            elif x[k] < 0:
                continue
        if i > 0:
            return 3
            i = 4
        else:
            return 0.5
    """
    for x in ([1.0, 3, 0], [0.0, 0, 0]):
        for i in (0, 1):
            agree(source, np.array(x), i)


@pytest.mark.parametrize(
    "line",
    [
        "while x: pass", "return [x]", "return unknown(x)", "return x, x", "x.sort()", "x = y = -x",
        "return x[-1]", "return x[::2]", "return x[-2:]", "return x.T", "return x[0] ** 2",
        "return x[0] // 2", "return x[0] % 2", "return ~len(x)", "return np.empty(3, dtype=int)",
        "for i in x: pass", "for i in range(3, 0, -1): pass", "for i in (1, 2): pass",
        "return len(x, key=1)", "x = x.reshape(-1)", "del x", "x[0], x[1] = x[0]",
        "return x[0] is None", "lambda: x", "x: int = 3", "return f'{x}'", "return x[0].real",
        "return 0 if x else x",
    ],
)  # fmt: skip
def test_what_it_does_not_know_is_an_error(line):
    source = f"""
    def f(x):
        if x[0] > 0:
            return 1
        {line}
    """
    (tree,) = ast.parse(textwrap.dedent(source)).body
    with pytest.raises(TypeError):
        kernel.text_of((form_of(np.zeros(3)),), tree, {"np": np})


# ---- loops that threads share -------------------------------------------------------------------


SHARED = """
    def f(x, weight, out, factor):
        rows, n = x.shape
        half = np.empty(n, np.float32)
        for j in range(n):
            half[j] = weight[j] * float32(0.5)
        for i in shared(rows, 1 << 20):
            total = float32(0)
            for j in range(n):
                total += x[i, j] * half[j]
            part = out[i]
            for j in range(n):
                part[j] = total * float32(factor) + x[i, j]
        for j in range(n):
            out[0, j] += half[j]
"""


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_threads_share_the_iterations_of_a_loop(rows, count):
    compiler.prepare()
    x = np.arange(5 * rows, dtype=np.float32).reshape(rows, 5)
    weight, out = np.ones(5, np.float32), np.zeros((rows, 5), np.float32)
    with threads.used(count):
        agree(SHARED, x, weight, out, 3.0, shared=memory.shared)


def test_a_shared_loop_over_nothing_does_nothing():
    agree(
        "def f(x, n):\n    for i in shared(n, 1 << 20):\n        x[i] = float32(1)\n",
        np.zeros(2, np.float32), 0, shared=memory.shared,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return x[i]", "does not end early"),
        ("total += x[i]", "native code has no total"),
        ("y = np.empty(3)", "made outside of loops"),
    ],
)
def test_what_the_body_of_a_shared_loop_does_not_do(body, message):
    source = f"def f(x):\n    total = 0.0\n    for i in shared(2, 2):\n        {body}"
    with pytest.raises(TypeError, match=message):
        both(source, np.zeros(2), shared=memory.shared)


def test_a_variable_of_a_shared_loop_has_no_value_after_it():
    source = "def f(x):\n    for i in shared(2, 2):\n        y = x[i]\n    return y"
    with pytest.raises(TypeError, match="native code has no y"):
        both(source, np.zeros(2), shared=memory.shared)
