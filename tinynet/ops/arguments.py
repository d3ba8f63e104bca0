"""Arguments of operations: their other names, their errors, and the dtypes of ``out=``."""

from __future__ import annotations

import functools
import inspect
import operator
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import layouts
from tinynet.core.declaration.out_argument import OutRules
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array

# ---- argument errors ----------------------------------------------------------------------------
# Argument errors shared by families of operations.


_C_NAMES = {
    "BFloat16": "c10::BFloat16", "Half": "c10::Half", "Long": "long int", "Short": "short int",
    "Char": "signed char", "Byte": "unsigned char",
}  # fmt: skip


# The remedy for indices or class numbers of another dtype.
to_long = "`{0} = {0}.long()` makes it int64".format


def name_of(array: Array) -> str:
    """Return the name of a dtype as in most messages: ``"Float"``."""
    return dtypes.of(array).scalar_name


def c_name(array: Array) -> str:
    """Return the name of a dtype as in some messages: ``"float"``, ``"long int"``."""
    name = name_of(array)
    if array.dtype.kind == "c":
        return f"c10::complex<{name.removeprefix('Complex').lower()}>"
    return _C_NAMES.get(name, name.lower())


def too_few(kind: str, given: tuple[int, ...], shape: tuple[int, ...]) -> RuntimeError:
    """Return the error for an expansion to fewer dimensions."""
    return RuntimeError(
        f"expand({kind}{{{list(given)}}}, size={list(shape)}): the number of sizes provided "
        f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
        f"({len(given)})"
    )


def refuse_others(function: str, **given: Any) -> None:
    """Raise TypeError for the first argument that is not a tensor (``self`` is called input)."""
    for position, (name, x) in enumerate(given.items()):
        if not isinstance(x, Tensor):
            shown = "input" if name == "self" else name
            raise errors.must_be_tensor(function, shown, position + 1, x)


def refuse_other_elements(position: int, elements: Iterable[Any]) -> None:
    """Raise TypeError for the first element of a sequence that is not a tensor."""
    for i, x in enumerate(elements):
        if not isinstance(x, Tensor):
            text = f"expected Tensor as element {i} in argument {position}, but got "
            raise errors.not_a_tensor(text + type(x).__name__, x)


def all_below(index: Array, n: int) -> bool:
    """Return whether all integers are in ``[0, n)``: as unsigned ones, negative ones are huge."""
    return bool(np.maximum.reduce(index.view(f"u{index.itemsize}"), None, initial=0) < n)


def refuse_outside(index: Array, n: int, dim: int) -> None:
    """Raise RuntimeError for indices outside ``[0, n)``."""
    if not all_below(index, n) and index.size:
        wrong = index[(index < 0) | (index >= n)].flat[0]
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {n}")


def bad_dim(function: str, dim: Any, several: bool = True, overloaded: bool = True) -> TypeError:
    """Return the error for a dimension that is neither an int nor a sequence of ints.

    Args:
        function: the name of the function.
        dim: the argument.
        several: whether the function takes several dimensions.
        overloaded: whether PyTorch's function has several signatures, which its error then lists.
    """
    kind = type(dim).__name__
    if not overloaded:
        wanted = "tuple of ints" if several else "int"
        return TypeError(f"{function}(): argument 'dim' must be {wanted}, not {kind}")
    wanted = "an int or a tuple of ints" if several else "an int"
    return TypeError(
        f"{function}() received an invalid combination of arguments - got (dim={kind}, ), "
        f"but expected one of:\n  dim: {wanted}"
    )


def whole(name: str, value: Any) -> int:
    """Return an argument that must be an int, or an integer tensor of one element.

    Raises:
        TypeError: another type, or a boolean.
    """
    if isinstance(value, (bool, float)):
        raise TypeError(f"argument '{name}' must be int, not {type(value).__name__}")
    return operator.index(value)


def is_whole(value: Any) -> bool:
    """Return whether an argument is an int, also numpy's, or an integer tensor of no dimensions."""
    if isinstance(value, (int, np.integer)):
        return True
    if not isinstance(value, Tensor):
        return False
    return value._array.dtype.kind in "iu" and not value._array.ndim


def no_derivative(name: str) -> Callable[[Any], Any]:
    """Return the formula of an operation without derivative, which raises under PyTorch's name."""

    def formula(g: Any) -> Any:
        if name.startswith("aten::"):
            raise RuntimeError(f"derivative for {name} is not implemented")
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


def refuse_whole(function: str, array: Array) -> None:
    """Raise NotImplementedError for integers and booleans."""
    if not dtypes.is_inexact(array.dtype):
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{name_of(array)}'")


def refuse_half(function: str, array: Array) -> None:
    """Raise NotImplementedError for half precision."""
    if dtypes.is_floating(array.dtype) and array.dtype.itemsize < 4:
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{name_of(array)}'")


def refuse_kinds(function: str, kinds: str, *arrays: Any) -> None:
    """Raise NotImplementedError for arrays of the given kinds (numpy's letters)."""
    for array in arrays:
        if isinstance(array, np.ndarray) and array.dtype.kind in kinds:
            raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{name_of(array)}'")


# ---- argument names -----------------------------------------------------------------------------
# Alternative argument names of PyTorch: numpy's names, sizes by keyword, ignored options.
#
# ``sum(axis=0, keepdims=True)``, ``randn(size=(2, 3))``, ``permute(dims=(1, 0))``,
# ``zeros(2, layout=torch.strided, pin_memory=False)``.


F = TypeVar("F", bound=Callable[..., Any])
_NAMES = {"axis": "dim", "keepdims": "keepdim"}
_STARRED = ("size", "shape", "dims", "repeats", "sizes")


def _dense(layout: Any) -> None:
    if layout not in (None, layouts.strided):
        raise RuntimeError(f"tinynet makes dense tensors only. Got layout {layout!r} instead.")


_WITHOUT_EFFECT: dict[str, Callable[[Any], None]] = {
    "layout": _dense,
    "pin_memory": lambda wanted: None,
}


def as_declared(function: Any, declared: Any) -> Any:
    """Return one function of a family with the name, docstring and result of its declaration."""
    function.__name__ = function.__qualname__ = declared.__name__
    function.__doc__ = declared.__doc__
    function.__annotations__ |= {"return": declared.__annotations__["return"]}
    return function


def hot(method: F) -> F:
    """Spare a method that is called everywhere, and never with these names, the check for them."""
    method.is_hot = True  # type: ignore[attr-defined]
    return method


def by_name(function: str, name: str, named: dict[str, Any], sizes: Any) -> tuple[Any, ...]:
    """Return the sizes passed to a hot method as ``name``; TypeError for others, or for both."""
    for key in named:
        if key != name or sizes:
            raise TypeError(f"{function}() got an unexpected keyword argument '{key}'")
    return (named[name],)


def also_named(**names: str) -> Callable[[F], F]:
    """Declare the names that further signatures of PyTorch give to a function's parameters."""

    def declare(function: F) -> F:
        function.other_names = names  # type: ignore[attr-defined]
        return function

    return declare


def keywords(function: F) -> F:
    """Make a function on tensors accept these names; return it unchanged if it needs none."""
    if isinstance(function, type):
        return function
    declared: Any = function  # unwrapped in half the time of inspect.unwrap
    while hasattr(declared, "__wrapped__"):
        declared = declared.__wrapped__
    code = declared.__code__  # building each signature would slow down the import
    count = code.co_argcount + code.co_kwonlyargcount
    own = {*code.co_varnames[:count]}
    starred = code.co_varnames[count] if code.co_flags & inspect.CO_VARARGS else ""
    makes = "device" in own  # creates tensors, with the arguments that all such functions take
    others: dict[str, str] = getattr(declared, "other_names", {})
    if not (makes or others or {"dim", "keepdim"} & own or starred in _STARRED):
        return function
    names = _NAMES | others
    size = "size" if starred == "sizes" else starred

    @functools.wraps(function)
    def respelled(*args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:
                return function(*args)  # the fast path of most calls
            for theirs, ours in names.items():
                if theirs in kwargs and ours not in kwargs:
                    kwargs[ours] = kwargs.pop(theirs)
            if makes:
                for name in _WITHOUT_EFFECT.keys() & kwargs.keys() - own:
                    _WITHOUT_EFFECT[name](kwargs.pop(name))
            if "input" in kwargs:
                args = (kwargs.pop("input"), *args)
            if size in kwargs:
                args = (*args, kwargs.pop(size))
            return function(*args, **kwargs)
        except (MemoryError, ValueError) as error:
            errors.refuse_unallocated(error)
            raise

    return cast(F, respelled)


# ---- numbers before tensors ---------------------------------------------------------------------
# ``x.add_(2, y)`` is ``x.add_(y, alpha=2)``, ``torch.addmm(beta, x, alpha, a, b)`` is
# ``torch.addmm(x, a, b, beta=beta, alpha=alpha)``, as in PyTorch's first versions.


_NUMBERS = ("alpha", "beta", "value")


def reordered(name: str, function: Callable[..., Any], is_method: bool) -> Callable[..., Any]:
    """Let a function or method take the old orders of its arguments, with PyTorch's warning."""
    code = inspect.unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    own, *tensors = [n for n in names if n not in _NUMBERS]
    beta, after = [n for n in names if n == "beta"], [n for n in names if n in ("alpha", "value")]
    first = [own, *beta] if is_method else [*beta, own]
    orders = {}
    for order in ([*first, *after, *tensors], [*first, *tensors]):
        if len(order) > len(tensors) + 1:
            orders[len(order)] = order

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        order = orders.get(len(args))
        if order is None:
            return function(*args, **kwargs)
        given = dict(zip(order, args, strict=True))
        try:
            numbers = {n: dtypes.number_of(given.pop(n), name, n) for n in order if n in _NUMBERS}
        except TypeError:
            return function(*args, **kwargs)
        warnings.warn(
            f"This overload of {name} is deprecated: pass {' and '.join(numbers)} by name, after "
            "the tensors.",
            stacklevel=2,
        )
        return function(given.pop(own), *given.values(), **numbers, **kwargs)

    return called


# ---- out dtypes ---------------------------------------------------------------------------------
# Rules for the dtype of ``out=``, with PyTorch's errors for other dtypes.


def same_dtype(*texts: str, **rules: Any) -> OutRules:
    """Return the rule that ``out`` must have the dtype of the result.

    Args:
        texts: the error for another dtype: one text per result, or one for all. ``{name}`` stands
            for the operation; ``{result}`` and ``{out}`` for the dtypes, as in ``Float``;
            ``{result_c}`` and ``{out_c}`` for their names in C; ``{is_int32}`` for whether the
            result has dtype int32.
        rules: further rules, see ``OutRules``.
    """
    return OutRules(texts=tuple(_error(text) for text in texts), **rules)


def _error(text: str) -> Callable[[str, Array, Array], str]:
    def error(name: str, result: Array, out: Array) -> str:
        return text.format(
            name=name,
            result=name_of(result),
            out=name_of(out),
            result_c=c_name(result),
            out_c=c_name(out),
            is_int32=result.dtype == np.int32,
        )

    return error


# The rules of several families.
EXPECTED_TEXT = "Expected out tensor to have dtype {result_c}, but got {out_c} instead"
EXPECTED = same_dtype(EXPECTED_TEXT)
FOUND = same_dtype("Found dtype {out} but expected {result}")
FOUND_SCALAR_TYPE = same_dtype("expected scalar type {result} but found {out}")
BOOLEAN = same_dtype("{name} does not support non-boolean outputs.")
