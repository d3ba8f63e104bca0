"""The last layer of a classifier fused with its loss."""

from __future__ import annotations

import math
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.functional.losses.linear_cross_entropy import LinearCrossEntropyOptions
from tinynet.nn.layers.docstrings import complete
from tinynet.nn.layers.linear import Linear
from tinynet.nn.layers.losses.loss import _Loss

__all__ = ["LinearCrossEntropyLoss"]


class LinearCrossEntropyLoss(_Loss):
    """The cross-entropy between a target and the logits of an internal ``Linear``.

    Args:
        in_features: length of the input vectors.
        num_classes: number of classes.
        out_features: lengths of further output dimensions; each position has its own target.
        bias: whether the Linear has a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.
        weight: a weight for each class.
        ignore_index: a target class to ignore; -100 unless given.
        label_smoothing: the fraction of each target to spread evenly over all classes.
        options: see ``linear_cross_entropy``.

    Shape:
        Input ``[batch, in_features]``, target classes ``[batch, *out_features]`` (int64) or
        probabilities ``[batch, num_classes, *out_features]``, to a scalar (or
        ``[batch, *out_features]`` for ``"none"``). Without ``out_features`` also without ``batch``.

    Attributes:
        linear: ``[in_features]`` to ``[num_classes * prod(out_features)]``.

    Raises:
        RuntimeError: the input or the weight has the wrong length, dtypes differ, or the smoothing
            is not in [0, 1].
        IndexError: a target class is out of range.
        ValueError: batch sizes differ, or ``reduction`` is unknown.

    Source: ``log(sum(exp(W x))) - (W x)[y]`` for input x and class y.

    Example:
        >>> loss = nn.LinearCrossEntropyLoss(20, 10)
        >>> loss(tn.zeros(3, 20), tn.tensor([1, 2, 3]))
        tensor(2.3026, grad_fn=<NllLossBackward0>)
    """

    weight: Tensor | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ):
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """Return the sizes and options."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


complete(__name__)
