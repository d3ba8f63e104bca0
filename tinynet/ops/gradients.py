"""The operations that the engine itself records when gradients have a graph of their own."""

from __future__ import annotations

from tinynet.core import engine
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
    return engine.sum_to(self, shape)


sum_to.grad(self=lambda g, self_shape: expand(g, self_shape))

engine.Recorded.add = staticmethod(add.function)
engine.Recorded.clone = staticmethod(kept.function)
engine.Recorded.sum_to = staticmethod(sum_to.function)
engine.Recorded.cast = staticmethod(cast.function)
