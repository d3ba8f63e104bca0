"""Backward on tensors, which records the formulas for ``create_graph=True``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet.core.complex_rules import conjugate, holds_complex
from tinynet.core.graph.node import Edge, Freed, Guard, already_freed, count_nodes, restore
from tinynet.core.graph.views import NO_GRAD, View
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, wrap
from tinynet.core.tensors.version import NUMBER


def unpack(node: Any, name: str) -> Any:
    """Return a saved value as a tensor with its history; a number or None unchanged.

    Raises:
        RuntimeError: the value has been changed in place or freed.
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
    """Return the edge of a saved output; None if it is not differentiable."""
    op = node.op
    names = ("result",) if name == "result" else op.outputs[: op.differentiable]
    if name not in names:
        return None
    number = names.index(name)
    return getattr(node, "result_edge", (node, 0)) if number == 0 else (node, number)


def tensor_at(array: Any, version: Any, edge: Edge | None) -> Tensor:
    """Return the tensor of a saved array: the leaf, or a new one with its history."""
    if edge is not None and isinstance(edge[0], Tensor) and edge[0]._array is array:
        return edge[0]
    t: Tensor = getattr(type(array), "tensor", wrap)(array)  # sparse matrices make their own
    t._counter = version
    if edge:
        t._edge, t._requires_grad = edge, True
    elif edge is not None:  # a view made under no_grad: it requires grad but has no history
        base = wrap(array)
        base._requires_grad = True
        t._view, t._requires_grad = View(base, (), counter_of(t).n, NO_GRAD), VIEW
    return t


def backward_recorded(node: Any, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
    """Apply the formulas of a node to tensors."""
    op, before = node.op, count_nodes()
    values: dict[str, Any] = {}
    for slot in type(node).__slots__:
        name = slot.removeprefix("saved_")
        if not name.endswith(("_version", "_at")):
            holds_array = f"{slot}_version" in type(node).__slots__
            values[name] = unpack(node, name) if holds_array else getattr(node, slot)
            if isinstance(values[name], Freed):
                raise already_freed(node, values[name])
    turned = op.complex is True and (holds_complex(g) or holds_complex([*values.values()]))
    if turned:
        g = conjugate(g)
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
    _show_numbers(results, node, before)
    if turned:
        results = conjugate(results)
    if freed is not None:
        _free(node, values, freed)
    return results  # type: ignore[no-any-return]


def _free(node: Any, names: Iterable[str], freed: Freed) -> None:
    for name in names:
        if getattr(node, f"saved_{name}_version", None) is not None:
            setattr(node, f"saved_{name}", None)
            setattr(node, f"saved_{name}_version", freed)
            setattr(node, f"saved_{name}_at", 0)
        elif name in node.op.frees:
            setattr(node, f"saved_{name}", freed)


def _show_numbers(results: Iterable[Any], node: Any, before: int) -> None:
    """Name products with a formula's constants as PyTorch does; users' numbers are tensors."""
    for r in results:
        made: Any = r._edge[0] if isinstance(r, Tensor) and r._edge else None
        if getattr(made, "by_number", None) and made.sequence > before:
            if _second_is_number(made) and not _second_is_number(node):
                made.__class__ = made.by_number


def _second_is_number(node: Any) -> bool:
    return getattr(node, f"saved_{node.inputs[-1]}_version", None) is NUMBER


def _of_input(op: Any, name: str, g: Any, values: dict[str, Any]) -> Any:
    if name in op.recorded:
        function, names = op.recorded[name]
        return function(g, *[values[n] for n in names])
    return _apply(op.formulas[name], g, values)


def _apply(formula: Any, g: Any, values: dict[str, Any]) -> Any:
    return formula(g, *[values[name] for name in parameters(formula)[1:]])


def parameters(function: Any) -> tuple[str, ...]:
    """Return the names of a function's parameters."""
    code = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount]  # type: ignore[no-any-return]
