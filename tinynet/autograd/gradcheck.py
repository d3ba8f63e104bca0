"""Checking derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.autograd.derivatives import grad
from tinynet.core.tensor import Tensor, wrap


class GradcheckError(RuntimeError):
    """A derivative disagrees with finite differences."""


def _outputs(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    made = function(*inputs)
    found = list(made) if isinstance(made, (tuple, list)) else [made]
    return [t for t in found if isinstance(t, Tensor) and t._array.dtype.kind == "f"]


def _numerical(
    function: Callable[..., Any], inputs: Sequence[Any], t: Tensor, eps: float
) -> list[Any]:
    """Return the Jacobian of each output with respect to ``t`` by central differences."""
    columns: list[list[Any]] = []
    array = t._array
    for place in np.ndindex(array.shape):
        kept = array[place].copy()
        sides = []
        for sign in (1, -1):
            array[place] = kept + sign * eps
            sides.append([o._array.copy() for o in _outputs(function, inputs)])
        array[place] = kept
        columns.append([(a - b).ravel() / (2 * eps) for a, b in zip(*sides, strict=True)])
    count = len(_outputs(function, inputs))
    return [
        np.stack([c[i] for c in columns]) if columns else np.zeros((0, 0)) for i in range(count)
    ]


def _analytical(output: Tensor, t: Tensor) -> Any:
    """Return the Jacobian by backward, one pass per element of the output."""
    rows = []
    for place in np.ndindex(output._array.shape):
        start = np.zeros_like(output._array)
        start[place] = 1
        (g,) = grad(output, t, wrap(start), retain_graph=True, allow_unused=True)
        rows.append(np.zeros(t._array.size) if g is None else g._array.ravel())
    return np.stack(rows, 1) if rows else np.zeros((t._array.size, 0))


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Return True if the gradients of ``func`` agree with central differences.

    Args:
        func: function of tensors that returns a tensor or several.
        inputs: its arguments; those that require grad are checked and should be float64.
        eps: step of the differences.
        atol, rtol: tolerances.
        raise_exception: raise on disagreement instead of returning False.

    Raises:
        GradcheckError: the gradients disagree.
        ValueError: no input requires grad.

    Example:
        >>> x = tn.rand(3, dtype=tn.float64, requires_grad=True)
        >>> tn.autograd.gradcheck(lambda x: (x * x).sum(), [x])
        True
    """
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    checked = [(i, t) for i, t in enumerate(arguments) if isinstance(t, Tensor) and t.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, "
            "but none of the them have requires_grad=True."
        )
    for i, t in checked:
        expected = _numerical(func, arguments, t, eps)
        for j, output in enumerate(_outputs(func, arguments)):
            found = (
                _analytical(output, t)
                if output.requires_grad
                else np.zeros((t._array.size, output._array.size))
            )
            wanted = expected[j].reshape(found.shape)
            if not np.allclose(found, wanted, rtol, atol, equal_nan=True):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {i},\n"
                    f"numerical:{wrap(wanted)}\nanalytical:{wrap(found)}\n"
                )
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Return True if the gradients of the gradients of ``func`` agree with central differences.

    Args:
        func: function of tensors that returns a tensor or several.
        inputs: its arguments; those that require grad are checked and should be float64.
        grad_outputs: gradients of the outputs; drawn from a fixed seed unless given.
        eps, atol, rtol, raise_exception: as in ``gradcheck``.

    Raises:
        GradcheckError: the gradients disagree.

    Example:
        >>> x = tn.rand(3, dtype=tn.float64, requires_grad=True)
        >>> tn.autograd.gradgradcheck(lambda x: x * x * x, [x])
        True
    """
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    outputs = _outputs(func, arguments)
    starts = _directions(outputs) if grad_outputs is None else grad_outputs
    starts = [starts] if isinstance(starts, Tensor) else list(starts)
    places = [i for i, t in enumerate(arguments) if isinstance(t, Tensor) and t.requires_grad]

    def first(*args: Any) -> Any:
        given, directions = args[: len(arguments)], args[len(arguments) :]
        made = _outputs(func, given)
        used = [(o, d) for o, d in zip(made, directions, strict=True) if o.requires_grad]
        found = grad(
            [o for o, _ in used],
            [given[i] for i in places],
            [d for _, d in used],
            create_graph=True,
            materialize_grads=True,
        )
        return tuple(g for g in found if g.requires_grad)

    return gradcheck(
        first,
        [*arguments, *starts],
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
    )


def _directions(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return gradients for the outputs, drawn from a fixed seed, that are differentiated too."""
    draw = np.random.default_rng(0)
    drawn = [wrap(np.asarray(draw.standard_normal(o._array.shape))) for o in outputs]
    return [t.requires_grad_() for t in drawn]
