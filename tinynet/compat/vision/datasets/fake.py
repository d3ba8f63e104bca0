"""Random images with random classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.compat.vision.datasets.base import VisionDataset
from tinynet.compat.vision.transforms.functional import to_pil_image
from tinynet.ops.creation.random import randint, randn
from tinynet.random import Generator


class FakeData(VisionDataset):
    """Random images with random classes; the same ones each time.

    Args:
        size: the number of images.
        image_size: channels, height and width.
        num_classes: the number of classes.
        transform, target_transform: functions of the image and of the class.
        random_offset: added to an image's number, it seeds the image.

    Example:
        >>> from tinynet.compat.vision.datasets import FakeData
        >>> len(FakeData(5))
        5
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: Sequence[int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        random_offset: int = 0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.num_classes, self.image_size = size, num_classes, image_size
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        generator = Generator().manual_seed(index + self.random_offset)
        image = randn(*self.image_size, generator=generator)
        target = int(randint(0, self.num_classes, (1,), generator=generator))
        return self.transformed(to_pil_image(image), target)

    def __len__(self) -> int:
        return self.size
