"""The base class of transforms, sequences of transforms, and applying one to a whole batch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array

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
    """Return the array of an image; TypeError if it is no image or has too few dimensions."""
    if not isinstance(image, Tensor):
        raise TypeError(f"{name}: img should be Tensor Image. Got {type(image)}")
    array = image._array
    if array.ndim < least:
        raise TypeError(
            f"{name}: Tensor is not an image. "
            f"Got the shape {list(array.shape)}, which has no height and width."
        )
    return array
