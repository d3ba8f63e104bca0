"""Triplet margin losses, as composites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.declaration.casting import autocast
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import check_reduction, legacy_reduction, reduced, tensor_only
from tinynet.nn.functional.vector import pairwise_distance
from tinynet.ops.pointwise.clamp import minimum

__all__ = ["triplet_margin_loss", "triplet_margin_with_distance_loss"]


@autocast("float32")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, margin + d(anchor, positive) - d(anchor, negative))`` for p-norm distances.

    Args:
        anchor, positive, negative: vectors, ``[batch, n]`` or ``[n]``.
        margin: the required difference of the two distances.
        p, eps: see ``pairwise_distance``.
        swap: take ``d(positive, negative)`` where it is the smaller one (Balntas et al., "Learning
            local feature descriptors with triplets and shallow convolutional neural networks",
            2016).
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: the margin is not positive.
        RuntimeError: the inputs differ in the number of dimensions.

    Example:
        >>> x, y, z = (tn.tensor([[v]]) for v in (0.0, 1.0, 1.5))
        >>> F.triplet_margin_loss(x, y, z)
        tensor(0.5000)
    """

    reduction = legacy_reduction(size_average, reduce, reduction)

    def distance(one: Tensor, other: Tensor) -> Tensor:
        return pairwise_distance(one, other, p, eps)

    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=distance,
        margin=margin,
        swap=swap,
        reduction=reduction,
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return ``triplet_margin_loss`` with a custom distance.

    Args:
        anchor, positive, negative: inputs of the distance.
        distance_function: a function of two tensors; ``pairwise_distance`` unless given.
        margin, swap, reduction: see ``triplet_margin_loss``.

    Example:
        >>> x, y, z = (tn.tensor([v]) for v in (0.0, 1.0, 1.5))
        >>> def distance(a, b):
        ...     return (a - b).abs()
        >>> F.triplet_margin_with_distance_loss(x, y, z, distance_function=distance)
        tensor(0.5000)
    """
    tensor_only("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum.function(far, distance(positive, negative))
    loss: Any = (margin + near - far).clamp_min(0)
    return reduced(loss, reduction)
