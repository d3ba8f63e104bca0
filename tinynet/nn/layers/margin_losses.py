"""Margin losses; see ``nn.functional`` for the formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.layers.declaration import complete, with_options
from tinynet.nn.layers.linear import PairwiseDistance
from tinynet.nn.layers.losses import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


# ---- two answers, 1 and -1 ----------------------------------------------------------------------


@with_options
class MarginRankingLoss(_Loss):
    """``max(0, margin - y * (x1 - x2))``: rank x1 higher where y is 1, lower where it is -1.

    Args:
        margin: the required difference.

    Shape:
        Two scores and a target of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        RuntimeError: scores and target differ in the number of dimensions, or do not broadcast.
        ValueError: ``reduction`` is unknown.

    Example:
        >>> loss = nn.MarginRankingLoss(margin=1.0)
        >>> loss(tn.tensor([2.0]), tn.tensor([1.5]), tn.tensor([1.0]))
        tensor(0.5000)
    """

    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


@with_options
class HingeEmbeddingLoss(_Loss):
    """The distance x where y is 1, and ``max(0, margin - x)`` where it is -1.

    Args:
        margin: the required distance of dissimilar pairs.

    Shape:
        Distances and targets of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        RuntimeError: the shapes do not broadcast.
        ValueError: ``reduction`` is unknown.

    Example:
        >>> nn.HingeEmbeddingLoss()(tn.tensor([0.25, 0.25]), tn.tensor([1.0, -1.0]))
        tensor(0.5000)
    """

    margin: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


@with_options
class CosineEmbeddingLoss(_Loss):
    """``1 - cos`` of two vectors where y is 1, and ``max(0, cos - margin)`` where it is -1.

    Args:
        margin: the largest cosine of dissimilar vectors without loss, from -1 to 1.

    Shape:
        Vectors ``[batch, n]`` and targets ``[batch]`` (or ``[n]`` and ``[]``), to a scalar (or
        ``[batch]`` for ``"none"``).

    Raises:
        RuntimeError: the target has two dimensions, or the vectors do not match it or do not
            broadcast.
        ValueError: ``reduction`` is unknown.

    Example:
        >>> x, y = tn.tensor([[1.0, 0.0]]), tn.tensor([[1.0, 1.0]])
        >>> nn.CosineEmbeddingLoss()(x, y, tn.tensor([-1.0]))
        tensor(0.7071)
    """

    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-y * x))`` for scores x and targets y of 1 or -1.

    Shape:
        Scores and targets of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        RuntimeError: the shapes do not broadcast, or the scores have an integer dtype.
        ValueError: ``reduction`` is unknown.

    Example:
        >>> nn.SoftMarginLoss()(tn.tensor([0.0]), tn.tensor([1.0]))
        tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


# ---- classes ------------------------------------------------------------------------------------


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over the classes of the binary cross-entropy.

    Shape:
        Logits and targets (0 or 1) ``[batch, classes]``, to a scalar (or ``[batch]`` for
        ``"none"``).

    Raises:
        RuntimeError: the shapes do not broadcast.
        NotImplementedError: the logits have an integer dtype.
        ValueError: ``reduction`` is unknown.

    Source: ``mean(log(1 + exp(x)) - x * y)`` for logits x and targets y.

    Example:
        >>> nn.MultiLabelSoftMarginLoss()(tn.zeros(1, 2), tn.tensor([[1.0, 0.0]]))
        tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The mean over the wrong classes j of ``max(0, margin - x[y] + x[j]) ** p``.

    Args:
        p: 1 or 2.
        margin: the required lead of the correct class.
        weight: a weight for each correct class.

    Shape:
        Scores ``[batch, classes]`` and correct classes ``[batch]`` (int64), or ``[classes]`` and
        ``[]``, to a scalar (or ``[batch]`` for ``"none"``).

    Raises:
        ValueError: ``p`` is neither 1 nor 2, the weight is not a vector, or ``reduction`` is
            unknown.
        RuntimeError: the batch sizes or the weight do not match, or a class is not int64 or out of
            range.

    Example:
        >>> nn.MultiMarginLoss()(tn.tensor([[0.5, 1.0]]), tn.tensor([1]))
        tensor(0.2500)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D "
                "instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """The sum of ``max(0, 1 - (x[y] - x[j]))`` over correct classes y and wrong ones j.

    It is divided by the number of classes.

    Shape:
        Scores ``[batch, classes]`` and correct classes (int64) of the same shape, up to the first
        -1; or both ``[classes]``; to a scalar (or ``[batch]`` for ``"none"``).

    Raises:
        RuntimeError: the shape of the target differs, it is not int64, or a class is out of range.
        ValueError: ``reduction`` is unknown.

    Example:
        >>> nn.MultiLabelMarginLoss()(tn.tensor([[0.1, 0.2, 0.4, 0.8]]), tn.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


# ---- triplets -----------------------------------------------------------------------------------


class TripletMarginLoss(_Loss):
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))`` for p-norm distances d.

    Args:
        margin: the required difference of the two distances.
        p: the order of the norm.
        eps: keeps the derivative finite where vectors are equal.
        swap: take ``d(positive, negative)`` where it is the smaller one (Balntas et al., "Learning
            local feature descriptors with triplets and shallow convolutional neural networks",
            2016).

    Shape:
        Three inputs ``[batch, n]`` or ``[n]``, to a scalar (or ``[batch]`` for ``"none"``).

    Raises:
        ValueError: the margin is not positive, or ``reduction`` is unknown.
        RuntimeError: the inputs differ in the number of dimensions or do not broadcast.

    Example:
        >>> nn.TripletMarginLoss()(*(tn.tensor([[v]]) for v in (0.0, 1.0, 1.5)))
        tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        _check_margin("TripletMarginLoss", margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        options: Any = {"eps": self.eps, "swap": self.swap, "reduction": self.reduction}
        return F.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, **options)


class TripletMarginWithDistanceLoss(_Loss):
    """``TripletMarginLoss`` with a custom distance.

    Args:
        distance_function: a function or module of two tensors. ``PairwiseDistance()`` unless given.
        margin, swap, reduction: see ``TripletMarginLoss``.

    Shape:
        The input shapes of the distance, to a scalar (or the shape of its result for ``"none"``).

    Raises:
        ValueError: the margin is not positive, or ``reduction`` is unknown.
        RuntimeError: the inputs differ in the number of dimensions or do not broadcast.

    Source: ``max(0, margin + d(anchor, positive) - d(anchor, negative))``.

    Example:
        >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs())
        >>> loss(*(tn.tensor([v]) for v in (0.0, 1.0, 1.5)))
        tensor(0.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ):
        super().__init__(reduction=reduction)
        _check_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function = distance_function or PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")


complete(__name__)
