"""The base class of transforms of whole samples: images, labels, and what belongs to them."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar

from tinynet.compat.pytree import tree_flatten, tree_unflatten
from tinynet.compat.vision.images import is_image
from tinynet.compat.vision.transforms.base import ImageTransform, shown
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import Module

T = TypeVar("T", bound=ImageTransform)


class Transform(ImageTransform):
    """Base class: applies to the images in nested lists, tuples and dicts, and keeps the rest.

    Images are all Pillow images of a sample; in one without, the first tensor is the image. All
    images get the same random numbers.
    """

    def is_image(self, value: Any) -> bool:
        """Return whether a value, which is no tensor, is an image."""
        return is_image(value)

    def forward(self, *inputs: Any) -> Any:
        """Return the sample, or the tuple of the inputs, with its images transformed."""
        leaves, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        chosen = [index for index, leaf in enumerate(leaves) if self.is_image(leaf)]
        tensors = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        chosen = chosen or tensors[:1]
        params = self.params(leaves[chosen[0]]) if chosen else None
        if params is not None:
            for index in chosen:
                leaves[index] = self.apply_to(leaves[index], *params)
        return tree_unflatten(leaves, spec)

    def extra_repr(self) -> str:
        """Return the simple values among the attributes."""
        simple = (bool, int, float, str, tuple, list, Enum)
        return ", ".join(
            f"{name}={shown(value)}"
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "training" and isinstance(value, simple)
        )

    __repr__ = Module.__repr__


def of_samples(first: type[T]) -> type[T]:
    """Return the transform of samples for a transform of images."""
    module = __name__.rpartition(".")[0]  # where it is public, and found by pickle
    return type(
        first.__name__, (Transform, first), {"__doc__": first.__doc__, "__module__": module}
    )
