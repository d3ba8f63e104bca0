"""The base class of transforms; transforms composed of others or of parts, and reshaping ones."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.distributions import constraints
from tinynet.distributions.utils import attribute, sum_rightmost
from tinynet.ops import cat, stack, zeros_like


class Transform:
    """A differentiable map of tensors, with its log-determinant.

    Subclasses define ``domain``, ``codomain``, ``_call``, ``_inverse`` and
    ``log_abs_det_jacobian``.

    Args:
        cache_size: 1 caches the latest input and output, so that ``t.inv(t(x))`` is x itself; 0
            caches nothing.

    Attributes:
        bijective: whether ``t.inv(t(x)) == x``, and ``t(t.inv(y)) == y``.

    Raises:
        ValueError: ``cache_size`` is neither 0 nor 1.

    Example:
        >>> t = tn.distributions.ExpTransform()
        >>> t.inv(t(tn.zeros(2)))
        tensor([0., 0.])
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = (None, None)
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None, "_cached_x_y": (None, None)}

    @property
    def event_dim(self) -> int:
        """The number of trailing dimensions in an event, if both sides agree."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse, as a transform: ``t.inv.inv is t``."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = self._inverted()
            self._inv = weakref.ref(inverse)
        return inverse

    def _inverted(self) -> Transform:
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """The sign of the derivative of a monotonic transform: +1 or -1."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the same transform with another ``cache_size``."""
        if self._cache_size == cache_size:
            return self
        make: Any = type(self)
        return make(*self._arguments(), cache_size=cache_size)

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of ``__init__`` before ``cache_size``."""
        if type(self).__init__ is Transform.__init__:
            return ()
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Tensor) -> Tensor:
        """Return the transformed tensor."""
        if self._cache_size == 0:
            return self._call(x)
        cached_x, cached_y = self._cached_x_y
        if x is cached_x:
            return cached_y
        y = self._call(x)
        self._cached_x_y = (x, y)
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        cached_x, cached_y = self._cached_x_y
        if y is cached_y:
            return cached_x
        x = self._inverse(y)
        self._cached_x_y = (x, y)
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``log |det dy/dx|`` at an input and its output."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.__class__.__name__ + "()"

    def forward_shape(self, shape: Sequence[int]) -> Any:
        """Return the shape of the output for the shape of an input."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        """Return the shape of the input for the shape of an output."""
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform; it shares the transform's cache."""

    def __init__(self, transform: Transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    domain: Any = attribute("_inv.codomain", "The codomain of the original transform.")
    codomain: Any = attribute("_inv.domain", "The domain of the original transform.")
    bijective: Any = attribute("_inv.bijective", "Whether the original transform is bijective.")
    sign: Any = attribute("_inv.sign")
    inv: Transform = attribute("_inv")

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self._inv.forward_shape(shape)


def _widened(constraint: Any, event_dim: int) -> Any:
    """Return a constraint whose events have at least the given number of dimensions."""
    missing = event_dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing > 0 else constraint


# ---- compositions ----


class ComposeTransform(Transform):
    """Several transforms applied one after the other.

    Args:
        parts: the transforms, in the order of application.
        cache_size: as in Transform.

    Raises:
        ValueError: ``cache_size`` is neither 0 nor 1.

    Example:
        >>> D = tn.distributions
        >>> t = D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)])
        >>> t(tn.zeros(1))
        tensor([3.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0):
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None

    @property
    def domain(self) -> Any:
        """The domain of the first, with the event dimensions that later transforms need."""
        if not self.parts:
            return constraints.real
        needed = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            needed += part.domain.event_dim - part.codomain.event_dim
            needed = max(needed, part.domain.event_dim)
        return _widened(self.parts[0].domain, needed)

    @property
    def codomain(self) -> Any:
        """The codomain of the last, with the event dimensions that earlier transforms need."""
        if not self.parts:
            return constraints.real
        needed = self.parts[0].domain.event_dim
        for part in self.parts:
            needed += part.codomain.event_dim - part.domain.event_dim
            needed = max(needed, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, needed)

    @property
    def bijective(self) -> bool:
        """Whether all parts are bijective."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    def _inverted(self) -> Transform:
        inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
        inverse._inv = weakref.ref(self)
        return inverse

    def _arguments(self) -> tuple[Any, ...]:
        return (self.parts,)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return zeros_like(x)
        inputs = [x]
        for part in self.parts[:-1]:
            inputs.append(part(inputs[-1]))
        inputs.append(y)
        event_dim, terms = self.domain.event_dim, []
        for part, before, after in zip(self.parts, inputs[:-1], inputs[1:], strict=True):
            term = part.log_abs_det_jacobian(before, after)
            terms.append(sum_rightmost(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n    ".join(repr(part) for part in self.parts)
        return f"{self.__class__.__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as event: it sums their log-determinants.

    Args:
        base_transform: the transform.
        reinterpreted_batch_ndims: the number of batch dimensions that join the event.
        cache_size: as in Transform.

    Raises:
        ValueError: an input has too few dimensions.

    Example:
        >>> D = tn.distributions
        >>> t = D.IndependentTransform(D.ExpTransform(), 1)
        >>> t.log_abs_det_jacobian(tn.ones(3), tn.ones(3).exp())
        tensor(3.)
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _arguments(self) -> tuple[Any, ...]:
        return self.base_transform, self.reinterpreted_batch_ndims

    @property
    def domain(self) -> Any:
        """The domain of the base, with more event dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        """The codomain of the base, with more event dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective: Any = attribute("base_transform.bijective", "Whether the base is bijective.")
    sign: Any = attribute("base_transform.sign")

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(result, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        inside = f"{self.base_transform!r}, {self.reinterpreted_batch_ndims}"
        return f"{self.__class__.__name__}({inside})"

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self.base_transform.inverse_shape(shape)


# ---- shapes and parts ----


class ReshapeTransform(Transform):
    """Reshape the last dimensions from one shape to another.

    Args:
        in_shape: the shape of an input event.
        out_shape: the shape of an output event.
        cache_size: as in Transform.

    Raises:
        ValueError: the shapes have different numbers of elements.

    Example:
        >>> tn.distributions.ReshapeTransform((2, 3), (6,))(tn.ones(4, 2, 3)).shape
        tinynet.Size([4, 6])
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0):
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    def _arguments(self) -> tuple[Any, ...]:
        return self.in_shape, self.out_shape

    @property
    def domain(self) -> Any:
        """Tensors of ``in_shape``."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        """Tensors of ``out_shape``."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return _reshaped(shape, self.out_shape, self.in_shape)


def _reshaped(shape: Sequence[int], before: Size, after: Size) -> Any:
    cut = len(shape) - len(before)
    if cut < 0:
        raise ValueError("Too few dimensions on input")
    if tuple(shape[cut:]) != before:
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {before}")
    return tuple(shape[:cut]) + after


class _Several(Transform):
    """Transforms of the parts of a tensor along one dimension."""

    transforms: list[Transform]
    dim: int

    def _set(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:
        """Whether all are bijective."""
        return all(t.bijective for t in self.transforms)

    def _parts(self, name: str, x: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _refuse(self, name: str, x: Tensor, expected: int, what: str) -> None:
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for {name} with {x.dim()} dimensions"
            )
        if x.size(self.dim) != expected:
            raise AssertionError(
                f"{name}.size({self.dim}) = {x.size(self.dim)} must equal {what} {expected}"
            )

    def _each(self, name: str, x: Tensor, of: Callable[[Transform], Any]) -> list[Tensor]:
        parts = self._parts(name, x)
        return [of(t)(part) for t, part in zip(self.transforms, parts, strict=True)]

    def _log_dets(self, x: Tensor, y: Tensor) -> list[Tensor]:
        both = zip(self.transforms, self._parts("x", x), self._parts("y", y), strict=True)
        return [t.log_abs_det_jacobian(a, b) for t, a, b in both]


class CatTransform(_Several):
    """Transform the parts of a tensor along a dimension, and join them with ``cat``.

    Args:
        tseq: the transforms.
        dim: the dimension.
        lengths: the length of each part; 1 by default.
        cache_size: as in Transform.

    Raises:
        AssertionError: an input has no dimension ``dim``, or its length differs from the sum of
            parts.

    Example:
        >>> D = tn.distributions
        >>> t = D.CatTransform([D.ExpTransform(), D.identity_transform], lengths=[1, 2])
        >>> t(tn.zeros(3))
        tensor([1., 0., 0.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ):
        self._set(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    def _arguments(self) -> tuple[Any, ...]:
        return self.transforms, self.dim, self.lengths

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The length of the dimension."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        """The domains of the parts."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """The codomains of the parts."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _parts(self, name: str, x: Tensor) -> Sequence[Tensor]:
        self._refuse(name, x, self.length, "length")
        return x.split(self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return cat(self._each("x", x, lambda t: t), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return cat(self._each("y", y, lambda t: t.inv), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = [
            sum_rightmost(term, self.event_dim - t.event_dim)
            for t, term in zip(self.transforms, self._log_dets(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return cat(terms, dim) if dim < 0 else sum(terms[1:], terms[0])


class StackTransform(_Several):
    """Transform the slices of a tensor along a dimension, and join them with ``stack``.

    Args:
        tseq: the transforms.
        dim: the dimension.
        cache_size: as in Transform.

    Raises:
        AssertionError: dimension ``dim`` has not as many slices as there are transforms.

    Example:
        >>> D = tn.distributions
        >>> D.StackTransform([D.ExpTransform(), D.identity_transform])(tn.zeros(2))
        tensor([1., 0.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0):
        self._set(tseq, dim, cache_size)

    def _arguments(self) -> tuple[Any, ...]:
        return self.transforms, self.dim

    @property
    def domain(self) -> Any:
        """The domains of the slices."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """The codomains of the slices."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _parts(self, name: str, x: Tensor) -> Sequence[Tensor]:
        self._refuse(name, x, len(self.transforms), "len(transforms)")
        return x.unbind(self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return stack(self._each("x", x, lambda t: t), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stack(self._each("y", y, lambda t: t.inv), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return stack(self._log_dets(x, y), self.dim)
