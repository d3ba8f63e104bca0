"""Initialisation: functions that fill a tensor in place and return it.

They run under ``no_grad`` and count as a write, so a backward that needs the old values says so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.generator import Generator, default_generator
from tinynet.core.inplace import wrote
from tinynet.core.modes import no_grad
from tinynet.core.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.nn.notice import warn

_LINEAR = {
    "linear", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
}  # fmt: skip

# ---- how wide -----------------------------------------------------------------------------------


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that keeps the variance of a signal through a nonlinearity.

    Args:
        nonlinearity: ``"linear"``, ``"sigmoid"``, ``"tanh"``, ``"relu"``, ``"leaky_relu"``, ...
        param: the slope of leaky_relu; 0.01 unless given.

    Raises:
        ValueError: no such nonlinearity, or the slope is no number.

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
        return 3.0 / 4  # found by trying, in PyTorch
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor: Tensor) -> tuple[int, int]:
    """Return how many inputs and how many outputs a weight connects."""
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / max(sum(_fans(tensor)), 1))


# ---- constants ----------------------------------------------------------------------------------


def _fill(tensor: Tensor, values: Any, what: str) -> Tensor:
    tensor._array[...] = values
    wrote(tensor, what)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value.

    Example:
        >>> nn.init.constant_(tn.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    return _fill(tensor, val, "constant_")


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _fill(tensor, 1, "ones_")


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _fill(tensor, 0, "zeros_")


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: as many inputs as possible come through unchanged.

    Raises:
        ValueError: the tensor has not 2 dimensions.

    Example:
        >>> nn.init.eye_(tn.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _fill(tensor, np.eye(*tensor.shape), "eye_")


# ---- plain random numbers -----------------------------------------------------------------------


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers drawn uniformly from [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers drawn from the normal distribution."""
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
    """Fill with numbers from the normal distribution, those outside [a, b] drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect."
        )
    draw = (generator or default_generator).numpy
    array = tensor._array
    drawn = _truncated(draw, array.size, mean, std, a, b).astype(array.dtype)
    return _fill(tensor, np.clip(drawn, a, b).reshape(array.shape), "trunc_normal_")


def _truncated(
    draw: np.random.Generator, count: int, mean: float, std: float, a: float, b: float
) -> Array:
    """Draw from the truncated normal distribution by rejection."""
    low, high = (0.5 * math.erf((bound - mean) / (std * math.sqrt(2))) for bound in (a, b))
    peak = (max(a, min(mean, b)) - mean) / std  # where the density in [a, b] is highest
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


# ---- by the size of the layer -------------------------------------------------------------------


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill from U(-a, a) with ``a = gain * sqrt(6 / (inputs + outputs))``.

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.

    Raises:
        ValueError: the tensor has fewer than 2 dimensions.
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill from N(0, s**2) with ``s = gain * sqrt(2 / (inputs + outputs))``.

    Source and errors: see ``xavier_uniform_``.
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
        a: the slope of the leaky_relu that follows.
        mode: ``"fan_in"`` keeps the variance of the forward, ``"fan_out"`` that of the backward.
        nonlinearity: what follows the layer; gives the gain.
        generator: where the numbers come from.

    Source: He et al., "Delving deep into rectifiers", 2015.

    Raises:
        ValueError: the tensor has fewer than 2 dimensions, or no such mode or nonlinearity.

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
    """Fill from N(0, s**2) with ``s = gain / sqrt(inputs)``; otherwise as ``kaiming_uniform_``."""
    if _empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _empty(tensor: Tensor) -> bool:
    if 0 not in tensor._array.shape:
        return False
    warn("Initializing zero-element tensors is a no-op")
    return True


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill with an orthogonal matrix (dimensions after the first are taken as one) times ``gain``.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks", 2013.

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
    if tensor._array.size == 0:
        return tensor
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = (generator or default_generator).numpy.standard_normal((rows, columns))
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q *= np.sign(np.diagonal(r))  # makes the distribution uniform
    with no_grad():
        tensor.copy_(wrap((q.T if rows < columns else q).reshape(shape)))
        return tensor.mul_(gain)
