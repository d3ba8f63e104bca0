"""Derivatives that are operations themselves, as in PyTorch: ``TanhBackwardBackward0``.

An ordinary backward runs an operation's formula on arrays and does not use this file. With
``create_graph`` the formula runs on tensors. There an operation whose kernel is that formula
replaces it, so that the gradient has a single node with the name and saved values of PyTorch's.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from tinynet.core.declaration.operation import Operation
from tinynet.core.graph.recorded_backward import parameters

# PyTorch's names for the values that such a node saves.
_SHOWN = {"g": "grad_output", "result": "output", "input": "self"}


def derivative(op: Operation, node: str, of: str = "self", /, **formulas: Any) -> Operation:
    """Turn the formula of an operation into an operation, which ``create_graph`` records.

    A formula is linear in the gradient, so if elementwise it is its own derivative there.

    Args:
        op: the operation, with its derivative declared.
        node: name of the node class.
        of: the input of the formula. The formula's parameters are ``g``, then the saved values,
            tensors before attributes.
        formulas: the derivatives with respect to the saved inputs and outputs, under PyTorch's
            names: ``grad_output`` for ``g`` (if not elementwise), ``output`` for ``result``.
    """
    formula: FunctionType = inspect.unwrap((op.formulas or {})[of])
    names = parameters(formula)
    arrays = {"g", "result", *op.tensors, *op.outputs, *op.hidden}
    count = sum(name in arrays for name in names)
    shown = [_SHOWN.get(name, name) for name in names]
    by = "" if of == op.tensors[0] else f"_of_{of}"
    declared = _renamed(formula, shown, f"{op.name}_backward{by}", count)
    declared.__doc__ = f"Return the gradient of the input of ``{op.name}``."
    kind = op.kind if op.kind == "pointwise" else "plain"
    second = Operation(declared, kind, None, node=node, complex=op.complex)
    if "grad_output" not in formulas:
        formulas["grad_output"] = _renamed(formula, ["g", *shown[1:]], formula.__name__, 0)
        second.recorded["grad_output"] = second.function, tuple(shown[1:])
    second.grad(**formulas)
    op.recorded[of] = second.function, names[1:]
    return second


def _renamed(function: FunctionType, names: list[str], name: str, count: int) -> FunctionType:
    """Return a function whose parameters have other names, the first ``count`` before a slash."""
    code = function.__code__
    found = FunctionType(
        code.replace(
            co_varnames=(*names, *code.co_varnames[code.co_argcount :]),
            co_posonlyargcount=count,
            co_name=name,
        ),
        function.__globals__,
        name,
        function.__defaults__,
        function.__closure__,
    )
    found.__module__ = function.__module__
    found.__qualname__ = name
    return found
