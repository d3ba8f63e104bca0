"""``torch.autograd.functional``: what libraries that compute their own Jacobians use of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.autograd.functional_arguments import Tensors, as_tuple, fresh
from tinynet.core.tensors.tensor import Tensor


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Return whether the value is a tuple, and the value as a tuple; without names only that."""
    if arg_name is None or fn_name is None:
        return tuple(inp) if isinstance(inp, (tuple, list)) else (inp,)
    return as_tuple(inp, arg_name, fn_name)


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: Sequence[int]) -> Tensors:
    """Return the columns of an identity matrix that belong to each tensor, in its dtype.

    Example:
        >>> _construct_standard_basis_for((tn.ones(1), tn.ones(2)), (1, 2))
        (tensor([[1.],
                [0.],
                [0.]]), tensor([[0., 0.],
                [1., 0.],
                [0., 1.]]))
    """
    parts, before = [], 0
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        part = tensor.new_zeros(sum(tensor_numels), count)
        part.diagonal(-before).fill_(1)
        parts.append(part)
        before += count
    return tuple(parts)


def _grad_preprocess(inputs: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """Return new tensors over the same memory, which may require gradients."""
    return fresh(inputs, create_graph, need_graph)


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Return tensors, in tuples of any depth, with or without their history."""
    if isinstance(inputs, Tensor):
        return inputs if create_graph else inputs.detach()
    return tuple(_grad_postprocess(x, create_graph) for x in inputs)


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """Undo `_as_tuple`: replace tuples of one by their element where the flag is False.

    Args:
        res: a tuple, or a tuple of tuples.
        to_unpack: whether to keep the outer tuple, or both.
    """
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    res = res if inner else tuple(x[0] for x in res)
    return res if outer else res[0]
