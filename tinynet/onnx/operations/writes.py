"""Writes in place: the new value of what is written."""

from __future__ import annotations

from typing import Any

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import FORMS, form

_UFUNCS = {
    "multiply": "mul", "subtract": "sub", "divide": "div", "negative": "neg", "absolute": "abs",
}  # fmt: skip


@form("core.arrays:assign")
def assign(g: Graph, x: Ref, values: Any) -> Ref:
    """Return the values in the shape of the value that they replace."""
    return g.expand(g.cast(values, x.dtype), x.shape)


@form("copy")
def copy(g: Graph, x: Ref, source: Ref) -> Ref:
    """Return the source in the shape and dtype of a value."""
    return assign(g, x, source)


@form("core.arrays:update")
def update(g: Graph, x: Ref, ufunc: Any, *operands: Any) -> Any:
    """Return the result of a ufunc of a value and other operands."""
    name = getattr(ufunc, "__name__", "")
    operation = FORMS.get(_UFUNCS.get(name, name))
    if operation is None:
        raise NoFormError(f"by {name}")
    g.results = [(x.shape, x.dtype)]
    return operation(g, x, *operands)
