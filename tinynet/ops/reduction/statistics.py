"""Variance, standard deviation and norms."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.complex_rules import conjugate
from tinynet.core.declaration.operation import Operation, composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.kernels.sums import add_up, moments, rows_of, square_sums, sums
from tinynet.ops.arguments import as_declared, name_of, refuse_others
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.clamp import clamp
from tinynet.ops.pointwise.complex_numbers import complex, real
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.pointwise.exponential import abs as absolute
from tinynet.ops.pointwise.exponential import sgn
from tinynet.ops.products.matmul import matmul
from tinynet.ops.reduction.sums import (
    Dims,
    axes_of,
    count_of,
    largest,
    mean_dims,
    restore,
    smallest,
    spread,
    sum_dims,
)
from tinynet.ops.shaping.diagonals import diagonal
from tinynet.ops.shaping.reshaping import squeeze
from tinynet.ops.shaping.views import reshape

# ---- correlation --------------------------------------------------------------------------------
# Covariances and correlation coefficients of the rows of a matrix.


def _check_weights(name: str, weights: Any, count: int, floating: bool) -> None:
    array = weights._array
    if array.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{array.ndim} dimensions"
        )
    if (array.dtype.kind == "f") != floating or array.dtype.kind == "b":
        kind = "floating point" if floating else "integral"
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {name_of(array)} "
            "dtype"
        )
    if array.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {array.size} != {count}"
        )
    if array.size and array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _rows(name: str, self: Tensor) -> Tensor:
    """Return the input as a matrix of floats, one variable per row."""
    refuse_others(name, self=self)
    ndim = self._array.ndim
    if ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with "
            f"{ndim} dimensions"
        )
    if self._array.dtype.kind == "b":
        raise RuntimeError(f"{name}(): bool dtype is not supported for input")
    return self if ndim == 2 else reshape(self, (1, self._array.size))


@composite
def cov(
    self: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariance matrix; rows are variables, columns are observations.

    ``c[i, j] = sum(w * (x[i] - mean[i]) * (x[j] - mean[j])) / (sum(w) - correction)``, with the
    weights w (1 by default).

    Args:
        self: ``[variables, observations]``, or a vector of observations of one variable.
        correction: subtracted from the number of observations in the divisor.
        fweights: integers: the number of times each observation occurred.
        aweights: the weight of each observation.

    Returns:
        ``[variables, variables]``; a scalar for one variable.

    Raises:
        RuntimeError: more than two dimensions, or weights of an unsuitable shape or dtype.

    Example:
        >>> tn.cov(tn.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    x = _rows("cov", self)
    count = x._array.shape[1]
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _check_weights(name, given, count, name == "aweights")
            weights = given if weights is None else weights * given
    if not dtypes.is_inexact(x._array.dtype):
        x = converted(x, dtypes.default_float())
    total: Any = count
    if weights is not None:
        total = weights.sum()
        if count and total._array == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    center = x.mean(1, True) if weights is None else (x * weights).sum(1, keepdim=True) / total
    free = _degrees_of_freedom(total, correction, weights, aweights)
    away = x - center
    weighted = away if weights is None else away * weights
    return squeeze(matmul(away, conjugate(converted(weighted, away._array.dtype)).t()) / free)


def _degrees_of_freedom(total: Any, correction: int, weights: Any, aweights: Any) -> Any:
    """Return the divisor of the sums of products, at least zero."""
    free = total - correction
    if aweights is not None and correction != 0:
        free = total - correction * (weights * aweights).sum() / total
    number = float(free) if not isinstance(free, Tensor) else free.item()
    if number <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "number of observations.",
            UserWarning,
            stacklevel=3,
        )
        return 0.0
    return free


@composite
def corrcoef(self: Tensor) -> Tensor:
    """Return Pearson's correlation coefficients; rows are variables, columns are observations.

    ``c[i, j] / sqrt(c[i, i] * c[j, j])``, where c is the covariance matrix; from -1 to 1.

    Args:
        self: ``[variables, observations]``, or a vector of observations of one variable.

    Raises:
        RuntimeError: more than two dimensions, or booleans.

    Example:
        >>> tn.corrcoef(tn.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    _rows("corrcoef", self)
    c = cov(self)
    if c._array.ndim == 0:
        return c / c
    deviations = real(diagonal(c, 0, 0, 1)).sqrt()
    c = c / reshape(deviations, (-1, 1)) / reshape(deviations, (1, -1))
    if c.is_complex():
        return complex(clamp(c.real, -1, 1), clamp(c.imag, -1, 1))
    return clamp(c, -1, 1)


# ---- variance and standard deviation ------------------------------------------------------------


def _moments(
    self: Array, dim: Dims, correction: float, keepdim: bool, root: bool = False
) -> tuple[Array, Array]:
    """Return the variance or its root, and the mean: computed in float64, and rounded once."""
    if not dtypes.is_inexact(self.dtype):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = axes_of(dim, self.ndim)
    rows = rows_of(self, axes)
    center, total = moments(rows)
    found = total / np.float64(max(rows.shape[1] - correction, 0))
    found = np.sqrt(found) if root else found
    shape = [1 if a in axes else n for a, n in enumerate(self.shape) if keepdim or a not in axes]
    kind = dtypes.real_of(self.dtype)
    return found.reshape(shape).astype(kind), center.reshape(shape).astype(self.dtype)


def _around_mean(
    g: Any, x: Any, shape: tuple[int, ...], dim: Dims, correction: float, keepdim: bool
) -> Any:
    """Return the gradient of the variance."""
    free = count_of(shape, dim) - correction
    center = mean_dims(x, dim, True)
    if free <= 0 and (dim is None or not shape):
        return spread(g, shape, dim, keepdim) * where(x == center, math.nan, math.inf)
    scale = 2 / free if free else math.inf
    return spread(g * scale, shape, dim, keepdim) * (x - center)


def _of_deviation(
    g: Any, x: Any, shape: tuple[int, ...], std: Any, dim: Dims, correction: float, keepdim: bool
) -> Any:
    """Return the gradient of the standard deviation; zero where the deviation is zero."""
    g = where(std == 0, 0.0, g / (2 * std))
    return _around_mean(g, x, shape, dim, correction, keepdim)


def _of_mean(g: Any, shape: tuple[int, ...], dim: Dims, keepdim: bool) -> Any:
    return spread(g / max(count_of(shape, dim), 1), shape, dim, keepdim)


@operation(node="VarBackward0", complex="given")
def variance(self: Array, /, dim: Dims, correction: float, keepdim: bool) -> Array:
    """Return the variance over dimensions."""
    return _moments(self, dim, correction, keepdim)[0]


variance.grad(
    self=lambda g, self, self_shape, dim, correction, keepdim: _around_mean(
        g, self, self_shape, dim, correction, keepdim
    )
)


@operation(node="StdBackward0", complex="given")
def deviation(self: Array, /, dim: Dims, correction: float, keepdim: bool) -> Array:
    """Return the standard deviation over dimensions; its subgradient at zero is zero."""
    return _moments(self, dim, correction, keepdim, root=True)[0]


deviation.grad(
    self=lambda g, self, self_shape, result, dim, correction, keepdim: _of_deviation(
        g, self, self_shape, result, dim, correction, keepdim
    )
)


@operation(outputs=("var", "mean"), differentiable=2, node="VarMeanBackward0", complex="given")
def variance_mean(
    self: Array, /, dim: Dims, correction: float, keepdim: bool
) -> tuple[Array, Array]:
    """Return the variance and the mean over dimensions."""
    return _moments(self, dim, correction, keepdim)


variance_mean.grad(
    self=lambda g, self, self_shape, dim, correction, keepdim: (
        _around_mean(g[0], self, self_shape, dim, correction, keepdim)
        + _of_mean(g[1], self_shape, dim, keepdim)
    )
)


@operation(outputs=("std", "mean"), differentiable=2, node="StdMeanBackward0", complex="given")
def deviation_mean(
    self: Array, /, dim: Dims, correction: float, keepdim: bool
) -> tuple[Array, Array]:
    """Return the standard deviation and the mean over dimensions."""
    return _moments(self, dim, correction, keepdim, root=True)


deviation_mean.grad(
    self=lambda g, self, self_shape, std, dim, correction, keepdim: (
        _of_deviation(g[0], self, self_shape, std, dim, correction, keepdim)
        + _of_mean(g[1], self_shape, dim, keepdim)
    )
)


def _options(
    name: str, self: Any, dim: Any, unbiased: bool | None, correction: float | None
) -> tuple[Dims, float]:
    """Return the dimensions and the correction from the arguments of var or std."""
    refuse_others(name, self=self)
    if isinstance(dim, bool):  # var(unbiased)
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(
            f"{name}() received an invalid combination of arguments: 'unbiased' and 'correction' "
            "say the same; give one of them"
        )
    if correction is None:
        correction = 0 if unbiased is False else 1
    array = self._array
    axes = axes_of(dim, array.ndim, name)
    count = math.prod([array.shape[a] for a in axes]) if array.size else 0
    if dtypes.is_floating(array.dtype) and count - correction <= 0:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            UserWarning,
            stacklevel=3,
        )
    return dim, correction


def _about_mean(op: Operation) -> Callable[[Any], Any]:
    """Declare a function of the deviations from the mean, which all have the same arguments."""

    def declare(declared: Any) -> Any:
        def function(
            self: Tensor,
            dim: Dims = None,
            unbiased: bool | None = None,
            keepdim: bool = False,
            *,
            correction: float | None = None,
        ) -> Any:
            dim, correction = _options(declared.__name__, self, dim, unbiased, correction)
            return op.function(self, dim, correction, keepdim)

        return as_declared(function, declared)

    return declare


@composite(out=True)
@_about_mean(variance)
def var() -> Tensor:
    """Return the variance over the given dimensions; all by default.

    ``sum((x - mean(x)) ** 2) / (n - correction)`` for n elements.

    Args:
        dim: the dimension or dimensions.
        unbiased: True (the default) stands for ``correction=1``, False for ``correction=0``.
        keepdim: keep the dimensions with length 1.
        correction: subtracted from the number of elements in the divisor.

    Raises:
        RuntimeError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([1.0, 2.0, 3.0]).var()
        tensor(1.)
    """


@composite(out=True)
@_about_mean(deviation)
def std() -> Tensor:
    """Return the standard deviation over the given dimensions; all by default.

    ``sqrt(sum((x - mean(x)) ** 2) / (n - correction))`` for n elements.

    See ``var`` for the arguments. Where the result is zero, so is the gradient.

    Example:
        >>> tn.tensor([1.0, 3.0]).std(unbiased=False)
        tensor(1.)
    """


@composite(method=False, out=True)
@_about_mean(variance_mean)
def var_mean() -> tuple[Tensor, Tensor]:
    """Return the variance and the mean; see ``var`` for the arguments.

    Example:
        >>> tn.var_mean(tn.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """


@composite(method=False, out=True)
@_about_mean(deviation_mean)
def std_mean() -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean; see ``var`` for the arguments.

    Example:
        >>> tn.std_mean(tn.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """


# ---- norms --------------------------------------------------------------------------------------


@operation(node="LinalgVectorNormBackward0", complex="given")
def vector_norm(self: Array, /, p: float, dim: Dims, keepdim: bool) -> Array:
    """Return the p-norm over dimensions."""
    axes = axes_of(dim, self.ndim)
    _check_norm(self, p, axes, dim)
    if self.dtype is HALF:
        return in_single(vector_norm, self, p, dim, keepdim)
    if p == 2:
        return np.sqrt(square_sums(self, axes, keepdim))
    sizes = np.abs(self)
    if p == math.inf:
        return largest(sizes, axis=axes, keepdims=keepdim)
    if p == -math.inf:
        return smallest(sizes, axis=axes, keepdims=keepdim)
    if p == 0:
        return add_up(sizes != 0, axis=axes, keepdims=keepdim, dtype=sizes.dtype)
    if p == 1:
        return sums(sizes, axes, keepdim)
    return sums(sizes**p, axes, keepdim) ** (1 / p)


def _check_norm(self: Array, p: float, axes: tuple[int, ...], dim: Dims) -> None:
    if not dtypes.is_inexact(self.dtype):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{name_of(self)}"
        )
    if p < 0 or p == math.inf:
        shown = f"{p:g}"
        for axis in axes:
            if self.shape[axis] == 0 and (dim is not None and dim != ()):
                raise RuntimeError(
                    f"linalg.vector_norm cannot compute the {shown} norm on the dimension {axis}"
                    "because this dimension is empty and the operation does not have an identity"
                )
        if self.size == 0 and len(axes) == self.ndim:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {shown} norm on an empty tensor because "
                "the operation does not have an identity"
            )


def norm_gradient(
    g: Any, x: Any, shape: tuple[int, ...], result: Any, p: float, dim: Dims, keepdim: bool
) -> Any:
    """Return the gradient of the p-norm; zero where the norm is zero."""
    g, norm = restore(g, shape, dim, keepdim), restore(result, shape, dim, keepdim)
    if p == 0:
        return None
    if p == 1:
        return g * sgn(x)
    if p == 2:
        if isinstance(g, Tensor):  # the second derivative at 0 is NaN, as in PyTorch
            return g * where(norm == 0, 0.0, x / norm)
        return x * where(norm == 0, 0.0, g / where(norm == 0, 1.0, norm))
    if p in (math.inf, -math.inf):
        count = sum_dims(((absolute(x) == norm) | (x != x)) * 1.0, dim, True)
        g = g / where(count == 0, 1.0, count)  # 0 if the norm was rounded to 16 bits
    return norm_slope(x, norm, p) * norm_weight(g, norm, p)


def norm_weight(g: Any, norm: Any, p: float) -> Any:
    """Return the factor of the gradient of a p-norm that all elements share."""
    if p in (1, math.inf, -math.inf):
        return g
    if p < 1:
        return g * norm ** (1 - p)
    divisor = where(norm == 0, 1.0, norm)
    return where(norm == 0, 0.0, g / (divisor if p == 2 else divisor ** (p - 1)))


def norm_slope(x: Any, norm: Any, p: float) -> Any:
    """Return the factor of the gradient of a p-norm that belongs to an element."""
    if p == 2:
        return x
    if p == 1:
        return sgn(x)
    sizes = absolute(x)
    if p in (math.inf, -math.inf):
        return sgn(x) * (sizes == norm)
    if p < 1:
        return sgn(x) * where(x == 0, 0.0, sizes ** (p - 1))
    return sgn(x) * sizes ** (p - 1) if p < 2 else x * sizes ** (p - 2)


vector_norm.grad(
    self=lambda g, self, self_shape, result, p, dim, keepdim: norm_gradient(
        g, self, self_shape, result, p, dim, keepdim
    )
)
