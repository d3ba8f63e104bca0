"""What PyTorch still takes from its first versions: ``range``, ``resize``."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite
from tinynet.core.devices import DeviceLike
from tinynet.core.tensors.tensor import Tensor, method, public_function
from tinynet.dtypes import DtypeLike, get_default_dtype
from tinynet.ops.creation.ranges import arange


@functools.partial(public_function, name="range")
@composite(module=True, out=True)
def inclusive_range(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the values from ``start`` to ``end``, ``step`` apart: ``arange`` with its end.

    Element i is ``start + i * step``.

    Raises:
        RuntimeError: as of ``arange``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tn.range(1, 3)
        tensor([1., 2., 3.])
    """
    warnings.warn(
        "tinynet.range is deprecated, as in PyTorch: it includes the end, unlike Python's range. "
        "Use tinynet.arange.",
        stacklevel=3,
    )
    if end is None:
        start, end = 0, start
    kind = get_default_dtype() if dtype is None else dtype
    if step and math.isfinite((end - start) / step) and (end - start) / step >= 0:
        count = math.floor((end - start) / step) + 1
        whole = isinstance(start, int) and isinstance(step, int)
        end = start + (count if whole else count - 0.5) * step  # between the last and the next
    return arange(start, end, step, dtype=kind, device=device, requires_grad=requires_grad)


@method
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Deprecated: call ``reshape``, which does the same.

    Raises:
        RuntimeError: the new shape has another number of elements.
    """
    warn("non-inplace resize is deprecated")
    shape = tuple(sizes[0]) if isinstance(sizes[0], Sequence) else sizes
    if math.prod(shape) != self.numel():
        wanted, own = (f"{'x'.join(map(str, s))} ({math.prod(s)}" for s in (shape, self.shape))
        raise RuntimeError(
            f"requested resize to {wanted} elements in total), but the given tensor has a size of "
            f"{own} elements). "
            "autograd's resize can only change the shape of a given tensor, while preserving the "
            "number of elements."
        )
    return self.contiguous().view(shape)


@method
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Deprecated: call ``reshape_as``, which does the same."""
    return resize(self, tensor.shape)
