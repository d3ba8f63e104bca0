"""Sequences of transforms of samples, and random choices of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.compat.vision.transforms.base import generator
from tinynet.compat.vision.transforms.v2.samples import Transform

__all__ = ["Compose", "RandomApply", "RandomChoice", "RandomOrder"]


class _Sequence(Transform):
    """Base class of transforms that call others."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]):
        super().__init__()
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence of callables")
        self.transforms = transforms

    def order(self) -> Sequence[int]:
        """Return the indices of the transforms to call, in order."""
        return range(len(self.transforms))

    def forward(self, *inputs: Any) -> Any:
        """Return the sample, or the tuple of the inputs, after the transforms."""
        for index in self.order():
            result = self.transforms[index](*inputs)
            inputs = result if len(inputs) > 1 else (result,)
        return inputs if len(inputs) > 1 else inputs[0]


class Compose(_Sequence):
    """Several transforms in sequence.

    Args:
        transforms: functions of a sample.

    Raises:
        ValueError: the sequence is empty.

    Example:
        >>> from tinynet.compat.vision.transforms import v2
        >>> both = v2.Compose([v2.RandomHorizontalFlip(p=1), v2.CenterCrop(1)])
        >>> both(tn.tensor([[[1, 2, 3]]]), 7)
        (tensor([[[2]]]), 7)
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]):
        super().__init__(transforms)
        if not transforms:
            raise ValueError("Pass at least one transform")

    def extra_repr(self) -> str:
        """Return the transforms, each in a line."""
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomApply(_Sequence):
    """Applies a sequence of transforms with a given probability: all of them, or none.

    Args:
        transforms: functions of a sample.
        p: the probability.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: float = 0.5):
        super().__init__(transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def order(self) -> Sequence[int]:
        """Return all indices, or none."""
        return super().order() if generator().random() < self.p else []


class RandomChoice(_Sequence):
    """Applies one transform of a list, chosen at random.

    Args:
        transforms: functions of a sample.
        p: their weights; by default, all are equal.

    Raises:
        ValueError: the number of weights differs from that of the transforms.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: Sequence[float] | None = None):
        super().__init__(transforms)
        weights = [1.0] * len(transforms) if p is None else [*p]
        if len(weights) != len(transforms):
            raise ValueError(
                "Length of p doesn't match the number of transforms: "
                f"{len(weights)} != {len(transforms)}"
            )
        self.p = [float(weight) for weight in np.divide(weights, sum(weights))]

    def order(self) -> Sequence[int]:
        """Return one index."""
        return [int(generator().choice(len(self.p), p=self.p))]


class RandomOrder(_Sequence):
    """Applies all transforms of a list in random order.

    Args:
        transforms: functions of a sample.
    """

    def order(self) -> Sequence[int]:
        """Return the indices in random order."""
        return generator().permutation(len(self.transforms)).tolist()
