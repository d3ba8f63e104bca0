"""Layers of ``nn.functional`` under their names in ``torch``, with ATen's arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import ops
from tinynet.core import modes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import int64
from tinynet.nn import functional as F
from tinynet.nn.functional.lookup import renormalise

MODES = "sum", "mean", "max"
Lengths = int | tuple[int, ...] | list[int]


# ---- embeddings ---------------------------------------------------------------------------------


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ``nn.functional.embedding_bag``, and what its backward pass takes in PyTorch.

    Args:
        weight, indices, offsets, scale_grad_by_freq, sparse, per_sample_weights,
            include_last_offset, padding_idx: as of ``nn.functional.embedding_bag``.
        mode: 0 for sums, 1 for means, 2 for maxima.

    Returns:
        The bags; the bag of each index, empty for sums without gradient; the number of indices of
        each bag, 0 for sums; the index of each maximum, or the number of indices.

    Raises:
        RuntimeError: there is no such mode, or ``per_sample_weights`` are not for sums.
        ValueError, RuntimeError: as of ``nn.functional.embedding_bag``.

    Example:
        >>> x, offsets = tn.tensor([0, 1, 2]), tn.tensor([0, 2])
        >>> tn.embedding_bag(tn.eye(3), x, offsets, mode=1)[1:3]
        (tensor([0, 0, 1]), tensor([2, 1]))
    """
    if mode not in (0, 1, 2):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    if mode and per_sample_weights is not None:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    options: dict[str, Any] = {"sparse": sparse, "padding_idx": padding_idx}
    options |= {"include_last_offset": include_last_offset, "mode": MODES[mode]}
    options |= {"scale_grad_by_freq": scale_grad_by_freq and mode != 2}
    indices = indices.reshape(-1)
    bags = F.embedding_bag(
        indices, weight, offsets, per_sample_weights=per_sample_weights, **options
    )
    return bags, *_bags(weight, indices, offsets, mode, bags, padding_idx, per_sample_weights)


def _bags(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    mode: int,
    result: Tensor,
    padding_idx: int | None,
    factors: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the bag of each index, the sizes of the bags, and the indices of the maxima."""
    count = len(result)
    nothing = ops.zeros(count, dtype=int64)
    recorded = modes.is_grad_enabled() and weight.requires_grad
    if not (mode or recorded) and factors is None and padding_idx is None:
        return nothing[:0], nothing, nothing.clone()
    index = indices.numpy()
    starts = offsets.numpy()[:count]
    bag = np.repeat(np.arange(count), np.diff(starts, append=len(index)))
    counted = np.ones(len(index), bool) if padding_idx is None else index != padding_idx
    sizes = wrap(np.bincount(bag[counted], minlength=count)) if mode else nothing
    if mode < 2:
        return wrap(bag), sizes, sizes.clone()
    rows = np.zeros(result.shape, np.int64)
    values = weight.detach().numpy()
    for row, own in enumerate(index[counted & (bag == b)] for b in range(count)):
        if len(own):
            rows[row] = own[values[own].argmax(0)]
    return wrap(bag), sizes, wrap(rows)


def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows at the indices whose norm exceeds ``max_norm`` down to it, in place.

    Args:
        input: ``[rows, width]``.
        indices: any shape.
        max_norm: the largest norm.
        norm_type: the order of the norm.

    Raises:
        IndexError: an index is out of range.

    Example:
        >>> tn.embedding_renorm_(tn.ones(2, 1) * 4, tn.tensor([0]), 2.0, 2.0)
        tensor([[2.],
                [4.]])
    """
    with modes.no_grad():
        renormalise(input, indices.numpy(), max_norm, norm_type)
    return input


# ---- dropout ------------------------------------------------------------------------------------


def _dropout(name: str, function: Callable[..., Tensor], inplace: bool) -> Callable[..., Tensor]:
    """Return a dropout with ATen's arguments; a wrong probability is a RuntimeError."""

    def drop(input: Tensor, p: float, train: bool) -> Tensor:
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
        return function(input, p, train, inplace)

    drop.__name__ = drop.__qualname__ = name
    drop.__doc__ = f"""Apply ``nn.functional.{function.__name__.strip("_")}``.

    Args:
        input: any shape; of channels: ``[batch, channels, ...]``.
        p: the probability of an element or channel to be dropped.
        train: whether to drop any.

    Raises:
        RuntimeError: ``p`` is not a probability, or there are no channels.

    Example:
        >>> tn.{name}(tn.ones(1, 2), 0.5, False)
        tensor([[1., 1.]])
    """
    return drop


def _of_channels(input: Tensor, p: float, train: bool, inplace: bool) -> Tensor:
    if train and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    noise = F.dropout(input.new_ones(*input.shape[:2], *[1] * (input.ndim - 2)), p, train)
    return input.mul_(noise) if inplace else input * noise


_of_channels.__name__ = "dropout1d"
alpha_dropout_ = _dropout("alpha_dropout_", F.alpha_dropout, True)
feature_dropout = _dropout("feature_dropout", _of_channels, False)
feature_dropout_ = _dropout("feature_dropout_", _of_channels, True)
feature_alpha_dropout = _dropout("feature_alpha_dropout", F.feature_alpha_dropout, False)
feature_alpha_dropout_ = _dropout("feature_alpha_dropout_", F.feature_alpha_dropout, True)

# ---- norms --------------------------------------------------------------------------------------


def _deprecated(name: str, instead: str) -> None:
    warn(
        f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed "
        f"in a future PyTorch release. Please use `linalg.{instead}` instead"
    )


def frobenius_norm(
    input: Tensor, dim: Lengths, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the square root of the sum of squares over one or two dimensions.

    Args:
        input: any shape.
        dim: the dimensions; all for an empty list.
        keepdim: whether they stay, with length 1.
        out: the tensor to write to.

    Raises:
        RuntimeError: there are more than two.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tn.frobenius_norm(tn.tensor([[3.0, 4.0]]), (0, 1))
        tensor(5.)
    """
    _deprecated("frobenius_norm", "vector_norm(A, 2., dim, keepdim)")
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise RuntimeError(
            f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead."
        )
    norm: Any = ops.linalg.vector_norm  # its type lacks ``out``
    found: Tensor = norm(input, 2, dims or None, keepdim, out=out)
    return found


def nuclear_norm(
    input: Tensor,
    dim: Sequence[int] | bool = (-2, -1),
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sum of the singular values of matrices.

    Args:
        input: ``[..., n, m]``.
        dim: the two dimensions of a matrix; or ``keepdim``.
        keepdim: whether these stay, with length 1.
        out: the tensor to write to.

    Raises:
        RuntimeError: there are not two dimensions.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tn.nuclear_norm(tn.tensor([[3.0, 0.0], [0.0, -4.0]]))
        tensor(7.)
    """
    _deprecated("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)")
    norm: Any = ops.linalg.matrix_norm  # its type lacks ``out``
    dims, keepdim = ((-2, -1), dim) if isinstance(dim, bool) else (dim, keepdim)
    found: Tensor = norm(input, "nuc", dims, keepdim, out=out)
    return found


# ---- windows ------------------------------------------------------------------------------------


def adaptive_max_pool1d(input: Tensor, output_size: Lengths) -> tuple[Tensor, Tensor]:
    """Return ``nn.functional.adaptive_max_pool1d``, and where the maxima are.

    Args:
        input: ``[batch, channels, length]`` or ``[channels, length]``.
        output_size: the length of the result.

    Raises:
        RuntimeError: it is not one int.

    Example:
        >>> tn.adaptive_max_pool1d(tn.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    count = 1 if isinstance(output_size, int) else len(output_size)
    if count != 1:
        raise RuntimeError(
            f"adaptive_max_pool1d() argument 'output_size' should contain one int (got {count})"
        )
    pooled: Any = F.adaptive_max_pool1d(input, output_size, return_indices=True)
    return pooled[0], pooled[1]


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return ``nn.functional.max_pool1d``, and where the maxima are.

    Args:
        input, kernel_size, stride, padding, dilation, ceil_mode: as of ``max_pool1d``.

    Raises:
        RuntimeError: shapes or options do not match.

    Example:
        >>> tn.max_pool1d_with_indices(tn.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return F.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Return a convolution, transposed or not, over the dimensions of the weight.

    Args:
        input: ``[batch, channels, *size]``.
        weight: as of ``conv2d`` or ``conv_transpose2d``.
        bias: ``[out channels]``, or None.
        stride, padding, dilation, output_padding, groups: as of these.
        transposed: whether to apply ``conv_transpose2d``.

    Raises:
        RuntimeError: shapes, dtypes or options do not match.

    Example:
        >>> x, w = tn.ones(1, 1, 3), tn.ones(1, 1, 2)
        >>> tn.convolution(x, w, None, [1], [0], [1], False, [0], 1)
        tensor([[[2., 2.]]])
    """
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight "
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    rank = weight.ndim - 2
    if transposed:
        apply = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
        return apply(input, weight, bias, stride, padding, output_padding, groups, dilation)
    forward = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    return forward(input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Return the convolution over time of ``[time, batch, channels]``.

    Args:
        input: ``[time, batch, channels]``.
        weight: ``[kernel, channels, out channels]``.
        bias: ``[out channels]``.
        pad: the number of zeros on each side.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> tn.conv_tbc(tn.ones(3, 1, 1), tn.ones(2, 1, 1), tn.zeros(1)).squeeze()
        tensor([2., 2.])
    """
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if len(bias) != weight.shape[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    output = F.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return output.permute(2, 0, 1)


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Apply ``nn.functional.affine_grid``.

    Args:
        theta, size, align_corners: as of ``affine_grid``.

    Raises:
        ValueError: the shapes do not match.

    Example:
        >>> tn.affine_grid_generator(tn.eye(2, 3)[None], (1, 1, 1, 1), False)
        tensor([[[[0., 0.]]]])
    """
    return F.affine_grid(theta, list(size), align_corners)
