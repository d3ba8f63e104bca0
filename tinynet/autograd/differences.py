"""Jacobians for ``gradcheck``: by finite differences, and by backward.

A Jacobian is a matrix with a row per element of the input and a column per element of the output.
Fast mode computes only ``J @ u`` and ``v @ J`` for random vectors ``u`` and ``v``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.autograd.derivatives import grad
from tinynet.core.tensors.tensor import Size, Tensor, wrap
from tinynet.ops import view_as_complex, view_as_real

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """A derivative that disagrees with finite differences."""


NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
    "times gives different values, although analytical gradient matches numerical gradient."
    "The tolerance for nondeterminism was {}.\n\n"
    "If that is to be expected of the function, pass nondet_tol=<tol>."
)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return ``value`` as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def floating(made: Any) -> list[Tensor]:
    """Return the floating-point outputs of a function."""
    return [
        t for t in as_tuple(made) if isinstance(t, Tensor) and dtypes.is_inexact(t._array.dtype)
    ]


def differentiable(made: Any) -> list[Tensor]:
    """Return the outputs of a function that require grad."""
    return [t for t in as_tuple(made) if isinstance(t, Tensor) and t.requires_grad]


def in_parts(
    func: Callable[..., Any], inputs: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...], list[bool]]:
    """Return a function of the real and imaginary parts of complex inputs, and these parts.

    Its gradients agree with differences if and only if those of ``func`` do. The third result is
    a list of whether each floating output of its last call was complex.
    """
    were_complex: list[bool] = []
    places = {i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.is_complex()}

    def of_parts(*args: Any) -> tuple[Any, ...]:
        given = [view_as_complex(a) if i in places else a for i, a in enumerate(args)]
        made = as_tuple(func(*given))
        were_complex[:] = [t.is_complex() for t in floating(made)]
        return tuple(
            view_as_real(t) if isinstance(t, Tensor) and t.is_complex() else t for t in made
        )

    parts = [
        view_as_real(t.detach()).requires_grad_(t.requires_grad) if i in places else t
        for i, t in enumerate(inputs)
    ]
    return of_parts, tuple(parts), were_complex


# ---- finite differences -------------------------------------------------------------------------


def _slopes(function: Function, inputs: Sequence[Any], eps: float, place: Any, move: Any) -> Any:
    """Return, per output, the central difference between two states of the inputs."""
    sides = []
    for sign in (-1, 1):
        move(sign)
        sides.append([t._array.copy() for t in floating(function(*inputs))])
    move(0)
    where = "" if place is None else f"on index {place} "
    if len(sides[0]) != len(sides[1]):
        raise AssertionError(
            f"Expected `func` to return the same number of outputs when inputs are perturbed "
            f"{where}by {eps}, but got: {len(sides[0])} and {len(sides[1])}."
        )
    for a, b in zip(*sides, strict=True):
        for what, x, y in (
            ("shape", Size(a.shape), Size(b.shape)),
            ("dtype", dtypes.of(a), dtypes.of(b)),
        ):
            if x != y:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed {where}by {eps}, but got: {what}s {x} and {y}."
                )
    return [(b - a).ravel() / (2 * eps) for a, b in zip(*sides, strict=True)]


def numerical(function: Function, inputs: Sequence[Any], t: Tensor, eps: float) -> list[Array]:
    """Return the Jacobian of each floating output with respect to ``t``."""
    array = t._array
    rows = []
    for place in np.ndindex(array.shape):
        before = array[place].copy()

        def move(sign: int, place: Any = place, before: Any = before) -> None:
            array[place] = before + sign * eps

        rows.append(_slopes(function, inputs, eps, place, move))
    if not rows:
        return [np.zeros((0, o._array.size)) for o in floating(function(*inputs))]
    return [np.stack(one) for one in zip(*rows, strict=True)]


def numerical_along(
    function: Function, inputs: Sequence[Any], t: Tensor, eps: float, u: Array
) -> list[Array]:
    """Return, for each floating output, its derivative when ``t`` moves along ``u``."""
    array = t._array
    before = array.copy()
    step = eps * u.reshape(array.shape)

    def move(sign: int) -> None:
        array[...] = before + sign * step

    found: list[Array] = _slopes(function, inputs, eps, None, move)
    return found


# ---- backward -----------------------------------------------------------------------------------


def analytical(
    output: Tensor,
    inputs: Sequence[Tensor],
    nondet_tol: float,
    v: Array | None = None,
) -> list[Array]:
    """Return the Jacobian of ``output`` with respect to each input, or ``v @ J`` as one column.

    Raises:
        GradcheckError: two passes differ by more than ``nondet_tol``.
    """
    starts = _units(output._array) if v is None else [v.reshape(output._array.shape)]
    once, again = (_jacobians(output, inputs, starts) for _ in range(2))
    for a, b in zip(once, again, strict=True):
        if a.size and np.abs(a - b).max() > nondet_tol:
            raise GradcheckError(NOT_REENTRANT.format(nondet_tol))
    return once


def _units(like: Array) -> list[Array]:
    found = []
    for place in np.ndindex(like.shape):
        unit = np.zeros_like(like, order="C")
        unit[place] = 1
        found.append(unit)
    return found


def _jacobians(output: Tensor, inputs: Sequence[Tensor], starts: Sequence[Array]) -> list[Array]:
    """Return, per input, a matrix with the gradient of each ``start @ output`` as a column."""
    found = [np.zeros((t._array.size, len(starts)), t._array.dtype) for t in inputs]
    for k, start in enumerate(starts):
        grads = grad(output, inputs, wrap(start), retain_graph=True, allow_unused=True)
        for matrix, g in zip(found, grads, strict=True):
            if g is not None:
                matrix[:, k] = g._array.ravel()
    return found


# ---- what old tests call ------------------------------------------------------------------------


def _real(grad_out: float) -> None:
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0: other values are no longer supported.")


def get_numerical_jacobian(
    fn: Function, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """Return the Jacobian of a function's first output by finite differences.

    Args:
        fn: takes the inputs as one tuple.
        inputs: a tensor or a tuple of them.
        target: those to differentiate by; by default all inputs that require grad.
        eps: half the distance of the differences.
        grad_out: 1.

    Raises:
        ValueError: ``grad_out`` is not 1.

    Example:
        >>> from tinynet.autograd.differences import get_numerical_jacobian
        >>> x = tn.tensor([1.0, 2.0], dtype=tn.float64, requires_grad=True)
        >>> get_numerical_jacobian(lambda inputs: inputs[0] ** 2, (x,))[0].round(decimals=6)
        tensor([[2., 0.],
                [0., 4.]], dtype=tinynet.float64)
    """
    _real(grad_out)
    inputs = as_tuple(inputs)
    targets = differentiable(inputs if target is None else target)
    return tuple(wrap(numerical(lambda *given: fn(given), inputs, t, eps)[0]) for t in targets)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Return the Jacobian of an output by backward, and whether two passes agree.

    Args:
        inputs: a tensor or a tuple of them.
        output: computed from them.
        nondet_tol: the difference allowed between two passes.
        grad_out: 1.

    Returns:
        The Jacobians by the inputs that require grad; whether the passes agree; whether the
        gradients have the shapes, and the dtypes, of their inputs, as tinynet's always do.

    Raises:
        ValueError: ``grad_out`` is not 1, or the output is complex.

    Example:
        >>> from tinynet.autograd.differences import get_analytical_jacobian
        >>> x = tn.tensor([1.0, 2.0], requires_grad=True)
        >>> get_analytical_jacobian((x,), x * x)[0][0]
        tensor([[2., 0.],
                [0., 4.]])
    """
    _real(grad_out)
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports "
            "functions that return complex outputs."
        )
    tensors = differentiable(inputs)
    found = analytical(output, tensors, np.inf)
    again = analytical(output, tensors, np.inf)
    agree = all(np.allclose(a, b, 0, nondet_tol) for a, b in zip(found, again, strict=True))
    return tuple(map(wrap, found)), agree, True, True
