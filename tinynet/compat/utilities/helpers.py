"""Private helpers of ``torch.nn.init``, ``nn.functional``, ``utils.checkpoint`` and ``_utils``.

Copies of PyTorch's attention, of its checkpoints and of its distributed training import them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.loading.worker import with_origin
from tinynet.nn import init
from tinynet.nn.functional import multi_head_attention
from tinynet.nn.functional.affine import linear
from tinynet.nn.functional.normalization import check_per_channel

# ---- torch.nn.init -------------------------------------------------------------------------------

_no_grad_uniform_, _no_grad_normal_ = init.uniform_, init.normal_
_no_grad_trunc_normal_ = init.trunc_normal_
_no_grad_fill_, _no_grad_zero_ = init.constant_, init.zeros_

# ---- torch.nn.functional -------------------------------------------------------------------------

_verify_batch_size = check_per_channel


def _none_or_dtype(input: Tensor | None) -> dtypes.dtype | None:
    """Return the dtype of a tensor; None for None."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: dtypes.dtype | None,
    other_name: str,
    target_type: dtypes.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """Return a mask as what is added to scores: -inf where a boolean mask is True.

    Args:
        mask: the mask, or None.
        mask_name, other_name: for messages.
        other_type: the dtype of another mask, or None.
        target_type: the dtype of the result.
        check_other: whether to warn of two dtypes.

    Raises:
        AssertionError: a mask of integers.
    """
    if mask is None:
        return None
    if mask.dtype != dtypes.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type not in (None, mask.dtype):
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type "
            "for both instead.",
            stacklevel=2,
        )
    return multi_head_attention.added(mask, target_type)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> list[Tensor]:
    """Return projections by the three parts of one weight and of one bias."""
    biases = (None,) * 3 if b is None else b.chunk(3)
    return [linear(*parts) for parts in zip((q, k, v), w.chunk(3), biases, strict=True)]


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return projections by three weights and biases."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _mha_shape_check(query: Tensor, *others: Any) -> bool:
    """Return whether the inputs of attention have a batch; AssertionError if only some do."""
    multi_head_attention.dims(query, *others)
    return query.ndim == 3


# ---- torch.utils.checkpoint ----------------------------------------------------------------------


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return detached tensors that require grad as before, and other values as they are.

    Args:
        inputs: tensors and other values.

    Raises:
        RuntimeError: it is not a tuple.

    Example:
        >>> from tinynet.compat.utilities import helpers
        >>> helpers.detach_variable((tn.ones(1, requires_grad=True), 3))
        (tensor([1.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: ",
            type(inputs).__name__,
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor requires grad.

    Args:
        inputs: tensors and other values.
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


# ---- torch._utils --------------------------------------------------------------------------------


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Yield groups of tensors of one dtype, of at most ``size_limit`` bytes or a single tensor."""
    groups: dict[dtypes.dtype, list[Tensor]] = {}
    for t in tensors:
        group = groups.setdefault(t.dtype, [])
        if group and sum(x.nbytes for x in group) + t.nbytes > size_limit:
            yield group
            group = groups[t.dtype] = []
        group.append(t)
    yield from groups.values()


class ExceptionWrapper:
    """An exception of another thread, to raise here.

    Args:
        exc_info: as of ``sys.exc_info()``; by default, that.
        where: for the message.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background"):
        self._error: Any = (exc_info or sys.exc_info())[1]
        self.exc_type = type(self._error)
        self.where = where

    def reraise(self) -> None:
        """Raise the exception; its message has its origin and its traceback."""
        raise with_origin(self._error, self.where)
