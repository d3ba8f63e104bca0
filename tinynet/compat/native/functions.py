"""Functions that ``torch`` exposes in addition to their ``nn.functional`` counterparts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import dtypes, ops
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.utils.parametrizations import norm_except_dim as two_norm_except_dim
from tinynet.ops.reduction.softmax import log_softmax_backward, softmax_backward

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


# ---- with ATen's arguments ----------------------------------------------------------------------
# What libraries and old programs call. Reductions are numbers: 0, the default, for none, 1 for the
# mean, 2 for the sum.

REDUCTIONS = "none", "mean", "sum"


def _of_cpu(half_to_float: bool, name: str) -> None:
    if half_to_float:
        raise RuntimeError(f"{name} with half to float conversion is not supported on CPU")


def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return ``softmax``; ``half_to_float`` must be False."""
    _of_cpu(half_to_float, "softmax")
    return ops.softmax(self, dim)


def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return ``log_softmax``; ``half_to_float`` must be False."""
    _of_cpu(half_to_float, "softmax")
    return ops.log_softmax(self, dim)


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtypes.dtype
) -> Tensor:
    """Return the gradient of softmax: ``y * (g - sum(g * y))``."""
    return softmax_backward.function(grad_output, output, dim)


def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtypes.dtype
) -> Tensor:
    """Return the gradient of log_softmax: ``g - exp(y) * sum(g)``."""
    return log_softmax_backward.function(grad_output, output, dim)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Return the p-norm over all dimensions except ``dim``, with keepdim; over all for -1."""
    if pow == 2 or dim == -1:
        return two_norm_except_dim(v, dim) if pow == 2 else v.norm(pow)
    return v.norm(pow, tuple(d for d in range(v.ndim) if d != dim % v.ndim), keepdim=True)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """Return the weight of direction ``v`` and length ``g``."""
    return v * (g / two_norm_except_dim(v, dim))


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Apply ``nn.functional.embedding``; a ``padding_idx`` below 0 is none."""
    padding = None if padding_idx < 0 else padding_idx
    options: dict[str, Any] = {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    return F.embedding(indices, weight, padding, **options)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Apply ``nn.functional.batch_norm``."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Apply ``nn.functional.instance_norm``."""
    means = running_mean, running_var
    return F.instance_norm(input, *means, weight, bias, use_input_stats, momentum, eps)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Set elements to zero in place, see ``nn.functional.dropout``."""
    return F.dropout(input, p, train, inplace=True)


def _loss(name: str, parameters: str) -> Callable[..., Tensor]:
    """Return a loss of ``nn.functional`` with ATen's parameters."""
    apply, names = getattr(F, name), parameters.split()

    def loss(*args: Any, **options: Any) -> Tensor:
        given = {"reduction": 0, **dict(zip(names, args, strict=False)), **options}
        return apply(**{**given, "reduction": REDUCTIONS[given["reduction"]]})

    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = f"""Apply ``nn.functional.{name}``: ``{name}({", ".join(names)})``."""
    return loss


binary_cross_entropy_with_logits = _loss(
    "binary_cross_entropy_with_logits", "input target weight pos_weight reduction"
)
cosine_embedding_loss = _loss("cosine_embedding_loss", "input1 input2 target margin reduction")
ctc_loss = _loss(
    "ctc_loss", "log_probs targets input_lengths target_lengths blank reduction zero_infinity"
)
hinge_embedding_loss = _loss("hinge_embedding_loss", "input target margin reduction")
kl_div = _loss("kl_div", "input target reduction")
margin_ranking_loss = _loss("margin_ranking_loss", "input1 input2 target margin reduction")
poisson_nll_loss = _loss("poisson_nll_loss", "input target log_input full eps reduction")
triplet_margin_loss = _loss(
    "triplet_margin_loss", "anchor positive negative margin p eps swap reduction"
)


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Return extreme eigenvalues of ``A x = w B x``, and their eigenvectors.

    PyTorch iterates from ``X``; ``linalg.eigh`` of the dense matrix is what that converges to.

    Args:
        A: symmetric, [*, m, m].
        k: the number of eigenvalues; 1, or the columns of ``X``.
        B: symmetric and positive definite, [m, m]; the identity if omitted.
        X: [*, m, k]; only its number of columns counts.
        n, iK, niter, tol, options: accepted for compatibility; they change nothing.
        largest: take the largest eigenvalues, in falling order, or the smallest, rising.

    Returns:
        ``(w, V)``: [*, k], and [*, m, k].

    Example:
        >>> from tinynet.compat.native.functions import lobpcg
        >>> w, V = lobpcg(tn.tensor([[2.0, 0.0], [0.0, 3.0]]))
        >>> w
        tensor([3.])
    """
    count = k or (1 if X is None else X.shape[-1])
    dense = A.to_dense() if A.is_sparse else A
    if B is None:
        values, vectors = ops.linalg.eigh(dense)
    else:
        root = ops.linalg.cholesky(B.to_dense() if B.is_sparse else B)
        half = ops.linalg.solve_triangular(root, dense, upper=False)
        both = ops.linalg.solve_triangular(root, half.mT, upper=False)
        values, vectors = ops.linalg.eigh(both)
        vectors = ops.linalg.solve_triangular(root.mT, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :count], vectors[..., :count]
