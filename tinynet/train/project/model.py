"""The model: two hidden layers."""

import tinynet as tn
from tinynet import nn


class Net(nn.Module):
    """Returns the scores of two classes for points in the plane.

    Args:
        hidden: the width of the hidden layers.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.head = nn.Linear(hidden, 2)

    def forward(self, points: tn.Tensor) -> tn.Tensor:
        """Return the scores ``[batch, 2]`` of points ``[batch, 2]``."""
        return self.head(self.body(points))
