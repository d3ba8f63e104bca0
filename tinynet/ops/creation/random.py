"""Random tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor, method, public_function, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.arguments import c_name, refuse_others, same_dtype
from tinynet.ops.creation.constructors import finish, float_kind, shape_of
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping.grids import broadcast_tensors
from tinynet.ops.shaping.views import Ints
from tinynet.random import Generator, numbers_of

# ---- drawing ------------------------------------------------------------------------------------
# Arrays of random numbers, in the dtype of a tensor.


def refuse_integers(kind: np.dtype[Any], name: str) -> None:
    """Raise NotImplementedError for a dtype that is neither floating-point nor complex."""
    if not dtypes.is_inexact(kind):
        what = dtypes.from_numpy(kind).scalar_name
        raise NotImplementedError(f"\"{name}\" not implemented for '{what}'")


@traced
def draw(generator: Generator | None, name: str, distribution: str, *args: Any) -> Array:
    """Draw numbers by a method of numpy's generator; ``name`` is the caller's, for messages."""
    return np.asarray(getattr(numbers_of(generator, name), distribution)(*args))


@traced
def scaled(drawn: Array, mean: Any, std: Any) -> Array:
    """Return drawn numbers times ``std`` plus ``mean``."""
    return np.asarray(mean + std * drawn)


def by_parts(kind: np.dtype[Any], shape: tuple[int, ...], drawing: Callable[[Any], Any]) -> Array:
    """Return the numbers that ``drawing`` draws for a shape; of complex ones, both parts."""
    if kind.kind != "c":
        return np.asarray(drawing(shape))
    pairs = np.ascontiguousarray(drawing((*shape, 2)), np.float64)
    return pairs.view(np.complex128)[..., 0]


@traced
def normal_parts(
    generator: Generator | None, name: str, kind: np.dtype[Any], shape: tuple[int, ...]
) -> Array:
    """Draw standard normal numbers; complex ones have parts of variance 1/2."""
    numbers = numbers_of(generator, name)
    if kind.kind != "c":
        return np.asarray(numbers.standard_normal(shape))
    return by_parts(kind, shape, numbers.standard_normal) * math.sqrt(0.5)


@traced
def drawn_below(generator: Generator | None, name: str, shape: Any, kind: Any, p: Any) -> Array:
    """Draw booleans that are True with probability ``p``."""
    return np.asarray(drawn_uniform(generator, name, shape, kind) < p)


@traced
def drawn_uniform(generator: Generator | None, name: str, shape: Any, kind: Any) -> Array:
    """Draw values from [0, 1) in the dtype itself: rounding a float64 could give 1.0."""
    drawn = np.float32 if kind in (np.float32, np.complex64) else np.float64
    numbers = numbers_of(generator, name)
    if kind.kind != "c":
        return np.asarray(numbers.random(shape, drawn))
    return by_parts(kind, shape, lambda size: numbers.random(size, drawn))


# ---- multinomial --------------------------------------------------------------------------------
# Random indices with given weights.


def _check_weights(weights: Array, count: int, replacement: bool) -> None:
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not dtypes.is_floating(weights.dtype):
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtypes.of(weights).scalar_name}"
        )
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if weights.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if replacement and count > 1:
        if not (weights >= 0).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry < 0)"
            )
        if not np.isfinite(weights).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry = infinity or "
                "NaN)"
            )
    elif not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and ((weights > 0).sum(-1) < count).any():
        raise RuntimeError(
            "invalid multinomial distribution (with replacement=False, not enough non-negative "
            "category to sample)"
        )


def _indices(rows: Array, levels: Array) -> Array:
    """Return the positions of levels in [0, 1) among the cumulative weights of their rows.

    Each row is offset by its number, so that one search serves all rows.
    """
    ends = np.cumsum(rows, 1)
    number = np.arange(len(rows))[:, None]
    at = np.minimum(levels + number, np.nextafter(number + 1.0, 0))
    found = np.searchsorted((ends / ends[:, -1:] + number).ravel(), at.ravel(), "right")
    return found.reshape(levels.shape) - number * rows.shape[1]


@composite(method=False, out=same_dtype("{name} expects {result} tensor out, got: {out}"))
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw indices from each row, with the given weights.

    Index i is drawn next with probability ``w[i] / sum(w)``, w being the remaining weights.

    Without replacement, each index draws an exponential waiting time with its weight as rate; the
    shortest waiting times win.

    Raises:
        RuntimeError: weights that are negative, not finite or all zero; too few nonzero weights.

    Example:
        >>> tn.multinomial(tn.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
        tensor([1, 1])
    """
    refuse_others("multinomial", input=input)
    return wrap(_drawn(input._array, num_samples, replacement, generator))


@traced
def _drawn(
    weights: Array, num_samples: int, replacement: bool, generator: Generator | None
) -> Array:
    _check_weights(weights, num_samples, replacement)
    rows = np.atleast_2d(weights).astype(np.float64)
    draw = numbers_of(generator, "multinomial")
    if replacement:
        picked = _indices(rows, draw.random((len(rows), num_samples)))
    else:
        waits = draw.standard_exponential(rows.shape)
        np.divide(waits, rows, out=waits, where=rows > 0)
        waits[rows == 0] = np.inf
        picked = np.argsort(waits, 1)[:, :num_samples]
    return np.ascontiguousarray(picked if weights.ndim > 1 else picked[0])


method(multinomial)


# ---- random -------------------------------------------------------------------------------------


def _made(array: Any, dtype: Any, requires_grad: bool) -> Tensor:
    return finish(arrays.converted(np.asarray(array), float_kind(dtype)), requires_grad)


@composite(method=False, out=True)
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
    if device is not None:
        require_cpu(device)
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    if kind.kind != "f":
        refuse_integers(kind, "check_uniform_bounds")
    drawn = drawn_uniform(generator, "rand", shape_of(size, "rand"), kind)
    if drawn.dtype != kind:
        drawn = arrays.converted(drawn, kind)
    return finish(drawn, True) if requires_grad else wrap(drawn)


@composite(method=False, out=True)
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
    if device is not None:
        require_cpu(device)
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    if kind.kind != "f":
        refuse_integers(kind, "normal_kernel_cpu")
    drawn = normal_parts(generator, "randn", kind, shape_of(size, "randn"))
    return finish(arrays.converted(drawn, kind), requires_grad)


@composite(method=False, out=True)
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
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        low, high = int(low), int(high)
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
    if kind.kind in "iu":
        least, most = _limits(kind)
        for name, bound in (("from", low), ("to - 1", high - 1)):
            if not least <= bound <= most:
                raise RuntimeError(f"{name} is out of bounds for {c_name(np.empty(0, kind))}")


@functools.cache
def _limits(kind: np.dtype[Any]) -> tuple[int, int]:
    """Return the least and the largest number of an integer dtype."""
    info = np.iinfo(kind)
    return int(info.min), int(info.max)


@composite(method=False, out=True)
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
    return _made(numbers_of(generator, "randperm").permutation(int(n)), kind, requires_grad)


# ---- with given probabilities -------------------------------------------------------------------


def values_op(name: str, node: str) -> Any:
    """Declare an operation that returns drawn values; it has no inputs, so its gradient is zero."""

    def declared(self: Array, /, values: Array) -> Array:
        """Return freshly drawn values in the dtype of ``self``."""
        return values.astype(self.dtype)

    declared.__name__ = declared.__qualname__ = name
    op = operation(node=node, complex="given")(declared).grad(self=zeros_for)
    op.assigns = lambda whole, values: values if type(values) is type(whole) else None
    return op


bernoulli_values = values_op("bernoulli_values", "BernoulliBackward0")
poisson_values = values_op("poisson_values", "PoissonBackward0")
binomial_values = values_op("binomial_values", "BinomialBackward0")
normal_around = values_op("normal_around", "NormalBackward1")
normal_spread = values_op("normal_spread", "NormalBackward2")


@operation(node="NormalBackward3", complex=True)
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


@composite(method=False, out=True)
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


@composite(method=False, out=True)
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
    shape = (broadcast_tensors(*given) if len(given) > 1 else given)[0]._array.shape
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
