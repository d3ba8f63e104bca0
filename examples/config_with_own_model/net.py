"""A residual network, for `residual.toml`."""

from blocks import ResidualBlock  # a file beside this one

from tinynet import Tensor, nn


class ResidualNet(nn.Module):
    """Scores for the ten digits from 64 pixels.

    The signature defines the keys in a config: tinynet checks names, types and defaults before it
    builds anything.
    """

    def __init__(self, width: int, blocks: int = 1, dropout: float = 0.1) -> None:
        super().__init__()
        self.stem = nn.Linear(64, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width, dropout) for _ in range(blocks)])
        self.head = nn.Linear(width, 10)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(pixels)).relu())
