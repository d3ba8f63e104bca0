"""Clipping of gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tinynet import dtypes
from tinynet.core.inplace import wrote
from tinynet.core.tensor import Tensor, wrap
from tinynet.nn.notice import warn

Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: Tensors) -> list[Tensor]:
    """Return the gradients of those parameters that have one."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not given:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return [p._grad for p in given if p._grad is not None]


def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Return the norm of all elements of some tensors together.

    Args:
        tensors: one or several.
        norm_type: the p of the norm; ``math.inf`` for the largest absolute value.
        error_if_nonfinite: raise if the norm is infinite or NaN.

    Raises:
        RuntimeError: see ``error_if_nonfinite``.

    Example:
        >>> nn.utils.get_total_norm([tn.tensor([3.0]), tn.tensor([4.0])])
        tensor(5.)
    """
    arrays = [t._array for t in ([tensors] if isinstance(tensors, Tensor) else tensors)]
    kind = dtypes.result_type(arrays) if arrays else dtypes.default_float()
    parts = np.array([_norm(np.abs(a), norm_type) for a in arrays], dtype=kind)
    total = np.asarray(_norm(parts, norm_type), dtype=kind)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return wrap(total)


def _norm(sizes: np.ndarray, p: float) -> np.floating:
    """Return the p-norm of numbers that are not negative."""
    if p == 2:
        flat = sizes.ravel()
        return np.sqrt(np.dot(flat, flat))
    if p == math.inf:
        return np.max(sizes, initial=0)
    return np.sum(sizes**p) ** (1 / p)


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor) -> None:
    """Multiply all gradients by ``max_norm / total_norm`` if that is less than 1."""
    _scale(_gradients(parameters), max_norm, total_norm)


def _scale(grads: list[Tensor], max_norm: float, total_norm: Tensor) -> None:
    factor = min(float(max_norm) / (total_norm._array + 1e-6), 1.0)
    for g in grads:
        g._array *= g._array.dtype.type(factor)
        wrote(g, "clip_grad_norm_")


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients together so that their norm is at most ``max_norm``, in place.

    Args:
        parameters: one or several; those without gradient do not count.
        max_norm: the largest norm of all gradients together.
        norm_type: the p of the norm; ``math.inf`` for the largest absolute value.
        error_if_nonfinite: raise if the norm is infinite or NaN, instead of spreading it.
        foreach: no effect; there for PyTorch's signature.

    Returns:
        The norm before clipping.

    Raises:
        RuntimeError: see ``error_if_nonfinite``.

    Source: Pascanu et al., "On the difficulty of training recurrent neural networks", 2013.

    Example:
        >>> w = nn.Parameter(tn.zeros(2))
        >>> w.grad = tn.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_(w, max_norm=1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    grads = _gradients(parameters)
    total = get_total_norm(grads, float(norm_type), error_if_nonfinite)
    _scale(grads, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Move each element of all gradients into ``[-clip_value, clip_value]``, in place.

    Args:
        parameters: one or several; those without gradient do not count.
        clip_value: the largest absolute value.
        foreach: no effect; there for PyTorch's signature.

    Example:
        >>> w = nn.Parameter(tn.zeros(2))
        >>> w.grad = tn.tensor([0.5, -4.0])
        >>> nn.utils.clip_grad_value_(w, 1.0)
        >>> w.grad
        tensor([ 0.5000, -1.0000])
    """
    bound = float(clip_value)
    for g in _gradients(parameters):
        np.clip(g._array, -bound, bound, out=g._array)
        wrote(g, "clip_grad_value_")
