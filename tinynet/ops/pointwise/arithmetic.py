"""Elementwise arithmetic of two tensors, or of a tensor and a number."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation, pointwise
from tinynet.core.tensors.overlap import refuse_partial_overlap
from tinynet.core.tensors.tensor import Tensor, method, public_function, wrap
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, Single, in_single
from tinynet.kernels.sums import divided
from tinynet.ops.arguments import no_derivative, refuse_kinds
from tinynet.ops.pointwise.exponential import reciprocal
from tinynet.ops.pointwise.where import pick, zeros_for

# ---- quotients and remainders -------------------------------------------------------------------


def _divided(name: str, function: Any, self: Array, other: Array) -> Array:
    """Divide integers; refuse zero divisors and booleans as PyTorch does."""
    if not isinstance(other, np.ndarray):
        other = np.asarray(other, self.dtype)
    if self.dtype.kind != "f" and other.dtype.kind != "f":
        if self.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
        if not other.all():
            raise RuntimeError("ZeroDivisionError")
    return divided(function, self, other)


@pointwise(public=True, operator="floordiv", inplace=True, node="NotImplemented")
def floor_divide(self: Array, other: Array, /) -> Array:
    """Divide and round down; without derivative.

    ``floor(self / other)``.

    Example:
        >>> tn.tensor([-7, 7]) // 2
        tensor([-4,  3])
    """
    return _divided("div_floor_cpu", np.floor_divide, self, other)


_no_slope = no_derivative("aten::floor_divide")
floor_divide.of_numbers = floor_divide.opmath = True
floor_divide.grad(self=_no_slope, other=_no_slope)


@pointwise(node="DivBackward2")
def quotient_rounded(self: Array, other: Array, /, rounding: str = "floor") -> Array:
    """Divide and round down or towards zero, in the dtype of the operands."""
    if self.dtype.kind != "f":
        whole = _divided("div_cpu", np.floor_divide, self, other)
        if rounding == "trunc":
            short = (whole < 0) & (whole * other != self)
            whole = whole + short.astype(whole.dtype)
        return whole
    if type(other) is Single and self.dtype == HALF:
        return in_single(quotient_rounded, self, np.asarray(other), rounding=rounding)
    return divided(np.floor_divide, self, other) if rounding == "floor" else np.trunc(self / other)


quotient_rounded.opmath = True
quotient_rounded.grad(
    self=lambda g, self, other: zeros_for(g), other=lambda g, self, other: zeros_for(g)
)


@pointwise(public=True, operator="mod", inplace=True, node="RemainderBackward1")
def remainder(self: Array, other: Array, /) -> Array:
    """Return the remainder, with the sign of the divisor: ``self - other * floor(self / other)``.

    Example:
        >>> tn.tensor([-7, 7]) % 3
        tensor([2, 1])
    """
    return _divided("remainder_cpu", np.remainder, self, other)


remainder.grad(
    self=lambda g: g, other=lambda g, self, other: -g * quotient_rounded(self, other, "floor")
)


@pointwise(public=True, inplace=True, node="FmodBackward1", numbers="other")
def fmod(self: Array, other: Array, /) -> Array:
    """Return the remainder, with the sign of ``self``: ``self - other * trunc(self / other)``.

    Example:
        >>> tn.fmod(tn.tensor([-7, 7]), 3)
        tensor([-1,  1])
    """
    return _divided("fmod_cpu", np.fmod, self, other)


fmod.grad(
    self=lambda g: g, other=lambda g, self, other: -g * quotient_rounded(self, other, "trunc")
)

# ---- common divisors ----------------------------------------------------------------------------


@pointwise(public=True, inplace="function", numbers=False)
def gcd(self: Array, other: Array, /) -> Array:
    """Return the greatest common divisor of integers, at least 0.

    Example:
        >>> tn.gcd(tn.tensor([12, 7]), tn.tensor([18, 3]))
        tensor([6, 1])
    """
    refuse_kinds("gcd", "fb", self)
    return np.gcd(self, other)


@pointwise(public=True, inplace="function", numbers=False)
def lcm(self: Array, other: Array, /) -> Array:
    """Return the least common multiple of integers, at least 0.

    Example:
        >>> tn.lcm(tn.tensor([4, 7]), tn.tensor([6, 3]))
        tensor([12, 21])
    """
    refuse_kinds("lcm", "fb", self)
    return np.lcm(self, other)


# ---- shifts -------------------------------------------------------------------------------------


@pointwise(public=True, inplace=True, operator="lshift")
def bitwise_left_shift(self: Array, other: Array, /) -> Array:
    """Shift the bits of integers to the left: multiply by ``2 ** other``.

    Example:
        >>> tn.tensor([1, 3]) << 2
        tensor([ 4, 12])
    """
    refuse_kinds("lshift", "fb", self, other)
    return np.left_shift(self, other)


@pointwise(public=True, inplace=True, operator="rshift")
def bitwise_right_shift(self: Array, other: Array, /) -> Array:
    """Shift the bits of integers to the right; the sign stays.

    Example:
        >>> tn.tensor([8, -8]) >> 1
        tensor([ 4, -4])
    """
    refuse_kinds("rshift", "fb", self, other)
    return np.right_shift(self, other)


# ---- sum, difference, product, quotient ---------------------------------------------------------


@pointwise(np.add, operator="add", numbers_first=True, complex=True)
def add(self: Array, other: Array, /) -> Array:
    """Return the elementwise sum.

    Example:
        >>> tn.tensor([1.0, 2.0]) + tn.tensor([10.0])
        tensor([11., 12.])
    """


add.of_numbers = True
add.grad(self=lambda g: g, other=lambda g: g)


def _no_bools(a: Array, b: Array) -> None:
    if a.dtype.kind == "b" and b.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if "b" in (a.dtype.kind, b.dtype.kind):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


@pointwise(
    np.subtract,
    operator="sub",
    aliases=("subtract",),
    numbers_first=True,
    complex=True,
)
def sub(self: Array, other: Array, /) -> Array:
    """Return the elementwise difference.

    Example:
        >>> tn.tensor([1.0, 2.0]) - 1
        tensor([0., 1.])
    """


sub.of_numbers, sub.mixed = True, _no_bools
sub.grad(self=lambda g: g, other=lambda g: -g)


@pointwise(
    np.multiply,
    public=True,
    operator="mul",
    inplace=True,
    aliases=("multiply",),
    complex=True,
)
def mul(self: Array, other: Array, /) -> Array:
    """Return the elementwise product.

    Example:
        >>> tn.tensor([1.0, 2.0]) * 3
        tensor([3., 6.])
    """


mul.of_numbers = mul.opmath = True
mul.grad(self=lambda g, other: g * other, other=lambda g, self: g * self)


@pointwise(
    np.true_divide,
    operator="truediv",
    ints="float",
    aliases=("divide", "true_divide"),
    complex=True,
)
def div(self: Array, other: Array, /) -> Array:
    """Return the elementwise quotient; integers give floats.

    ``self / other``; integers give floating-point numbers unless rounded.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> tn.tensor([1, 2]) / 2
        tensor([0.5000, 1.0000])
    """


div.of_numbers = div.opmath = True
div.grad(
    self=lambda g, other: g / other, other=lambda g, self, other: -g * ((self / other) / other)
)
mul.number_node, div.number_node = "MulBackward1", "DivBackward1"

# ---- where --------------------------------------------------------------------------------------


@pointwise(pick, complex=True)
def where(condition: Array, self: Array, other: Array, /) -> Array:
    """Return ``self`` where the condition is True and ``other`` elsewhere."""


where.exempt = frozenset(["condition"])
where.grad(
    self=lambda g, condition: where(condition, g, 0.0),
    other=lambda g, condition: where(condition, 0.0, g),
)


# ---- a number on the left -----------------------------------------------------------------------


@operation(node="RsubBackward1", complex=True, order="iterated")
def rsub_scalar(self: Array, /, number: float) -> Array:
    """Return a number minus each element."""
    if self.dtype.kind == "b" or type(number) is bool:
        _no_bools(self, np.asarray(number))
    kind = dtypes.result_type((self, number))
    return np.subtract(dtypes.number(number, kind), self.astype(kind, copy=False))


rsub_scalar.grad(self=lambda g: -g)

# ---- public functions with more arguments -------------------------------------------------------


@operation(node="MulBackward0", complex=True, order="iterated")
def scaled(self: Array, /, alpha: float) -> Array:
    """Multiply by a number without saving it: the ``alpha`` of add and sub."""
    kind = dtypes.result_type((self, alpha))
    return self.astype(kind, copy=False) * dtypes.representable(alpha, kind)


scaled.grad(self=lambda g, alpha: g * alpha)


def _number_times(self: Any, other: Any, alpha: Any, name: str) -> Any:
    """Return ``alpha * other`` for a function that adds it to ``self`` or subtracts it."""
    if alpha.__class__ is int and alpha == 1:
        return other
    operands = [x._array if isinstance(x, Tensor) else x for x in (self, other)]
    if "sub" in name:
        _no_bools(*(x if hasattr(x, "dtype") else np.asarray(x) for x in operands))
    kind = dtypes.result_type(operands)
    alpha = dtypes.factor("alpha", dtypes.number_of(alpha, name, "alpha"), kind)
    if kind.kind != "c" and isinstance(alpha, complex):
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    if isinstance(other, Tensor):
        return scaled.function(other, alpha)
    if isinstance(self, Tensor):
        dtypes.representable(alpha, self._array.dtype)  # refuses numbers that are too large
    return bool(other * alpha) if kind.kind == "b" else other * alpha


def reflected(by_number: Any, op: Any) -> Any:
    """Return the reflected operator; numbers on the left have an operation of their own."""

    def operator(self: Tensor, other: Tensor | float) -> Tensor:
        if type(other) in dtypes.type_of_number:
            return by_number(self, other)
        return op.operator(other, self)

    return operator


method(reflected(rsub_scalar.function, sub), "__rsub__")
for _name in ("__rtruediv__", "__rdiv__"):
    method(reflected(lambda self, other: reciprocal.function(self) * other, div), _name)


def _with_alpha(name: str, op: Any) -> Any:
    """Build the public function with ``alpha``, and its in-place form, for add or sub."""

    def function(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        return op.function(self, _number_times(self, other, alpha, name))

    def inplace(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        if alpha.__class__ is int and alpha == 1:
            return direct(self, other)
        refuse_partial_overlap(self, (other,))  # the product with alpha would hide the overlap
        return direct(self, _number_times(self, other, alpha, f"{name}_"))

    direct = in_place(op, f"{name}_")
    sign = "+" if name == "add" else "-"
    function.__name__ = function.__qualname__ = name
    shown = "[ 7., 10.]" if name == "add" else "[-1., -2.]"
    function.__doc__ = f"""Return ``self {sign} alpha * other``.

    Args:
        other: a tensor (the two broadcast), or a number.
        alpha: the factor of ``other``.

    Raises:
        RuntimeError: the shapes do not broadcast; ``alpha`` is a fraction, the tensors integers.

    Example:
        >>> tn.{name}(tn.tensor([3.0, 4.0]), tn.tensor([2.0, 3.0]), alpha=2)
        tensor({shown})
    """
    inplace.__name__ = inplace.__qualname__ = f"{name}_"
    inplace.__doc__ = f"Write ``self {sign} alpha * other`` to this tensor and return it."
    composite(inplace)
    return composite(function, out=True)


tensor_add = _with_alpha("add", add)
tensor_sub = subtract = _with_alpha("sub", sub)


def tensor_div(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``).

    ``self / other``; integers give floating-point numbers unless rounded.

    Args:
        rounding_mode: ``"floor"`` rounds down, ``"trunc"`` towards zero; None does not round.

    Raises:
        RuntimeError: an unknown mode.

    Example:
        >>> tn.div(tn.tensor([-7.0, 7.0]), 2, rounding_mode="floor")
        tensor([-4.,  3.])
    """
    if rounding_mode is None:
        return div.function(self, other)
    _check_rounding(rounding_mode)
    return quotient_rounded.function(self, other, rounding_mode)


@composite(method=False)
def rsub(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``other - alpha * self``.

    Raises:
        TypeError: the first argument is not a tensor.
        RuntimeError: the shapes do not broadcast, or both tensors are boolean.

    Example:
        >>> tn.rsub(tn.tensor([1.0, 2.0]), 3)
        tensor([2., 1.])
    """
    if not isinstance(self, Tensor):
        raise errors.must_be_tensor("rsub", "input", 1, self)
    if isinstance(other, Tensor):
        return tensor_sub(other, self, alpha=alpha)
    return rsub_scalar.function(_number_times(other, self, alpha, "rsub"), other)


def _check_rounding(mode: str) -> None:
    if mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'"
        )


tensor_div.__name__ = tensor_div.__qualname__ = "div"
composite(tensor_div, out=True)


@composite
def div_(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Divide this tensor in place and return it; see ``div`` for the arguments."""
    if rounding_mode is None:
        return in_place(div, "div_")(self, other)
    _check_rounding(rounding_mode)
    return in_place(quotient_rounded, "div_")(self, other, rounding_mode)


_MISSING = object()


@composite(module=True, out=True)
def choose(condition: Tensor, input: Any = _MISSING, other: Any = _MISSING) -> Any:
    """Return ``input`` where the condition is True and ``other`` elsewhere.

    With three arguments: ``result[i] = input[i] if condition[i] else other[i]``, broadcast.

    With the condition alone: the indices of its True elements, one tensor per dimension.

    Raises:
        RuntimeError: the condition is not boolean.

    Example:
        >>> tn.where(tn.tensor([True, False]), tn.ones(2), 0.0)
        tensor([1., 0.])
    """
    if input is _MISSING:
        return condition.nonzero(as_tuple=True)
    if isinstance(condition, Tensor):
        kind = condition._array.dtype
        if kind == np.uint8:
            warnings.warn(
                "where received a uint8 condition tensor. This behavior is deprecated and will be "
                "removed in a future version of PyTorch. Use a boolean condition instead.",
                UserWarning,
                stacklevel=2,
            )
            condition = wrap(condition._array.astype(bool))
        elif kind.kind != "b":
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{condition.dtype.scalar_name}"
            )
    numbers = [x for x in (input, other) if type(x) in dtypes.type_of_number]
    if numbers:
        values = [x._array if isinstance(x, Tensor) else x for x in (input, other)]
        kind = dtypes.result_type(values)
        for number in numbers if kind.itemsize != 2 or not dtypes.is_floating(kind) else ():
            dtypes.representable(number, kind)  # refuses numbers that are too large
    return where.function(condition, input, other)


def _chosen(self: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    """Return this tensor where the condition is True and ``other`` elsewhere."""
    return choose(condition, self, other)


method(_chosen, "where")
public_function(choose, "where")
