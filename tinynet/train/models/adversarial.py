"""Generative adversarial networks."""

from __future__ import annotations

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.creation.random import randn


class GAN(nn.Module):
    """A generator and a discriminator, for the method ``adversarial``.

    Args:
        generator: a module from noise, (batch, noise), to examples, (batch, ...).
        discriminator: a module that returns a number per example, above 0 for real ones.
        noise: the number of standard normal random numbers per generated example.

    A call returns the outputs of the discriminator.

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
        """Return the outputs of the discriminator."""
        outputs: Tensor = self.discriminator(examples)
        return outputs

    def samples(self, count: int) -> Tensor:
        """Return a number of generated examples."""
        examples: Tensor = self.generator(randn(count, self.noise))
        return examples
