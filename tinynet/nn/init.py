"""Initialisation: functions that fill a tensor in place and return it.

They run under ``no_grad`` and count as in-place writes, which a later backward detects.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tinynet.core import arrays
from tinynet.core.callsite import warn
from tinynet.core.graph.inplace import wrote
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import Array
from tinynet.random import Generator, numbers_of

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_", "skipped", "sparse_", "trunc_normal_", "uniform_",
    "xavier_normal_", "xavier_uniform_", "zeros_",
    # deprecated:
    "constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal",
    "sparse", "uniform", "xavier_normal", "xavier_uniform",
]  # fmt: skip


class _Mode(threading.local):
    skip = False


mode = _Mode()


@contextmanager
def skipped() -> Iterator[None]:
    """Turn all initialisers into no-ops inside the block; see ``nn.utils.skip_init``."""
    before, mode.skip = mode.skip, True
    try:
        yield
    finally:
        mode.skip = before


def fill(tensor: Tensor, values: Any, what: str) -> Tensor:
    """Write values to a tensor; ``what`` names the function in messages."""
    if not mode.skip:
        arrays.assign(tensor._array, values)
        wrote(tensor, what)
    return tensor


_LINEAR = {
    "linear", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain that preserves the variance of a signal through a nonlinearity.

    Args:
        nonlinearity: ``"linear"``, ``"sigmoid"``, ``"tanh"``, ``"relu"``, ``"leaky_relu"``, ...
        param: the slope of leaky_relu; 0.01 unless given.

    Raises:
        ValueError: the nonlinearity is unknown, or the slope is not a number.

    Source: ``1 / sqrt(mean(f(x) ** 2))`` over N(0, 1) for relu, ``sqrt(2)``, and leaky_relu,
    ``sqrt(2 / (1 + param ** 2))``; the others are PyTorch's: 5 / 3 for tanh, 3 / 4 for selu, 1
    elsewhere.

    Example:
        >>> nn.init.calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4  # empirical, as in PyTorch
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return the fan-in and fan-out of a weight; custom layers may call it."""
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return the fan for a mode, ``"fan_in"`` or ``"fan_out"``."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value.

    Args:
        tensor: the tensor to fill; it is returned.
        val: the value.

    Raises:
        AttributeError: ``tensor`` is not a tensor.
        ValueError: ``val`` is not a number.

    Source: ``w[...] = val``.

    Example:
        >>> nn.init.constant_(tn.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    return fill(tensor, val, "constant_")


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Raises:
        AttributeError: ``tensor`` is not a tensor.

    Source: ``w[...] = 1``.

    Example:
        >>> nn.init.ones_(tn.empty(2))
        tensor([1., 1.])
    """
    return fill(tensor, 1, "ones_")


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Raises:
        AttributeError: ``tensor`` is not a tensor.

    Source: ``w[...] = 0``.

    Example:
        >>> nn.init.zeros_(tn.empty(2))
        tensor([0., 0.])
    """
    return fill(tensor, 0, "zeros_")


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity, preserving as many inputs as possible.

    Raises:
        ValueError: the tensor does not have 2 dimensions.

    Source: ``w[i, j] = 1 if i == j else 0``.

    Example:
        >>> nn.init.eye_(tn.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return fill(tensor, run_traced(np.eye, *tensor.shape), "eye_")


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution kernel with the identity, preserving as many channels as possible.

    Args:
        tensor: ``[out_channels, in_channels / groups, kernel sizes]`` of 1 to 3 dimensions.
        groups: the number of groups of the convolution; each preserves its channels.

    Raises:
        ValueError: the tensor does not have 3 to 5 dimensions, or ``groups`` does not divide the
            first.

    Source: ``w[o, c, middle] = 1 if o == c else 0`` in each group, 0 elsewhere.

    Example:
        >>> nn.init.dirac_(tn.empty(2, 2, 3))
        tensor([[[0., 1., 0.],
                 [0., 0., 0.]],
        <BLANKLINE>
                [[0., 0., 0.],
                 [0., 1., 0.]]])
    """
    shape = tensor._array.shape
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if groups <= 0:
        raise ValueError(f"The 'groups' parameter of dirac_ must be > 0. Got {groups} instead.")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(shape)
    middle = tuple(size // 2 for size in shape[2:])
    for group in np.split(values, groups):
        channels = np.arange(min(group.shape[:2]))
        group[(channels, channels, *middle)] = 1
    values.flags.writeable = False  # a constant for the tracer
    return fill(tensor, values, "dirac_")


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


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / max(sum(_calculate_fan_in_and_fan_out(tensor)), 1))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill from U(-a, a) with ``a = gain * sqrt(6 / (inputs + outputs))``.

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.

    Raises:
        ValueError: the tensor has fewer than 2 dimensions.

    Example:
        >>> w = nn.init.xavier_uniform_(tn.empty(30, 20))
        >>> bool(w.abs().max() <= (6 / (30 + 20)) ** 0.5)
        True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill from N(0, s**2) with ``s = gain * sqrt(2 / (inputs + outputs))``.

    Source and errors: see ``xavier_uniform_``.

    Example:
        >>> nn.init.xavier_normal_(tn.empty(3, 2)).shape
        tinynet.Size([3, 2])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill from U(-b, b) with ``b = gain * sqrt(3 / inputs)``.

    Args:
        tensor: ``[outputs, inputs, ...]``.
        a: the negative slope of the leaky_relu after the layer.
        mode: ``"fan_in"`` preserves the variance in the forward pass, ``"fan_out"`` in the backward
            pass.
        nonlinearity: the function after the layer; determines the gain.
        generator: source of the random numbers.

    Source: He et al., "Delving deep into rectifiers", 2015, arXiv:1502.01852.

    Raises:
        ValueError: the tensor has fewer than 2 dimensions, or the mode or nonlinearity is unknown.

    Example:
        >>> w = nn.init.kaiming_uniform_(tn.empty(4, 300))
        >>> bool(w.abs().max() <= 0.1 * 2**0.5)
        True
    """
    if _empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill from N(0, s**2) with ``s = gain / sqrt(inputs)``; otherwise as ``kaiming_uniform_``.

    Example:
        >>> nn.init.kaiming_normal_(tn.empty(3, 2), nonlinearity="relu").shape
        tinynet.Size([3, 2])
    """
    if _empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _empty(tensor: Tensor) -> bool:
    if 0 not in tensor._array.shape:
        return False
    warn("Initializing zero-element tensors is a no-op")
    return True


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill with an orthogonal matrix times ``gain``; dimensions after the first are flattened.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks", 2013, arXiv:1312.6120.

    Raises:
        ValueError: the tensor has fewer than 2 dimensions.

    Example:
        >>> w = nn.init.orthogonal_(tn.empty(2, 2, dtype=tn.float64))
        >>> bool((w @ w.t() - tn.eye(2, dtype=tn.float64)).abs().max() < 1e-12)
        True
    """
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor._array.size == 0 or mode.skip:
        return tensor
    drawn = _orthogonal(shape[0], math.prod(shape[1:]), generator)
    with no_grad():
        tensor.copy_(wrap(drawn).reshape(shape))
        return tensor.mul_(gain)


@traced
def _orthogonal(rows: int, columns: int, generator: Generator | None) -> Array:
    """Draw a matrix with orthonormal rows or columns, whichever are shorter."""
    drawn = numbers_of(generator, "orthogonal_").standard_normal((rows, columns))
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q *= np.sign(np.diagonal(r))  # makes the distribution uniform
    return q.T if rows < columns else q


def _deprecated(function: Any) -> Callable[..., Tensor]:
    name = function.__name__.removesuffix("_")

    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = name
    renamed.__doc__ = f"Deprecated: call ``{name}_``, which does the same."
    return renamed


uniform, normal, constant = map(_deprecated, (uniform_, normal_, constant_))
eye, dirac, orthogonal, sparse = map(_deprecated, (eye_, dirac_, orthogonal_, sparse_))
xavier_uniform, xavier_normal = map(_deprecated, (xavier_uniform_, xavier_normal_))
kaiming_uniform, kaiming_normal = map(_deprecated, (kaiming_uniform_, kaiming_normal_))
