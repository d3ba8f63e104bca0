"""Gradient clipping."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.graph.inplace import wrote
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import repeated, traced
from tinynet.ops.arguments import name_of

Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: Tensors) -> list[Tensor]:
    """Return the gradients of the parameters that have one."""
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in given if p._grad is not None]  # type: ignore[misc]  # it has one


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the joint norm of all elements of several tensors.

    Args:
        tensors: one tensor or several.
        norm_type: the p of the norm; ``math.inf`` for the largest absolute value.
        error_if_nonfinite: raise if the norm is infinite or NaN.
        foreach: ignored; accepted for compatibility with PyTorch.

    Raises:
        RuntimeError: see ``error_if_nonfinite``; a tensor is not floating-point, or is empty for an
            infinite ``norm_type``.

    Source: ``sum(|x| ** p) ** (1 / p)`` over all elements x.

    Example:
        >>> nn.utils.get_total_norm([tn.tensor([3.0]), tn.tensor([4.0])])
        tensor(5.)
    """
    arrays = [t._array for t in ([tensors] if isinstance(tensors, Tensor) else tensors)]
    norm_type = float(norm_type)
    kind = dtypes.real_of(dtypes.result_type(arrays)) if arrays else dtypes.default_float()
    _refuse(arrays, norm_type)
    return wrap(_total(arrays, norm_type, kind, error_if_nonfinite))


@traced
def _total(
    arrays: list[np.ndarray], norm_type: float, kind: Any, error_if_nonfinite: bool
) -> np.ndarray:
    parts = np.array([_norm(a, norm_type) for a in arrays], dtype=kind)
    total = np.asarray(_norm(parts, norm_type) if arrays else 0).astype(kind)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _refuse(arrays: list[np.ndarray], p: float) -> None:
    for a in arrays:
        if not dtypes.is_inexact(a.dtype):
            raise RuntimeError(
                "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                f"{name_of(a)}"
            )
        if a.size == 0 and (p < 0 or p == math.inf):
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the "
                "operation does not have an identity"
            )


def _norm(a: np.ndarray, p: float) -> np.floating:
    """Return the p-norm of all elements; that of 16-bit floats is computed in float32."""
    if a.dtype.itemsize == 2:
        return a.dtype.type(_norm(a.astype(np.float32), p))
    if a.dtype.kind == "c":
        a = np.abs(a)
    if p == 2:
        flat = a.ravel()
        return np.sqrt(np.dot(flat, flat))
    if p == 0:
        return a.dtype.type(np.count_nonzero(a))
    sizes = np.abs(a)
    if math.isinf(p):
        return sizes.max() if p > 0 else sizes.min()
    return np.sum(sizes**p) ** (1 / p)


@repeated
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiply all gradients by ``max_norm / total_norm`` if that is less than 1, in place.

    Args:
        parameters: one tensor or several; those without a gradient are skipped.
        max_norm: the largest norm to leave unchanged.
        total_norm: the joint norm of all gradients, from ``get_total_norm``.
        foreach: ignored; accepted for compatibility with PyTorch.

    Raises:
        AttributeError: a parameter is not a tensor.

    Example:
        >>> w = nn.Parameter(tn.zeros(2))
        >>> w.grad = tn.tensor([3.0, 4.0])
        >>> nn.utils.clip_grads_with_norm_(w, 1.0, tn.tensor(10.0))
        >>> w.grad
        tensor([0.3000, 0.4000])
    """
    _scale(_gradients(parameters), max_norm, total_norm)


def _scale(grads: list[Tensor], max_norm: float, total_norm: Tensor) -> None:
    factor = min(float(max_norm) / (total_norm._array + 1e-6), 1.0)
    for g in grads:
        g._array *= dtypes.real_of(g._array.dtype).type(factor)
        wrote(g, "clip_grad_norm_")


@repeated
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients in place so that their joint norm is at most ``max_norm``.

    Args:
        parameters: one tensor or several; those without a gradient are skipped.
        max_norm: the largest joint norm.
        norm_type: the p of the norm; ``math.inf`` for the largest absolute value.
        error_if_nonfinite: raise if the norm is infinite or NaN, instead of propagating it.
        foreach: ignored; accepted for compatibility with PyTorch.

    Returns:
        The norm before clipping.

    Raises:
        RuntimeError: see ``error_if_nonfinite``.

    Source: Pascanu et al., "On the difficulty of training recurrent neural networks", 2013,
    arXiv:1211.5063.

    Example:
        >>> w = nn.Parameter(tn.zeros(2))
        >>> w.grad = tn.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_(w, max_norm=1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    given = parameters if isinstance(parameters, Tensor) else list(parameters)
    if isinstance(parameters, GeneratorType) and not given:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    grads = _gradients(given)
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    _scale(grads, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Deprecated alias of ``clip_grad_norm_``.

    The arguments are those of ``clip_grad_norm_``.

    Example:
        >>> import warnings
        >>> w = tn.zeros(2, requires_grad=True)
        >>> w.grad = tn.tensor([3.0, 4.0])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     nn.utils.clip_grad_norm([w], 1.0)
        tensor(5.)
    """
    warn(
        "`tinynet.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`tinynet.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@repeated
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of all gradients to ``[-clip_value, clip_value]``, in place.

    Args:
        parameters: one tensor or several; those without a gradient are skipped.
        clip_value: the largest absolute value.
        foreach: ignored; accepted for compatibility with PyTorch.

    Raises:
        ValueError, TypeError: ``clip_value`` is not a number.
        AttributeError: a parameter is not a tensor.

    Source: ``g = min(max(g, -clip_value), clip_value)``.

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
