"""Margin losses.

Composites. A target of 1 means "yes" or "similar", -1 means "no" or "dissimilar".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import (
    check_reduction,
    legacy_reduction,
    reduced,
    refuse_gradient,
    tensor_only,
)
from tinynet.nn.functional.piecewise_activation_ops import log_sigmoid
from tinynet.nn.functional.vector import pairwise_distance
from tinynet.ops.arguments import name_of, to_long
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.clamp import minimum
from tinynet.ops.pointwise.exponential import relu

__all__ = [
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "margin_ranking_loss",
    "hinge_embedding_loss",
    "cosine_embedding_loss",
    "soft_margin_loss",
    "multilabel_soft_margin_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
]


# ---- triplet ------------------------------------------------------------------------------------
# Triplet margin losses, as composites.


@composite(module=True, autocast="float32")
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


# ---- two answers, 1 and -1 ----------------------------------------------------------------------


@composite(module=True, autocast="float32")
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, margin - y * (x1 - x2))``: rank x1 higher where y is 1, lower at -1.

    Args:
        input1, input2: scores, of one number of dimensions.
        target: 1 or -1.
        margin: the required difference.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: the inputs differ in the number of dimensions.

    Example:
        >>> F.margin_ranking_loss(tn.tensor([2.0]), tn.tensor([1.5]), tn.tensor([1.0]), margin=1)
        tensor(0.5000)
    """
    tensor_only("margin_ranking_loss", input1=input1, input2=input2, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    loss: Any = -target * (input1 - input2) + margin
    return reduced(loss.clamp_min(0), reduction)


@composite(module=True, autocast="float32")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the distance x where y is 1, and ``max(0, margin - x)`` where it is -1.

    Args:
        input: distances.
        target: 1 or -1.
        margin: the required distance of dissimilar pairs.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> F.hinge_embedding_loss(tn.tensor([0.25, 0.25]), tn.tensor([1.0, -1.0]))
        tensor(0.5000)
    """
    tensor_only("hinge_embedding_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    apart = (margin - input).clamp_min(0)
    loss: Any = where.function(target != 1, apart, 0.0) + where.function(target != -1, input, 0.0)
    return reduced(loss, reduction)


@composite(module=True, autocast="float32")
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``1 - cos`` of two vectors where y is 1, and ``max(0, cos - margin)`` where it is -1.

    Args:
        input1, input2: vectors, ``[batch, n]`` or ``[n]``.
        target: 1 or -1, ``[batch]`` or ``[]``.
        margin: the largest cosine of dissimilar vectors without loss.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: the numbers of dimensions do not match.

    Example:
        >>> x, y = tn.tensor([[1.0, 0.0]]), tn.tensor([[1.0, 1.0]])
        >>> F.cosine_embedding_loss(x, y, tn.tensor([-1.0]))
        tensor(0.7071)
    """
    tensor_only("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    dims = target.ndim + 1
    if input1.ndim != dims or input2.ndim != dims:
        raise RuntimeError(
            f"{dims - 1}D target tensor expects {dims}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    tiny = 1e-12
    one, other = ((x * x).sum(-1) + tiny for x in (input1, input2))
    cosine: Any = (input1 * input2).sum(-1) / (one * other).sqrt()
    alike = where.function(target == 1, 1 - cosine, 0.0)
    loss = alike + where.function(target == -1, (cosine - margin).clamp_min(0), 0.0)
    return reduced(loss, reduction)


@composite(module=True, autocast="float32")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``log(1 + exp(-y * x))``, without overflow.

    Args:
        input: scores; the result has their dtype.
        target: 1 or -1.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: the shapes do not broadcast, the scores have an integer dtype, or the target
            requires grad.

    Example:
        >>> F.soft_margin_loss(tn.tensor([0.0]), tn.tensor([1.0]))
        tensor(0.6931)
    """
    tensor_only("soft_margin_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input._array.dtype.kind in "iu":
        raise errors.cannot_cast("Float", name_of(input._array))
    refuse_gradient("soft_margin_loss", target=target)
    return reduced(-log_sigmoid.function(input * target), reduction).to(input.dtype)


# ---- classes ------------------------------------------------------------------------------------


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over the classes of the binary cross-entropy.

    ``-y * log(s) - (1 - y) * log(1 - s)`` for each class, with ``s = 1 / (1 + exp(-x))``.

    Args:
        input: logits, ``[..., classes]``.
        target: 0 or 1 for each class.
        weight: a weight for each class.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"`` over the batch.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> F.multilabel_soft_margin_loss(tn.zeros(1, 2), tn.tensor([[1.0, 0.0]]))
        tensor(0.6931)
    """
    tensor_only("multilabel_soft_margin_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    yes, no = log_sigmoid.function(input), log_sigmoid.function(-input)
    loss: Any = -(target * yes + (1 - target) * no)
    loss = loss if weight is None else loss * weight
    return reduced(loss.sum(-1) / input.shape[-1], reduction)


@composite(module=True, autocast="float32")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over the wrong classes j of ``max(0, margin - x[y] + x[j]) ** p``.

    Args:
        input: scores, ``[batch, classes]`` or ``[classes]``.
        target: the correct classes, ``[batch]`` or ``[]``.
        p: 1 or 2.
        margin: the required lead of the correct class.
        weight: a weight for each correct class, ``[classes]``.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: ``p`` is neither 1 nor 2; the weight is not a vector.
        RuntimeError: shapes or dtypes do not match, or a target class is out of range.

    Example:
        >>> F.multi_margin_loss(tn.tensor([[0.5, 1.0]]), tn.tensor([1]))
        tensor(0.2500)
    """
    tensor_only("multi_margin_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    _check_scores(input)
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    batch, classes = rows.shape
    if target.numel() != batch or target.ndim > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{batch}], but got {list(target.shape)}. "
            f"Input has shape {list(input.shape)}."
        )
    factors = None if weight is None else _class_weights(weight, input, classes)
    _check_class_numbers(target, 0, classes, "target out of range")
    single = target.ndim == 0
    target = target.reshape(-1)
    right = target.unsqueeze(1)
    lack: Any = relu.function(margin - rows.gather(1, right) + rows)
    lack = lack * lack if p == 2 else lack
    if factors is not None:
        lack = lack * factors[target].unsqueeze(1)
    loss = lack.scatter(1, right, 0.0).sum(1) / classes
    return reduced(loss[0] if single else loss, reduction)


@composite(module=True, autocast="float32")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the sum of ``max(0, 1 - (x[y] - x[j]))`` over correct classes y and wrong ones j.

    It is divided by the number of classes.

    Args:
        input: scores, ``[batch, classes]`` or ``[classes]``.
        target: the correct classes, int64 of the same shape, up to the first -1.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: the shapes do not match, or a target class is out of range.

    Example:
        >>> F.multilabel_margin_loss(tn.tensor([0.1, 0.2, 0.4, 0.8]), tn.tensor([3, 0, -1, 1]))
        tensor(0.8500)
    """
    tensor_only("multilabel_margin_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    _check_scores(input)
    if target.shape != input.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    batch, classes = rows.shape
    _check_class_numbers(target, -1, classes, "argument #2 'target' is out of range")
    numbers, counted = _listed(target._array.reshape(batch, classes))
    right = rows.gather(1, wrap(numbers)).unsqueeze(2)
    lack: Any = relu.function(1 - right + rows.unsqueeze(1))  # [batch, right, all]
    loss = where.function(wrap(counted), lack, 0.0).sum((1, 2)) / classes
    return reduced(loss if input.ndim == 2 else loss[0], reduction)


def _listed(target: Array) -> tuple[Array, Array]:
    """Return the correct classes ``[batch, most]``, and which ``[batch, correct, wrong]`` count."""
    listed = np.logical_and.accumulate(target >= 0, axis=1)  # up to the first -1
    most = int(listed.sum(axis=1).max(initial=0))
    listed, numbers = listed[:, :most], np.where(listed, target, 0)[:, :most]
    wrong = np.ones(target.shape, bool)
    wrong[np.nonzero(listed)[0], numbers[listed]] = False
    return numbers, listed[:, :, None] & wrong[:, None, :]


def _check_scores(input: Tensor) -> None:
    if input.ndim > 2 or (input.ndim and input.shape[-1] == 0):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )


def _check_class_numbers(target: Tensor, first: int, classes: int, complaint: str) -> None:
    if target._array.dtype != np.int64:
        sentence = f"expected scalar type Long but found {name_of(target._array)}"
        raise RuntimeError(errors.with_fix(sentence, to_long("target")))
    _refuse_outside(target._array, first, classes, complaint)


@traced
def _refuse_outside(numbers: Array, first: int, classes: int, complaint: str) -> None:
    if numbers.size and (numbers.min() < first or numbers.max() >= classes):
        raise RuntimeError(complaint)


def _class_weights(weight: Tensor, input: Tensor, classes: int) -> Tensor:
    if weight.numel() != classes:
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    if weight.dtype != input.dtype:
        kinds = [name_of(t._array) for t in (input, weight)]
        raise RuntimeError(f"expected scalar type {kinds[0]} but found {kinds[1]}")
    return weight
