"""The repeated part of the network in `net.py`."""

from tinynet import Tensor, nn


class ResidualBlock(nn.Module):
    """A block that adds the output of two layers to its input."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width, width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.branch(x)
