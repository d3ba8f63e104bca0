"""bfloat16 is for storage: kernels and formulas get float32, and results are rounded once.

The kernels and formulas of all operations are wrapped before the first array of bfloat16 is made.
A program that makes none pays nothing for it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes

SINGLE = np.dtype(np.float32)
_DTYPES = np.dtype, dtypes.dtype
_lock = threading.Lock()


class _State:
    on = False


state = _State()


def _is_narrow(x: Any) -> bool:
    return x.__class__ is np.ndarray and x.dtype.kind == "V"


def _holds_narrow(x: Any) -> bool:
    """Return whether an argument is an array of bfloat16, its dtype, or a list with such arrays."""
    if x.__class__ is np.ndarray:
        return bool(x.dtype.kind == "V")
    if isinstance(x, (list, tuple)):
        return any(_is_narrow(one) for one in x)
    return x is dtypes.bfloat16 or isinstance(x, np.dtype) and x.kind == "V"


def wide(x: Any) -> Any:
    """Return an argument with float32 in the place of bfloat16."""
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
    """Return a kernel that computes in float32 what it is asked of bfloat16."""
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

    return run


def _refuse_mixture(kernel: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Let a kernel say that it does not take bfloat16 beside another floating-point dtype."""
    try:
        kernel(*args, **kwargs)
    except (TypeError, ValueError):
        pass  # of numpy's, which knows less of bfloat16


def formula_of(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula that computes in float32; the engine casts gradients to their dtypes."""
    if not state.on:
        return formula
    return lambda *args: formula(*map(wide, args))


def switch_on(wrap_all: Callable[[], None]) -> None:
    """Call ``wrap_all`` once, before the first array of bfloat16 is made."""
    with _lock:
        if not state.on:
            state.on = True
            wrap_all()
