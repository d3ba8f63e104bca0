"""Activations based on the exponential and the logistic function."""

from __future__ import annotations

from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.activation import gelu_ops
from tinynet.nn.functional.activation import piecewise_ops as ops
from tinynet.nn.functional.activation.piecewise import applied
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.out_dtypes import FOUND, FOUND_SCALAR_TYPE
from tinynet.ops.pointwise import exponential
from tinynet.ops.shaping.views import axis_of

__all__ = [
    "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "tanhshrink", "softsign",
    "logsigmoid", "sigmoid", "tanh", "glu"
]  # fmt: skip

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


@with_out(FOUND)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x times the standard normal distribution function of x (Hendrycks and Gimpel, 2016).

    Args:
        input: any shape.
        approximate: ``"tanh"`` for the usual approximation.

    Raises:
        RuntimeError: ``approximate`` is neither ``"none"`` nor ``"tanh"``.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.gelu(tn.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
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


@with_out(FOUND)
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


@with_out(FOUND_SCALAR_TYPE)
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
