"""Activations: elementwise functions between layers, and the softmax family."""

from __future__ import annotations

from typing import Any

from tinynet.core.inplace import run_inplace
from tinynet.core.tensor import Tensor
from tinynet.nn.functional import activation_ops as ops
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.notice import warn
from tinynet.ops import exponential
from tinynet.ops import log_softmax as _log_softmax
from tinynet.ops import softmax as _softmax

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _run(
    op: Any, input: Tensor, inplace: bool, *attributes: Any, name: str | None = None
) -> Tensor:
    """Apply an operation, in place if asked; messages call it ``name``."""
    name = name or op.name
    tensor_only(name, input=input)
    if inplace:
        return run_inplace(op, input, attributes, {}, what=f"{name}_")
    return op.function(input, *attributes)


# ---- made of straight pieces --------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``max(x, 0)``.

    Example:
        >>> F.relu(tn.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return _run(exponential.relu, input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``negative_slope * x`` below.

    Example:
        >>> F.leaky_relu(tn.tensor([-1.0, 2.0]), 0.5)
        tensor([-0.5000,  2.0000])
    """
    return _run(ops.leaky_relu, input, inplace, negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x above 0 and ``weight * x`` below; the weight is one number or one per channel.

    Args:
        input: ``[batch, channels, ...]``, or any shape for a single weight.
        weight: ``[1]`` or ``[channels]``.

    Raises:
        RuntimeError: the weight fits neither.
    """
    tensor_only("prelu", input=input, weight=weight)
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if weight.numel() != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
        weight = weight.reshape(-1, *[1] * (input.ndim - 2))
    elif input.ndim == 0:
        weight = weight.reshape(())
    return ops.prelu.function(input, weight)


def hardtanh(
    input: Tensor,
    min_val: float = -1.0,
    max_val: float = 1.0,
    inplace: bool = False,
) -> Tensor:
    """Return x moved into ``[min_val, max_val]``.

    Raises:
        ValueError: ``min_val`` is greater than ``max_val``.
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _run(ops.hardtanh, input, inplace, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x moved into [0, 6]."""
    return _run(ops.hardtanh, input, inplace, 0.0, 6.0, name="relu6")


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x / 6 + 1 / 2`` moved into [0, 1]."""
    return _run(ops.hardsigmoid, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x times ``hardsigmoid(x)`` (Howard et al., "Searching for MobileNetV3", 2019)."""
    return _run(ops.hardswish, input, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x above the threshold and ``value`` elsewhere."""
    return _run(ops.threshold, input, inplace, threshold, value)


# ---- exponential and logistic -------------------------------------------------------------------


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``alpha * (exp(x) - 1)`` below (Clevert et al., 2015).

    Example:
        >>> F.elu(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return _run(ops.elu, input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the scaled ELU that keeps activations normalised (Klambauer et al., 2017)."""
    return _run(ops.elu, input, inplace, SELU_ALPHA, SELU_SCALE, 1.0, name="selu")


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``alpha * (exp(x / alpha) - 1)`` below (Barron, 2017)."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _run(ops.celu, input, inplace, alpha)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x times the standard normal distribution function of x (Hendrycks and Gimpel, 2016).

    Args:
        input: any shape.
        approximate: ``"tanh"`` for the usual approximation.

    Raises:
        RuntimeError: ``approximate`` is neither ``"none"`` nor ``"tanh"``.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _run(ops.gelu if approximate == "none" else ops.gelu_tanh, input, False)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x times the logistic function of x (Elfwing et al., 2017)."""
    return _run(ops.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x * tanh(softplus(x))`` (Misra, 2019)."""
    return _run(ops.mish, input, inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(beta * x)) / beta``, or x itself where ``beta * x > threshold``."""
    return _run(ops.softplus, input, False, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """Return ``x / (1 + |x|)``."""
    return input / (input.abs() + 1)


def logsigmoid(input: Tensor) -> Tensor:
    """Return the logarithm of the logistic function, exact for large negative x."""
    return _run(ops.log_sigmoid, input, False)


def sigmoid(input: Tensor) -> Tensor:
    """Return the logistic function, ``1 / (1 + exp(-x))``."""
    return _run(exponential.sigmoid, input, False)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return _run(exponential.tanh, input, False)


# ---- softmax ------------------------------------------------------------------------------------


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
