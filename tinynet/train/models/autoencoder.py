"""Autoencoders, for use with ``data.targets = "inputs"``."""

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
    """The output of a `VAE`."""

    images: Tensor
    """The reconstructions: the probability of white for each pixel."""

    mean: Tensor
    """The mean of each code: (batch, latent)."""

    log_variance: Tensor
    """The log variance of each code: (batch, latent)."""


class VAE(nn.Module):
    """A variational autoencoder between images and normally distributed codes.

    Args:
        image: channels, height and width of the inputs.
        latent: the size of a code.
        hidden: the widths of the encoder's hidden layers; the decoder has them in reverse.

    Shape:
        Input: (batch, *image), from 0 to 1. Output: `Decoded`, with images shaped as the input.

    Use it with `VAELoss` and ``data.targets = "inputs"``. It also samples codes (the
    reparametrisation trick) in evaluation, so the test loss is the bound in the paper.

    Raises:
        ValueError: if a size is not positive.

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
        """Return the reconstructions, and the distributions of the codes."""
        mean, log_variance = self.encoder(images).chunk(2, 1)
        code = mean + randn_like(mean) * (0.5 * log_variance).exp()
        return Decoded(self.decoder(code), mean, log_variance)

    def samples(self, count: int) -> Tensor:
        """Return a number of images, from codes sampled from the normal distribution."""
        images: Tensor = self.decoder(randn(count, self.latent))
        return images


class VAELoss(nn.Module):
    """The negative evidence lower bound, in nats per example: the mean over the batch.

    It is the binary cross entropy of the images, summed over the pixels, plus the Kullback-Leibler
    divergence of the codes from the normal distribution.

    Args:
        beta: the weight of the divergence; more than 1 makes the elements of a code more
            independent (Higgins et al., beta-VAE, 2017).

    Shape:
        Input: the output of a `VAE`. Target: the images, from 0 to 1. Output: 0-d.

    Source: D. P. Kingma, M. Welling, Auto-Encoding Variational Bayes (2014), appendix B,
    https://arxiv.org/abs/1312.6114

    Example:
        >>> decoded = Decoded(tn.full((2, 1, 1, 1), 0.5), tn.zeros(2, 3), tn.zeros(2, 3))
        >>> VAELoss()(decoded, tn.ones(2, 1, 1, 1))  # ln 2; the divergence is 0
        tensor(0.6931)
    """

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, decoded: Decoded, images: Tensor) -> Tensor:
        """Return the loss."""
        pixels = F.binary_cross_entropy(decoded.images, images, reduction="sum")
        mean, log_variance = decoded.mean, decoded.log_variance
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
        loss: Tensor = (pixels + self.beta * divergence) / len(images)
        return loss
