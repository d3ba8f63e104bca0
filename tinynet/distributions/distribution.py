"""The base classes of distributions: shapes, validation, expansion, the exponential family."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from tinynet.autograd import grad
from tinynet.core.modes import mode, no_grad
from tinynet.core.tensors.tensor import Size, Tensor, wrap
from tinynet.core.trace import run_traced
from tinynet.distributions import constraints
from tinynet.distributions.utils import (
    attribute,
    broadcast_all,
    broadcastable,
    lazy_property,
    sum_rightmost,
)
from tinynet.dtypes import Array
from tinynet.ops import exp

EMPTY = Size(())


def not_implemented(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError for a feature that a distribution lacks."""
    raise NotImplementedError


class Distribution:
    """The base class of all distributions.

    Samples have the shape ``sample_shape + batch_shape + event_shape``: the requested number of
    samples, the independent distributions of one object, and a single draw.

    Args:
        batch_shape: the shape of the parameters, without the event dimensions.
        event_shape: the shape of one draw; empty for distributions of numbers.
        validate_args: whether to check parameters and values; see ``set_default_validate_args`` for
            the default.

    Attributes:
        has_rsample: whether ``rsample`` gives samples with a gradient.
        has_enumerate_support: whether ``enumerate_support`` lists all values.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> Normal = tn.distributions.Normal
        >>> Normal(tn.zeros(2, 1), tn.ones(3)).sample((5,)).shape
        tinynet.Size([5, 2, 3])
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _unexpanded: tuple[str, ...] = ()  # attributes whose leading dimensions are not the batch's

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check parameters and values by default."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = EMPTY,
        event_shape: Sequence[int] = EMPTY,
        validate_args: bool | None = None,
    ):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            known = self.arg_constraints
        except NotImplementedError:
            known = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in known.items():
            if constraints.is_dependent(constraint) or _is_lazy(self, name):
                continue
            value = getattr(self, name)
            what = f"parameter {name}", "of distribution {} to satisfy the constraint {}"
            self._require(constraint, value, *what)

    # ---- what it is -----------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw of one distribution."""
        return self._event_shape

    arg_constraints: Any = property(
        not_implemented, doc="The constraint of each parameter, by its name."
    )
    support: Any = property(not_implemented, doc="The constraint that all samples satisfy.")
    mean: Any = property(not_implemented, doc="The expectation.")
    variance: Any = property(not_implemented, doc="The variance.")

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """Return the distribution expanded to a larger batch shape, like ``Tensor.expand``.

        The parameters are expanded views, not copies.
        """
        owner = _declaring(self)
        if owner is Distribution:
            raise NotImplementedError
        new = self._get_checked_instance(owner, _instance)
        new.__dict__.update(self._expanded(Size(batch_shape)))
        new._batch_shape = Size(batch_shape)
        return new

    def _expanded(self, batch_shape: Size) -> dict[str, Any]:
        """Return the expanded attributes: tensors and distributions get leading dimensions."""
        count, found = len(self._batch_shape), dict(vars(self))
        for name, value in found.items():
            if name in self._unexpanded:
                continue
            if isinstance(value, Tensor):
                found[name] = value.expand(batch_shape + value.shape[count:])
            elif isinstance(value, Distribution):
                found[name] = value.expand(batch_shape + value.batch_shape[count:])
        return found

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    # ---- what can be done with it ---------------------------------------------------------------

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        """Return samples, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        """Return samples that are differentiable functions of the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Return n samples; prefer ``sample((n,))``."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density, or of the probability, of a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability that a sample is at most a value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value that ``cdf`` maps to a probability: the quantile."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of a discrete distribution, along a new first dimension.

        Args:
            expand: whether to repeat them over the batch shape.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return ``exp(entropy)``."""
        return exp(self.entropy())

    # ---- for subclasses -------------------------------------------------------------------------

    def _extended_shape(self, sample_shape: Sequence[int] = EMPTY) -> Size:
        """Return the shape of samples."""
        return Size(tuple(sample_shape)) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Tensor) -> None:
        """Raise ValueError for a value of the wrong type or shape, or outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        first = len(value.shape) - len(self._event_shape)
        if value.shape[max(first, 0) :] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        wanted = self._batch_shape + self._event_shape
        if not broadcastable(value.shape, wanted):
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{value.shape} vs {wanted}."
            )
        self._check_support(value)

    def _check_value(self, value: Tensor) -> None:
        """Validate a value, unless validation is off."""
        if self._validate_args:
            self._validate_sample(value)

    def _check_support(self, value: Tensor) -> None:
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. "
                "Please initialize the distribution with `validate_args=False` to turn off "
                "validation.",
                stacklevel=4,
            )
            return
        what = "value argument", "to be within the support ({1}) of the distribution {0}"
        self._require(support, value, *what)

    def _require(self, rule: Any, value: Tensor, what: str, words: str) -> None:
        """Raise ValueError if a value is not valid, also in the replays of a captured step."""
        valid = rule.check(value)._array
        if mode.tracer is not None:
            begins = self._complaint(rule, value, what, words)
            run_traced(_refuse_invalid, valid, value._array, begins)
        elif not valid.all():
            raise ValueError(f"{self._complaint(rule, value, what, words)}\n{value}")

    def _complaint(self, rule: Any, value: Tensor, what: str, words: str) -> str:
        shown: list[Any] = [self, rule]
        if mode.tracer is not None and (_has_number(self) or _has_tensor(rule)):  # it shows values
            shown = [type(self).__name__, type(rule).__name__]
        found = f"{what} ({type(value).__name__} of shape {tuple(value.shape)})"
        return f"Expected {found} {words.format(*shown)}, but found invalid values:"

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _refuse_invalid(valid: Array, value: Array, begins: str) -> None:
    if not valid.all():
        raise ValueError(f"{begins}\n{wrap(value)}")


def _has_number(thing: Any) -> bool:
    return any(isinstance(x, Tensor) and x.numel() == 1 for x in vars(thing).values())


def _has_tensor(thing: Any) -> bool:
    return any(isinstance(x, Tensor) for x in vars(thing).values())


def _is_lazy(distribution: Distribution, name: str) -> bool:
    """Return whether an attribute is computed from other parameters on first access."""
    computed = isinstance(getattr(type(distribution), name, None), lazy_property)
    return computed and name not in vars(distribution)


def _declaring(distribution: Distribution) -> type:
    """Return the class whose ``arg_constraints`` declare the parameters."""
    return next(cls for cls in type(distribution).__mro__ if "arg_constraints" in vars(cls))


class LocationScale(Distribution):
    """Base of the distributions of ``loc + scale * x``, where x is symmetric about 0."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    mean = mode = attribute("loc")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)


class ExponentialFamily(Distribution):
    """Distributions with the density ``exp(<natural parameters, t(x)> - F(parameters) + k(x))``.

    F is the log-normalizer, t the sufficient statistic and k the carrier measure. The entropy
    follows from F and its gradient, which autograd computes (F. Nielsen, R. Nock, "Entropies and
    Cross-Entropies of Exponential Families", 2010).

    Args:
        batch_shape, event_shape, validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> isinstance(tn.distributions.Normal(0.0, 1.0), tn.distributions.ExponentialFamily)
        True
    """

    _mean_carrier_measure: ClassVar[Any] = property(not_implemented)
    _natural_params: Any = property(not_implemented)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """Return F of the natural parameters."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy in nats: ``F - <parameters, gradient of F> - E[k]``."""
        count = len(self._batch_shape)
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        slopes = grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for param, slope in zip(params, slopes, strict=True):
            product = param * slope
            result = result - sum_rightmost(product, product.dim() - count)
        return result
