"""Losses as modules; see ``nn.functional`` for formulas and arguments."""

from __future__ import annotations

from typing import ClassVar

from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.functional.checks import REDUCTIONS, legacy_reduction
from tinynet.nn.layers.declaration import complete, with_options

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "NLLLoss2d",
    "SmoothL1Loss",
]


class _Loss(Module):
    """Base class of losses.

    Args:
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    _reductions: ClassVar[tuple[str, ...]] = REDUCTIONS

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__()
        self.reduction = legacy_reduction(size_average, reduce, reduction, self._reductions)


class _WeightedLoss(_Loss):
    """Base class of losses with a weight, which is a buffer.

    Args:
        weight: a weight for each class.
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


# ---- regression ---------------------------------------------------------------------------------


class MSELoss(_Loss):
    """``loss = (x - y) ** 2``: the squared difference between output x and target y.

    Shape:
        Output and target of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast.
        NotImplementedError: output and target have an integer dtype.

    Example:
        >>> nn.MSELoss()(tn.tensor([1.0, 3.0]), tn.zeros(2))
        tensor(5.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """``|x - y|``: the absolute difference between output x and target y.

    Shape:
        Output and target of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast, or ``reduction="mean"`` with integers.

    Example:
        >>> nn.L1Loss()(tn.tensor([1.0, 3.0]), tn.zeros(2))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


@with_options
class SmoothL1Loss(_Loss):
    """The squared difference for small differences, the absolute difference for large ones.

    ``d * d / (2 * beta)`` where the difference d is below beta, else ``d - beta / 2``.

    Args:
        beta: the difference where the loss changes from quadratic to linear.

    Shape:
        Output and target of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast, or ``beta`` is negative.

    Source: Girshick, "Fast R-CNN", 2015, arXiv:1504.08083.

    Example:
        >>> nn.SmoothL1Loss()(tn.tensor([0.5, 3.0]), tn.zeros(2))
        tensor(1.3125)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    beta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """The squared difference if it is small, else ``delta`` times the absolute difference.

    ``d * d / 2`` where the difference d is below delta, else ``delta * (d - delta / 2)``.

    Args:
        delta: the difference where the loss changes from quadratic to linear.

    Shape:
        Output and target of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast, or ``delta`` is not positive.
        TypeError: ``delta`` is not a number.

    Source: Huber, "Robust estimation of a location parameter", 1964.

    Example:
        >>> nn.HuberLoss(delta=2.0)(tn.tensor([0.5, 3.0]), tn.zeros(2))
        tensor(2.0625)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


# ---- classification -----------------------------------------------------------------------------


@with_options
class CrossEntropyLoss(_WeightedLoss):
    """The cross-entropy between logits and a target class (or class probabilities).

    For logits x and class y it is ``log(sum(exp(x))) - x[y]``; for class probabilities, the mean of
    this over the classes, weighted by them. With class weights, ``"mean"`` divides by the sum of
    the weights of the targets.

    Args:
        ignore_index: a target class to ignore.
        label_smoothing: the fraction of each target to spread evenly over all classes.

    Shape:
        Logits ``[batch, classes, ...]``, target classes ``[batch, ...]`` (int64) or probabilities
        of the shape of the logits, to a scalar (or ``[batch, ...]`` for ``"none"``).

    Raises:
        IndexError: a target class is out of range.
        ValueError: batch sizes differ, or ``reduction`` is unknown.
        RuntimeError: class indices are neither int64 nor uint8, the weight has the wrong length, or
            the smoothing is not in [0, 1].
        NotImplementedError: the logits have an integer dtype.

    Source: for the smoothing, Szegedy et al., "Rethinking the Inception architecture for computer
    vision", 2015, arXiv:1512.00567.

    Example:
        >>> nn.CrossEntropyLoss()(tn.zeros(3, 10), tn.tensor([1, 2, 3]))
        tensor(2.3026)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"
    label_smoothing: float = 0.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


@with_options
class NLLLoss(_WeightedLoss):
    """The negative log-likelihood of a target class, for log-probabilities.

    For log-probabilities x and class y it is ``-weight[y] * x[y]``; ``"mean"`` divides by the sum
    of the weights of the targets.

    Args:
        ignore_index: a target class to ignore.

    Shape:
        Log-probabilities ``[batch, classes, ...]``, target classes ``[batch, ...]`` (int64), to a
        scalar (or ``[batch, ...]`` for ``"none"``).

    Raises:
        IndexError: a target class is out of range.
        ValueError: batch sizes differ, or ``reduction`` is unknown.
        RuntimeError: class indices are neither int64 nor uint8, or the weight has the wrong length.

    Example:
        >>> nn.NLLLoss()(tn.tensor([[-0.5, -1.0]]), tn.tensor([1]))
        tensor(1.)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


# ---- probabilities ------------------------------------------------------------------------------


class BCELoss(_WeightedLoss):
    """The binary cross-entropy for probabilities.

    For a probability x and a target y from 0 to 1 it is ``-y log(x) - (1 - y) log(1 - x)``, with
    logarithms clamped to at least -100.

    Args:
        weight: a weight for each element, broadcast.

    Shape:
        Probabilities and targets of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        RuntimeError: the input is not between 0 and 1, or the dtypes of input and target differ.
        ValueError: input and target differ in shape, or ``reduction`` is unknown.

    Example:
        >>> nn.BCELoss()(tn.tensor([0.5]), tn.tensor([1.0]))
        tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The binary cross-entropy for logits, without overflow or cancellation.

    For a logit x and a target y from 0 to 1 it is ``log(1 + exp(x)) - x * y``.

    Args:
        weight: a weight for each element, broadcast.
        pos_weight: a factor for positive targets, broadcast: above 1 for recall, below for
            precision.

    Shape:
        Logits and targets of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: input and target differ in shape, or ``reduction`` is unknown.
        RuntimeError: the targets have an integer dtype, or the weights do not broadcast.
        NotImplementedError: the logits have an integer dtype.

    Example:
        >>> nn.BCEWithLogitsLoss()(tn.tensor([0.0]), tn.tensor([1.0]))
        tensor(0.6931)
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class NLLLoss2d(NLLLoss):
    """Deprecated alias of ``NLLLoss``.

    Args:
        weight: a weight for each class.
        size_average, reduce: deprecated; they override ``reduction``.
        ignore_index: a target class to ignore.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Shape:
        As ``NLLLoss``.

    Raises:
        IndexError, ValueError, RuntimeError: as ``NLLLoss``.

    Source: https://docs.pytorch.org/docs/stable/nn.html, where it is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     loss = nn.NLLLoss2d()
        >>> loss(tn.full((1, 2, 1, 1), -0.5), tn.tensor([[[1]]]))
        tensor(0.5000)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in "
            "replacement and see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more "
            "details.",
            FutureWarning,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


complete(__name__)
