"""The derivatives of operations as text: the arguments of ``.grad(...)``."""

import ast
import functools
import inspect
from pathlib import Path

from tinynet.core.declaration.operation import Operation

WIDTH = 96


@functools.cache
def declared_in(file: str) -> dict[str, dict[str, str]]:
    """Return the short formulas of a file: operation -> input -> expression."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    bodies = {n.name: n.body[-1] for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    found: dict[str, dict[str, str]] = {}
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if call.func.attr == "grad" and isinstance(call.func.value, ast.Name):
            texts = {k.arg: expression(k.value, bodies) for k in call.keywords if k.arg}
            found[call.func.value.id] = {k: t for k, t in texts.items() if t}
    return found


def expression(formula: ast.expr, bodies: dict[str, ast.stmt]) -> str:
    """Return the body of a lambda, or the result of a function of one line."""
    body: ast.AST | None = None
    if isinstance(formula, ast.Lambda):
        body = formula.body
    elif isinstance(formula, ast.Name):
        body = getattr(bodies.get(formula.id), "value", None)
    text = ast.unparse(body) if body is not None else ""
    return text if len(text) <= WIDTH else ""


def formulas(op: Operation) -> dict[str, str]:
    """Return input -> the derivative with respect to it, times ``g``, if it is short."""
    if op.formulas is None or op.joint is not None:
        return {}
    return declared_in(inspect.getfile(op.declared)).get(op.declared.__name__, {})
