"""Smooth activations: SiLU, softplus, softmax and others; and the activations in place."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite
from tinynet.core.declaration.out_argument import written
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional import gelu_ops
from tinynet.nn.functional import piecewise_activation as straight
from tinynet.nn.functional import piecewise_activation_ops as ops
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.piecewise_activation import applied
from tinynet.ops import log_softmax as _log_softmax
from tinynet.ops import softmax as _softmax
from tinynet.ops.arguments import FOUND, FOUND_SCALAR_TYPE, name_of
from tinynet.ops.pointwise import exponential
from tinynet.ops.shaping.views import axis_of
from tinynet.random import default_generator

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardtanh_",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "relu_",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold_",
]


# ---- smooth -------------------------------------------------------------------------------------
# Activations based on the exponential and the logistic function.


SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946

# ---- exponential and logistic -------------------------------------------------------------------


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``alpha * (exp(x) - 1)`` below (Clevert et al., 2015).

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.elu(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return applied(ops.elu, input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the scaled ELU, which keeps activations normalised (Klambauer et al., 2017).

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.selu(tn.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return applied(ops.elu, input, inplace, SELU_ALPHA, SELU_SCALE, 1.0, name="selu")


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``alpha * (exp(x / alpha) - 1)`` below (Barron, 2017).

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.celu(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return applied(ops.celu, input, inplace, alpha)


def gelu(input: Tensor, approximate: str = "none", *, out: Tensor | None = None) -> Tensor:
    """Return x times the standard normal distribution function of x (Hendrycks and Gimpel, 2016).

    Args:
        input: any shape.
        approximate: ``"tanh"`` for the usual approximation.
        out: the tensor to write the result to.

    Raises:
        RuntimeError: ``approximate`` is neither ``"none"`` nor ``"tanh"``.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.gelu(tn.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    if out is not None:
        return cast(Tensor, written(gelu, (input, approximate), {}, out, FOUND))
    return applied(gelu_ops.gelu if approximate == "none" else gelu_ops.gelu_tanh, input, False)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x times the logistic function of x (Elfwing et al., 2017).

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.silu(tn.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """
    return applied(ops.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x * tanh(softplus(x))`` (Misra, 2019).

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.mish(tn.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """
    return applied(ops.mish, input, inplace)


@composite(module=True, out=FOUND)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(beta * x)) / beta``, or x itself where ``beta * x > threshold``.

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.softplus(tn.tensor([-1.0, 30.0]))
        tensor([ 0.3133, 30.0000])
    """
    return applied(ops.softplus, input, False, beta, threshold)


def tanhshrink(input: Tensor) -> Tensor:
    """Return ``x - tanh(x)``.

    Accepts any shape; integers give a floating-point result.

    Example:
        >>> F.tanhshrink(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """
    tensor_only("tanhshrink", input=input)
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """Return ``x / (1 + |x|)``.

    Accepts any shape; integers give a floating-point result.

    Example:
        >>> F.softsign(tn.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@composite(module=True, out=FOUND_SCALAR_TYPE)
def logsigmoid(input: Tensor) -> Tensor:
    """Return the logarithm of the logistic function, exact for large negative x.

    ``-log(1 + exp(-x))``.

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.logsigmoid(tn.tensor([-100.0, 0.0]))
        tensor([-100.0000,   -0.6931])
    """
    return applied(ops.log_sigmoid, input, False)


def sigmoid(input: Tensor) -> Tensor:
    """Return the logistic function, ``1 / (1 + exp(-x))``.

    Accepts any shape; integers give a floating-point result.

    Example:
        >>> F.sigmoid(tn.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """
    return applied(exponential.sigmoid, input, False)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    Accepts any shape; integers give a floating-point result.

    ``(exp(x) - exp(-x)) / (exp(x) + exp(-x))``.

    Example:
        >>> F.tanh(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return applied(exponential.tanh, input, False)


# ---- gated --------------------------------------------------------------------------------------


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return one half of the input times the logistic function of the other half.

    Args:
        input: of even length along ``dim``.
        dim: the dimension to halve.

    Raises:
        RuntimeError: the length is odd.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Example:
        >>> F.glu(tn.tensor([3.0, 0.0]))
        tensor([1.5000])
    """
    tensor_only("glu", input=input)
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return ops.glu.function(input, axis_of(dim, input.ndim))


# ---- softmaxes ----------------------------------------------------------------------------------
# The softmax family: positive numbers with sum 1 along a dimension, and samples of them.


def _implicit_dim(name: str, input: Tensor) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument."
    )
    return 0 if input.ndim in (0, 1, 3) else 1


def softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
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
    _stacklevel: int = 3,
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


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
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


# ---- in place -----------------------------------------------------------------------------------


def relu_(input: Tensor) -> Tensor:
    """Write ``relu`` of the input to the input and return it."""
    return straight.relu(input, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Write ``leaky_relu`` of the input to the input and return it."""
    return straight.leaky_relu(input, negative_slope, inplace=True)


def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """Write ``rrelu`` of the input to the input and return it."""
    return straight.rrelu(input, lower, upper, training, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Write ``threshold`` of the input to the input and return it."""
    return straight.threshold(input, threshold, value, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Write ``hardtanh`` of the input to the input and return it."""
    return straight.hardtanh(input, min_val, max_val, inplace=True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Write ``elu`` of the input to the input and return it."""
    return elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    """Write ``selu`` of the input to the input and return it."""
    return selu(input, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Write ``celu`` of the input to the input and return it."""
    return celu(input, alpha, inplace=True)
