"""Data sets that come with tinynet: digits, and spirals."""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.table_rows import Rows

# ---- digits -------------------------------------------------------------------------------------
# The bundled data set: Optical Recognition of Handwritten Digits.


_FILE = os.path.join(os.path.dirname(__file__), "digits.npz")
_LARGEST = 16.0
_TEST_EVERY = 5


class Digits(Rows[tuple[Tensor, Tensor]]):
    """1,797 handwritten digits as images of 8x8 pixels, with their labels.

    Sample ``i`` is ``(image, label)``: float32 of shape (1, 8, 8), and a 0-d int64.

    The split is fixed: of the images of each digit, in the order of the file, every fifth is a
    test image, beginning with the first. This gives 1,433 training and 364 test images, with all
    ten digits almost equally frequent in both.

    Args:
        train: True for the training images, False for the test images.
        flatten: return images of shape (64,) instead of (1, 8, 8).
        normalize: scale values to 0 to 1 instead of 0 to 16.
        augment: a function of training images only, such as ``RandomCrop(8, padding=1)``; cannot
            be combined with ``flatten``.

    Attributes:
        images: all images, as a tensor of shape (N, 1, 8, 8) or (N, 64).
        labels: all labels, int64 of shape (N,).
        image_shape: the channels, height and width of an image, also if it is flattened.

    Raises:
        ValueError: both ``augment`` and ``flatten`` are given.

    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits (1998), UCI Machine
    Learning Repository, https://doi.org/10.24432/C50P49, licence CC BY 4.0; the values are those
    of ``load_digits`` in scikit-learn. ``DIGITS.md`` in this folder has the details.
        >>> digits = tn.data.Digits(train=True)
        >>> len(digits), digits.images.shape
        (1433, tinynet.Size([1433, 1, 8, 8]))
        >>> image, label = digits[0]
        >>> label
        tensor(0)
    """

    image_shape = (1, 8, 8)

    def __init__(
        self,
        train: bool = True,
        flatten: bool = False,
        normalize: bool = True,
        augment: Callable[[Any], Any] | None = None,
    ):
        if flatten and augment is not None:
            raise ValueError(
                "The 'augment' parameter of Digits changes images, and flatten=True leaves none. "
                "Flatten in the model (nn.Flatten) instead."
            )
        with np.load(_FILE, allow_pickle=False) as file:
            pixels, labels = file["images"], file["labels"].astype(np.int64)
        chosen = is_test(labels) != bool(train)
        images = pixels[chosen].astype(np.float32)
        if normalize:
            images /= _LARGEST
        shape = (-1, 64) if flatten else (-1, 1, 8, 8)
        rows = [images.reshape(shape), labels[chosen]]
        super().__init__(rows, augment if train else None)
        self._plain = None

    @property
    def images(self) -> Tensor:
        """All images, in the order of the samples."""
        return wrap(self._arrays[0])

    @property
    def labels(self) -> Tensor:
        """The labels of all images."""
        return wrap(self._arrays[1])


def is_test(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return a mask of the test images, given the labels of all images."""
    mask = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        mask[np.flatnonzero(labels == digit)[::_TEST_EVERY]] = True
    return mask


# ---- spirals ------------------------------------------------------------------------------------
# A synthetic data set: points on the arms of a spiral.


class Spirals(Rows[tuple[Tensor, Tensor]]):
    """Points in the plane on the arms of a spiral, labelled with their arm.

    Sample ``i`` is ``(point, arm)``: float32 of shape (2,), and a 0-d int64. Arms begin at the
    center and end at a distance of 1; consecutive samples alternate between the arms.

    Args:
        train: True for the training points, False for as many test points.
        arms: number of arms.
        count: number of points.
        turns: number of turns of each arm around the center.
        noise: standard deviation of a point's distance from its arm, along each axis.
        seed: another seed gives other points on the same arms.

    Attributes:
        points: all points, shape (count, 2).
        labels: their arms, int64 of shape (count,).

    Raises:
        ValueError: ``arms`` or ``count`` is not positive, or ``noise`` is negative.

    Source: K. J. Lang, M. J. Witbrock, Learning to Tell Two Spirals Apart (Proceedings of the 1988
    Connectionist Models Summer School), with noise, and any number of arms.

    Example:
        >>> spirals = tn.data.Spirals(arms=2, count=100)
        >>> spirals.points.shape, spirals.labels[:4]
        (tinynet.Size([100, 2]), tensor([0, 1, 0, 1]))
    """

    def __init__(
        self,
        train: bool = True,
        arms: int = 3,
        count: int = 1000,
        turns: float = 1.0,
        noise: float = 0.03,
        seed: int = 0,
    ):
        for name, value, least in (("arms", arms, 1), ("count", count, 1), ("noise", noise, 0)):
            if value < least:
                raise ValueError(
                    f"The '{name}' parameter of Spirals must be >= {least}. Got {value} instead."
                )
        random = np.random.default_rng([seed, int(train)])
        labels = np.arange(count) % arms
        # The root makes the density along an arm the same at the end as at the center.
        distance = np.sqrt(random.random(count))
        angle = 2 * math.pi * (labels / arms + turns * distance)
        points = distance * np.stack([np.cos(angle), np.sin(angle)])
        points += noise * random.standard_normal(points.shape)
        super().__init__([points.T.astype(np.float32), labels.astype(np.int64)])

    @property
    def points(self) -> Tensor:
        """All points, in order."""
        return wrap(self._arrays[0])

    @property
    def labels(self) -> Tensor:
        """The arms of all points."""
        return wrap(self._arrays[1])
