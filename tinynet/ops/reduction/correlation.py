"""Covariances and correlation coefficients of the rows of a matrix."""

from __future__ import annotations

import warnings
from typing import Any

from tinynet import dtypes
from tinynet.core.declaration.complex_rules import conjugate
from tinynet.core.declaration.operation import public
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.argument_errors import name_of, refuse_others
from tinynet.ops.pointwise.clamp import clamp
from tinynet.ops.pointwise.complex_numbers import complex, real
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.products.matmul import matmul
from tinynet.ops.shaping.diagonals import diagonal
from tinynet.ops.shaping.reshaping import squeeze
from tinynet.ops.shaping.views import reshape


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


@public
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


@public
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
