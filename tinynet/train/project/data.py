"""The data: points in a square, some of them in a ring."""

import numpy as np

import tinynet as tn


class Ring(tn.data.Dataset):
    """Points ``[2]`` with class 1 inside a ring, and class 0 elsewhere.

    Replace this with your own examples, such as arrays that ``np.load`` reads. An example is a pair
    of an input and a target.

    Args:
        count: the number of points.
        train: whether to return the training set or the test set; they are different points.
    """

    def __init__(self, count: int, train: bool = True) -> None:
        generator = np.random.default_rng(0 if train else 1)
        self.points = generator.uniform(-1, 1, (count, 2)).astype(np.float32)
        radius = np.hypot(*self.points.T)
        self.labels = ((radius > 0.4) & (radius < 0.8)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.int64]:
        return self.points[index], self.labels[index]
