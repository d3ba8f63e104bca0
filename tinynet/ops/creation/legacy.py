"""What the legacy constructors make of their arguments: ``Tensor``, ``FloatTensor``, ``new``."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import seams
from tinynet.core.devices import require_cpu
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.subclasses import shared
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.ops.arguments import c_name
from tinynet.ops.creation.constructors import plain_values
from tinynet.ops.shaping.views import alias

_TYPES: dict[str, Any] = {"size": Sequence, "data": (Sequence, np.ndarray), "other": Tensor}


def _construct(cls: type[Tensor], args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    source = _source(args, options)
    of = isinstance(source, Tensor)
    made = alias.function(source) if of else wrap(_array(source, dtypes.default_float()))
    return made if cls is Tensor else shared(made, cls)


seams.construct.append(_construct)


def legacy_tensor(args: tuple[Any, ...], options: dict[str, Any], dtype: np.dtype[Any]) -> Tensor:
    """Return what ``FloatTensor`` or ``x.new`` makes of its arguments; of a tensor, a view."""
    source = _source(args, options)
    if not isinstance(source, Tensor):
        return wrap(_array(source, dtype))
    if source._array.dtype != dtype:
        wanted, found = (
            f"TensorOptions(dtype={c_name(of)}, device=cpu, layout=Strided, requires_grad=false "
            "(default), pinned_memory=false (default), memory_format=(nullopt))"
            for of in (np.empty(0, dtype), source._array)
        )
        raise TypeError(f"expected {wanted} (got {found})")
    return alias.function(source)


def _source(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what to make a tensor of: a size, a sequence, an array or a tensor."""
    if options:
        require_cpu(options.get("device") or "cpu")
        named = [(name, value) for name, value in options.items() if name != "device"]
        if any(not isinstance(value, _TYPES.get(name, ())) for name, value in named) or (
            named and len(named) + len(args) > 1
        ):
            given = [type(a).__name__ for a in args]
            given += [f"{name}={type(value).__name__}" for name, value in options.items()]
            raise TypeError(
                "new() received an invalid combination of arguments - got "
                f"({', '.join(given)}{', ' if len(given) == 1 else ''}), but expected sizes or one "
                "sequence, array or tensor. For another dtype use tensor(data, dtype=...)."
            )
        for name, value in named:
            return Size(value) if name == "size" else value
    first: Any = args[0] if len(args) == 1 else None
    is_size = isinstance(first, np.ndarray) and not first.ndim and first.dtype.kind in "iu"
    if isinstance(first, (Sequence, Tensor, np.ndarray)) and not is_size:
        return first
    lengths: list[Any] = [_length(n) for n in args]
    if None in lengths:
        wrong = type(args[lengths.index(None)]).__name__
        raise TypeError(f"new(): data must be a sequence (got {wrong})")
    return Size(lengths or (0,))


def _length(n: Any) -> int | None:
    """Return an integer of Python, numpy or a tensor as one of Python; None for anything else."""
    try:
        return None if isinstance(n, (bool, np.bool_)) else index(n)
    except TypeError:
        return None


@traced
def _array(source: Any, dtype: np.dtype[Any]) -> Array:
    """Return zeros of a size (unspecified in PyTorch), or data; an array of the dtype is shared."""
    if isinstance(source, Size):
        for n in source:
            if n < 0:
                size = [*source]
                raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {size}")
        return np.zeros(source, dtype=dtype)
    if isinstance(source, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(source, np.ndarray) and any(stride < 0 for stride in source.strides):
        raise dtypes.negative_stride()
    values = plain_values(source) if isinstance(source, (list, tuple)) else source
    try:
        return np.array(values, dtype=dtype, copy=None)
    except ValueError:
        raise dtypes.ragged(source) from None
