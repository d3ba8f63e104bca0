"""The cross-entropy of an affine map: the last layer of a classifier and its loss in one."""

from __future__ import annotations

import dataclasses
import math
import re

from tinynet import dtypes
from tinynet.core.tensor import Tensor
from tinynet.nn.functional.affine import linear
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.classification import cross_entropy


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """Describe how ``linear_cross_entropy`` may save memory: PyTorch's options, checked as there.

    tinynet computes the logits of a batch at once, in the dtype of the input, whatever these say:
    they are taken so that programs need no change.

    Args:
        allow_retain_graph: whether the backward may run twice. It always may here.
        batch_chunk_size: number of rows at a time.
        chunking_method: None, ``"auto"``, ``"aspect_ratio"`` or ``"aspect_ratio:n"``.
        acc_policy: ``"auto"``, ``"accurate"``, ``"balanced"`` or ``"compact"``.
        acc_dtype: a floating-point dtype, for sums.

    Raises:
        ValueError: another value.

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
            of ``...`` places.
        target: class indices, ``[batch, ...]``; or class probabilities, ``[batch, classes, ...]``.
        linear_bias: ``[classes, ...]``, or None.
        weight, reduction, label_smoothing: see ``cross_entropy``.
        ignore_index: a class index that does not count; -100 unless given.
        options: how PyTorch saves memory. The result does not depend on it; here the logits of
            a batch are always computed at once.

    Raises:
        RuntimeError: shapes do not fit.

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
