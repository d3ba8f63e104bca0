"""Jacobians and Hessians, as functions of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tinynet.autograd.functional import units
from tinynet.compat.pytree import tree_flatten, tree_unflatten
from tinynet.core.tensor import Tensor
from tinynet.func.gradients import Forward, differentiable
from tinynet.ops import stack


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``func``, a backward pass for each row.

    Args:
        func: function of tensors, or trees of them, that returns one.
        argnums: which positional arguments to differentiate by; a tuple gives a tuple.
        has_aux: ``func`` returns a pair, whose second part is passed on.
        chunk_size: accepted; the passes run one after the other.

    Raises:
        RuntimeError: an output is no floating-point tensor, or there is no such argument.
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
        found = []
        for out in flat:
            rows = [level.gradients([out], inputs, [unit]) for unit in units(out)]
            found.append(
                tree_unflatten(
                    [
                        level.leave(_whole([row[i] for row in rows], 0, out, t))
                        for i, t in enumerate(inputs)
                    ],
                    spec,
                )
            )
        jacobian = tree_unflatten(found, form)
        return (jacobian, *seen[1:]) if has_aux else jacobian

    return wrapper


def _whole(parts: list[Tensor], dim: int, out: Tensor, t: Tensor) -> Tensor:
    """Return rows or columns as one tensor, of the output's shape followed by the input's."""
    shape = out.shape + t.shape
    return stack(parts, dim).view(shape) if parts else t.new_zeros(shape)


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``func``, a pass for each column.

    The function runs once, so random numbers are the same in all columns.

    Args:
        func, argnums, has_aux: as in ``jacrev``.
        randomness: accepted.

    Raises:
        RuntimeError: an output is no tensor, or there is no such argument.

    Example:
        >>> tn.func.jacfwd(lambda x: (x * x).sum())(tn.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        forward = Forward(func, args, argnums, has_aux)
        found: list[list[Tensor]] = [[] for _ in forward.outputs]
        for i, t in enumerate(forward.inputs):
            columns = []
            for unit in units(t):
                tangents = [x.new_zeros(x.shape) for x in forward.inputs]
                tangents[i] = unit
                columns.append(forward.product(tangents))
            for j, out in enumerate(forward.outputs):
                found[j].append(_whole([column[j] for column in columns], -1, out, t))
        trees = [tree_unflatten(row, forward.spec) for row in found]
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
