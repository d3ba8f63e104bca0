"""The cross-entropy of an affine map: the last layer of a classifier and its loss in one."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
import re
import warnings

from tinynet import dtypes
from tinynet.autograd.checkpoint import checkpoint
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.affine import linear
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.losses.classification import cross_entropy, weight_of_targets
from tinynet.ops.shaping.joining import cat

__all__ = ["linear_cross_entropy"]


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """Options with which ``linear_cross_entropy`` saves memory by processing chunks of rows.

    The logits of all rows are never in memory at once; the backward recomputes them.

    Args:
        allow_retain_graph: accepted; backward may always run twice.
        batch_chunk_size: number of rows at a time.
        chunking_method: how to choose that number. ``"aspect_ratio"``: the number of rows (up to
            the next power of 2) whose logits take as much memory as the input;
            ``"aspect_ratio:n"``: an n-th of that; ``"auto"``: ``batch_chunk_size`` if given, else
            half as much memory as the input, and for float16 and bfloat16 as much; None:
            ``batch_chunk_size``, or all rows.
        acc_policy: ``"auto"``, ``"accurate"``, ``"balanced"`` or ``"compact"``: accepted.
        acc_dtype: a floating-point dtype for the loss of the logits, and its sum; unless given,
            float32 for float16 and bfloat16, else the dtype of the input.

    Raises:
        ValueError: an option has an invalid value.

    Source: https://docs.pytorch.org/docs/stable/nn.html.

    Example:
        >>> nn.LinearCrossEntropyOptions(batch_chunk_size=2).chunking_method
        'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a value that PyTorch does not know."""
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method, rows = self.chunking_method, self.batch_chunk_size
        if method not in (None, "auto") and not re.fullmatch(
            "aspect_ratio(:0*[1-9][0-9]*)?", str(method)
        ):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if rows is not None and not (isinstance(rows, int) and rows > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {rows!r}")
        if self.acc_dtype is not None and not self.acc_dtype.is_floating_point:
            raise ValueError(
                "acc_dtype must be one of {None, tinynet.float16, tinynet.bfloat16, "
                f"tinynet.float32, tinynet.float64}}, got {self.acc_dtype!r}"
            )

    def rows(self, batch: int, features: int, classes: int, dtype: dtypes.dtype) -> int:
        """Return the number of rows per chunk.

        Raises:
            ValueError: ``batch_chunk_size`` and ``chunking_method`` give different numbers.
        """
        given, method = self.batch_chunk_size, self.chunking_method
        if method == "auto":
            half = dtype in (dtypes.float16, dtypes.bfloat16)
            method = None if given else "aspect_ratio" if half else "aspect_ratio:2"
        if method is None:
            return min(given or batch, batch)
        even = math.ceil(batch / math.ceil(classes / features))
        found = min((1 << (even - 1).bit_length()) // int(method.partition(":")[2] or 1), batch)
        if given not in (None, found):
            raise ValueError(
                f"batch_chunk_size (={given}) and chunking_method ('{method}') give different "
                f"chunk sizes ({given} vs {found}); pass only one."
            )
        return max(1, found)

    def kind(self, dtype: dtypes.dtype) -> dtypes.dtype:
        """Return the dtype in which the loss is computed from logits."""
        half = dtype in (dtypes.float16, dtypes.bfloat16)
        return self.acc_dtype or (dtypes.float32 if half else dtype)


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
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """Return ``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: ``[batch, features]`` or ``[features]``.
        linear_weight: ``[classes, features]``, or ``[classes, ..., features]`` for a loss at each
            position of ``...``.
        target: class indices, ``[batch, ...]``; or class probabilities, ``[batch, classes, ...]``.
        linear_bias: ``[classes, ...]``, or None.
        weight, reduction, label_smoothing: see ``cross_entropy``.
        ignore_index: a class index to ignore; -100 unless given.
        options: how to save memory with chunks of rows. Ignored with a warning for class
            probabilities, smoothed labels and losses at several positions.

    Raises:
        RuntimeError: the shapes do not match.
        ValueError: ``options`` give contradictory chunk sizes.

    Example:
        >>> F.linear_cross_entropy(tn.ones(2, 3), tn.zeros(4, 3), tn.tensor([0, 3]))
        tensor(1.3863)
    """
    tensor_only("linear_cross_entropy", input=input, linear_weight=linear_weight, target=target)
    _check_shapes(input, linear_weight, linear_bias)
    classes, *places = linear_weight.shape[:-1]
    shape = (*input.shape[:-1], classes, *places)
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None and _takes_parts(input, target, places, reduction, label_smoothing):
        return _in_parts(
            input, linear_weight, target, linear_bias, weight, reduction, ignored, options
        )
    if places:
        rows = classes * math.prod(places)
        linear_weight = linear_weight.reshape(rows, -1)
        linear_bias = None if linear_bias is None else linear_bias.reshape(rows)
    return cross_entropy(
        linear(input, linear_weight, linear_bias).reshape(shape),
        target,
        weight,
        ignore_index=ignored,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _takes_parts(
    input: Tensor, target: Tensor, places: list[int], reduction: str, label_smoothing: float
) -> bool:
    """Return whether a loss is taken in parts; warn where PyTorch ignores the options."""
    known = reduction in ("mean", "sum", "none")
    if known and not places and label_smoothing == 0.0 and target.dtype == dtypes.int64:
        return input.ndim == 2 and len(input) > 0 and target.shape == input.shape[:1]
    warnings.warn(
        "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
        "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features == (). "
        f"Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
        f"target.dtype={target.dtype}, out_features={tuple(places)}.",
        stacklevel=3,
    )
    return False


def _in_parts(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    options: LinearCrossEntropyOptions,
) -> Tensor:
    """Return the loss of a batch of which some rows are taken at a time.

    Nothing of the logits is kept for backward: each part is a checkpoint.
    """
    batch, features = input.shape
    rows = options.rows(batch, features, len(linear_weight), input.dtype)
    kind = options.kind(input.dtype)
    factors = None if weight is None else weight.to(kind)
    of_each = "none" if reduction == "none" else "sum"

    def loss(part: Tensor, right: Tensor) -> Tensor:
        logits = linear(part, linear_weight, linear_bias).to(kind)
        return cross_entropy(logits, right, factors, ignore_index=ignore_index, reduction=of_each)

    losses = [
        checkpoint(loss, part, right, use_reentrant=False, preserve_rng_state=False)
        for part, right in zip(input.split(rows), target.split(rows), strict=True)
    ]
    if reduction == "none":
        return cat.function(losses).to(input.dtype)
    total = functools.reduce(operator.add, losses)
    if reduction == "mean":
        total = total / weight_of_targets(target, factors, ignore_index)
    return total.to(input.dtype)


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
