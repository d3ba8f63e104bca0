"""Smooth activations; see ``nn.functional`` for the formulas."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import complete, options_repr, with_options

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


# ---- family -------------------------------------------------------------------------------------
# The base classes of activations.


class _Activation(Module):
    """Base class of activations.

    Args:
        inplace: overwrite the input.

    Shape:
        Any; the output has the same shape.

    Raises:
        NotImplementedError: the input has an integer dtype.
    """

    _options: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        """Return the options; ``inplace`` only if it is set."""
        shown = options_repr(self)
        return shown.removesuffix("inplace=False").removesuffix(", ")


@with_options
class _InPlace(_Activation):
    """Base class of activations whose only option is ``inplace``."""

    inplace: bool = False


# ---- exponential and logistic -------------------------------------------------------------------


@with_options
class ELU(_Activation):
    """x above 0 and ``alpha * (exp(x) - 1)`` below.

    Args:
        alpha: the limit for large negative x is ``-alpha``.

    Source: Clevert et al., "Fast and accurate deep network learning by exponential linear units
    (ELUs)", 2015, arXiv:1511.07289.

    Example:
        >>> nn.ELU()(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """x above 0 and ``alpha * (exp(x / alpha) - 1)`` below.

    Args:
        alpha: the limit for large negative x is ``-alpha``.

    Raises:
        NotImplementedError: the input has an integer dtype.
        RuntimeError: ``alpha`` is 0.

    Source: Barron, "Continuously differentiable exponential linear units", 2017, arXiv:1704.07483.

    Example:
        >>> nn.CELU()(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_InPlace):
    """The scaled ELU, which keeps activations normalised.

    ``1.0507 * x`` above 0 and ``1.0507 * 1.6733 * (exp(x) - 1)`` below (constants rounded).

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, arXiv:1706.02515.

    Example:
        >>> nn.SELU()(tn.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


@with_options
class GELU(_Activation):
    """x times the standard normal distribution function of x.

    ``x * (1 + erf(x / sqrt(2))) / 2``, or with ``approximate="tanh"``
    ``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2``.

    Args:
        approximate: ``"tanh"`` for the usual approximation.

    Raises:
        NotImplementedError: the input has an integer dtype.
        RuntimeError: ``approximate`` is neither ``"none"`` nor ``"tanh"``.

    Source: Hendrycks and Gimpel, "Gaussian error linear units (GELUs)", 2016, arXiv:1606.08415.

    Example:
        >>> nn.GELU()(tn.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """

    approximate: str = "none"

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class SiLU(_InPlace):
    """x times the logistic function of x.

    ``x / (1 + exp(-x))``.

    Source: Elfwing et al., "Sigmoid-weighted linear units for neural network function
    approximation in reinforcement learning", 2017, arXiv:1702.03118.

    Example:
        >>> nn.SiLU()(tn.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """``x * tanh(softplus(x))``.

    Source: Misra, "Mish: a self regularized non-monotonic activation function", 2019,
    arXiv:1908.08681.

    Example:
        >>> nn.Mish()(tn.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Sigmoid(_Activation):
    """The logistic function, ``1 / (1 + exp(-x))``.

    Raises:
        TypeError: the input is not a tensor; any shape and dtype is accepted.

    Example:
        >>> nn.Sigmoid()(tn.tensor([0.0]))
        tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(_Activation):
    """The hyperbolic tangent.

    ``tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x))``.

    Raises:
        TypeError: the input is not a tensor; any shape and dtype is accepted.

    Example:
        >>> nn.Tanh()(tn.tensor([0.0]))
        tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


@with_options
class Softplus(_Activation):
    """``log(1 + exp(beta * x)) / beta``, or x itself where ``beta * x > threshold``.

    Args:
        beta: the sharpness of the bend at 0.
        threshold: where ``beta * x`` exceeds this, return x to avoid overflow.

    Example:
        >>> nn.Softplus()(tn.tensor([-1.0, 30.0]))
        tensor([ 0.3133, 30.0000])
    """

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Softsign(_Activation):
    """``x / (1 + |x|)``.

    Raises:
        NotImplementedError: the input is bool.

    Example:
        >>> nn.Softsign()(tn.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class LogSigmoid(_Activation):
    """The logarithm of the logistic function, exact for large negative x.

    ``-log(1 + exp(-x))``.

    Example:
        >>> nn.LogSigmoid()(tn.tensor([-100.0, 0.0]))
        tensor([-100.0000,   -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Tanhshrink(_Activation):
    """``x - tanh(x)``.

    Raises:
        RuntimeError: the input is bool.

    Example:
        >>> nn.Tanhshrink()(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


@with_options
class GLU(_Activation):
    """The first half of the input times the logistic function of the second half.

    Args:
        dim: the dimension to halve.

    Shape:
        ``[..., 2n, ...]`` to ``[..., n, ...]``.

    Raises:
        RuntimeError: the dimension has an odd length.
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017,
    arXiv:1612.08083.

    Example:
        >>> nn.GLU()(tn.tensor([3.0, 0.0]))
        tensor([1.5000])
    """

    dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        """Return the gated half."""
        return F.glu(input, self.dim)


# ---- softmax ------------------------------------------------------------------------------------
# The softmax family as modules: positive numbers with sum 1 along a dimension.


@with_options
class Softmax(_Activation):
    """The exponentials divided by their sum along a dimension: positive, with sum 1.

    ``exp(x) / sum(exp(x))``.

    Args:
        dim: the dimension along which the result sums to 1. Leaving it out is deprecated.

    Raises:
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.Softmax(dim=0)(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(Softmax):
    """The logarithm of softmax, computed without loss of precision.

    ``x - log(sum(exp(x)))``.

    Args:
        dim: the dimension along which the exponentials sum to 1. Leaving it out is deprecated.

    Raises:
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.LogSoftmax(dim=0)(tn.zeros(2))
        tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmin(Softmax):
    """The softmax of the negated input.

    Args:
        dim: the dimension along which the result sums to 1. Leaving it out is deprecated.

    Raises:
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Source: ``exp(-x) / sum(exp(-x))``.

    Example:
        >>> nn.Softmin(dim=0)(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(_Activation):
    """Softmax over the channels at each pixel of an image.

    Shape:
        ``[batch, channels, height, width]`` or ``[channels, height, width]``; the output has the
        same shape.

    Raises:
        ValueError: the input has the wrong number of dimensions.
        NotImplementedError: the input has an integer dtype.

    Source: ``exp(x) / sum(exp(x))``, summed over the channels.

    Example:
        >>> nn.Softmax2d()(tn.zeros(2, 1, 3)).tolist()
        [[[0.5, 0.5, 0.5]], [[0.5, 0.5, 0.5]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


complete(__name__)
