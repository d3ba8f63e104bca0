"""Losses of regression and of independent probabilities."""

from __future__ import annotations

from typing import Any

from tinynet import dtypes, errors
from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import (
    REDUCTIONS,
    check_reduction,
    legacy_reduction,
    reduced,
    tensor_only,
    warn_of_broadcasting,
)
from tinynet.nn.functional.losses.loss_ops import (
    binary_entropy,
    entropy_of_logits,
    huber_error,
    smooth_error,
    squared_error,
)
from tinynet.nn.functional.piecewise_activation_ops import log_sigmoid
from tinynet.ops.arguments import name_of, refuse_kinds
from tinynet.ops.pointwise.exponential import exp
from tinynet.ops.pointwise.logarithms import xlogy

__all__ = [
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div"
]  # fmt: skip

# ---- differences --------------------------------------------------------------------------------


def _together(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return input and target in one dtype."""
    if input._array.dtype == target._array.dtype:
        return input, target
    kind = dtypes.from_numpy(dtypes.result_type((input._array, target._array)))
    return input.to(kind), target.to(kind)


def _weighted_mean(loss: Any, weight: Tensor | None, reduction: str) -> Tensor:
    """Reduce a loss; with weights, the mean is divided by their sum."""
    if weight is None:
        return reduced(loss, reduction)
    if weight._array.shape != loss._array.shape:
        raise ValueError("Inputs and weight must have the same size.")
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return reduced(loss, reduction)


@composite(module=True, autocast="float32")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the squared difference.

    ``(x - y) ** 2``.

    Args:
        input, target: of one shape.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: a weight for each element; the mean is divided by their sum.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> F.mse_loss(tn.tensor([1.0, 3.0]), tn.zeros(2))
        tensor(5.)
    """
    tensor_only("mse_loss", input=input, target=target)
    warn_of_broadcasting(input, target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input._array.dtype != target._array.dtype:
        input, target = _together(input, target)
    if weight is None:
        return squared_error.function(input, target, reduction)
    return _weighted_mean(squared_error.function(input, target, "none"), weight, reduction)


@composite(module=True, autocast="float32")
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the absolute difference; the arguments are those of ``mse_loss``.

    ``abs(x - y)``.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> F.l1_loss(tn.tensor([1.0, 3.0]), tn.zeros(2))
        tensor(2.)
    """
    tensor_only("l1_loss", input=input, target=target)
    warn_of_broadcasting(input, target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _weighted_mean((input - target).abs(), weight, reduction)


@composite(module=True, autocast="float32")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return ``d * d / (2 * beta)`` where the difference d is below beta, else ``d - beta / 2``.

    Args:
        input, target: of one shape.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        beta: the difference where the loss changes from quadratic to linear (Girshick, "Fast
            R-CNN", 2015).

    Raises:
        RuntimeError: ``beta`` is negative.

    Example:
        >>> F.smooth_l1_loss(tn.tensor([0.5, 3.0]), tn.zeros(2), reduction="none")
        tensor([0.1250, 2.5000])
    """
    tensor_only("smooth_l1_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    warn_of_broadcasting(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return smooth_error.function(*_together(input, target), reduction, beta)


@composite(module=True, autocast="float32")
def huber_loss(
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return ``d * d / 2`` where the difference d is below delta, else ``delta * (d - delta / 2)``.

    Args:
        input, target: of one shape; the result has the dtype of the input.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        delta: the difference where the loss changes from quadratic to linear (Huber, 1964).
        weight: a weight for each element.

    Raises:
        RuntimeError: ``delta`` is not positive; the input has an integer dtype.

    Example:
        >>> F.huber_loss(tn.tensor([0.0, 3.0]), tn.tensor([0.5, 0.0]), reduction="none")
        tensor([0.1250, 2.5000])
    """
    tensor_only("huber_loss", input=input, target=target)
    warn_of_broadcasting(input, target)
    check_reduction(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    kind = input.dtype
    input, target = _together(input, target)
    if not kind.is_floating_point and target.dtype.is_floating_point:
        raise errors.cannot_cast(name_of(target._array), kind.scalar_name)
    if weight is None:
        return huber_error.function(input, target, reduction, delta).to(kind)
    return reduced(huber_error.function(input, target, "none", delta).to(kind) * weight, reduction)


# ---- probabilities ------------------------------------------------------------------------------


@composite(module=True, autocast="float32")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``-y log(x) - (1 - y) log(1 - x)`` for probabilities x and targets y.

    Args:
        input: probabilities, from 0 to 1.
        target: of the same shape.
        weight: a weight for each element, broadcast.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: an input is outside [0, 1], or the dtypes differ.
        ValueError: the shapes differ.

    Example:
        >>> F.binary_cross_entropy(tn.tensor([0.5]), tn.tensor([1.0]))
        tensor(0.6931)
    """
    tensor_only("binary_cross_entropy", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        sentence = (
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
        raise ValueError(_same_size(sentence, input, target))
    if target.dtype != input.dtype:
        kinds = [name_of(t._array) for t in (target, input)]
        sentence = f"Found dtype {kinds[0]} but expected {kinds[1]}"
        raise RuntimeError(errors.with_fix(sentence, f"`target = target.to({input.dtype})`"))
    _check_probabilities(input._array)
    if weight is None:
        return binary_entropy.function(input, target, reduction)
    return reduced(binary_entropy.function(input, target, "none") * weight, reduction)


def _same_size(sentence: str, input: Tensor, target: Tensor) -> str:
    """Add how to give one of two tensors the shape of the other, if one dimension of 1 differs."""
    for name, x, other in (("input", input, target), ("target", target, input)):
        for d in range(x.ndim):
            if x.shape[d] == 1 and [*x.shape[:d], *x.shape[d + 1 :]] == [*other.shape]:
                fix = f"`{name}.squeeze({d})` removes the dimension of length 1"
                return errors.with_fix(sentence, fix)
    return sentence


@traced
def _check_probabilities(x: Array) -> None:
    if not ((x >= 0) & (x <= 1)).all():
        raise RuntimeError("all elements of input should be between 0 and 1")


@composite(module=True, autocast="float32")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the binary cross-entropy of ``sigmoid(input)``, without overflow or cancellation.

    ``max(x, 0) - x * y + log(1 + exp(-|x|))`` for logits x and targets y.

    Args:
        input: logits.
        target: from 0 to 1, of the same shape.
        weight: a weight for each element, broadcast.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: a factor for the positive term, broadcast.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> F.binary_cross_entropy_with_logits(tn.tensor([0.0]), tn.tensor([1.0]))
        tensor(0.6931)
    """
    tensor_only("binary_cross_entropy_with_logits", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        sentence = f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        raise ValueError(_same_size(sentence, input, target))
    rest = 1 - target
    if not target.is_floating_point():
        kinds = [name_of(t._array) for t in (input, target)]
        sentence = f"result type {kinds[0]} can't be cast to the desired output type {kinds[1]}"
        raise RuntimeError(errors.with_fix(sentence, f"`target = target.to({input.dtype})`"))
    refuse_kinds("log_sigmoid", "biu", input._array)
    if pos_weight is None and input._array.dtype == target._array.dtype:
        if weight is None:
            return entropy_of_logits.function(input, target, reduction)
        return reduced(entropy_of_logits.function(input, target, "none") * weight, reduction)
    against: Any = rest * input
    logs = log_sigmoid.function(input)
    if pos_weight is not None:
        logs = logs * ((pos_weight - 1) * target + 1)
    loss = (against - logs).to(target.dtype)
    return reduced(loss if weight is None else loss * weight, reduction)


@composite(module=True, autocast="float32")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the Kullback-Leibler divergence, ``y * (log y - x)``, for log-probabilities x.

    Args:
        input: log-probabilities.
        target: probabilities y, or their logarithms (``log_target``); 0 counts as its limit.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"batchmean"`` (the divergence itself: the sum over all divided by the length of
            the first dimension), ``"mean"``, ``"sum"`` or ``"none"``.
        log_target: whether the target is given as logarithms.

    Raises:
        RuntimeError: the shapes do not broadcast; an argument has an integer dtype.

    Example:
        >>> F.kl_div(tn.tensor([[0.5, 0.5]]).log(), tn.tensor([[1.0, 0.0]]), reduction="batchmean")
        tensor(0.6931)
    """
    tensor_only("kl_div", input=input, target=target)
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release."
        )
    reduction = legacy_reduction(size_average, reduce, reduction, (*REDUCTIONS, "batchmean"))
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        loss = exp.function(target) * (target - input)
    else:
        loss = xlogy.function(target, target) - target * input
    if reduction == "batchmean":
        total = reduced(loss, "sum")
        return total / input.shape[0] if input.ndim else total
    return reduced(loss, reduction)
