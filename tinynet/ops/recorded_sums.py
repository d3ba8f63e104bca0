"""Operations that the engine records when gradients get a graph."""

from __future__ import annotations

from typing import Any

from tinynet.core.arrays import broadcast_axes
from tinynet.core.declaration.operation import operation
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor, dense_copy
from tinynet.dtypes import Array
from tinynet.ops.pointwise.arithmetic import add
from tinynet.ops.pointwise.complex_numbers import real
from tinynet.ops.pointwise.conversion import cast
from tinynet.ops.reduction.sums import sum_all, sum_dims
from tinynet.ops.shaping.views import view_as_shape


@operation(node="CopyBackwards", complex=True, order="iterated")
def kept(self: Array, /) -> Array:
    """Return the copy that becomes ``.grad``."""
    return dense_copy(self)


kept.grad(self=lambda g: g)


def sum_to(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum to ``shape``: the inverse of broadcasting."""
    if not shape:
        return sum_all.function(x)
    axes = broadcast_axes(x.shape, shape)
    summed = sum_dims.function(x, axes, True) if axes else x
    return view_as_shape.function(summed, shape) if x.ndim > len(shape) else summed


def _in_dtype(g: Tensor, kind: Any) -> Tensor:
    """Return a gradient in another dtype; of complex numbers for a real tensor, the real parts."""
    if g.is_complex() and kind.kind != "c":
        g = real(g)
    return cast.function(g, kind) if g._array.dtype != kind else g


Recorded.add = staticmethod(add.function)
Recorded.clone = staticmethod(kept.function)
Recorded.sum_to = staticmethod(sum_to)
Recorded.cast = staticmethod(_in_dtype)
