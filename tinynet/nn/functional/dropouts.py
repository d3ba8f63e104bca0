"""Dropout of elements and of channels, and alpha dropout.

All noise is drawn from the default generator.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import tensor_only
from tinynet.random import default_generator

__all__ = [
    "dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"
]  # fmt: skip

_SELU_FLOOR = -1.7580993408473766  # the limit of SELU for large negative x, -scale * alpha


def check_probability(p: float) -> None:
    """Raise ValueError unless ``0 <= p <= 1``."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@traced
def dropout_factors(shape: tuple[int, ...], p: float, kind: Any) -> Array:
    """Return factors of the dtype ``kind``: 0 with probability ``p``, and ``1 / (1 - p)`` else."""
    kept = default_generator.numpy.random(shape, dtype=np.float32) >= p
    factors: Array = kept * kind.type(0.0 if p == 1.0 else 1.0 / (1.0 - p))
    return factors


@traced
def _alpha_noise(shape: tuple[int, ...], p: float, kind: Any) -> tuple[Array, Array]:
    """Return factors of the elements, 0 with probability ``p``, and what is added to them."""
    kept = default_generator.numpy.random(shape, dtype=np.float32) >= p
    scale = 1.0 / math.sqrt((_SELU_FLOOR**2 * p + 1.0) * (1.0 - p))
    floor = _SELU_FLOOR * scale  # a dropped element, before all are shifted by -floor * p
    return kept * kind.type(scale), np.where(kept, -floor * p, floor * (1.0 - p)).astype(kind)


def _dropped(
    name: str,
    input: Tensor,
    p: float,
    training: bool,
    inplace: bool,
    *,
    channels: bool = False,
    alpha: bool = False,
) -> Tensor:
    """Return the input times noise, plus, for ``alpha``, more noise.

    Args:
        channels: drop whole channels, the second dimension.
        alpha: set elements to the lower limit of SELU instead of zero, preserving mean and
            deviation.
    """
    check_probability(p)
    tensor_only(name, input=input)
    array = input._array
    if not training or p == 0.0 or not array.size:
        return input
    if channels and array.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if not dtypes.is_floating(array.dtype):
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.scalar_name}"
        )
    shape = array.shape[:2] + (1,) * (array.ndim - 2) if channels else array.shape
    if p == 1.0 or not alpha:
        noise = wrap(dropout_factors(shape, p, array.dtype))
        return input.mul_(noise) if inplace else input * noise
    noise, offset = map(wrap, _alpha_noise(shape, p, array.dtype))
    return input.mul_(noise).add_(offset) if inplace else input * noise + offset


# ---- of elements --------------------------------------------------------------------------------


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the input with each element set to zero with probability ``p`` (Hinton et al., 2012).

    The others are divided by ``1 - p``, which keeps the expected value. Outside training, the input
    itself is returned.

    Args:
        input: any shape.
        p: probability of zeroing.
        training: whether to drop anything; otherwise the input is returned.
        inplace: overwrite the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Example:
        >>> F.dropout(tn.ones(2), p=1.0)
        tensor([0., 0.])
    """
    return _dropped("dropout", input, p, training, inplace)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return the input with elements set to SELU's lower limit, preserving mean 0 and deviation 1.

    The other elements become ``a * x + b`` (Klambauer et al., 2017).

    Args:
        input: any shape.
        p: probability of dropping an element.
        training: whether to drop anything; otherwise the input is returned.
        inplace: overwrite the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Example:
        >>> bool(F.alpha_dropout(tn.randn(10000), 0.2, training=True).std().round() == 1)
        True
    """
    return _dropped("alpha_dropout", input, p, training, inplace, alpha=True)


# ---- of channels --------------------------------------------------------------------------------


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Apply ``alpha_dropout`` to whole channels.

    The other channels become ``a * x + b``; see ``alpha_dropout``.

    Args:
        input: ``[batch, channels, ...]``.
        p: probability of dropping a channel.
        training: whether to drop anything; otherwise the input is returned.
        inplace: overwrite the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: fewer than 2 dimensions.

    Example:
        >>> F.feature_alpha_dropout(tn.ones(1, 2, 3), p=1.0, training=True).sum()
        tensor(0.)
    """
    return _dropped("feature_alpha_dropout", input, p, training, inplace, channels=True, alpha=True)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return the input with each channel set to zero with probability ``p``.

    The others are divided by ``1 - p`` (Tompson et al., 2015).

    Args:
        input: ``[batch, channels, length]`` or ``[channels, length]``.
        p: probability of zeroing.
        training: whether to drop anything; otherwise the input is returned.
        inplace: overwrite the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: the input has neither 2 nor 3 dimensions.

    Example:
        >>> F.dropout1d(tn.ones(1, 2, 3), p=1.0).sum()
        tensor(0.)
    """
    check_probability(p)
    tensor_only("dropout1d", input=input)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _of_channels("dropout1d", input, p, training, inplace, batched=input.ndim == 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return the input with each channel set to zero with probability ``p``.

    The others are divided by ``1 - p`` (Tompson et al., 2015).

    Args:
        input: ``[batch, channels, height, width]``. As in PyTorch, three dimensions are interpreted
            as ``[batch, channels, length]``, with a warning.
        p: probability of zeroing.
        training: whether to drop anything; otherwise the input is returned.
        inplace: overwrite the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Example:
        >>> F.dropout2d(tn.ones(1, 2, 3, 3), p=1.0).sum()
        tensor(0.)
    """
    check_probability(p)
    tensor_only("dropout2d", input=input)
    if input.ndim not in (3, 4):
        _warn_of_dimensions("dropout2d", input.ndim, 2, "3D or 4D")
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead."
        )
    return _of_channels("dropout2d", input, p, training, inplace, batched=True)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return the input with each channel set to zero with probability ``p``.

    The others are divided by ``1 - p`` (Tompson et al., 2015).

    Args:
        input: ``[batch, channels, depth, height, width]``, or the same without batch.
        p: probability of zeroing.
        training: whether to drop anything; otherwise the input is returned.
        inplace: overwrite the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Example:
        >>> F.dropout3d(tn.ones(1, 2, 3, 3, 3), p=1.0).sum()
        tensor(0.)
    """
    check_probability(p)
    tensor_only("dropout3d", input=input)
    if input.ndim not in (4, 5):
        _warn_of_dimensions("dropout3d", input.ndim, 3, "4D or 5D")
    return _of_channels("dropout3d", input, p, training, inplace, batched=input.ndim == 5)


def _warn_of_dimensions(name: str, given: int, places: int, expected: str) -> None:
    warn(
        f"{name}: Received a {given}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To retain the behavior and silence this warning, please use "
        f"dropout instead. Note that {name} exists to provide channel-wise dropout on inputs with "
        f"{places} spatial dimensions, a channel dimension, and an optional batch dimension "
        f"(i.e. {expected} inputs)."
    )


def _of_channels(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, batched: bool
) -> Tensor:
    """Drop channels; without a batch, the channels are the first dimension."""
    if batched:
        return _dropped(name, input, p, training, inplace, channels=True)
    input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    dropped = _dropped(name, input, p, training, inplace, channels=True)
    return dropped.squeeze_(0) if inplace else dropped.squeeze(0)
