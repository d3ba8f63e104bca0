"""Leaves of the graph: the gradients that a pass delivers, and their sum in ``.grad``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.broadcasting import Recorded
from tinynet.core.graph.sparse_gradients import dense_gradient, is_sparse, rows_of
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, counter_of, dense_copy, wrap
from tinynet.dtypes import Array

ACCUMULATION = "gradient accumulation"  # of a write to a gradient other than zeros


class Leaf:
    """A leaf that a pass can reach, and its gradient so far.

    Attributes:
        tensor: the leaf.
        left: the number of edges that have not delivered yet.
        gradient: the sum so far; None before the first gradient.
        own: whether the leaf is the only owner of the array ``gradient``.
        hooked: an edge delivered None to a leaf with hooks, which run all the same.
    """

    __slots__ = ("gradient", "hooked", "left", "own", "tensor")

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self.left = 0
        self.gradient: Any = None
        self.own = self.hooked = False


def _accumulate_rows(leaf: Tensor, grad: Tensor, g: Tensor) -> None:
    """Add two gradients of which at least one is sparse."""
    if not is_sparse(grad):
        rows_of(g).add_to(grad._array)
    elif is_sparse(g):
        grad._array = rows_of(grad) + rows_of(g)
    else:
        leaf._grad = wrap(rows_of(grad) + g._array)
        return
    counter_of(grad).bump(None, ACCUMULATION)


def _laid_out(g: Array, leaf: Array) -> Array:
    """Return a copy of a gradient, in the leaf's memory order if that is not row-major."""
    if type(leaf) is not np.ndarray or leaf.flags.c_contiguous or 0 in leaf.strides:
        return dense_copy(g)
    copy = np.empty_like(leaf, g.dtype)
    copy[...] = g
    return copy


def accumulate(leaf: Tensor, g: Tensor | None, own: bool, recorded: bool) -> None:
    """Add ``g`` to ``leaf.grad``, as in PyTorch in place unless the pass is recorded."""
    grad = dense_gradient(leaf)
    if not leaf._requires_grad or g is None:
        pass  # requires_grad was switched off, or no gradient arrived
    elif grad is None:
        if recorded:
            leaf._grad = Recorded.clone(g)
        elif own:
            leaf._grad = g
        else:
            leaf._grad = wrap(_laid_out(g._array, leaf._array))
    elif recorded:
        leaf._grad = Recorded.add(grad, g)
    elif is_sparse(grad) or is_sparse(g):
        _accumulate_rows(leaf, grad, g)
    else:
        refuse_overlap(grad._array)
        is_rest = grad._array.size and grad._array.item(0)  # else zero_grad may have filled it
        try:
            np.add(grad._array, g._array, out=grad._array, casting="same_kind")
        except ValueError:  # x.data was replaced by another shape
            raise errors.not_written(grad._array.shape, g._array.shape) from None
        counter_of(grad).bump(None, ACCUMULATION if is_rest else "gradient on zeros")
    if leaf._hooks is not None:
        for hook in [*leaf._hooks.accumulated.values()]:
            if hook(leaf) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
