"""Autoencoders. ``data.targets = "inputs"`` makes a data set one for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.ops.creation.like import randn_like
from tinynet.ops.creation.random import randn
from tinynet.train.models.perceptron import mlp


class Decoded(NamedTuple):
    """What a `VAE` returns."""

    images: Tensor
    """The reconstructions: the probability of white, pixel by pixel."""

    mean: Tensor
    """Of the code that each image has: (batch, latent)."""

    log_variance: Tensor
    """Of the code, too: (batch, latent)."""


class VAE(nn.Module):
    """A variational autoencoder: images become codes that are normally distributed, and back.

    Args:
        image: channels, height and width of the inputs.
        latent: how many numbers a code has.
        hidden: the widths of the hidden layers of the encoder; the decoder has them in reverse.

    Shape:
        Input: (batch, *image), from 0 to 1. Output: `Decoded`, with images shaped as the input.

    Goes with `VAELoss` and ``data.targets = "inputs"``. Codes are drawn (the reparametrisation
    trick) in evaluation, too, so the loss of the test set is the bound that it is in the paper.

    Raises:
        ValueError: a size is not positive.

    Source: D. P. Kingma, M. Welling, Auto-Encoding Variational Bayes (2014),
    https://arxiv.org/abs/1312.6114

    Example:
        >>> vae = VAE([1, 8, 8], latent=4, hidden=[32])
        >>> vae(tn.rand(5, 1, 8, 8)).images.shape, vae.samples(3).shape
        (tinynet.Size([5, 1, 8, 8]), tinynet.Size([3, 1, 8, 8]))
    """

    def __init__(
        self, image: Sequence[int], latent: int = 8, hidden: Sequence[int] = (256, 128)
    ) -> None:
        super().__init__()
        pixels = math.prod(image)
        self.latent = latent
        self.encoder = mlp([pixels, *hidden, 2 * latent])
        self.decoder = nn.Sequential(
            mlp([latent, *reversed(hidden), pixels]), nn.Sigmoid(), nn.Unflatten(1, tuple(image))
        )

    def forward(self, images: Tensor) -> Decoded:
        """The reconstructions, and the codes' distributions."""
        mean, log_variance = self.encoder(images).chunk(2, 1)
        code = mean + randn_like(mean) * (0.5 * log_variance).exp()
        return Decoded(self.decoder(code), mean, log_variance)

    def samples(self, count: int) -> Tensor:
        """So many images, of codes that are drawn from the normal distribution."""
        images: Tensor = self.decoder(randn(count, self.latent))
        return images


class VAELoss(nn.Module):
    """The negative evidence lower bound, in nats per example: the mean over the batch.

    It is the binary cross entropy of the images, summed over the pixels, plus the Kullback-Leibler
    divergence of the codes from the normal distribution.

    Args:
        beta: how much the divergence counts; more than 1 gives codes whose numbers are more
            independent (Higgins et al., beta-VAE, 2017).

    Shape:
        Input: what a `VAE` returns. Target: the images, from 0 to 1. Output: without dimensions.

    Source: D. P. Kingma, M. Welling, Auto-Encoding Variational Bayes (2014), appendix B,
    https://arxiv.org/abs/1312.6114

    Example:
        >>> decoded = Decoded(tn.full((2, 1, 1, 1), 0.5), tn.zeros(2, 3), tn.zeros(2, 3))
        >>> VAELoss()(decoded, tn.ones(2, 1, 1, 1))  # ln 2: codes that say nothing cost nothing
        tensor(0.6931)
    """

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, decoded: Decoded, images: Tensor) -> Tensor:
        """The loss."""
        pixels = F.binary_cross_entropy(decoded.images, images, reduction="sum")
        mean, log_variance = decoded.mean, decoded.log_variance
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
        loss: Tensor = (pixels + self.beta * divergence) / len(images)
        return loss
