"""Matrix products."""

from __future__ import annotations

from typing import Any

from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import form, same

same({name: "MatMul" for name in ("mm", "bmm", "mv", "row_product", "dot", "vdot")})


@form("linear_map")
def linear_map(g: Graph, x: Ref, weight: Ref) -> Any:
    """Return ``x @ weight.T``."""
    return g("MatMul", x, g("Transpose", weight, perm=[1, 0]))


@form("affine_map")
def affine_map(g: Graph, x: Ref, weight: Ref, bias: Ref) -> Any:
    """Return ``x @ weight.T + bias``."""
    if x.rank == 2 and bias.rank <= 1 and x.dtype.kind == "f":
        return g("Gemm", x, weight, bias, transB=1)
    return g("Add", linear_map(g, x, weight), bias)


@form("addmm", "addmv", "baddbmm")
def addmm(g: Graph, x: Ref, one: Ref, other: Ref, beta: float = 1, alpha: float = 1) -> Any:
    """Return ``beta * x + alpha * (one @ other)``."""
    return _added(g, x, g("MatMul", one, other), beta, alpha)


def _added(g: Graph, x: Ref, product: Ref, beta: float, alpha: float) -> Any:
    """Return ``beta * x + alpha * product``; x is not read for ``beta = 0``."""
    product = product if alpha == 1 else g("Mul", product, alpha)
    if beta == 0:
        return product
    return g("Add", product, x if beta == 1 else g("Mul", x, beta))


@form("addr")
def addr(g: Graph, x: Ref, one: Ref, other: Ref, beta: float = 1, alpha: float = 1) -> Any:
    """Return ``beta * x + alpha * outer(one, other)``."""
    column, row = g("Unsqueeze", one, g.integers(1)), g("Unsqueeze", other, g.integers(0))
    return _added(g, x, g("Mul", column, row), beta, alpha)
