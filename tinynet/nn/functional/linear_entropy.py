"""The cross-entropy of an affine map: the last layer of a classifier and its loss in one."""

from __future__ import annotations

import math

from tinynet.core.tensor import Tensor
from tinynet.nn.functional.affine import linear
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.classification import cross_entropy


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: None = None,
) -> Tensor:
    """Return ``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: ``[batch, features]`` or ``[features]``.
        linear_weight: ``[classes, features]``, or ``[classes, ..., features]`` for a loss at each
            of ``...`` places.
        target: class indices, ``[batch, ...]``; or class probabilities, ``[batch, classes, ...]``.
        linear_bias: ``[classes, ...]``, or None.
        weight, reduction, label_smoothing: see ``cross_entropy``.
        ignore_index: a class index that does not count; -100 unless given.
        options: only None: the logits of a batch are always computed at once.

    Raises:
        RuntimeError: shapes do not fit.

    Example:
        >>> F.linear_cross_entropy(tn.ones(2, 3), tn.zeros(4, 3), tn.tensor([0, 3]))
        tensor(1.3863)
    """
    tensor_only("linear_cross_entropy", input=input, linear_weight=linear_weight, target=target)
    if options is not None:
        raise NotImplementedError(
            "The 'options' parameter of linear_cross_entropy must be None. Got "
            f"{options!r} instead."
        )
    _check_shapes(input, linear_weight, linear_bias)
    classes, *places = linear_weight.shape[:-1]
    shape = (*input.shape[:-1], classes, *places)
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if places:
        rows = classes * math.prod(places)
        linear_weight = linear_weight.reshape(rows, -1)
        linear_bias = None if linear_bias is None else linear_bias.reshape(rows)
    return cross_entropy(
        linear(input, linear_weight, linear_bias).reshape(shape),
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _check_shapes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.ndim}"
        )
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}"
        )
    if weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {input.shape[0]}), got unbatched input with shape "
            f"{tuple(input.shape)}"
        )
