"""The spirals that are made from a seed."""

import math

import numpy as np
import pytest

from tests.tools.rounding import near
from tinynet.data import DataLoader, Spirals


def test_points_without_noise_lie_on_their_arms():
    spirals = Spirals(arms=4, count=400, turns=1.5, noise=0)
    points, labels = spirals.points.numpy().astype(float), spirals.labels.numpy()
    distance = np.hypot(*points.T)
    angle = np.arctan2(points[:, 1], points[:, 0])
    expected = 2 * math.pi * (labels / 4 + 1.5 * distance)
    away = np.angle(np.exp(1j * (angle - expected)))
    assert away * distance == near(np.zeros(400), scale=1)
    assert distance.max() <= 1 and distance.max() > 0.98
    assert np.bincount(labels).tolist() == [100] * 4


def test_the_noise_is_as_large_as_it_says():
    noise = Spirals(noise=0.05, count=5000).points - Spirals(noise=0, count=5000).points
    assert noise.std().item() == pytest.approx(0.05, rel=0.05)
    assert abs(noise.mean().item()) < 0.005


def test_the_seed_and_the_part_decide_which_points():
    def points(**arguments):
        return Spirals(**arguments).points.numpy().tolist()

    assert points() == points()
    different = [points(), points(train=False), points(seed=1), points(seed=1, train=False)]
    assert all(a != b for i, a in enumerate(different) for b in different[:i])


def test_batches():
    points, labels = next(iter(DataLoader(Spirals(count=50), batch_size=20)))
    assert points.shape == (20, 2) and labels.tolist() == [0, 1, 2] * 6 + [0, 1]


@pytest.mark.parametrize("name, value", [("arms", 0), ("count", 0), ("noise", -0.1)])
def test_what_cannot_be(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Spirals must be >= "):
        Spirals(**{name: value})
