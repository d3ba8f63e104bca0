"""Layers of ``nn.functional`` under their names in ``torch``, with ATen's arguments and results.

Copies of PyTorch's classes call recurrent networks as functions: ``torch.lstm``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import errors, ops
from tinynet.core import modes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import int64
from tinynet.nn import functional as F
from tinynet.nn.functional import recurrent
from tinynet.nn.functional.lookup import renormalise
from tinynet.nn.functional.recurrent import Run, State, Weights, one_step

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


# ---- recurrent networks -------------------------------------------------------------------------


_STATES = {"lstm": 2, "gru": 1, "rnn_tanh": 1, "rnn_relu": 1}


def _weights(params: Sequence[Tensor], biases: bool, projected: bool) -> list[Weights]:
    """Return the parameters of each layer and direction.

    Raises:
        RuntimeError: one is missing.
    """
    size = 2 + 2 * biases + projected
    if len(params) % size:
        raise RuntimeError("got an incorrect number of RNN parameters")
    found = []
    for start in range(0, len(params), size):
        own = params[start : start + size]
        part = Weights(*own[: 2 + 2 * biases])
        found.append(part._replace(hr=own[-1]) if projected else part)
    return found


def _check(states: State, weights: list[Weights], num_layers: int, bidirectional: bool) -> None:
    """Raise RuntimeError unless there is a state, and weights, for each layer and direction."""
    counts = [min(len(s) for s in states), len(weights)]
    if bidirectional and any(n % 2 for n in counts):
        raise RuntimeError("Odd number of params or hiddens given to a bidirectional RNN")
    for what, count in zip(("hidden states", "weights"), counts, strict=True):
        if count != num_layers * (1 + bidirectional):
            raise RuntimeError(f"Expected more {what} in stacked_rnn")


def _check_data(data: Tensor, weights: Weights, ndim: int) -> None:
    """Raise IndexError or RuntimeError unless the input has the dimensions and the size."""
    if data.ndim < ndim:
        raise errors.dim_range(1, 1)
    rows, size = math.prod(data.shape[:-1]), weights.ih.shape[::-1]
    if data.shape[-1] != size[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{data.shape[-1]} and "
            f"{size[0]}x{size[1]})"
        )


def _apply(
    name: str,
    data: Tensor,
    batch_sizes: Tensor | None,
    hx: Any,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
) -> State:
    """Return the outputs and the last states of all layers."""
    states = tuple(hx) if _STATES[name] == 2 else (hx,)
    if len(states) != _STATES[name]:
        raise RuntimeError(f"{name} expects two hidden states")
    projected = len(states) == 2 and states[0].shape[2] != states[1].shape[2]
    weights = _weights(params, has_biases, projected)
    _check(states, weights, num_layers, bidirectional)
    _check_data(data, weights[0], 2 if batch_sizes is not None else 3)
    data = data.transpose(0, 1) if batch_first else data
    if not data.shape[0]:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    output, *last = recurrent.run_layers(
        getattr(recurrent, f"run_{name}"),
        data,
        states,
        weights,
        batch_sizes=None if batch_sizes is None else batch_sizes.tolist(),
        bidirectional=bidirectional,
        dropout_p=dropout if train else 0.0,
    )
    return output.transpose(0, 1) if batch_first else output, *last


def _layers(name: str, hx: str) -> Callable[..., State]:
    """Return the function of a network with PyTorch's two signatures."""

    def layers(*args: Any, **options: Any) -> State:
        packed = "batch_sizes" in options or isinstance((*args, *[None] * 4)[3], (tuple, list))
        names = _PACKED if packed else _BATCH
        given = {**dict(zip(names, args, strict=False)), **options}
        data, sizes = given.pop(names[0]), given.pop("batch_sizes", None)
        return _apply(name, data, sizes, **given)

    layers.__name__ = layers.__qualname__ = name
    layers.__doc__ = f"""Return the outputs and the last states of a recurrent network.

    ``{name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first)``, or, of a packed sequence, ``{name}(data, batch_sizes, hx, params, has_biases,
    num_layers, dropout, train, bidirectional)``.

    Args:
        input: ``[steps, batch, inputs]``, the first two exchanged for ``batch_first``.
        data, batch_sizes: those of a ``PackedSequence``.
        hx: {hx}, ``[layers * directions, batch, size]``.
        params: of each layer and direction ``weight_ih``, ``weight_hh``, and ``bias_ih``,
            ``bias_hh`` if ``has_biases``.
        has_biases, num_layers, dropout, train, bidirectional, batch_first: as of the module.

    Raises:
        RuntimeError: the numbers of parameters or states, or shapes or dtypes, do not match.
    """
    return layers


_BATCH, _PACKED = (
    f"{first} params has_biases num_layers dropout train bidirectional {last}".split()
    for first, last in (("input hx", "batch_first"), ("data batch_sizes hx", ""))
)
lstm = _layers("lstm", "the hidden and the cell states")
gru = _layers("gru", "the hidden states")
rnn_tanh = _layers("rnn_tanh", "the hidden states")
rnn_relu = _layers("rnn_relu", "the hidden states")


def _cell(name: str, run: Run) -> Callable[..., Any]:
    """Return the function of one step."""

    def cell(
        input: Tensor,
        hx: Any,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Any:
        states = tuple(hx) if name == "lstm_cell" else (hx,)
        if name == "lstm_cell" and len(states) != 2:
            raise RuntimeError("lstm_cell expects two hidden states")
        if input.ndim < 2:
            raise errors.dim_range(1, 1)
        last = one_step(run, input, states, Weights(w_ih, w_hh, b_ih, b_hh))
        return last if len(last) > 1 else last[0]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = f"""Return the next state, or states, of a recurrent network: ``torch.{name}``.

    Args:
        input: ``[batch, inputs]``.
        hx: the state, ``[batch, size]``; for ``lstm_cell`` the hidden and the cell state.
        w_ih, w_hh, b_ih, b_hh: the parameters of the cell; biases may be None.

    Raises:
        RuntimeError: sizes or dtypes do not match.
    """
    return cell


lstm_cell = _cell("lstm_cell", recurrent.run_lstm)
gru_cell = _cell("gru_cell", recurrent.run_gru)
rnn_tanh_cell = _cell("rnn_tanh_cell", recurrent.run_rnn_tanh)
rnn_relu_cell = _cell("rnn_relu_cell", recurrent.run_rnn_relu)
