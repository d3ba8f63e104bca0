"""Feedforward networks: perceptrons, convolutional networks, autoencoders, adversarial networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.ops.creation.like import randn_like
from tinynet.ops.creation.random import randn

# ---- perceptron ---------------------------------------------------------------------------------
# Multilayer perceptrons.


_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


def mlp(
    sizes: Sequence[int],
    activation: Literal["relu", "tanh", "sigmoid"] = "relu",
    dropout: float = 0.0,
) -> nn.Sequential:
    """Build a multilayer perceptron: Linear layers with activations between them.

    Args:
        sizes: the widths, from the number of inputs to the number of outputs; at least two.
        activation: the activation between the layers.
        dropout: the dropout probability of each hidden unit.

    Inputs of any shape are flattened first.

    Source: D. E. Rumelhart, G. E. Hinton, R. J. Williams, Learning representations by
    back-propagating errors (Nature 323, 1986), https://doi.org/10.1038/323533a0

    Shape:
        Input: (batch, ...) with ``sizes[0]`` elements per example. Output: (batch, sizes[-1]).

    Raises:
        ValueError: if there are fewer than two sizes, or one is not positive.

    Example:
        >>> mlp([64, 32, 10])(tn.zeros(5, 8, 8)).shape
        tinynet.Size([5, 10])
    """
    if len(sizes) < 2 or min(sizes) < 1:
        raise ValueError(
            "The 'sizes' parameter of mlp must be two or more positive numbers. "
            f"Got {sizes} instead."
        )
    layers: list[nn.Module] = [nn.Flatten()]
    for wide, following in pairwise(sizes[:-1]):
        layers += [nn.Linear(wide, following), _ACTIVATIONS[activation]()]
        if dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


# ---- sequential ---------------------------------------------------------------------------------
# Layers in sequence.


def sequential(layers: list[nn.Module]) -> nn.Sequential:
    """Build a sequence of layers, each a table with a ``type``.

    Args:
        layers: the layers, in order: ``[{type = "Linear", in_features = 64, ...}, ...]``.

    Example:
        >>> sequential([nn.Linear(3, 2), nn.ReLU()])(tn.zeros(1, 3)).shape
        tinynet.Size([1, 2])
    """
    return nn.Sequential(*layers)


# ---- convolutional ------------------------------------------------------------------------------
# Convolutional networks.


_KERNEL = 3


def cnn(
    image: Sequence[int],
    channels: Sequence[int],
    classes: int,
    hidden: Sequence[int] = (),
    convolutions: int = 1,
    dropout: float = 0.0,
) -> nn.Sequential:
    """Build a convolutional network: stages that halve the image, then Linear layers.

    A stage repeats a 3x3 convolution, batch normalisation and ReLU ``convolutions`` times, followed
    by 2x2 max pooling.

    Args:
        image: channels, height and width of the inputs.
        channels: the number of output channels of each stage.
        classes: the width of the output.
        hidden: the widths of the hidden Linear layers, each followed by a ReLU.
        convolutions: the number of convolutions per stage.
        dropout: the dropout probability of the inputs of each Linear layer.

    Shape:
        Input: (batch, *image). Output: (batch, classes).

    Raises:
        ValueError: if the image is not three positive numbers, or too small for the stages.

    Source: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document
    recognition (Proceedings of the IEEE 86, 1998), https://doi.org/10.1109/5.726791; batch
    normalisation: S. Ioffe, C. Szegedy (2015), https://arxiv.org/abs/1502.03167

    Example:
        >>> net = cnn([1, 28, 28], channels=[8, 16], classes=10)
        >>> net(tn.zeros(5, 1, 28, 28)).shape
        tinynet.Size([5, 10])
    """
    if len(image) != 3 or min(image) < 1:
        raise ValueError(
            f"The 'image' parameter of cnn must be channels, height and width. Got {image} instead."
        )
    depth, height, width = image
    height, width = height >> len(channels), width >> len(channels)
    if not (height and width):
        raise ValueError(
            f"The 'channels' parameter of cnn has {len(channels)} stages, each of which halves the "
            f"image: too many for {image[1]}x{image[2]} pixels."
        )
    layers: list[nn.Module] = []
    for wide in channels:
        layers += _stage(depth, wide, convolutions)
        depth = wide
    layers.append(nn.Flatten())
    features = depth * height * width
    for wide in hidden:
        layers += [*_dropout(dropout), nn.Linear(features, wide), nn.ReLU()]
        features = wide
    return nn.Sequential(*layers, *_dropout(dropout), nn.Linear(features, classes))


def _stage(depth: int, wide: int, convolutions: int) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for _ in range(convolutions):
        # The normalisation would cancel a bias.
        convolution = nn.Conv2d(depth, wide, _KERNEL, padding=_KERNEL // 2, bias=False)
        layers += [convolution, nn.BatchNorm2d(wide), nn.ReLU()]
        depth = wide
    return [*layers, nn.MaxPool2d(2)]


def _dropout(probability: float) -> list[nn.Module]:
    return [nn.Dropout(probability)] if probability else []


# ---- autoencoder --------------------------------------------------------------------------------
# Autoencoders, for use with ``data.targets = "inputs"``.


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


# ---- adversarial --------------------------------------------------------------------------------
# Generative adversarial networks.


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
