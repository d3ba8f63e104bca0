"""Piecewise linear activations; see ``nn.functional`` for the formulas."""

from __future__ import annotations

from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.init import constant_
from tinynet.nn.layers.declaration import complete, with_options
from tinynet.nn.layers.smooth_activation import _Activation, _InPlace
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import full

__all__ = [
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Softshrink",
    "Threshold",
]


class ReLU(_InPlace):
    """``max(x, 0)``.

    Raises:
        RuntimeError: the input is bool.

    Source: Nair and Hinton, "Rectified linear units improve restricted Boltzmann machines", 2010.

    Example:
        >>> nn.ReLU()(tn.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


@with_options
class LeakyReLU(_Activation):
    """x above 0 and ``negative_slope * x`` below.

    Args:
        negative_slope: the slope below 0.

    Source: Maas et al., "Rectifier nonlinearities improve neural network acoustic models", 2013.

    Example:
        >>> nn.LeakyReLU(0.5)(tn.tensor([-1.0, 2.0]))
        tensor([-0.5000,  2.0000])
    """

    negative_slope: float = 0.01
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU(_Activation):
    """x above 0 and ``weight * x`` below, with a learned weight.

    Args:
        num_parameters: 1, or the number of channels (dimension 1 of the input).
        init: the initial value of the weight.
        device: must be the CPU.
        dtype: dtype of the weight; the default dtype unless given.

    Shape:
        ``[batch, num_parameters, ...]``, or any shape for a single weight; the output has the same
        shape.

    Attributes:
        weight: ``[num_parameters]``.

    Raises:
        RuntimeError: there are several weights, but not one per channel of the input.

    Source: He et al., "Delving deep into rectifiers: surpassing human-level performance on
    ImageNet classification", 2015, arXiv:1502.01852.

    Example:
        >>> nn.PReLU()(tn.tensor([-1.0, 2.0]))
        tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    _options = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ):
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), float(init), dtype=dtype, device=device))

    def reset_parameters(self) -> None:
        """Set the weight to its initial value."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class Hardtanh(_Activation):
    """x clamped to ``[min_val, max_val]``.

    Args:
        min_val: the lower bound.
        max_val: the upper bound.

    Raises:
        AssertionError: ``min_val`` is greater than ``max_val``.
        RuntimeError: the input is bool.

    Source: ``min(max(x, min_val), max_val)``.

    Example:
        >>> nn.Hardtanh(-2, 2)(tn.tensor([-3.0, 1.0]))
        tensor([-2.,  1.])
    """

    _options: tuple[str, ...] = ("min_val", "max_val", "inplace")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):
        super().__init__()
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """x clamped to [0, 6].

    Raises:
        RuntimeError: the input is bool.

    Source: ``min(max(x, 0), 6)``; Krizhevsky, "Convolutional deep belief networks on CIFAR-10",
    2010.

    Example:
        >>> nn.ReLU6()(tn.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """

    _options = ("inplace",)

    def __init__(self, inplace: bool = False):
        super().__init__(0.0, 6.0, inplace)


class Hardsigmoid(_InPlace):
    """``x / 6 + 1 / 2`` clamped to [0, 1].

    Source: ``min(max(x + 3, 0), 6) / 6``.

    Example:
        >>> nn.Hardsigmoid()(tn.tensor([-4.0, 0.0, 4.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """

    _options = ()  # repr shows none, as in PyTorch

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_InPlace):
    """x times ``hardsigmoid(x)``: ``x * min(max(x + 3, 0), 6) / 6``.

    Source: Howard et al., "Searching for MobileNetV3", 2019, arXiv:1905.02244.

    Example:
        >>> nn.Hardswish()(tn.tensor([-4.0, 0.0, 4.0]))
        tensor([-0., 0., 4.])
    """

    _options = ()  # repr shows none, as in PyTorch

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


@with_options
class Threshold(_Activation):
    """x above the threshold and ``value`` elsewhere.

    Args:
        threshold: x up to this threshold is replaced.
        value: the replacement.

    Raises:
        TypeError: the input is not a tensor; any shape and dtype is accepted.

    Source: ``x if x > threshold else value``.

    Example:
        >>> nn.Threshold(0.1, 20)(tn.tensor([0.0, 1.0]))
        tensor([20.,  1.])
    """

    threshold: float
    value: float
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


@with_options
class RReLU(_Activation):
    """x above 0 and a random slope times x below, drawn for each element in training.

    In evaluation mode the slope is the mean of the bounds.

    Args:
        lower, upper: the slopes are drawn from U(lower, upper).

    Raises:
        NotImplementedError: the input has an integer dtype.
        RuntimeError: ``lower`` is above ``upper``.

    Source: Xu et al., "Empirical evaluation of rectified activations in convolutional network",
    2015, arXiv:1505.00853.

    Example:
        >>> nn.RReLU(0.2, 0.4).eval()(tn.tensor([-1.0, 2.0]))
        tensor([-0.3000,  2.0000])
    """

    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


@with_options
class Hardshrink(_Activation):
    """x outside ``[-lambd, lambd]`` and 0 inside.

    Args:
        lambd: the largest absolute value that becomes 0.

    Source: ``x if |x| > lambd else 0``.

    Example:
        >>> nn.Hardshrink()(tn.tensor([-1.0, 0.2]))
        tensor([-1.,  0.])
    """

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return lambd."""
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """x shrunk towards 0 by ``lambd``; 0 where ``|x| <= lambd``.

    Args:
        lambd: the amount to shrink by; not negative.

    Raises:
        NotImplementedError: the input has an integer dtype.
        RuntimeError: ``lambd`` is negative.

    Source: ``sign(x) * max(|x| - lambd, 0)``.

    Example:
        >>> nn.Softshrink()(tn.tensor([-1.0, 0.2]))
        tensor([-0.5000,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


complete(__name__)
