"""Functions that ``torch`` exposes with ATen's arguments, which libraries and old programs call.

Reductions are numbers: 0, the default, for none, 1 for the mean, 2 for the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet import dtypes, ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.utils.parametrizations import norm_except_dim as two_norm_except_dim
from tinynet.ops.reduction.softmax import log_softmax_backward, softmax_backward

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


def dropout_(self: Tensor, p: float, train: bool) -> Tensor:
    """Set elements to zero in place, see ``nn.functional.dropout``."""
    return F.dropout(self, p, train, inplace=True)


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
