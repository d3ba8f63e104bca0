"""Initialisation with random numbers of given distributions."""

from __future__ import annotations

import math

import numpy as np

from tinynet.core import arrays
from tinynet.core.callsite import warn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import Array
from tinynet.nn.init.fill import fill, mode
from tinynet.random import Generator, numbers_of

__all__ = ["uniform_", "normal_", "trunc_normal_", "sparse_"]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers drawn uniformly from [a, b).

    Args:
        tensor: the tensor to fill; it is returned.
        a, b: the lower and upper bound.
        generator: source of the random numbers; the default generator unless given.

    Raises:
        RuntimeError: ``a`` is larger than ``b``.
        NotImplementedError: the input has an integer dtype.

    Source: the density is ``1 / (b - a)``.

    Example:
        >>> w = nn.init.uniform_(tn.empty(3, 5), -1, 1)
        >>> bool(((w >= -1) & (w < 1)).all())
        True
    """
    if mode.skip:
        return tensor
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers drawn from the normal distribution.

    Args:
        tensor: the tensor to fill; it is returned.
        mean, std: mean and standard deviation of the distribution.
        generator: source of the random numbers; the default generator unless given.

    Raises:
        RuntimeError: ``std`` is negative.
        NotImplementedError: the input has an integer dtype.

    Source: the density is ``exp(-(((x - mean) / std) ** 2) / 2) / (std * sqrt(2 * pi))``.

    Example:
        >>> nn.init.normal_(tn.empty(3), mean=7, std=0)
        tensor([7., 7., 7.])
    """
    if mode.skip:
        return tensor
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with numbers from the normal distribution truncated to [a, b].

    Args:
        tensor: the tensor to fill; it is returned.
        mean, std: mean and standard deviation before truncation.
        a, b: the lower and upper bound.
        generator: source of the random numbers; the default generator unless given.

    Raises:
        ValueError: ``std`` is not positive.
        RuntimeError: ``a`` is larger than ``b``.

    Source: the density of ``normal_``, divided by its integral from a to b.

    Example:
        >>> w = nn.init.trunc_normal_(tn.empty(100), a=-0.5, b=0.5)
        >>> bool((w.abs() <= 0.5).all())
        True
    """
    if std <= 0:
        raise ValueError(f"The 'std' parameter of trunc_normal_ must be > 0. Got {std} instead.")
    if a > b:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}"
        )
    if mode.skip:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect."
        )
    drawn = run_traced(_truncated, generator, tensor._array.size, mean, std, a, b)
    drawn = arrays.converted(drawn, tensor._array.dtype)
    values = run_traced(np.clip, drawn, a, b).reshape(tensor._array.shape)
    return fill(tensor, values, "trunc_normal_")


def _truncated(
    generator: Generator | None, count: int, mean: float, std: float, a: float, b: float
) -> Array:
    """Draw from the truncated normal distribution by rejection."""
    draw = numbers_of(generator, "trunc_normal_")
    low, high = (0.5 * math.erf((bound - mean) / (std * math.sqrt(2))) for bound in (a, b))
    peak = (max(a, min(mean, b)) - mean) / std  # the maximum of the density in [a, b]
    values = np.empty(count)
    left = np.arange(count)
    while left.size:
        if high - low > 0.3:
            new = draw.normal(mean, std, left.size)
            good = (new >= a) & (new <= b)
        else:  # a normal number would rarely be in [a, b]
            new = draw.uniform(a, b, left.size)
            good = draw.random(left.size) < np.exp(0.5 * (peak**2 - ((new - mean) / std) ** 2))
        values[left[good]] = new[good]
        left = left[~good]
    return values


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill a matrix from N(0, std**2), zeroing a fraction of each column.

    Args:
        tensor: a matrix.
        sparsity: the fraction of zeros, rounded up to whole elements.
        std: the standard deviation of the other elements.
        generator: source of the random numbers; the default generator unless given.

    Raises:
        ValueError: the tensor does not have 2 dimensions, or ``sparsity`` is not in [0, 1].

    Source: Martens, "Deep learning via Hessian-free optimization", 2010.

    Example:
        >>> (nn.init.sparse_(tn.empty(10, 2), 0.3) == 0).sum(0)
        tensor([3, 3])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if not 0 <= sparsity <= 1:
        raise ValueError(
            f"The 'sparsity' parameter of sparse_ must be from 0 to 1. Got {sparsity} instead."
        )
    if mode.skip:
        return tensor
    rows = tensor._array.shape[0]
    normal_(tensor, 0.0, std, generator)
    values = _sparse(tensor._array, math.ceil(sparsity * rows), generator)
    return fill(tensor, values, "sparse_")


@traced
def _sparse(array: Array, zeros: int, generator: Generator | None) -> Array:
    """Return a matrix with a number of random elements of each column set to zero."""
    places = np.tile(np.arange(len(array))[:, None], (1, array.shape[1]))
    zero = numbers_of(generator, "sparse_").permuted(places, axis=0) < zeros
    return np.where(zero, 0, array)
