"""The softmax family: positive numbers with sum 1 along a dimension, and samples of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops import log_softmax as _log_softmax
from tinynet.ops import softmax as _softmax
from tinynet.ops.argument_errors import name_of
from tinynet.random import default_generator

__all__ = ["softmax", "log_softmax", "softmin", "gumbel_softmax"]


def _implicit_dim(name: str, input: Tensor) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument."
    )
    return 0 if input.ndim in (0, 1, 3) else 1


def softmax(
    input: Tensor,
    dim: int | None = None,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return ``exp(x)`` divided by its sum along a dimension.

    ``exp(x) / sum(exp(x))``.

    Args:
        input: any shape.
        dim: the dimension along which the result sums to 1. Leaving it out is deprecated.
        dtype: the dtype to compute in.

    Example:
        >>> F.softmax(tn.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    dim = _implicit_dim("softmax", input) if dim is None else dim
    return _softmax(input, dim, dtype=dtype)


def log_softmax(
    input: Tensor,
    dim: int | None = None,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return the logarithm of ``softmax``, computed without loss of precision.

    Args:
        input: any shape.
        dim: the dimension along which the exponentials sum to 1. Leaving it out is deprecated.
        dtype: the dtype to compute in.

    Example:
        >>> F.log_softmax(tn.zeros(2), dim=0)
        tensor([-0.6931, -0.6931])
    """
    dim = _implicit_dim("log_softmax", input) if dim is None else dim
    return _log_softmax(input, dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Return the softmax of the negated input; the arguments are those of ``softmax``.

    Example:
        >>> F.softmin(tn.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    tensor_only("softmin", input=input)
    dim = _implicit_dim("softmin", input) if dim is None else dim
    return _softmax(-input, dim, dtype=dtype)


@traced
def _gumbel(shape: tuple[int, ...], kind: Any) -> Array:
    return np.asarray(default_generator.numpy.gumbel(size=shape), kind)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, *, dim: int = -1) -> Tensor:
    """Return a sample from the Gumbel-softmax distribution: a relaxed one-hot sample.

    The logits plus Gumbel noise, divided by the temperature, go through softmax (Jang et al.,
    "Categorical reparameterization with Gumbel-softmax", 2017). Random numbers come from the
    default generator.

    Args:
        logits: unnormalised logarithms of probabilities, any shape.
        tau: the temperature; samples approach one-hot as it approaches 0.
        hard: return one-hot vectors with the gradient of the relaxed samples.
        dim: the dimension along which to sample.

    Raises:
        RuntimeError: the logits are not floating-point.

    Example:
        >>> F.gumbel_softmax(tn.zeros(2, 3), hard=True).sum(dim=1)
        tensor([1., 1.])
    """
    tensor_only("gumbel_softmax", logits=logits)
    array = logits._array
    if not dtypes.is_floating(array.dtype):
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {name_of(array)}"
        )
    noise = wrap(_gumbel(array.shape, array.dtype))
    soft = _softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    chosen = soft.argmax(dim, keepdim=True)
    return soft.detach().mul(0.0).scatter_(dim, chosen, 1.0) - soft.detach() + soft
