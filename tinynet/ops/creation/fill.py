"""Filling tensors in place, with a value or with random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import seams
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import c_name
from tinynet.ops.creation.random import (
    bernoulli_values,
    check_range,
    draw,
    drawn_below,
    drawn_uniform,
    normal_parts,
    probabilities,
    probability,
    refuse_integers,
    scaled,
    values_op,
)
from tinynet.ops.pointwise.where import zeros_for
from tinynet.random import Generator

# ---- values -------------------------------------------------------------------------------------


@operation(complex=True, order="iterated")
def zeros_instead(self: Array, /) -> Array:
    """Return zeros without dependency on the input."""
    return np.zeros_like(self)


@operation(node="FillBackward2", complex=True, order="iterated")
def filled(self: Array, /, value: Any) -> Array:
    """Return a tensor like ``self``, filled with a number."""
    return np.full(self.shape, dtypes.representable(value, self.dtype), self.dtype)


filled.assigns = lambda whole, value: dtypes.representable(value, whole.dtype)
filled.grad(self=lambda g: zeros_instead(g))


@operation(node="FillBackward3", complex=True, order="iterated")
def filled_with(self: Array, value: Array, /) -> Array:
    """Return a tensor like ``self``, filled with the value of a 0-d tensor."""
    return np.full(self.shape, value, self.dtype)


filled_with.grad(self=lambda g: zeros_instead(g), value=lambda g: g)


@operation(node="ZeroBackward0", complex=True, order="iterated")
def zeroed(self: Array, /) -> Array:
    """Return a tensor like ``self``, filled with zeros."""
    return np.zeros(self.shape, self.dtype)


zeroed.assigns = lambda whole: 0
zeroed.grad(self=lambda g: zeros_instead(g))


seams.out_of_place.update(fill_="full_like({0}, ...)", zero_="zeros_like({0})")


@composite(function=True)
def fill_(self: Tensor, value: Tensor | float) -> Tensor:
    """Fill this tensor with one value and return it."""
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value._array.ndim} dimensions."
            )
        if value._array.dtype.kind == "c" and self._array.dtype.kind not in "cb":
            value = value.to(self.dtype)  # which warns
        return in_place(filled_with, "fill_", constant=True)(self, value)
    if not isinstance(value, (int, float, complex, np.generic)):
        raise TypeError(
            f"fill_(): argument 'value' (position 1) must be Number, not {type(value).__name__}"
        )
    return in_place(filled, "fill_", constant=True)(self, value)


@operation(public=True, node="FillBackward0", complex=True, order="iterated")
def fill(self: Array, /, value: float) -> Array:
    """Return a tensor of the same shape and dtype, filled with one value.

    Raises:
        ValueError: the value is neither a number nor a 0-d tensor.

    Example:
        >>> tn.fill(tn.zeros(2), 3)
        tensor([3., 3.])
    """
    return np.full(self.shape, value, self.dtype)


fill.grad(self=zeros_for)


@composite
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Fill the main diagonal of this tensor with one value and return the tensor.

    Args:
        wrap: start again below the end of the diagonal of a tall matrix.

    Raises:
        RuntimeError: fewer than two dimensions, or more than two of different sizes.

    Example:
        >>> tn.zeros(2, 2).fill_diagonal_(1)
        tensor([[1., 0.],
                [0., 1.]])
    """
    if self._array.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self._array.ndim > 2 and len(set(self._array.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    return in_place(diagonal_filled, "fill_diagonal_")(self, fill_value, wrap)


@operation(node="FillBackward2", complex=True)
def diagonal_filled(self: Array, /, value: float, wrap: bool) -> Array:
    """Return a copy with one value on the main diagonal."""
    whole = np.array(self, order="C")
    np.fill_diagonal(whole, dtypes.representable(value, self.dtype), wrap)
    return whole


diagonal_filled.grad(self=lambda g, wrap: diagonal_filled(g, 0.0, wrap))


@composite(checks=True, function=True)
def zero_(self: Tensor) -> Tensor:
    """Fill this tensor with zeros and return it.

    Raises:
        RuntimeError: the tensor is a leaf that requires grad.

    Example:
        >>> tn.ones(2).zero_()
        tensor([0., 0.])
    """
    return in_place(zeroed, "zero_", constant=True)(self)


# ---- random numbers -----------------------------------------------------------------------------
# The gradient is zero, since the old values do not count.


normal_values = values_op("normal_values", "NormalBackward0")
uniform_values = values_op("uniform_values", "UniformBackward0")
random_values = values_op("random_values", "RandomBackward0")
exponential_values = values_op("exponential_values", "ExponentialBackward0")
cauchy_values = values_op("cauchy_values", "CauchyBackward0")
log_normal_values = values_op("log_normal_values", "LogNormalBackward0")
geometric_values = values_op("geometric_values", "GeometricBackward0")

# ---- on an interval -----------------------------------------------------------------------------


@composite(names={"from": "from_"})
def uniform_(
    self: Tensor,
    from_: float = 0.0,
    to: float = 1.0,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill this tensor with uniform numbers from ``[from_, to)`` and return it.

    The density is ``1 / (to - from_)`` on the interval.

    Raises:
        RuntimeError: ``from_`` is greater than ``to``.
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> x = tn.empty(100).uniform_(-1, 1)
        >>> bool((x >= -1).all() and (x < 1).all())
        True
    """
    from_ = dtypes.number_of(from_, "uniform_", "from")
    to = dtypes.number_of(to, "uniform_", "to")
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
        )
    refuse_integers(self._array.dtype, "check_uniform_bounds")
    drawn = drawn_uniform(generator, "uniform_", self._array.shape, self._array.dtype)
    return in_place(uniform_values, "uniform_")(self, scaled(drawn, from_, to - from_))


_EXACT = {2: 2**11, 4: 2**24, 8: 2**53}  # by itemsize: floats represent every integer up to here


def _range(kind: np.dtype[Any], low: int | None, high: int | None) -> tuple[int, int]:
    """Return the range of ``random_``, called with no, one or two bounds."""
    if low is None:
        if dtypes.is_floating(kind):
            return 0, _EXACT[kind.itemsize] + 1
        return 0, 2 if kind.kind == "b" else int(np.iinfo(kind).max) + 1
    low, high = (0, low) if high is None else (low, high)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    check_range(low, high, kind)
    return low, high


@composite(names={"from": "low", "to": "high"})
def random_(
    self: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill this tensor with integers from ``[low, high)`` and return it.

    Each has the probability ``1 / (high - low)``.

    Called as ``random_()`` (from 0 to the largest integer that the dtype represents exactly),
    ``random_(high)`` (from 0) or with both bounds.

    Raises:
        RuntimeError: ``low`` is not below ``high``, or the dtype cannot represent a bound.

    Example:
        >>> x = tn.empty(100).random_(6)
        >>> bool((x < 6).all())
        True
    """
    low, high = _range(self._array.dtype, low, high)
    wide = np.uint64 if high > 2**63 - 1 else np.int64
    drawn = draw(generator, "random_", "integers", low, high, self._array.shape, wide)
    return in_place(random_values, "random_")(self, drawn)


# ---- discrete -----------------------------------------------------------------------------------


@composite
def bernoulli_(
    self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Fill this tensor with ones (with probability ``p``) and zeros, and return it."""
    chance: Array | float
    if isinstance(p, Tensor):
        refuse_integers(p._array.dtype, "bernoulli_tensor_cpu_p_")
        chance = probabilities(p._array)
    else:
        chance = probability(p)
    drawn = drawn_below(generator, "bernoulli_", self._array.shape, self._array.dtype, chance)
    return in_place(bernoulli_values, "bernoulli_")(self, drawn)


@composite
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill this tensor with numbers of attempts until a success of probability ``p``; return it.

    The probability of k is ``(1 - p) ** (k - 1) * p``.

    Raises:
        RuntimeError: ``p`` is not in (0, 1).

    Example:
        >>> bool((tn.empty(100).geometric_(0.5) >= 1).all())
        True
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    drawn = draw(generator, "geometric_", "geometric", p, self._array.shape)
    return in_place(geometric_values, "geometric_")(self, drawn)


# ---- on the real line ---------------------------------------------------------------------------


@composite
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill this tensor with normal numbers and return it.

    The density is ``exp(-((x - mean) / std) ** 2 / 2) / (std * sqrt(2 * pi))``.

    Raises:
        RuntimeError: ``std`` is negative.
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> tn.zeros(2, 3).normal_(mean=5.0, std=0.1).shape
        tinynet.Size([2, 3])
    """
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    refuse_integers(self._array.dtype, "normal_kernel_cpu")
    drawn = normal_parts(generator, "normal_", self._array.dtype, self._array.shape)
    return in_place(normal_values, "normal_")(self, scaled(drawn, mean, std))


@composite
def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill this tensor with numbers whose logarithms are normally distributed, and return it.

    The numbers are ``exp(z)``, where z has the density of ``normal_``.

    Raises:
        RuntimeError: ``std`` is not positive.
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> bool((tn.empty(100).log_normal_() > 0).all())
        True
    """
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    refuse_integers(self._array.dtype, "log_normal_cpu")
    drawn = draw(generator, "log_normal_", "lognormal", mean, std, self._array.shape)
    return in_place(log_normal_values, "log_normal_")(self, drawn)


def _refuse_discrete(t: Tensor, name: str, shown: str) -> None:
    if not dtypes.is_floating(t._array.dtype):
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {shown}"
        )


@composite
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill this tensor with exponentially distributed numbers and return it.

    The density is ``lambd * exp(-lambd * x)``.

    Raises:
        RuntimeError: ``lambd`` is not positive; the tensor is not floating-point.

    Example:
        >>> bool((tn.empty(100).exponential_() > 0).all())
        True
    """
    _refuse_discrete(self, "Exponential", dtypes.of(self._array).scalar_name)
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    drawn = draw(generator, "exponential_", "exponential", 1 / lambd, self._array.shape)
    return in_place(exponential_values, "exponential_")(self, drawn)


@composite
def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill this tensor with numbers from the Cauchy distribution and return it.

    The density is ``sigma / (pi * ((x - median) ** 2 + sigma ** 2))``.

    Args:
        median: the median of the distribution, which has no mean.
        sigma: the scale; half of the numbers are within ``sigma`` of the median.
        generator: the source of random numbers; the default generator if None.

    Raises:
        RuntimeError: the tensor is not floating-point, or ``sigma`` is not positive.

    Example:
        >>> tn.empty(3).cauchy_().shape
        tinynet.Size([3])
    """
    _refuse_discrete(self, "Cauchy", c_name(self._array))
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    drawn = draw(generator, "cauchy_", "standard_cauchy", self._array.shape)
    return in_place(cauchy_values, "cauchy_")(self, scaled(drawn, median, sigma))
