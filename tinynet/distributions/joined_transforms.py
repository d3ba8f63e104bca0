"""Transforms that reshape a tensor, or transform its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.distributions import constraints
from tinynet.distributions.transform import Transform
from tinynet.distributions.utils import sum_rightmost
from tinynet.ops import cat, stack


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
