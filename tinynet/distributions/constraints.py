"""Constraints on the values of parameters and samples.

A constraint checks values (``check``) and defines whether they are discrete and how many trailing
dimensions one event has. ``biject_to`` and ``transform_to`` find transforms to its values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.distributions.constraint import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    _Stack,
    is_dependent,
)
from tinynet.dtypes import extension_dtypes
from tinynet.ops import full, linalg

# ---- numbers ------------------------------------------------------------------------------------


class _Boolean(Constraint):
    """Zero and one."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """All numbers, including infinite ones."""

    def check(self, value: Any) -> Tensor:
        return value == value  # False only for NaN


class _Bounded(Constraint):
    """Base of constraints with bounds, which their repr shows."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{super().__repr__()[:-1]}{shown})"


class _BoundedBelow(_Bounded):
    def __init__(self, lower_bound: Any):
        self.lower_bound = lower_bound


class _BoundedAbove(_Bounded):
    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound


class _Between(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _IntegerInterval(_Between):
    """Integers from ``lower_bound`` to ``upper_bound``, both included.

    Args:
        lower_bound, upper_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.integer_interval(0, 2).check(tn.tensor([0.0, 0.5, 3.0]))
        tensor([ True, False, False])
    """

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        inside = (self.lower_bound <= value) & (value <= self.upper_bound)
        whole = isinstance(value, Tensor) and value._array.dtype.kind in "iu"
        return inside if whole else inside & (value % 1 == 0)


class _IntegerLessThan(_BoundedAbove):
    """Integers up to ``upper_bound``."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_BoundedBelow):
    """Integers greater than or equal to ``lower_bound``."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_BoundedBelow):
    """Numbers greater than ``lower_bound``.

    Args:
        lower_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.greater_than(1).check(tn.tensor([1.0, 2.0]))
        tensor([False,  True])
    """

    def check(self, value: Any) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_BoundedBelow):
    """Numbers greater than or equal to ``lower_bound``.

    Args:
        lower_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.greater_than_eq(1).check(tn.tensor([0.0, 1.0]))
        tensor([False,  True])
    """

    def check(self, value: Any) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_BoundedAbove):
    """Numbers less than ``upper_bound``.

    Args:
        upper_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.less_than(1).check(tn.tensor([0.0, 1.0]))
        tensor([ True, False])
    """

    def check(self, value: Any) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers from ``lower_bound`` to ``upper_bound``, both included.

    Args:
        lower_bound, upper_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.interval(0, 1).check(tn.tensor([1.0, 2.0]))
        tensor([ True, False])
    """

    def check(self, value: Any) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers from ``lower_bound`` up to but excluding ``upper_bound``.

    Args:
        lower_bound, upper_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.half_open_interval(0, 1).check(tn.tensor([0.0, 1.0]))
        tensor([ True, False])
    """

    def check(self, value: Any) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# ---- vectors ------------------------------------------------------------------------------------


class _OneHot(Constraint):
    """One-hot vectors."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers whose sum is 1, up to 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of nonnegative integers whose sum is at most ``upper_bound``.

    Args:
        upper_bound: any tensor or number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.multinomial(3).check(tn.tensor([[1.0, 2.0], [2.0, 2.0]]))
        tensor([ True, False])
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


# ---- matrices -----------------------------------------------------------------------------------


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        return full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=dtypes.bool)


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        return (value.tril() == value).all(-1).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: their rows have length 1."""

    def check(self, value: Any) -> Tensor:
        slack = extension_dtypes.finfo(value._array.dtype).eps * value.size(-1) * 10
        unit = (linalg.norm(value.detach(), dim=-1) - 1).abs() <= slack
        return super().check(value) & unit.all(-1)


class _Symmetric(_Square):
    """Symmetric matrices, up to 1e-6."""

    def check(self, value: Any) -> Tensor:
        square = super().check(value)
        if not square._array.all():
            return square
        near = np.isclose(value._array, np.swapaxes(value._array, -1, -2), atol=1e-6)
        return wrap(near.all((-2, -1)))


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        if not symmetric._array.all():
            return symmetric
        return (linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        if not symmetric._array.all():
            return symmetric
        return linalg.cholesky_ex(value).info == 0


# ---- names --------------------------------------------------------------------------------------

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]
