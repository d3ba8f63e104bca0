"""Adaptive softmax for many classes, most of them rare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.layers.container import ModuleList, Sequential
from tinynet.nn.layers.linear import Linear
from tinynet.ops import cat

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class ASMoutput(NamedTuple):
    """The result of ``AdaptiveLogSoftmaxWithLoss``."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probability of a target class; frequent classes must have low indices.

    Classes below ``cutoffs[0]`` are the shortlist. The other classes form clusters, from one cutoff
    to the next. The head is a softmax over the shortlist and the clusters. Each cluster has a tail,
    a softmax over its classes behind a projection to ``in_features / div_value ** i`` features::

        log p(class) = log head[cluster] + log tail[class]

    A batch only computes the tails of the clusters that its targets are in.

    Args:
        in_features: length of the input vectors.
        n_classes: number of classes.
        cutoffs: the first class of each cluster, in increasing order.
        div_value: the factor by which the features shrink from cluster to cluster.
        head_bias: whether the head has a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        Input ``[batch, in_features]`` and target ``[batch]`` (int64) to ``(output, loss)``:
        log-probabilities ``[batch]`` and minus their mean. The batch dimension is optional.

    Attributes:
        head: the Linear for the shortlist and the clusters.
        tail: per cluster a Sequential of two Linears.

    Raises:
        ValueError: the cutoffs are not increasing, or not between 1 and ``n_classes - 1``.
        RuntimeError: shapes or dtypes do not match, or a target class is out of range (in the
            call).

    Source: Grave et al., "Efficient softmax approximation for GPUs", 2017, arXiv:1609.04309.

    Example:
        >>> asm = nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
        >>> asm(tn.zeros(3, 16), tn.tensor([0, 7, 19])).output.shape
        tinynet.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        cutoffs = _checked(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            features = int(in_features // div_value ** (i + 1))
            projection = Linear(in_features, features, False, device, dtype)
            self.tail.append(
                Sequential(projection, Linear(features, end - first, False, device, dtype))
            )

    def reset_parameters(self) -> None:
        """Draw new weights."""
        for linear in self.modules():
            if isinstance(linear, Linear):
                linear.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> ASMoutput:
        """Return the log-probabilities of the targets, and minus their mean."""
        input, target = input_, target_
        _check_shapes(input, target)
        if target.ndim == 0:
            output, loss = self(input.unsqueeze(0), target.unsqueeze(0))
            return ASMoutput(output.squeeze(0), loss)
        if target.numel() and not ((target >= 0) & (target < self.n_classes)).all():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        column = target  # of the head: the class itself, or its cluster
        output = input.new_zeros(target.shape)
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= first) & (target < end)).nonzero().squeeze(1)
            if rows.numel():
                column = column.index_fill(0, rows, self.shortlist_size + i)
                tail = F.log_softmax(self.tail[i](input[rows]), dim=1)
                found = tail.gather(1, (target[rows] - first).unsqueeze(1)).squeeze(1)
                output = output.index_add(0, rows, found)
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        return ASMoutput(output, (-output).mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log-probabilities of all classes, ``[batch, n_classes]``.

        Example:
            >>> asm = nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
            >>> asm.log_prob(tn.zeros(3, 16)).exp().sum(dim=1).allclose(tn.ones(3))
            True
        """
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return cat(parts, dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable classes, ``[batch]``.

        A tail is computed only for inputs whose most probable head entry is its cluster.
        """
        best = self.head(input).argmax(dim=1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel():
            best[rows] = self.log_prob(input[rows]).argmax(dim=1)
        return best


def _checked(cutoffs: Sequence[int], classes: int) -> list[int]:
    """Return the cutoffs as a list, or raise ValueError."""
    found = list(cutoffs)
    if not found:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    ordered = found == sorted(set(found)) and all(int(c) == c for c in found)
    if not ordered or found[0] <= 0 or found[-1] > classes - 1:
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )
    return found


def _check_shapes(input: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input.shape[:1] != target.shape:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with size {input.shape}"
        )
