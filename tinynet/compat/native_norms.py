"""Normalizations that also return their statistics: ``torch.native_layer_norm`` and others."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tinynet import dtypes, ops
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F

Three = tuple[Tensor, Tensor, Tensor]


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Three:
    """Return ``nn.functional.layer_norm``, the means and the reciprocal standard deviations.

    Args:
        input, normalized_shape, weight, bias, eps: as of ``nn.functional.layer_norm``.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> tn.native_layer_norm(tn.tensor([1.0, 3.0]), (2,), None, None, 0.0)[1:]
        (tensor([2.]), tensor([1.]))
    """
    output = F.layer_norm(input, normalized_shape, weight, bias, eps)
    dims = tuple(range(-len(normalized_shape), 0))
    return output, *_statistics(input.detach(), dims, eps, keepdim=True)


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Three:
    """Return ``nn.functional.group_norm``, the means and the reciprocal standard deviations.

    The statistics have gradients.

    Args:
        input, weight, bias, eps: as of ``nn.functional.group_norm``.
        N: the number of samples.
        C: the number of channels.
        HxW: the number of elements of a channel.
        group: the number of groups.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> tn.native_group_norm(tn.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)[1:]
        (tensor([[2.]]), tensor([[1.]]))
    """
    output = F.group_norm(input, group, weight, bias, eps)
    return output, *_statistics(input.reshape(N, group, C // group * HxW), (2,), eps)


@with_out()
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    """Return ``nn.functional.batch_norm``, the means and the reciprocal standard deviations.

    Args:
        input, weight, bias, running_mean, running_var, training, momentum, eps: as of
            ``nn.functional.batch_norm``. The statistics are empty unless in training.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> x = tn.tensor([[1.0], [3.0]])
        >>> tn.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-9)[1:]
        (tensor([2.]), tensor([1.]))
    """
    dims = (0, *range(2, input.ndim))
    output = F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if training:
        return output, *_statistics(input.detach(), dims, eps)
    return output, input.new_empty(0), input.new_empty(0)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Return the input with elements set to zero, and the mask of those that stay.

    Args:
        input: any shape.
        p: the probability of each element.
        train: whether anything is done; None means True.

    Raises:
        RuntimeError: ``p`` is not a probability.

    Example:
        >>> tn.native_dropout(tn.ones(2), 1.0, True)
        (tensor([0., 0.]), tensor([False, False]))
    """
    if train is False:
        return input.clone(), ops.ones_like(input, dtype=dtypes.bool)
    mask = ops.empty_like(input).bernoulli_(1 - p)
    return input * mask * (0.0 if p == 1 else 1 / (1 - p)), mask.bool()


def _statistics(
    input: Tensor, dims: tuple[int, ...], eps: float, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the means and the reciprocal standard deviations over some dimensions."""
    if not math.prod(input.shape[d] for d in dims):
        shape = [n for d, n in enumerate(input.shape) if d not in dims]
        return input.new_zeros(shape), input.new_zeros(shape)
    mean = input.mean(dims, keepdim=keepdim)
    return mean, (input.var(dims, correction=0, keepdim=keepdim) + eps).rsqrt()
