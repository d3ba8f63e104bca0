"""Functions that ``torch`` exposes in addition to their ``nn.functional`` counterparts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tinynet import dtypes, ops
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F

Three = tuple[Tensor, Tensor, Tensor]
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """Return the input padded with a constant, like ``nn.functional.pad``.

    Args:
        input: any shape.
        pad: the widths before and after the last dimension, then those of the dimension before it.
        value: the constant.

    Raises:
        RuntimeError: the number of widths is odd, or too large.

    Example:
        >>> tn.constant_pad_nd(tn.ones(2), (1, 0), 5.0)
        tensor([5., 1., 1.])
    """
    return F.pad(input, pad, value=value)


def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Tensor:
    """Sample the input at the points of the grid, in two or three dimensions.

    Args:
        input: ``[batch, channels, ...]``.
        grid: ``[batch, ..., 2 or 3]``, as in ``nn.functional.grid_sample``.
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros, 1 for the border, 2 for reflection.
        align_corners: as in ``nn.functional.grid_sample``.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> tn.grid_sampler(tn.ones(1, 1, 2, 2), tn.zeros(1, 1, 1, 2), 0, 0, False).item()
        1.0
    """
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    return F.grid_sample(input, grid, mode, padding, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Return the input with elements set to zero, as ``nn.functional.dropout``.

    Args:
        input: any shape.
        p: the probability of each element.
        train: whether anything is done.

    Raises:
        ValueError: ``p`` is not a probability.

    Example:
        >>> tn.dropout(tn.ones(2), p=0.5, train=False)
        tensor([1., 1.])
    """
    return F.dropout(input, p, train)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Apply ``nn.functional.alpha_dropout``.

    Args:
        input: any shape.
        p: the probability of an element to be dropped.
        train: whether to drop any.

    Raises:
        ValueError: ``p`` is not a probability.

    Example:
        >>> tn.alpha_dropout(tn.ones(2), p=0.5, train=False)
        tensor([1., 1.])
    """
    return F.alpha_dropout(input, p, train)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """Apply ``nn.functional.layer_norm``.

    Args:
        input, normalized_shape, weight, bias, eps: as of ``nn.functional.layer_norm``.
        cudnn_enable: without effect.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> tn.layer_norm(tn.tensor([1.0, 3.0]), (2,), cudnn_enable=False)
        tensor([-1.0000,  1.0000])
    """
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Apply ``nn.functional.group_norm``.

    Args:
        input, num_groups, weight, bias, eps: as of ``nn.functional.group_norm``.
        cudnn_enabled: without effect.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> tn.group_norm(tn.tensor([[1.0, 3.0]]), 1, cudnn_enabled=False)
        tensor([[-1.0000,  1.0000]])
    """
    return F.group_norm(input, num_groups, weight, bias, eps)


@composite(module=True, out=True)
def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """Apply ``nn.functional.threshold``, also into ``out``.

    Raises:
        NotImplementedError: the input is neither floating-point nor an integer.

    Example:
        >>> tn.threshold(tn.tensor([1.0, 3.0]), 2.0, 0.0)
        tensor([0., 3.])
    """
    return F.threshold(input, threshold, value)


# ---- normalizations with their statistics -------------------------------------------------------


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


@composite(module=True, out=True)
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
