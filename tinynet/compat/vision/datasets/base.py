"""The base class of torchvision's data sets."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tinynet.data import Dataset
from tinynet.data.readers.files import StrPath


class VisionDataset(Dataset[Any]):
    """Base class of data sets of images.

    Args:
        root: the folder of the data set.
        transforms: a function of an image and its target; or
        transform: a function of the image, and
        target_transform: a function of the target.

    Raises:
        ValueError: both kinds are given.

    Example:
        >>> from tinynet.compat.vision.datasets import VisionDataset
        >>> class One(VisionDataset):
        ...     def __len__(self):
        ...         return 1
        >>> One("data", transform=tn.abs)
        Dataset One
            Number of datapoints: 1
            Root location: data
            StandardTransform
        Transform: ...
    """

    def __init__(
        self,
        root: StrPath | None = None,
        transforms: Callable[..., Any] | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        self.root = None if root is None else os.path.expanduser(os.fspath(root))
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError(
                "Only transforms or transform/target_transform can be passed as argument"
            )
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def transformed(self, image: Any, target: Any) -> tuple[Any, Any]:
        """Return an image and its target after ``transform`` and ``target_transform``."""
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def extra_repr(self) -> str:
        """Return more lines of the representation."""
        return ""

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]  # type: ignore[arg-type]  # a subclass's
        lines += [] if self.root is None else [f"Root location: {self.root}"]
        lines += self.extra_repr().splitlines()
        if self.transforms is not None:
            lines += [repr(self.transforms)]
        head = f"Dataset {type(self).__name__}"
        return "\n".join([head, *(f"    {line}" for line in lines)])


class StandardTransform:
    """A function of an image and its target, from one of each.

    Args:
        transform: a function of the image.
        target_transform: a function of the target.
    """

    def __init__(
        self,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            input = self.transform(input)
        return input, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self) -> str:
        parts = {"Transform: ": self.transform, "Target transform: ": self.target_transform}
        lines = ["StandardTransform"]
        for title, function in parts.items():
            if function is not None:
                lines.append(title + repr(function).replace("\n", "\n" + " " * len(title)))
        return "\n".join(lines)
