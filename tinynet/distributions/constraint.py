"""The base class of constraints, and constraints composed of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions.utils import attribute
from tinynet.ops import cat, stack


class Constraint:
    """A set of values.

    Attributes:
        is_discrete: whether the values are discrete, such as integers.
        event_dim: the number of trailing dimensions that make up one value.

    Example:
        >>> tn.distributions.constraints.positive.check(tn.tensor([1.0, -1.0]))
        tensor([ True, False])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Tensor:
        """Return whether each event satisfies the constraint."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.__class__.__name__.removeprefix("_") + "()"


# ---- dependent on parameters --------------------------------------------------------------------


class _Dependent(Constraint):
    """A placeholder for a constraint that depends on other parameters; it checks nothing.

    Args:
        is_discrete, event_dim: the final constraint's; NotImplemented if unknown.

    Raises:
        NotImplementedError: reading an attribute that was not given.

    Example:
        >>> type(tn.distributions.constraints.dependent)(event_dim=1).event_dim
        1
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether the values are discrete, if known."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        """The number of dimensions of an event, if known."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def _known(self, is_discrete: Any, event_dim: Any) -> dict[str, Any]:
        return {
            "is_discrete": self._is_discrete if is_discrete is NotImplemented else is_discrete,
            "event_dim": self._event_dim if event_dim is NotImplemented else event_dim,
        }

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        """Return the placeholder with more attributes given."""
        return _Dependent(**self._known(is_discrete, event_dim))

    def check(self, value: Any) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property that returns an instance's constraint; on the class, a placeholder.

    Args:
        fn: returns the constraint of an instance.
        is_discrete, event_dim: the constraint's; NotImplemented if unknown.

    Raises:
        NotImplementedError: reading an attribute that was not given.

    Example:
        >>> type(tn.distributions.Uniform.support).__name__
        '_DependentProperty'
    """

    def __init__(
        self,
        fn: Callable[[Any], Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[[Any], Any]) -> _DependentProperty:  # type: ignore[override]
        """Decorate the function that returns the constraint."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint is only a placeholder.

    Example:
        >>> tn.distributions.constraints.is_dependent(tn.distributions.constraints.real)
        False
    """
    return isinstance(constraint, _Dependent)


# ---- composed of others -------------------------------------------------------------------------


def _of_class(cseq: Sequence[Any]) -> list[Any]:
    cseq = list(cseq)
    if not all(isinstance(c, Constraint) for c in cseq):
        raise AssertionError("All elements of cseq must be Constraint instances")
    return cseq


class _IndependentConstraint(Constraint):
    """A constraint on events with more dimensions: all values in an event must satisfy it.

    Args:
        base_constraint: the constraint of one value.
        reinterpreted_batch_ndims: the number of batch dimensions that join the event.

    Raises:
        AssertionError: an argument of the wrong type, or a negative number.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.independent(c.positive, 1).check(tn.tensor([[1.0, 2.0], [1.0, -1.0]]))
        tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(
                f"base_constraint must be a Constraint, got {type(base_constraint).__name__}"
            )
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(
                "reinterpreted_batch_ndims must be an int, got "
                f"{type(reinterpreted_batch_ndims).__name__}"
            )
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(
                f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}"
            )
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    is_discrete: Any = attribute("base_constraint.is_discrete")

    @property
    def event_dim(self) -> Any:
        """The number of dimensions of an event."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Tensor:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            wanted = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {wanted} but got {value.dim()}")
        kept = result.dim() - self.reinterpreted_batch_ndims
        if self.reinterpreted_batch_ndims != 1:
            result = result.reshape(result.shape[:kept] + (-1,))
        return result.all(-1)

    def __repr__(self) -> str:
        shown = f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"
        return f"{super().__repr__()[:-1]}{shown})"


class MixtureSameFamilyConstraint(Constraint):
    """A constraint on mixtures: values lack the dimension of the components.

    Args:
        base_constraint: the constraint of a component.

    Raises:
        AssertionError: not a constraint.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.MixtureSameFamilyConstraint(c.positive).check(tn.tensor([1.0, -1.0]))
        tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(
                f"base_constraint must be a Constraint, got {type(base_constraint).__name__}"
            )
        self.base_constraint = base_constraint
        super().__init__()

    is_discrete: Any = attribute("base_constraint.is_discrete")
    event_dim: Any = attribute("base_constraint.event_dim")

    def check(self, value: Any) -> Tensor:
        """Return whether every component accepts each event."""
        components = value.unsqueeze(-1 - self.event_dim)
        result = self.base_constraint.check(components)
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        events = value.dim() - self.event_dim
        return result.reshape(result.shape[:events] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}{self.base_constraint!r})"


class _Several(Constraint):
    """Constraints on the parts of a tensor along one dimension."""

    dim: int
    cseq: list[Any]

    def _refuse_outside(self, value: Any) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range [{-value.dim()}, {value.dim()}) for value with "
                f"{value.dim()} dimensions"
            )

    @property
    def is_discrete(self) -> bool:
        """Whether the values of a part are discrete."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        """The greatest number of dimensions of an event."""
        return max(c.event_dim for c in self.cseq)


class _Cat(_Several):
    """Constraints on parts of given lengths along a dimension, joined as by ``cat``.

    Args:
        cseq: the constraint of each part.
        dim: the dimension.
        lengths: the length of each part; 1 by default.

    Raises:
        AssertionError: not constraints, a wrong number of lengths, or a value without dimension
            ``dim``.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.cat([c.positive, c.real], lengths=[1, 2]).check(tn.tensor([1.0, -1.0, 2.0]))
        tensor([True, True, True])
    """

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None):
        self.cseq = _of_class(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )
        self.dim = dim
        super().__init__()

    def check(self, value: Any) -> Tensor:
        self._refuse_outside(value)
        parts = value.split(self.lengths, self.dim)
        return cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Several):
    """Constraints on slices along a dimension, joined as by ``stack``.

    Args:
        cseq: the constraint of each slice.
        dim: the dimension.

    Raises:
        AssertionError: not constraints, or a value without dimension ``dim``.

    Example:
        >>> c = tn.distributions.constraints
        >>> c.stack([c.positive, c.real]).check(tn.tensor([1.0, -1.0]))
        tensor([True, True])
    """

    def __init__(self, cseq: Sequence[Any], dim: int = 0):
        self.cseq = _of_class(cseq)
        self.dim = dim
        super().__init__()

    @property
    def event_dim(self) -> int:
        """The number of the slices, plus one if the dimension belongs to an event."""
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Tensor:
        self._refuse_outside(value)
        slices = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        checked = [c.check(v) for c, v in zip(self.cseq, slices, strict=False)]
        return stack(checked, self.dim)
