"""``torch._utils``: functions named in old pickles and some scripts."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype
from tinynet.exchange.pytorch_names import _parameter as _rebuild_parameter
from tinynet.exchange.pytorch_names import _tensor as _rebuild_tensor_v2
from tinynet.ops import cat

_rebuild_tensor = _rebuild_tensor_v2


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Return one vector with the elements of all tensors.

    Args:
        tensors: tensors of one dtype.

    Example:
        >>> from tinynet.compat import rebuild
        >>> rebuild._flatten_dense_tensors([tn.ones(1, 2), tn.zeros(1)])
        tensor([1., 1., 0.])
    """
    return cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return views of a vector with the shapes of the tensors.

    Args:
        flat: what ``_flatten_dense_tensors`` returned.
        tensors: tensors of these shapes.
    """
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


def _element_size(dtype: dtype) -> int:
    """Return the number of bytes of an element."""
    return dtype.itemsize


__all__ = [
    "_element_size",
    "_flatten_dense_tensors",
    "_rebuild_parameter",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_unflatten_dense_tensors",
]
