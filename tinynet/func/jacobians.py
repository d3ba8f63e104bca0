"""Function transforms for Jacobians and Hessians."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tinynet.compat.pytree import tree_flatten, tree_unflatten
from tinynet.core.tensors.tensor import Tensor
from tinynet.func.gradients import Forward, differentiable
from tinynet.func.level import Level
from tinynet.ops.batching import jacobian_columns, jacobian_rows


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``func``, all rows in one backward pass.

    Args:
        func: function of tensors, or trees of them, that returns one.
        argnums: which positional arguments to differentiate by; a tuple gives a tuple.
        has_aux: ``func`` returns a pair, whose second part is passed on.
        chunk_size: the number of rows to compute in one pass; by default all.

    Raises:
        RuntimeError: an output is not a floating-point tensor, or there is no such argument.
        ValueError: ``chunk_size`` is not positive.

    Example:
        >>> tn.func.jacrev(lambda x: x * x)(tn.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        level, chosen, outputs, seen = differentiable(func, args, argnums, has_aux)
        inputs, spec = tree_flatten(chosen)
        flat, form = tree_flatten(outputs)
        _refuse_complex(inputs)
        rows = [
            jacobian_rows(_product(level, out, inputs), out, inputs, chunk_size) for out in flat
        ]
        jacobian = tree_unflatten([tree_unflatten(level.leave(r), spec) for r in rows], form)
        return (jacobian, *seen[1:]) if has_aux else jacobian

    return wrapper


def _refuse_complex(inputs: list[Tensor]) -> None:
    for place, x in enumerate(inputs):
        if x.is_complex():
            raise RuntimeError(
                "jacrev: Expected all inputs to be real but received complex tensor at flattened "
                f"input idx: {place}"
            )


def _product(level: Level, out: Tensor, inputs: list[Tensor]) -> Callable[[Tensor], list[Tensor]]:
    """Return the function that multiplies a vector and the Jacobians of one output."""
    return lambda vector: level.gradients([out], inputs, [vector])


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``func``, all columns in one pass.

    The function runs once, so random numbers are the same in all columns.

    Args:
        func, argnums, has_aux: as in ``jacrev``.
        randomness: accepted.

    Raises:
        RuntimeError: an output is not a tensor, or there is no such argument.

    Example:
        >>> tn.func.jacfwd(lambda x: (x * x).sum())(tn.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        forward = Forward(func, args, argnums, has_aux)
        columns = [
            jacobian_columns(functools.partial(forward.column, i), t, forward.outputs)
            for i, t in enumerate(forward.inputs)
        ]
        rows = [[column[j] for column in columns] for j in range(len(forward.outputs))]
        trees = [tree_unflatten(row, forward.spec) for row in rows]
        jacobian = tree_unflatten(trees, forward.form)
        return (jacobian, *forward.aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of ``func``, the Jacobian of its Jacobian.

    Args:
        func, argnums: as in ``jacrev``.

    Raises:
        RuntimeError: as ``jacrev``.

    Example:
        >>> tn.func.hessian(lambda x: (x**3).sum())(tn.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
