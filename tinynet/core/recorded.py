"""Backward on tensors: the second reader of the formulas, for ``create_graph=True``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.node import Edge, Freed, Guard, gone, restore
from tinynet.core.tensor import VIEW, Tensor, counter_of, wrap
from tinynet.core.version import NUMBER
from tinynet.core.views import NO_GRAD, View


def unpack(node: Any, name: str) -> Any:
    """Return a saved value as a tensor with its history; a number or None as it is.

    Raises:
        RuntimeError: the value was changed in place since, or freed.
    """
    version = getattr(node, f"saved_{name}_version")
    array = getattr(node, f"saved_{name}")
    if version is None:
        return wrap(array) if isinstance(array, np.ndarray) else array
    if version.n != getattr(node, f"saved_{name}_at"):
        array = restore(node, name)
    if version is NUMBER:
        return wrap(array) if isinstance(array, np.ndarray) else array
    if name in node.inputs:
        edge = node.edges[node.inputs.index(name)]
    else:
        edge = _edge_of_output(node, name)
    return tensor_at(array, None if isinstance(version, Guard) else version, edge)


def _edge_of_output(node: Any, name: str) -> Edge | None:
    """Return where a saved output stands in the graph; None if it is not differentiable."""
    op = node.op
    names = ("result",) if name == "result" else op.outputs[: op.differentiable]
    if name not in names:
        return None
    number = names.index(name)
    return getattr(node, "result_edge", (node, 0)) if number == 0 else (node, number)


def tensor_at(array: Any, version: Any, edge: Edge | None) -> Tensor:
    """Return the tensor that a saved array belonged to: the leaf, or one with its history."""
    if edge is not None and isinstance(edge[0], Tensor) and edge[0]._array is array:
        return edge[0]
    t: Tensor = getattr(type(array), "tensor", wrap)(array)  # tensors of entries are made by these
    t._counter = version
    if edge:
        t._edge, t._requires_grad = edge, True
    elif edge is not None:  # of a view made under no_grad: it requires grad and has no history
        base = wrap(array)
        base._requires_grad = True
        t._view, t._requires_grad = View(base, (), counter_of(t).n, NO_GRAD), VIEW
    return t


def backward_recorded(node: Any, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
    """Apply the formulas of a node to tensors."""
    op = node.op
    values: dict[str, Any] = {}
    for slot in type(node).__slots__:
        name = slot.removeprefix("saved_")
        if not name.endswith(("_version", "_at")):
            holds_array = f"{slot}_version" in type(node).__slots__
            values[name] = unpack(node, name) if holds_array else getattr(node, slot)
            if isinstance(values[name], Freed):
                raise gone(node, values[name])
    needs = tuple(bool(e) and (wanted is None or e[0] in wanted) for e in node.edges)
    values["needs"] = needs
    if op.many or op.differentiable > 1:
        count = len(g) if op.many else op.differentiable
        shapes, dtypes = node.shape[:count], node.dtype[:count]
        g = [
            wrap(np.zeros(s, k)) if x is None else x
            for x, s, k in zip(g[:count], shapes, dtypes, strict=True)
        ]
    elif op.multiple:
        g = g[0]
    if op.joint is not None and not op.recorded:
        results = _apply(op.joint, g, values)
    elif op.kind == "sequence":
        results = _apply(op.formulas[op.tensors[0]], g, values)
    else:
        results = tuple(
            _of_input(op, t, g, values) if needed and t in op.formulas else None
            for t, needed in zip(op.tensors, needs, strict=True)
        )
    if freed is not None:
        for name in values:
            if getattr(node, f"saved_{name}_version", None) is not None:
                setattr(node, f"saved_{name}", None)
                setattr(node, f"saved_{name}_version", freed)
                setattr(node, f"saved_{name}_at", 0)
            elif name in op.frees:
                setattr(node, f"saved_{name}", freed)
    return results  # type: ignore[no-any-return]


def _of_input(op: Any, name: str, g: Any, values: dict[str, Any]) -> Any:
    if name in op.recorded:
        function, names = op.recorded[name]
        return function(g, *[values[n] for n in names])
    return _apply(op.formulas[name], g, values)


def _apply(formula: Any, g: Any, values: dict[str, Any]) -> Any:
    code = formula.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return formula(g, *[values[name] for name in names])
