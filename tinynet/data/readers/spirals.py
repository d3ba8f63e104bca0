"""A synthetic data set: points on the arms of a spiral."""

import math

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.rows import Rows


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
