import numpy as np

import tinynet as tn
from tinynet import data


class Ring(data.Dataset):
    """Points from a square, ``[2]``, with label 1 inside a ring and 0 elsewhere.

    Args:
        train: the training points, or the test points.
        size: the number of points.
        noise: standard deviation of the noise added to a point at each access.
    """

    def __init__(self, train: bool = True, size: int = 500, noise: float = 0.0):
        rng = np.random.default_rng(0 if train else 1)
        self.points = rng.uniform(-1, 1, (size, 2)).astype(np.float32)
        radius = np.hypot(*self.points.T)
        self.labels = ((0.4 < radius) & (radius < 0.8)).astype(np.int64)
        self.noise = noise

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        point = tn.tensor(self.points[index])
        if self.noise:
            point = point + self.noise * tn.randn(2)
        return point, self.labels[index]
