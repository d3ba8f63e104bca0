"""A data set that is made, not collected: points on the arms of a spiral."""

import math

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.rows import Rows


class Spirals(Rows[tuple[Tensor, Tensor]]):
    """Points in the plane on the arms of a spiral, and on which arm each of them is.

    Sample ``i`` is ``(point, arm)``: float32 of shape (2,), and int64 without dimensions. Arms
    begin in the middle and end at a distance of 1; in the order of the samples they take turns.

    Args:
        train: the training points, or as many others for testing.
        arms: how many there are.
        count: how many points.
        turns: how often an arm goes around the middle.
        noise: the standard deviation of a point's distance from its arm, along each axis.
        seed: another seed gives other points of the same arms.

    Attributes:
        points: all of them, shape (count, 2).
        labels: int64, shape (count,).

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
        # With the root, places along an arm are as dense at its end as in the middle.
        distance = np.sqrt(random.random(count))
        angle = 2 * math.pi * (labels / arms + turns * distance)
        points = distance * np.stack([np.cos(angle), np.sin(angle)])
        points += noise * random.standard_normal(points.shape)
        super().__init__([points.T.astype(np.float32), labels.astype(np.int64)])

    @property
    def points(self) -> Tensor:
        """All points, in the order of the samples."""
        return wrap(self._arrays[0])

    @property
    def labels(self) -> Tensor:
        """The arms that they are on."""
        return wrap(self._arrays[1])
