"""Where gradients end: what a pass brings to a leaf, and how ``.grad`` takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.broadcasting import Recorded
from tinynet.core.graph.sparse_gradients import dense_gradient, is_sparse, rows_of
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, counter_of, dense_copy, wrap
from tinynet.dtypes import Array


class Leaf:
    """A leaf that a pass can reach, and what has arrived there.

    Attributes:
        tensor: the leaf.
        left: how many edges have still to deliver.
        gradient: the sum so far; None if nothing has arrived.
        own: the sum is an array that nobody else holds.
        hooked: something that has hooks on the way delivered nothing: they run all the same.
    """

    __slots__ = ("gradient", "hooked", "left", "own", "tensor")

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self.left = 0
        self.gradient: Any = None
        self.own = self.hooked = False


def _accumulate_rows(leaf: Tensor, grad: Tensor, g: Tensor) -> None:
    """Add a sparse to a dense gradient, or the other way round, or both sparse."""
    if not is_sparse(grad):
        rows_of(g).add_to(grad._array)
    elif is_sparse(g):
        grad._array = rows_of(grad) + rows_of(g)
    else:
        leaf._grad = wrap(rows_of(grad) + g._array)
        return
    counter_of(grad).bump(None, "gradient accumulation")


def _laid_out(g: Array, leaf: Array) -> Array:
    """Return a copy of a gradient; in the leaf's order in memory where that is not row-major."""
    if type(leaf) is not np.ndarray or leaf.flags.c_contiguous or 0 in leaf.strides:
        return dense_copy(g)
    copy = np.empty_like(leaf, g.dtype)
    copy[...] = g
    return copy


def accumulate(leaf: Tensor, g: Tensor | None, own: bool, recorded: bool) -> None:
    """Add ``g`` to ``leaf.grad``; in place unless the pass is recorded, as PyTorch does."""
    grad = dense_gradient(leaf)
    if not leaf._requires_grad or g is None:
        pass  # switched off since, or nothing arrived
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
        try:
            np.add(grad._array, g._array, out=grad._array, casting="same_kind")
        except ValueError:  # x.data has another shape now
            raise errors.not_written(grad._array.shape, g._array.shape) from None
        counter_of(grad).bump(None, "gradient accumulation")
    if leaf._hooks is not None:
        for hook in [*leaf._hooks.accumulated.values()]:
            if hook(leaf) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
