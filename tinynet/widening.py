"""Computation in float32 for bfloat16 and float16, with a single rounding of the results.

Creating the first bfloat16 array wraps the kernels and formulas of all operations, so programs
without bfloat16 pay nothing. numpy supports float16; kernels with several steps convert it to
float32 themselves. Products and quotients of both with a number keep the number in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.dtypes import Array
from tinynet.threads import fork_safe_lock

SINGLE, HALF = np.dtype(np.float32), np.dtype(np.float16)
_DTYPES = np.dtype, dtypes.dtype
_lock = fork_safe_lock()


class Single(np.ndarray[Any, Any]):
    """A number in float32: combined with float16, numpy computes in float32 and rounds once."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a numpy ufunc."""
        plain = [np.asarray(x) if isinstance(x, Single) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        half = any(isinstance(x, np.ndarray) and x.dtype == HALF for x in plain)
        return result.astype(HALF) if half else result


def single(number: Any) -> Single:
    """Return a number that stays in float32 when numpy combines it with float16."""
    return np.asarray(number, SINGLE).view(Single)


def in_single(op: Any, *inputs: Any, **options: Any) -> Array:
    """Run the kernel of ``op`` on float16 inputs in float32, and round the result to float16.

    Only kernels with several steps need this: numpy's ufuncs do it themselves.
    """
    wide = [
        x.astype(SINGLE) if isinstance(x, np.ndarray) and x.dtype == HALF else x for x in inputs
    ]
    return np.asarray(op.kernel(*wide, **options)).astype(HALF)


def in_opmath(array: Array, other: Any) -> tuple[Any, Any]:
    """Return the operands of a product or a quotient in their common dtype.

    A number or 0-d array combined with float16 or bfloat16 becomes a ``Single`` instead.
    """
    kind = dtypes.result_type((array, other))
    array = array.astype(kind, copy=False)
    number = type(other) in dtypes.type_of_number
    if kind.itemsize == 2 and dtypes.is_floating(kind):
        if number or (type(other) is np.ndarray and not other.ndim and other.dtype != kind):
            return array, single(other)
    return array, dtypes.number(other, kind) if number else other.astype(kind, copy=False)


class _State:
    on = False


state = _State()


def _is_narrow(x: Any) -> bool:
    return x.__class__ is np.ndarray and x.dtype.kind == "V"


def _holds_narrow(x: Any) -> bool:
    """Return whether an argument is a bfloat16 array, its dtype, or a list with such arrays."""
    if x.__class__ is np.ndarray:
        return bool(x.dtype.kind == "V")
    if isinstance(x, (list, tuple)):
        return any(_is_narrow(one) for one in x)
    return x is dtypes.bfloat16 or isinstance(x, np.dtype) and x.kind == "V"


def wide(x: Any) -> Any:
    """Return an argument with bfloat16 replaced by float32."""
    if not _holds_narrow(x):
        return x
    if isinstance(x, np.ndarray):
        return x.astype(SINGLE)
    if isinstance(x, (list, tuple)):
        return type(x)([wide(one) for one in x])
    return dtypes.float32 if isinstance(x, dtypes.dtype) else SINGLE


def _floats(args: tuple[Any, ...]) -> set[np.dtype[Any]]:
    """Return the floating-point dtypes of the arrays among the arguments."""
    lists = [one for x in args if isinstance(x, (list, tuple)) for one in x]
    arrays = [x for x in (*args, *lists) if isinstance(x, np.ndarray)]
    return {a.dtype for a in arrays if dtypes.is_floating(a.dtype)}


def kernel_of(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that computes bfloat16 in float32."""
    if not state.on or op.kind == "view":
        return kernel
    outputs = len(op.outputs) if op.multiple else 1

    def rounded(result: Any) -> Any:
        result = np.asarray(result)
        return result.astype(dtypes.bfloat16.numpy) if result.dtype.kind == "f" else result

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not any(_holds_narrow(x) for x in given):
            return kernel(*args, **kwargs)
        if len(_floats(args)) > 1 and op.kind != "pointwise":
            _refuse_mixture(kernel, args, kwargs)
        result = kernel(*map(wide, args), **{k: wide(x) for k, x in kwargs.items()})
        asked = [x for x in given if isinstance(x, _DTYPES)]
        if asked and not any(_holds_narrow(x) for x in asked):
            return result
        if not op.multiple and not op.hidden:
            return rounded(result)
        return (*map(rounded, result[:outputs]), *result[outputs:])

    run.unwidened = kernel  # type: ignore[attr-defined]
    return run


def _refuse_mixture(kernel: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Raise the kernel's error for bfloat16 mixed with another floating-point dtype."""
    try:
        kernel(*args, **kwargs)
    except (TypeError, ValueError):
        pass  # of numpy's, which knows less of bfloat16


def formula_of(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula that computes in float32; the engine casts gradients to their dtypes."""
    if not state.on:
        return formula
    run = lambda *args: formula(*map(wide, args))  # noqa: E731
    run.unwidened = formula  # type: ignore[attr-defined]
    return run


def narrowest(function: Callable[..., Any], args: Any, kwargs: Any) -> Callable[..., Any]:
    """Return the kernel or formula that ``function`` calls if no array is of bfloat16."""
    plain: Callable[..., Any] | None = getattr(function, "unwidened", None)
    if plain is None or any(_holds_narrow(x) for x in (*args, *kwargs.values())):
        return function
    return plain


def switch_on(wrap_all: Callable[[], None]) -> None:
    """Call ``wrap_all`` once, before the first array of bfloat16 is made."""
    with _lock:
        if not state.on:
            state.on = True
            wrap_all()
