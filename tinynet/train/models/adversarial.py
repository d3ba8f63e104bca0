"""Two networks that train each other."""

from __future__ import annotations

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.creation.random import randn


class GAN(nn.Module):
    """A generator and a discriminator, for the method ``adversarial``.

    Args:
        generator: makes examples, (batch, ...), of noise, (batch, noise).
        discriminator: gives a number per example; above 0, it takes the example for a real one.
        noise: how many random numbers (standard normal) an example is made from.

    Called with examples, it says what the discriminator says.

    Example:
        >>> from tinynet.train.models import mlp
        >>> model = GAN(mlp([2, 8, 3]), mlp([3, 8, 1]), noise=2)
        >>> model(model.samples(5)).shape
        tinynet.Size([5, 1])
    """

    def __init__(self, generator: nn.Module, discriminator: nn.Module, noise: int) -> None:
        if noise < 1:
            raise ValueError(f"The 'noise' parameter of GAN must be >= 1. Got {noise} instead.")
        super().__init__()
        self.generator = generator
        self.discriminator = discriminator
        self.noise = noise

    def forward(self, examples: Tensor) -> Tensor:
        """What the discriminator says about examples."""
        said: Tensor = self.discriminator(examples)
        return said

    def samples(self, count: int) -> Tensor:
        """So many examples that the generator makes."""
        made: Tensor = self.generator(randn(count, self.noise))
        return made
