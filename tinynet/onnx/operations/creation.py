"""Values of no input, whose shape follows the inputs, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import form
from tinynet.onnx.sizes import Size


@form("ops.creation.constructors:zeros", "ops.creation.constructors:empty")
def zeros(g: Graph, *size: Any, **options: Any) -> Ref:
    """Return zeros."""
    return g.full(g.shape, 0, g.dtype)


@form("ops.creation.constructors:ones", "core.arrays:ones")
def ones(g: Graph, *size: Any, **options: Any) -> Ref:
    """Return ones."""
    return g.full(g.shape, 1, g.dtype)


@form("ops.creation.constructors:full", "core.arrays:full")
def full(g: Graph, size: Any, fill_value: Any, *kind: Any, **options: Any) -> Ref:
    """Return one value everywhere."""
    return g.expand(g.cast(fill_value, g.dtype), g.shape)


_FILLS = {"zeros": 0, "ones": 1, "empty": 0}


@form("ops.creation.like:_array_like")
def array_like(g: Graph, make: Any, like: Ref, *options: Any) -> Ref:
    """Return one value everywhere, in the shape of another array."""
    return full(g, g.shape, _FILLS.get(make.__name__, options[0]))


@form("ops.creation.ranges:arange")
def arange(g: Graph, start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Any:
    """Return the values from ``start`` up to ``end``."""
    if end is None:
        start, end = 0, start
    kind = g.dtype if g.dtype.kind == "i" else np.dtype(np.float32)
    bounds = [g.cast(x, kind) for x in (start, end, step)]
    return g("Range", *bounds, dtype=kind)


@form("ops.creation.constructors:tensor")
def tensor(g: Graph, data: Any, **options: Any) -> Ref:
    """Return a number that follows a dynamic dimension as an array."""
    if not isinstance(data, Size):
        raise NoFormError("of numbers that follow a dynamic dimension")
    return g.cast(data, g.dtype)


# ---- random numbers -----------------------------------------------------------------------------


def _drawn(g: Graph, distribution: str) -> Any:
    like = g.full(g.shape, 0, g.dtype)
    return g("RandomNormalLike" if distribution == "standard_normal" else "RandomUniformLike", like)


@form("ops.creation.random:rand")
def rand(g: Graph, *size: Any, **options: Any) -> Any:
    """Draw numbers uniformly from [0, 1)."""
    return _drawn(g, "random")


@form("ops.creation.random:randn")
def randn(g: Graph, *size: Any, **options: Any) -> Any:
    """Draw standard normal numbers."""
    return _drawn(g, "standard_normal")


@form("ops.creation.drawing:normal_parts")
def normal_parts(g: Graph, generator: Any, name: str, kind: Any, shape: Any) -> Any:
    """Draw standard normal numbers for a dtype."""
    return _drawn(g, "standard_normal")


@form("ops.creation.drawing:draw")
def draw(g: Graph, generator: Any, name: str, distribution: str, *args: Any) -> Any:
    """Draw numbers from a distribution."""
    if distribution not in ("random", "standard_normal"):
        raise NoFormError(f"the distribution {distribution}")
    return _drawn(g, distribution)
