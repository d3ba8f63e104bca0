"""Random fills in place; the gradient is zero, since the old values do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite
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
from tinynet.random import Generator

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
