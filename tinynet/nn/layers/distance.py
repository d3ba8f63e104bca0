"""Distance and angle between vectors."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import with_options

__all__ = ["PairwiseDistance", "CosineSimilarity"]


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
