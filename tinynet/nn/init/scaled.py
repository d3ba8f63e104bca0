"""Initialisation by the size of the layer: Xavier, Kaiming, orthogonal."""

from __future__ import annotations

import math

import numpy as np

from tinynet.core.callsite import warn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.init.fan import (
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    calculate_gain,
)
from tinynet.nn.init.fill import mode
from tinynet.nn.init.random import normal_, uniform_
from tinynet.random import Generator, numbers_of

__all__ = [
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_"
]  # fmt: skip


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
