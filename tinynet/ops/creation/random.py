"""Random tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor, method, public_function, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.argument_errors import c_name, refuse_others
from tinynet.ops.creation.constructors import float_kind, shape_of
from tinynet.ops.creation.drawing import (
    draw,
    drawn_below,
    drawn_uniform,
    normal_parts,
    refuse_integers,
    scaled,
)
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping.meshgrid import broadcast_tensors
from tinynet.ops.shaping.views import Ints
from tinynet.random import Generator, numbers_of


def _made(array: Any, dtype: Any, requires_grad: bool) -> Tensor:
    t = wrap(arrays.converted(np.asarray(array), float_kind(dtype)))
    t.requires_grad = requires_grad
    return t


@public_function
@with_out()
@traced
def rand(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw numbers uniformly from [0, 1).

    The density is ``p(x) = 1`` on the interval.

    Raises:
        RuntimeError: a size is negative.
        NotImplementedError: the dtype is neither floating-point nor complex.

    Example:
        >>> tn.rand(2, 3).shape
        tinynet.Size([2, 3])
    """
    require_cpu(device)
    kind = float_kind(dtype)
    refuse_integers(kind, "check_uniform_bounds")
    drawn = drawn_uniform(generator, "rand", shape_of(size, "rand"), kind)
    return _made(drawn, dtype, requires_grad)


@public_function
@with_out()
@traced
def randn(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw numbers from the normal distribution with mean 0 and variance 1.

    The density is ``exp(-x ** 2 / 2) / sqrt(2 * pi)``.

    Raises:
        RuntimeError: a size is negative.
        NotImplementedError: the dtype is neither floating-point nor complex.

    Example:
        >>> tn.randn(2, 3).shape
        tinynet.Size([2, 3])
    """
    require_cpu(device)
    refuse_integers(float_kind(dtype), "normal_kernel_cpu")
    drawn = normal_parts(generator, "randn", float_kind(dtype), shape_of(size, "randn"))
    return _made(drawn, dtype, requires_grad)


@public_function
@with_out()
@traced
def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw integers uniformly from ``[low, high)``; ``low`` is 0 by default.

    Each integer has the probability ``1 / (high - low)``.

    Called as ``randint(high, size)`` or ``randint(low, high, size)``.

    Raises:
        RuntimeError: ``low`` is not below ``high``, or the dtype cannot represent a bound.

    Example:
        >>> tn.randint(0, 6, (2, 3)).shape
        tinynet.Size([2, 3])
    """
    require_cpu(device)
    if size is None:  # randint(high, size)
        low, high, size = 0, low, high
    elif high is None:  # randint(high, size=...)
        low, high = 0, low
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    kind = dtypes.int64 if dtype is None else dtype
    check_range(low, high, dtypes.as_numpy(kind))
    drawn = numbers_of(generator, "randint").integers(low, high, shape_of((size,), "randint"))
    return _made(drawn, kind, requires_grad)


def check_range(low: int, high: int, kind: np.dtype[Any]) -> None:
    """Refuse integers that the dtype, or a C long, cannot represent."""
    dtypes.refuse_longer(low, high)
    info = np.iinfo(kind) if kind.kind in "iu" else None
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if info is not None and not info.min <= bound <= info.max:
            raise RuntimeError(f"{name} is out of bounds for {c_name(np.empty(0, kind))}")


@public_function
@with_out()
@traced
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the integers 0 to n - 1 in random order.

    Each order has the probability ``1 / n!``.

    Raises:
        RuntimeError: ``n`` is negative.

    Example:
        >>> tn.randperm(4).sort().values
        tensor([0, 1, 2, 3])
    """
    require_cpu(device)
    shape_of((n,), "randperm")
    kind = dtypes.int64 if dtype is None else dtype
    return _made(numbers_of(generator, "randperm").permutation(n), kind, requires_grad)


# ---- with given probabilities -------------------------------------------------------------------


def values_op(name: str, node: str) -> Any:
    """Declare an operation that returns drawn values; it has no inputs, so its gradient is zero."""

    def declared(self: Array, /, values: Array) -> Array:
        """Return freshly drawn values in the dtype of ``self``."""
        return values.astype(self.dtype)

    declared.__name__ = declared.__qualname__ = name
    return operation(methods=False, node=node, batch="copied", complex="given")(declared).grad(
        self=zeros_for
    )


bernoulli_values = values_op("bernoulli_values", "BernoulliBackward0")
poisson_values = values_op("poisson_values", "PoissonBackward0")
binomial_values = values_op("binomial_values", "BinomialBackward0")
normal_around = values_op("normal_around", "NormalBackward1")
normal_spread = values_op("normal_spread", "NormalBackward2")


@operation(methods=False, node="NormalBackward3", batch="loop", complex=True)
def normal_placed(mean: Array, std: Array, /, values: Array) -> Array:
    """Return freshly drawn values."""
    return values


normal_placed.grad(mean=zeros_for, std=zeros_for)


@traced
@errors.allocating
def probabilities(p: Array) -> Array:
    """Return the probabilities; refuse values outside [0, 1]."""
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    return p


def probability(p: float) -> float:
    """Return the probability; refuse a value outside [0, 1]."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return p


@traced
def _refuse_negative(values: Array, message: str) -> None:
    if values.size and not (values >= 0).all():
        raise RuntimeError(message)


@public_function
@with_out()
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw ones with the given probabilities (or with ``p``), zeros otherwise.

    An element is 1 with probability ``p``, and 0 with ``1 - p``.

    Raises:
        RuntimeError: a probability is outside [0, 1].
        NotImplementedError: the probabilities are not floating-point.

    Example:
        >>> tn.bernoulli(tn.tensor([0.0, 1.0]))
        tensor([0., 1.])
    """
    refuse_others("bernoulli", input=input)
    array = input._array
    if p is None:
        refuse_integers(array.dtype, "bernoulli_tensor_cpu_p_")
    chance = probabilities(array) if p is None else probability(p)
    drawn = drawn_below(generator, "bernoulli", array.shape, array.dtype, chance)
    return bernoulli_values.function(input, drawn)


@public_function
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw numbers from Poisson distributions with the given rates.

    The probability of k at rate r is ``r ** k * exp(-r) / k!``.

    Raises:
        RuntimeError: a rate is negative.

    Example:
        >>> tn.poisson(tn.zeros(2))
        tensor([0., 0.])
    """
    refuse_others("poisson", input=input)
    rates = input._array
    refuse_integers(rates.dtype, "poisson_cpu")
    _refuse_negative(rates, "invalid Poisson rate, expected rate to be non-negative")
    return poisson_values.function(input, draw(generator, "poisson", "poisson", rates))


@public_function
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw the number of successes among ``count`` attempts, each with probability ``prob``.

    The probability of k is ``n! / (k! (n - k)!) * p ** k * (1 - p) ** (n - k)``.

    Raises:
        ValueError: ``prob`` is not floating-point; the shapes do not broadcast.

    Example:
        >>> tn.binomial(tn.tensor([3.0, 5.0]), tn.tensor([0.0, 1.0]))
        tensor([0., 5.])
    """
    refuse_others("binomial", count=count, prob=prob)
    for name, t in (("count", count), ("prob", prob)):
        if not dtypes.is_floating(t._array.dtype):
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: "
                f"{t.dtype.scalar_name}"
            )
    drawn = _binomial(count._array, prob._array, generator)
    like = count if drawn.shape == count._array.shape else count.expand(drawn.shape)
    return binomial_values.function(like, drawn)


@traced
def _binomial(count: Array, prob: Array, generator: Generator | None) -> Array:
    times = np.maximum(np.nan_to_num(count), 0).astype(np.int64)
    chance = np.clip(np.nan_to_num(prob.astype(np.float64)), 0, 1)
    drawn = np.asarray(numbers_of(generator, "binomial").binomial(times, chance), np.float64)
    drawn[np.broadcast_to(np.isnan(prob), drawn.shape)] = np.nan
    return drawn


@public_function
@with_out()
def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw normal numbers with given means and standard deviations (numbers or tensors).

    The density is ``exp(-((x - mean) / std) ** 2 / 2) / (std * sqrt(2 * pi))``.

    Args:
        size: the shape, if both are numbers.

    Raises:
        RuntimeError: a ``std`` is negative; the shapes of means and standard deviations do not
            broadcast.

    Example:
        >>> tn.normal(tn.tensor([1.0, 2.0]), 0.0)
        tensor([1., 2.])
        >>> tn.normal(3.0, 0.0, (2,))
        tensor([3., 3.])
    """
    require_cpu(device)
    if isinstance(std, Tensor):
        _refuse_negative(std._array, "normal expects all elements of std >= 0.0")
    elif std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if dtype is not None or requires_grad:
            raise TypeError("normal() takes 'dtype' and 'requires_grad' only with a size")
        return _normal_of_tensors(mean, std, generator)
    if size is None:
        raise TypeError(
            "normal() received an invalid combination of arguments: two numbers without a size"
        )
    drawn = normal_parts(generator, "normal", float_kind(dtype), shape_of((size,), "normal"))
    return _made(scaled(drawn, mean, std), dtype, requires_grad)


def _normal_of_tensors(
    mean: Tensor | float, std: Tensor | float, generator: Generator | None
) -> Tensor:
    """Draw normal numbers; as in PyTorch, the gradients of the means and deviations are zero."""
    given = [x for x in (mean, std) if isinstance(x, Tensor)]
    kind = np.result_type(*(x._array for x in given))
    refuse_integers(kind, "normal_kernel_cpu")
    shape = broadcast_tensors(*given)[0]._array.shape
    drawn = normal_parts(generator, "normal", kind, shape)
    m, s = (x._array if isinstance(x, Tensor) else x for x in (mean, std))
    op = normal_placed if len(given) == 2 else normal_around if given[0] is mean else normal_spread
    made: Tensor = op.function(*given, arrays.converted(scaled(drawn, m, s), kind))
    return made


def _bernoulli(
    self: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw ones with the given probabilities (or with ``p``), zeros otherwise."""
    return bernoulli(self, p, generator=generator)


method(_bernoulli, "bernoulli")
