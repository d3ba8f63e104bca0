"""Linear and bilinear maps; the distance and the angle between vectors."""

from __future__ import annotations

import math
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import with_options
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty

__all__ = ["Linear", "Bilinear", "Identity", "PairwiseDistance", "CosineSimilarity"]


class Linear(Module):
    """The affine map ``x @ weight.T + bias``.

    Both are initialised from U(-k, k) with ``k = 1 / sqrt(in_features)``.

    Args:
        in_features: length of the last dimension of the input.
        out_features: length of the last dimension of the output.
        bias: whether to add a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        ``[..., in_features]`` to ``[..., out_features]``.

    Attributes:
        weight: ``[out_features, in_features]``.
        bias: ``[out_features]``, or None.

    Raises:
        RuntimeError: the last dimension of the input is not ``in_features``, or the dtypes differ.

    Example:
        >>> fc = nn.Linear(20, 30)
        >>> fc(tn.zeros(128, 20)).shape
        tinynet.Size([128, 30])
    """

    weight: Parameter
    bias: Parameter | None

    _expected_shapes = ("[..., {in_features}]",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values for weight and bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))  # that is U(-k, k)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return ``input @ weight.T + bias``."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes and whether there is a bias."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """``x1 @ W[o] @ x2 + bias[o]`` for each output o.

    Weight and bias are initialised from U(-k, k) with ``k = 1 / sqrt(in1_features)``.

    Args:
        in1_features: length of the last dimension of the first input.
        in2_features: length of the last dimension of the second.
        out_features: length of the last dimension of the output.
        bias: whether to add a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        ``[..., in1_features]`` and ``[..., in2_features]`` to ``[..., out_features]``.

    Attributes:
        weight: ``[out_features, in1_features, in2_features]``.
        bias: ``[out_features]``, or None.

    Raises:
        ValueError: ``in1_features`` is not positive.
        RuntimeError: the shapes or dtypes do not match.
        IndexError: an input has no dimensions.

    Example:
        >>> both = nn.Bilinear(20, 30, 40)
        >>> both(tn.zeros(128, 20), tn.zeros(128, 30)).shape
        tinynet.Size([128, 40])
    """

    weight: Parameter
    bias: Parameter | None

    _expected_shapes = ("[..., {in1_features}]",)

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(shape, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values for weight and bias."""
        if self.in1_features <= 0:
            raise ValueError(
                f"in1_features must be > 0, but got (in1_features={self.in1_features})"
            )
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return ``x1 @ W[o] @ x2 + bias[o]`` for each output o."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes and whether there is a bias."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Identity(Module):
    """Returns its input unchanged.

    It accepts any object and raises nothing.

    Args:
        *args, **kwargs: anything, ignored.

    Shape:
        Any; the output has the same shape.

    Source: ``f(x) = x``.

    Example:
        >>> nn.Identity(54, unused=0.1)(tn.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class PairwiseDistance(Module):
    """The p-norm of ``x1 - x2 + eps`` along the last dimension.

    Args:
        p: the order of the norm.
        eps: keeps the derivative finite where the vectors are equal.
        keepdim: keep the last dimension, with length 1.

    Shape:
        Two inputs ``[batch, n]`` or ``[n]``, to ``[batch]`` or ``[]``.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Source: ``sum(|x1 - x2 + eps| ** p) ** (1 / p)``.

    Example:
        >>> nn.PairwiseDistance()(tn.tensor([[3.0, 4.0]]), tn.zeros(1, 2))
        tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


@with_options
class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension.

    Args:
        dim: the dimension of the vectors.
        eps: lower bound of the lengths.

    Shape:
        Two inputs ``[..., n, ...]``, broadcast against each other, to ``[..., ...]``.

    Raises:
        IndexError: ``dim`` is out of range.
        RuntimeError: the shapes do not broadcast, or integers in both.

    Source: ``x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))``.

    Example:
        >>> nn.CosineSimilarity()(tn.tensor([[1.0, 0.0]]), tn.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
