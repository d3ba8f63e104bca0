"""Batching rules of products: one large product if an operand is shared, else one per example."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.ops.batching.array import at_levels, is_batched, spread_out
from tinynet.ops.batching.rules import Call, NoRuleError
from tinynet.ops.products.gemm import dot


def _product(call: Call, a: Any, b: Any) -> Array:
    """Return ``a @ b`` of matrices, or of stacks of the same length."""
    if a.dtype != b.dtype or a.dtype.kind == "b" or a.shape[-1] != b.shape[-2]:
        raise NoRuleError  # the loop raises the error
    if is_batched(a) and not is_batched(b) and b.ndim == 2:
        rows = a.array.reshape(-1, a.shape[-1])
        return dot(rows, b).reshape(*a.array.shape[:-1], b.shape[1])
    left, right = (at_levels(x, call.levels) if is_batched(x) else x for x in (a, b))
    return np.matmul(left, right)


def _of_rank(x: Any, ndim: int) -> Any:
    if x.ndim != ndim:
        raise NoRuleError
    return x


def matrices(call: Call) -> Array:
    """Multiply two matrices."""
    a, b = call.tensors
    return _product(call, _of_rank(a, 2), _of_rank(b, 2))


def stacks(call: Call) -> Array:
    """Multiply two stacks of matrices."""
    a, b = call.tensors
    if _of_rank(a, 3).shape[0] != _of_rank(b, 3).shape[0]:
        raise NoRuleError
    return _product(call, a, b)


def matrix_vector(call: Call) -> Array:
    """Multiply a matrix and a vector."""
    a, v = call.tensors
    if not is_batched(a):
        return _product(call, _row(_of_rank(v, 1)), _of_rank(a, 2).T)[..., 0, :]
    return _product(call, _of_rank(a, 2), _column(_of_rank(v, 1)))[..., 0]


def vector_matrix(call: Call) -> Array:
    """Multiply a vector and a matrix."""
    v, a = call.tensors
    return _product(call, _row(_of_rank(v, 1)), _of_rank(a, 2))[..., 0, :]


def vectors(call: Call) -> Array:
    """Multiply two vectors."""
    v, w = call.tensors
    return _product(call, _row(_of_rank(v, 1)), _column(_of_rank(w, 1)))[..., 0, 0]


def _row(v: Any) -> Any:
    return v[None, :]


def _column(v: Any) -> Any:
    return v[:, None]


def linear(call: Call) -> Array:
    """Multiply rows and the transpose of a matrix, and add the bias if there is one."""
    x, weight, *bias = call.tensors
    if any(b.shape != weight.shape[:1] or b.dtype != weight.dtype for b in bias):
        raise NoRuleError
    rows = x.reshape(-1 if x.size else 0, x.shape[-1]) if x.ndim != 2 else x
    turned = weight.like(weight.array.swapaxes(-1, -2)) if is_batched(weight) else weight.T
    made = _product(call, rows, _of_rank(turned, 2))
    if bias:
        made = np.add(*spread_out([call.like(made), *bias], call.levels))
    return made.reshape(*made.shape[: call.count], *x.shape[:-1], weight.shape[0])


def _added(call: Call, made: Array) -> Array:
    """Return ``beta * self + alpha * made``."""
    factors = {"beta": 1, "alpha": 1} | call.attributes()
    beta, alpha = factors["beta"], factors["alpha"]
    if made.dtype.kind != "f" or call.tensors[0].dtype != made.dtype:
        raise NoRuleError
    if alpha != 1:
        made = made * alpha
    if not beta:
        return made
    summand, product = spread_out([call.tensors[0], call.like(made)], call.levels)
    found = summand * beta + product if beta != 1 else summand + product
    if found.shape[call.count :] != product.shape[call.count :]:
        raise NoRuleError
    return found


def added_matrices(call: Call) -> Array:
    """Add the product of two matrices to a matrix."""
    _, a, b = call.tensors
    return _added(call, _product(call, _of_rank(a, 2), _of_rank(b, 2)))


def added_stacks(call: Call) -> Array:
    """Add the product of two stacks of matrices to a stack."""
    _, a, b = call.tensors
    if _of_rank(a, 3).shape[0] != _of_rank(b, 3).shape[0]:
        raise NoRuleError
    return _added(call, _product(call, a, b))


def added_vector(call: Call) -> Array:
    """Add the product of a matrix and a vector to a vector."""
    _, a, v = call.tensors
    return _added(call, _product(call, _of_rank(a, 2), _column(_of_rank(v, 1)))[..., 0])
