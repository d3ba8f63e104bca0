"""The operations that the engine itself records when gradients have a graph of their own."""

from __future__ import annotations

from tinynet.core.broadcasting import Recorded
from tinynet.core.broadcasting import sum_to as summed
from tinynet.core.operation import operation
from tinynet.core.tensor import dense_copy
from tinynet.dtypes import Array
from tinynet.ops.arithmetic import add
from tinynet.ops.conversion import cast
from tinynet.ops.shape import expand


@operation(methods=False, node="CopyBackwards")
def kept(self: Array, /) -> Array:
    """Return the copy that becomes ``.grad``."""
    return dense_copy(self)


kept.grad(self=lambda g: g)


@operation(methods=False, node="SumBackward1")
def sum_to(self: Array, /, shape: tuple[int, ...]) -> Array:
    """Return the sum to ``shape``: broadcasting undone."""
    return summed(self, shape)


sum_to.grad(self=lambda g, self_shape: expand(g, self_shape))

Recorded.add = staticmethod(add.function)
Recorded.clone = staticmethod(kept.function)
Recorded.sum_to = staticmethod(sum_to.function)
Recorded.cast = staticmethod(cast.function)
