"""Dropout."""

from __future__ import annotations

import numpy as np

from tinynet.core.generator import default_generator
from tinynet.core.tensor import Tensor, wrap
from tinynet.nn.functional.checks import tensor_only


def check_probability(p: float) -> None:
    """Raise ValueError unless ``0 <= p <= 1``."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the input with each element set to zero with probability ``p`` (Hinton et al., 2012).

    The others are divided by ``1 - p``, which keeps the expected value. The draw is from the
    default generator. Outside training the input itself is returned.

    Args:
        input: any shape.
        p: probability of zero.
        training: whether to do anything.
        inplace: write to the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Example:
        >>> F.dropout(tn.ones(2), p=1.0)
        tensor([0., 0.])
    """
    check_probability(p)
    tensor_only("dropout", input=input)
    if not training or p == 0.0 or not input._array.size:
        return input
    if input._array.dtype.kind != "f":
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.scalar_name}"
        )
    array = input._array
    kept = default_generator.numpy.random(array.shape, dtype=np.float32) >= p
    noise = wrap(kept * array.dtype.type(0.0 if p == 1.0 else 1.0 / (1.0 - p)))
    return input.mul_(noise) if inplace else input * noise
