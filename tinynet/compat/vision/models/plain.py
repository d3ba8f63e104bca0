"""Networks without shortcuts, LeNet's successors: AlexNet and VGG, with torchvision's names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tinynet.compat.vision.models.weights import WeightsEnum, built, constructor, weights_of
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import (
    AdaptiveAvgPool2d,
    BatchNorm2d,
    Conv2d,
    Dropout,
    Linear,
    MaxPool2d,
    Module,
    ReLU,
    Sequential,
    init,
)

__all__ = [
    "AlexNet",
    "AlexNet_Weights",
    "VGG",
    "VGG11_BN_Weights",
    "VGG11_Weights",
    "VGG13_BN_Weights",
    "VGG13_Weights",
    "VGG16_BN_Weights",
    "VGG16_Weights",
    "VGG19_BN_Weights",
    "VGG19_Weights",
    "alexnet",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]

V1 = "IMAGENET1K_V1"
_WIDTHS = (64, 128, 256, 512, 512)


class AlexNet(Module):
    """AlexNet, for images of about 224 x 224 pixels with three channels.

    Args:
        num_classes: the number of outputs.
        dropout: the probability of ``Dropout``.

    Shape: ``(N, 3, H, W)`` becomes ``(N, num_classes)``; H and W are at least 63.

    Source: A. Krizhevsky, One weird trick for parallelizing convolutional neural networks (2014),
    https://arxiv.org/abs/1404.5997

    Example:
        >>> from tinynet.compat.vision.models import alexnet
        >>> alexnet(num_classes=2).features[0]
        Conv2d(3, 64, kernel_size=(11, 11), stride=(4, 4), padding=(2, 2))
    """

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5):
        super().__init__()
        self.features = Sequential(
            *(Conv2d(3, 64, 11, 4, 2), ReLU(inplace=True), MaxPool2d(3, 2)),
            *(Conv2d(64, 192, 5, padding=2), ReLU(inplace=True), MaxPool2d(3, 2)),
            *(Conv2d(192, 384, 3, padding=1), ReLU(inplace=True)),
            *(Conv2d(384, 256, 3, padding=1), ReLU(inplace=True)),
            *(Conv2d(256, 256, 3, padding=1), ReLU(inplace=True), MaxPool2d(3, 2)),
        )
        self.avgpool = AdaptiveAvgPool2d((6, 6))
        self.classifier = Sequential(
            *(Dropout(dropout), Linear(256 * 6 * 6, 4096), ReLU(inplace=True)),
            *(Dropout(dropout), Linear(4096, 4096), ReLU(inplace=True)),
            Linear(4096, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return a logit for each class."""
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


class VGG(Module):
    """A VGG network, for images of about 224 x 224 pixels with three channels.

    Args:
        features: the convolutions, which end with 512 channels.
        num_classes: the number of outputs.
        init_weights: whether to draw weights of its own; else, each layer's.
        dropout: the probability of ``Dropout``.

    Shape: ``(N, 3, H, W)`` becomes ``(N, num_classes)``; H and W are at least 32.

    Source: Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image
    Recognition (2014), https://arxiv.org/abs/1409.1556
    """

    def __init__(
        self,
        features: Module,
        num_classes: int = 1000,
        init_weights: bool = True,
        dropout: float = 0.5,
    ):
        super().__init__()
        self.features = features
        self.avgpool = AdaptiveAvgPool2d((7, 7))
        self.classifier = Sequential(
            *(Linear(512 * 7 * 7, 4096), ReLU(True), Dropout(dropout)),
            *(Linear(4096, 4096), ReLU(True), Dropout(dropout)),
            Linear(4096, num_classes),
        )
        if init_weights:
            self._initialize()

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, Linear):
                init.normal_(module.weight, 0, 0.01)
            if isinstance(module, (Conv2d, Linear)) and module.bias is not None:
                init.constant_(module.bias, 0)

    def forward(self, x: Tensor) -> Tensor:
        """Return a logit for each class."""
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def _vgg(counts: Sequence[int], normalized: bool, **options: Any) -> VGG:
    """Return a VGG network with a number of convolutions in each of its five stages."""
    layers: list[Module] = []
    channels = 3
    for count, width in zip(counts, _WIDTHS, strict=True):
        for _ in range(count):
            norm = [BatchNorm2d(width)] if normalized else []
            layers += [Conv2d(channels, width, 3, padding=1), *norm, ReLU(inplace=True)]
            channels = width
        layers.append(MaxPool2d(2, 2))
    return VGG(Sequential(*layers), **options)


AlexNet_Weights = weights_of("AlexNet_Weights", {V1: "alexnet-owt-7be5be79.pth"})
VGG11_Weights = weights_of("VGG11_Weights", {V1: "vgg11-8a719046.pth"})
VGG11_BN_Weights = weights_of("VGG11_BN_Weights", {V1: "vgg11_bn-6002323d.pth"})
VGG13_Weights = weights_of("VGG13_Weights", {V1: "vgg13-19584684.pth"})
VGG13_BN_Weights = weights_of("VGG13_BN_Weights", {V1: "vgg13_bn-abd245e5.pth"})
VGG16_Weights = weights_of(
    "VGG16_Weights",
    {V1: "vgg16-397923af.pth", "IMAGENET1K_FEATURES": "vgg16_features-amdegroot-88682ab5.pth"},
    default=V1,
)
VGG16_BN_Weights = weights_of("VGG16_BN_Weights", {V1: "vgg16_bn-6c64b313.pth"})
VGG19_Weights = weights_of("VGG19_Weights", {V1: "vgg19-dcbb9e9d.pth"})
VGG19_BN_Weights = weights_of("VGG19_BN_Weights", {V1: "vgg19_bn-c79401a0.pth"})


def alexnet(*, weights: Any = None, progress: bool = True, **kwargs: Any) -> AlexNet:
    """Return AlexNet.

    Args:
        weights: ``AlexNet_Weights.DEFAULT``, its name, or None.
        progress: without effect.
        **kwargs: the options of ``AlexNet``.

    Raises:
        FileNotFoundError: the file of the weights does not exist; the message has its place.
    """
    return built(AlexNet, AlexNet_Weights, weights, progress, kwargs)


def _function(name: str, counts: Sequence[int], normalized: bool, kinds: type[WeightsEnum]) -> Any:
    return constructor(name, "VGG", partial(_vgg, counts, normalized), kinds)


vgg11 = _function("vgg11", (1, 1, 2, 2, 2), False, VGG11_Weights)
vgg11_bn = _function("vgg11_bn", (1, 1, 2, 2, 2), True, VGG11_BN_Weights)
vgg13 = _function("vgg13", (2, 2, 2, 2, 2), False, VGG13_Weights)
vgg13_bn = _function("vgg13_bn", (2, 2, 2, 2, 2), True, VGG13_BN_Weights)
vgg16 = _function("vgg16", (2, 2, 3, 3, 3), False, VGG16_Weights)
vgg16_bn = _function("vgg16_bn", (2, 2, 3, 3, 3), True, VGG16_BN_Weights)
vgg19 = _function("vgg19", (2, 2, 4, 4, 4), False, VGG19_Weights)
vgg19_bn = _function("vgg19_bn", (2, 2, 4, 4, 4), True, VGG19_BN_Weights)
