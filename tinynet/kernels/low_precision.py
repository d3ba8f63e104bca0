"""Computation in float32 for bfloat16 and float16, with a single rounding of the results.

Creating the first array of either wraps the formulas of all operations, and the first of bfloat16
their kernels, too; so programs without them pay nothing. The first complex array does the same for
the rules of ``core/complex_rules.py``. numpy supports float16; kernels with
several steps convert it to float32 themselves. Products and quotients of both with a number keep
the number in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.dtypes import Array
from tinynet.kernels.threads import fork_safe_lock

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


def kind_for(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to compute in: float64 for float64, else float32."""
    return kind if kind == np.float64 else SINGLE


def in_single(op: Any, *inputs: Any, **options: Any) -> Array:
    """Run the kernel of ``op`` on float16 inputs in float32, and round the result to float16.

    Only kernels with several steps need this: numpy's ufuncs do it themselves.
    """
    wide = [x.astype(SINGLE) if getattr(x, "dtype", None) == HALF else x for x in inputs]
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
    kernels = False
    formulas = False
    complex_rules: Any = None  # the module, after the first complex array


state = _State()


_ORDINARY = {*"?bBhHiIlLqQfd"}  # the characters of other dtypes
_PLAIN = {
    *(bool, int, float, str, slice, type(None), type(...)),
    *(np.bool_, np.int64, np.float32, np.float64),
}


def _are_ordinary(args: Iterable[Any]) -> bool:
    """Return whether arguments have neither 16-bit floats nor complex numbers, as most do.

    False for a type that it does not know: the functions below look closer, and take longer.
    """
    for x in args:
        kind = x.__class__
        if kind is np.ndarray:
            if x.dtype.char not in _ORDINARY:
                return False
        elif kind not in _PLAIN and not (isinstance(x, (list, tuple)) and _are_ordinary(x)):
            return False
    return True


def _is_bfloat16(x: Any) -> bool:
    return x.__class__ is np.ndarray and x.dtype.kind == "V"


def _holds_bfloat16(x: Any) -> bool:
    """Return whether an argument is a bfloat16 array, its dtype, or a list with such arrays."""
    if x.__class__ is np.ndarray:
        return bool(x.dtype.kind == "V")
    if isinstance(x, (list, tuple)):
        return any(_is_bfloat16(one) for one in x)
    return x is dtypes.bfloat16 or isinstance(x, np.dtype) and x.kind == "V"


def _is_half(x: Any) -> bool:
    return x.__class__ is np.ndarray and (x.dtype.kind == "V" or x.dtype == HALF)


def _holds_half(x: Any) -> bool:
    """Return whether an argument is or has an array of a 16-bit float."""
    return _is_half(x) or isinstance(x, (list, tuple)) and any(map(_is_half, x))


def wide(x: Any) -> Any:
    """Return an argument with bfloat16 replaced by float32."""
    if not _holds_bfloat16(x):
        return x
    if isinstance(x, np.ndarray):
        return x.astype(SINGLE)
    if isinstance(x, (list, tuple)):
        return type(x)([wide(one) for one in x])
    return dtypes.float32 if isinstance(x, dtypes.dtype) else SINGLE


def _wide_for_formula(x: Any) -> Any:
    """Return an argument of a formula with 16-bit floats replaced by float32."""
    if not _holds_half(x):
        return wide(x)
    if isinstance(x, np.ndarray):
        return x.astype(SINGLE)
    return type(x)([_wide_for_formula(one) for one in x])


def _floats(args: tuple[Any, ...]) -> set[np.dtype[Any]]:
    """Return the floating-point dtypes of the arrays among the arguments."""
    lists = [one for x in args if isinstance(x, (list, tuple)) for one in x]
    arrays = [x for x in (*args, *lists) if isinstance(x, np.ndarray)]
    return {a.dtype for a in arrays if dtypes.is_floating(a.dtype)}


def kernel_of(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that computes bfloat16 in float32."""
    if not state.kernels or op.kind == "view" or hasattr(kernel, "unwidened"):
        return kernel
    outputs = len(op.outputs) if op.multiple else 1

    def rounded(result: Any) -> Any:
        result = np.asarray(result)
        return result.astype(dtypes.bfloat16.numpy) if result.dtype.kind == "f" else result

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values()) if kwargs else args
        if _are_ordinary(given):
            return kernel(*args, **kwargs)
        if state.complex_rules and state.complex_rules.holds_complex(given):
            state.complex_rules.refuse(op, given)
        if not any(_holds_bfloat16(x) for x in given):
            return kernel(*args, **kwargs)
        if len(_floats(args)) > 1 and op.kind != "pointwise":
            _refuse_mixture(kernel, args, kwargs)
        result = kernel(*map(wide, args), **{k: wide(x) for k, x in kwargs.items()})
        asked = [x for x in given if isinstance(x, _DTYPES)]
        if asked and not any(_holds_bfloat16(x) for x in asked):
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


def formula_of(op: Any, formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula that computes in float32, and rounds once if its gradient is narrower.

    Of complex numbers, it returns the gradient in PyTorch's convention.
    """
    if not state.formulas or hasattr(formula, "unwidened"):
        return formula

    @functools.wraps(formula)
    def run(*args: Any) -> Any:
        if _are_ordinary(args):
            return formula(*args)
        if state.complex_rules and state.complex_rules.holds_complex(args):
            return state.complex_rules.gradient(op, formula, args)
        result = formula(*map(_wide_for_formula, args))
        return _rounded(result, args[0].dtype) if _is_half(args[0]) else result

    run.unwidened = formula  # type: ignore[attr-defined]
    return run


def _rounded(x: Any, kind: np.dtype[Any]) -> Any:
    """Return float32 arrays in a dtype, also those in a list or tuple."""
    if isinstance(x, (list, tuple)):
        return type(x)([_rounded(one, kind) for one in x])
    return x.astype(kind) if isinstance(x, np.ndarray) and x.dtype == SINGLE else x


def narrowest(function: Callable[..., Any], args: Any, kwargs: Any) -> Callable[..., Any]:
    """Return the kernel or formula that ``function`` calls if no array is of a 16-bit float."""
    plain: Callable[..., Any] | None = getattr(function, "unwidened", None)
    if plain is None:
        return function
    given = (*args, *kwargs.values())
    if _are_ordinary(given):
        return plain
    if state.complex_rules and state.complex_rules.holds_complex(given):
        return function
    return function if any(_holds_half(x) or _holds_bfloat16(x) for x in given) else plain


def switch_on(late: dtypes.dtype, rules: Any, wrap_all: Callable[[], None]) -> None:
    """Call ``wrap_all`` once, before the first array of a 16-bit float or a complex dtype is made.

    Args:
        late: its dtype.
        rules: the module of the rules for complex numbers.
        wrap_all: makes all kernels and formulas what ``kernel_of`` and ``formula_of`` return.
    """
    with _lock:
        if late.is_complex:
            state.complex_rules = rules
        kernels = state.kernels or late.is_complex or late is dtypes.bfloat16
        if not state.formulas or kernels != state.kernels:
            state.formulas, state.kernels = True, kernels
            wrap_all()
