"""Initialisation with constants and identities."""

from __future__ import annotations

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import run_traced
from tinynet.nn.init.fill import fill

__all__ = ["constant_", "ones_", "zeros_", "eye_", "dirac_"]


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
