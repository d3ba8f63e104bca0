"""Writing and taking elements by indices: whole keys (index_put), or places in the flat tensor."""

from __future__ import annotations

from tinynet.core.inplace import run_inplace
from tinynet.core.operation import public
from tinynet.core.tensor import Tensor
from tinynet.ops import indexing

# ---- by a key -----------------------------------------------------------------------------------


@public
def index_put_(
    self: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Write (or add) values at the indices to this tensor and return it."""
    _, found = indexing.parse(tuple(indices), self._array.shape)
    return run_inplace(indexing.index_set, self, (values, found, accumulate), {}, what="index_put_")


@public
def index_put(
    self: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy with values written (or added) at the indices."""
    _, found = indexing.parse(tuple(indices), self._array.shape)
    return indexing.index_set.function(self, values, found, accumulate)
