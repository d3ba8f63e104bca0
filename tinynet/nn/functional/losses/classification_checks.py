"""Checks of the arguments of losses of classification."""

from __future__ import annotations

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.errors import with_fix
from tinynet.ops.argument_errors import name_of, to_long


def check_indices(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Check shapes and dtypes for class indices."""
    if input.ndim < 1:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if input.ndim == 1:
        if target.ndim == 1 and target.shape[0] != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}"
            )
    else:
        rows = target.shape[0] if target.ndim else 0
        if input.shape[0] != rows:
            raise ValueError(
                f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({rows})."
            )
        wanted = [input.shape[0], *input.shape[2:]]
        if input.ndim == 2 and target.ndim > 1:
            raise RuntimeError(_multi_target(input, target))
        if list(target.shape) != wanted:
            raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")
    if target._array.dtype not in (np.int64, np.uint8):
        sentence = f"expected target dtype to be Long or Byte, but got {name_of(target._array)}"
        raise RuntimeError(with_fix(sentence, to_long("target")))
    if input.ndim > 2 and target._array.dtype != np.int64:
        sentence = f"expected scalar type Long but found {name_of(target._array)}"
        raise RuntimeError(with_fix(sentence, to_long("target")))
    if weight is not None:
        check_weight(input, weight)


def _multi_target(input: Tensor, target: Tensor) -> str:
    """Return the message for a target with more dimensions than class indices have."""
    sentence = (
        "0D or 1D target tensor expected, multi-target not supported\n  Class indices are of shape "
        f"{[input.shape[0]]}, class probabilities are floating-point. "
        f"Got a target of shape {list(target.shape)} and {target.dtype} instead."
    )
    if list(target.shape) != [input.shape[0], 1]:
        return sentence
    return with_fix(sentence, "`target.squeeze(1)` removes the last dimension")


def check_weight(input: Tensor, weight: Tensor, prefix: str = "") -> None:
    """Check shape and dtype of the weights of classes."""
    classes = input.shape[0 if input.ndim == 1 else 1]
    if list(weight.shape) != [classes]:
        if input.ndim > 2 and not prefix:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
        raise RuntimeError(
            f"{prefix}weight tensor should be defined either for all {classes} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )
    if weight.dtype != input.dtype:
        kinds = [name_of(t._array) for t in (input, weight)]
        raise RuntimeError(f"expected scalar type {kinds[0]} but found {kinds[1]}")
