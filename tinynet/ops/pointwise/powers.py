"""Powers of tensors and numbers."""

from __future__ import annotations

import cmath
import math
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.complex_rules import holds_complex
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation, pointwise
from tinynet.core.tensors.tensor import Tensor, method
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import name_of, refuse_kinds, same_dtype
from tinynet.ops.pointwise.arithmetic import reflected, where
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.pointwise.exponential import exp2, log
from tinynet.ops.pointwise.where import zeros_for


def _is_positive(exponent: Any) -> Any:
    """Return where an exponent or its real part is at least zero."""
    return (exponent.real if holds_complex(exponent) else exponent) >= 0


@pointwise(node="PowBackward1", operator="pow", complex=True)
def power(self: Array, exponent: Array, /) -> Array:
    """Return ``self`` to the power of a tensor."""
    if self.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if self.dtype.kind == "i" and (negative := exponent < 0).any():  # 1 / n for integers
        found = np.power(self, np.where(negative, exponent & 1, exponent))
        return np.where(negative & (np.abs(self) != 1), 0, found).astype(self.dtype)
    return np.power(self, exponent)


power.grad(
    self=lambda g, self, exponent: where(
        exponent == 0, 0.0, g * (exponent * self ** (exponent - 1))
    ),
    exponent=lambda g, self, exponent, result: (
        g * where((self == 0) & _is_positive(exponent), 0.0, result * log(self))
    ),
)


@operation(node="PowBackward0", complex=True, order="iterated")
def power_number(self: Array, /, exponent: float) -> Array:
    """Return ``self`` to the power of a number."""
    if type(exponent) is complex or not dtypes.is_inexact(self.dtype) and type(exponent) is float:
        self = self.astype(dtypes.result_type((self, exponent)), copy=False)
    if not dtypes.is_inexact(self.dtype):
        kind = dtypes.result_type((self, exponent))
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        exponent = dtypes.representable(exponent, kind)
        return np.power(self.astype(kind if kind.kind != "b" else np.uint8), exponent).astype(kind)
    if self.dtype is HALF:
        dtypes.representable(exponent, HALF)
    if exponent == 3:  # as in PyTorch; numpy's own loop is a thousand times slower
        return self * self * self
    if exponent == 4:
        return np.square(np.square(self))
    if exponent == -0.5:  # as in PyTorch: minus infinity at -0.0
        return 1 / np.sqrt(self)
    return np.power(self, exponent)


def _power(x: Any, exponent: float) -> Any:
    """Compute a power like the operation does, by the fastest numpy function."""
    return power_number(x, exponent) if exponent == -0.5 else x**exponent


power_number.grad(
    self=lambda g, self, exponent: (
        g * (exponent * _power(self, exponent - 1)) if exponent != 0 else zeros_for(g)
    )
)


@operation(node="PowBackward2", complex=True, order="iterated")
def power_of_number(self: Array, /, base: float) -> Array:
    """Return a number to the power of each element."""
    kind = dtypes.result_type((self, base))
    if kind.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    return power.kernel(np.asarray(base).astype(kind), self.astype(kind, copy=False))


def _slope_of_exponent(g: Any, result: Any, base: float) -> Any:
    if holds_complex(result) or type(base) is complex:
        return g * (result * cmath.log(base)) if base else g * where(result == 1, 0.0, math.nan)
    if base == 0:  # 0 to a nonnegative power is at most 1, with derivative 0
        return g * where(result <= 1, 0.0, result * -math.inf)
    return g * (result * (math.log(base) if base > 0 else math.nan))


power_of_number.grad(self=_slope_of_exponent)


# ---- public functions ---------------------------------------------------------------------------


@composite(out=True)
def pow(self: Tensor | float, exponent: Tensor | float) -> Tensor:
    """Raise each element of ``self`` to the power of ``exponent`` (a number or a tensor).

    ``self ** exponent``, where the shapes broadcast.

    Raises:
        RuntimeError: the shapes do not broadcast.
        RuntimeError: integers to a negative integer power.

    Example:
        >>> tn.tensor([1.0, 2.0]).pow(3)
        tensor([1., 8.])
    """
    if type(exponent) in dtypes.type_of_number:
        return power_number.function(self, exponent)
    if type(self) in dtypes.type_of_number and isinstance(exponent, Tensor):
        return power_of_number.function(exponent, self)
    return power.function(self, exponent)


@composite
def pow_(self: Tensor, exponent: Tensor | float) -> Tensor:
    """Raise each element of this tensor to the power of ``exponent`` in place and return it."""
    number = type(exponent) in dtypes.type_of_number
    return in_place(power_number if number else power, "pow_")(self, exponent)


def _pow_operator(self: Tensor, exponent: Tensor | float) -> Tensor:
    if type(exponent) in dtypes.type_of_number:
        return power_number.function(self, exponent)
    return power.operator(self, exponent)


method(_pow_operator, "__pow__")
method(reflected(power_of_number.function, power), "__rpow__")
method(pow_, "__ipow__")

# ---- double precision, and powers of two --------------------------------------------------------


def _double(x: Any, name: str, position: int) -> Any:
    if type(x) in dtypes.type_of_number:
        return x if type(x) is complex else float(x)
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor("float_power", name, position, x)
    return converted(
        x, np.result_type(x._array, np.float64) if x.is_complex() else np.dtype(np.float64)
    )


@composite(
    out=same_dtype(
        "the output given to {name} has dtype {out} but the operation's result requires dtype "
        "{result}"
    )
)
def float_power(self: Tensor | float, exponent: Tensor | float) -> Tensor:
    """Raise ``self`` to the power of ``exponent``, in float64.

    ``self ** exponent``, where the shapes broadcast.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> tn.float_power(tn.tensor([2, 3]), -1)
        tensor([0.5000, 0.3333], dtype=tinynet.float64)
    """
    return pow(_double(self, "input", 1), _double(exponent, "exponent", 2))


@composite
def float_power_(self: Tensor, exponent: Tensor | float) -> Tensor:
    """Raise this float64 tensor to the power of ``exponent`` in place and return it."""
    wanted = "ComplexDouble" if holds_complex((self, exponent)) else "Double"
    if name_of(self._array) != wanted:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {name_of(self._array)} but the operation's "
            f"result requires dtype {wanted}"
        )
    return pow_(self, _double(exponent, "exponent", 1))


def _no_bools(a: Array, b: Array) -> None:
    if a.dtype.kind == "f":
        refuse_kinds("ldexp", "b", b)


@pointwise(public=True, ints="float", inplace="function", numbers=False, complex=True)
def ldexp(self: Array, other: Array, /) -> Array:
    """Return ``self * 2 ** other``.

    Example:
        >>> tn.ldexp(tn.tensor([1.0, 3.0]), tn.tensor([2, -1]))
        tensor([4.0000, 1.5000])
    """
    if self.dtype is HALF:
        return in_single(ldexp, self, other)
    return self * np.exp2(other)


ldexp.mixed = _no_bools
ldexp.grad(self=lambda g, other: g * exp2(other), other=lambda g, result: g * result * math.log(2))


class Frexp(NamedTuple):
    """Mantissas and exponents: ``mantissa * 2 ** exponent``."""

    mantissa: Tensor
    exponent: Tensor


@operation(
    public=True,
    outputs=("mantissa", "exponent"),
    result=Frexp,
    out=same_dtype(
        "tinynet.frexp() expects mantissa to have dtype {result_c} but got {out_c}",
        "tinynet.frexp() expects exponent to have int dtype but got {out_c}",
    ),
    order="iterated",
)
def frexp(self: Array, /) -> tuple[Array, Array]:
    """Return mantissas of sizes in [0.5, 1) and integer exponents of 2.

    Raises:
        RuntimeError: the tensor is not floating-point.

    Example:
        >>> tn.frexp(tn.tensor([8.0, -3.0])).mantissa
        tensor([ 0.5000, -0.7500])
    """
    if self.dtype.kind != "f":
        raise RuntimeError("tinynet.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(self)
    return mantissa, np.where(np.isfinite(self), exponent, 0).astype(np.int32)


frexp.grad(self=lambda g, exponent: ldexp(g, -exponent))
