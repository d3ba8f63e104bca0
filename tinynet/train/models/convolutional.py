"""Convolutional networks."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet import nn

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
