"""``biject_to`` and ``transform_to``: transforms of unconstrained numbers to constrained values.

``biject_to(constraint)`` is a bijection with a log-determinant, as the change of variables
requires. ``transform_to(constraint)`` need not be bijective and is simpler where possible; it suits
optimizers, and may take more numbers than the value has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.distributions import constraints
from tinynet.distributions.constraint import Constraint
from tinynet.distributions.transforms import (
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    Transform,
    identity_transform,
)

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """A registry that maps the class of a constraint to a transform to its values.

    Raises:
        NotImplementedError: no transform is registered for the constraint.

    Example:
        >>> D = tn.distributions
        >>> D.transform_to(D.constraints.simplex)(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Register a function from constraints of a class to transforms; also a decorator.

        Args:
            constraint: a subclass of Constraint, or an instance of one.
            factory: takes the constraint, returns the transform.

        Raises:
            TypeError: ``constraint`` is not a constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, Constraint):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, "
                f"but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """Return the transform from unconstrained numbers to the values of a constraint.

        Raises:
            NotImplementedError: no transform is registered.
        """
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(constraint: Any) -> Callable[[Factory], Factory]:
    """Register a function in both registries."""

    def register(factory: Factory) -> Factory:
        biject_to.register(constraint, factory)
        return transform_to.register(constraint, factory)

    return register


@_both(constraints.real)
def _to_real(constraint: Any) -> Transform:
    return identity_transform


@_both(constraints.positive)
@_both(constraints.nonnegative)
def _to_greater_than(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


@_both(constraints.less_than)
def _to_less_than(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


@_both(constraints.interval)
@_both(constraints.half_open_interval)
def _to_interval(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if all(isinstance(x, (int, float)) for x in (low, high)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


@biject_to.register(constraints.simplex)
def _biject_to_simplex(constraint: Any) -> Transform:
    return StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _transform_to_simplex(constraint: Any) -> Transform:
    return SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _to_lower_cholesky(constraint: Any) -> Transform:
    return LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _to_positive_definite(constraint: Any) -> Transform:
    return PositiveDefiniteTransform()


@_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: Any) -> Transform:
    return CorrCholeskyTransform()


# ---- composed constraints -----------------------------------------------------------------------


def _register_combined(registry: ConstraintRegistry) -> None:
    """Register transforms for constraints composed of registered ones."""

    @registry.register(constraints.independent)
    def independent(constraint: Any) -> Transform:
        base = registry(constraint.base_constraint)
        return IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    @registry.register(constraints.cat)
    def cat(constraint: Any) -> Transform:
        parts = [registry(c) for c in constraint.cseq]
        return CatTransform(parts, constraint.dim, constraint.lengths)

    @registry.register(constraints.stack)
    def stack(constraint: Any) -> Transform:
        return StackTransform([registry(c) for c in constraint.cseq], constraint.dim)


_register_combined(biject_to)
_register_combined(transform_to)
