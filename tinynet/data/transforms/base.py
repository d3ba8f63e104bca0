"""The base class of transforms, sequences of transforms, and applying one to a whole batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.loading.sampler import random_source
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["Compose", "Lambda", "Transform"]


class Transform(ChecksArguments):
    """A function of a tensor; a subclass defines ``__call__``.

    Attributes:
        batched: whether applying it to a batch equals applying it to each sample.

    Example:
        >>> class Half(tn.data.transforms.Transform):
        ...     batched = True
        ...     def __call__(self, image):
        ...         return image / 2
        >>> tn.data.transforms.Compose([Half(), Half()])(tn.tensor([4.0]))
        tensor([1.])
    """

    batched = False

    def __call__(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} should implement __call__.")

    def __repr__(self) -> str:
        values = {k: v for k, v in vars(self).items() if v is not None and k[0] != "_"}
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in values.items())})"


def apply_to_batch(function: Callable[[Any], Any], batch: Tensor) -> Any:
    """Apply a function to each row of a batch; return a tensor, or a list of the results.

    The result equals calling it row by row, including random draws. In a ``Compose``, the leading
    and trailing transforms that are ``batched`` are each called once for all rows.

    Example:
        >>> from tinynet.data.transforms.base import apply_to_batch
        >>> apply_to_batch(lambda row: row * 2, tn.tensor([[1, 2], [3, 4]]))
        tensor([[2, 4],
                [6, 8]])
    """
    steps = function.transforms if type(function) is Compose else [function]
    single = [i for i, step in enumerate(steps) if not getattr(step, "batched", False)]
    first, last = (single[0], single[-1] + 1) if single else (len(steps), len(steps))
    for step in steps[:first]:
        batch = step(batch)
    if not single:
        return batch
    rows = [_apply_in_sequence(steps[first:last], row) for row in batch]
    if _are_stackable(rows):
        batch = wrap(np.stack([row._array for row in rows]))
        return _apply_in_sequence(steps[last:], batch)
    return [_apply_in_sequence(steps[last:], row) for row in rows]


def _apply_in_sequence(steps: Sequence[Callable[[Any], Any]], value: Any) -> Any:
    for step in steps:
        value = step(value)
    return value


def _are_stackable(rows: Sequence[Any]) -> bool:
    """Return whether all rows are tensors that can be stacked without conversion."""
    return (
        all(type(row) is Tensor for row in rows)
        and len({(row._array.shape, row._array.dtype) for row in rows}) == 1
    )


class Compose(Transform):
    """Several transforms in sequence.

    Args:
        transforms: functions of one argument.

    Raises:
        TypeError: an element is not callable.

    Example:
        >>> T = tn.data.transforms
        >>> brighter = T.Compose([T.ConvertImageDtype(tn.float32), T.Normalize([0.5], [0.5])])
        >>> brighter(tn.full((1, 2, 2), 255, dtype=tn.uint8))
        tensor([[[1., 1.],
                 [1., 1.]]])
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]):
        self.transforms = list(transforms)
        for index, transform in enumerate(self.transforms):
            if not callable(transform):
                raise TypeError(
                    "The 'transforms' parameter of Compose must hold functions. "
                    f"Got {transform!r} at index {index} instead."
                )

    def __call__(self, image: Any) -> Any:
        return _apply_in_sequence(self.transforms, image)

    def __repr__(self) -> str:
        lines = "".join(f"\n    {transform!r}" for transform in self.transforms)
        return f"Compose({lines}\n)"


class Lambda(Transform):
    """A transform that calls any function.

    Args:
        lambd: the function.

    Raises:
        TypeError: ``lambd`` is not callable.

    Example:
        >>> tn.data.transforms.Lambda(lambda x: x.flatten())(tn.ones(2, 2))
        tensor([1., 1., 1., 1.])
    """

    def __init__(self, lambd: Callable[[Any], Any]):
        if not callable(lambd):
            kind = type(lambd).__name__
            raise TypeError(f"Argument lambd should be callable, got {kind!r}")
        self.lambd = lambd

    def __call__(self, image: Any) -> Any:
        return self.lambd(image)

    def __repr__(self) -> str:
        return "Lambda()"


def image_array(image: Any, name: str, least: int = 2) -> Array:
    """Return the array of an image; TypeError if it is not an image or has too few dimensions."""
    if not isinstance(image, Tensor):
        raise TypeError(f"{name}: img should be Tensor Image. Got {type(image)}")
    array = image._array
    if array.ndim < least:
        raise TypeError(
            f"{name}: Tensor is not an image. "
            f"Got the shape {list(array.shape)}, which has no height and width."
        )
    return array


# ---- random base --------------------------------------------------------------------------------
# The base classes of random transforms.


Range = float | Sequence[float]
"""A range ``(low, high)``, or a number from which a transform makes one."""


class RandomTransform(Transform):
    """Base class of transforms that draw random numbers.

    Args:
        generator: the source of random numbers (the default generator).
    """

    def __init__(self, generator: Generator | None):
        random_source(generator, type(self).__name__)  # raises for other types
        self._generator = generator

    @property
    def _numpy(self) -> np.random.Generator:
        return random_source(self._generator, type(self).__name__).numpy

    def _uniform(self, limits: Sequence[float]) -> float:
        """Return a number from a range, all equally likely."""
        return float(self._numpy.uniform(limits[0], limits[1]))


class WithProbability(RandomTransform):
    """Base class of transforms that are applied with a probability."""

    def __init__(self, p: float = 0.5, *, generator: Generator | None = None):
        super().__init__(generator)
        if not 0 <= p <= 1:
            name = type(self).__name__
            raise ValueError(f"The 'p' parameter of {name} must be from 0 to 1. Got {p} instead.")
        self.p = p

    def _is_applied(self) -> bool:
        return bool(self._numpy.random() < self.p)


def check_range(value: Sequence[float], what: str, least: float, most: float) -> list[float]:
    """Return a range as a list of two numbers.

    Args:
        value: the range.
        what: its name in a message: ``"'scale' parameter of RandomAffine"``.
        least, most: its limits.

    Raises:
        ValueError: it is not a range, or exceeds the limits.
    """
    low, high = value if len(value) == 2 else (1.0, 0.0)
    if not least <= low <= high <= most:
        limits = f" from {least:g} to {most:g}" if most < float("inf") else ""
        limits = limits or (f" of numbers >= {least:g}" if least > -float("inf") else "")
        raise ValueError(f"The {what} must be a range (min, max){limits}. Got {value!r} instead.")
    return [float(low), float(high)]


def around(value: Range, what: str, center: float = 0.0) -> list[float]:
    """Return a range as it is, and a number x >= 0 as the range from center - x to center + x.

    Example:
        >>> around(30, "'degrees' parameter of RandomRotation"), around([5, 9], "...")
        ([-30.0, 30.0], [5.0, 9.0])
    """
    if isinstance(value, Sequence):
        return check_range(value, what, -float("inf"), float("inf"))
    if not value >= 0:
        raise ValueError(f"The {what} must be >= 0, or a range. Got {value!r} instead.")
    return [center - value, center + value]
