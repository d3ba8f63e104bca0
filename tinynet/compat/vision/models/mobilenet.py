"""MobileNetV2 and V3, with the names of torchvision's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from tinynet.compat.vision.models.weights import constructor, weights_of
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import (
    AdaptiveAvgPool2d,
    BatchNorm2d,
    Conv2d,
    Dropout,
    GroupNorm,
    Hardsigmoid,
    Hardswish,
    Linear,
    Module,
    ReLU,
    ReLU6,
    Sequential,
    init,
)

__all__ = [
    "MobileNetV2",
    "MobileNetV3",
    "MobileNet_V2_Weights",
    "MobileNet_V3_Large_Weights",
    "MobileNet_V3_Small_Weights",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
]

Norm = Callable[[int], Module]


def _divisible(value: float, by: int = 8) -> int:
    """Return the nearest multiple of ``by`` that is at least 0.9 times ``value``."""
    near = max(by, int(value + by / 2) // by * by)
    return near if near >= 0.9 * value else near + by


class Conv2dNormActivation(Sequential):
    """A convolution that keeps the size of its images but for the stride, a norm, an activation."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        stride: int = 1,
        groups: int = 1,
        norm_layer: Norm = BatchNorm2d,
        activation_layer: Callable[..., Module] | None = ReLU,
        dilation: int = 1,
    ):
        padding = (kernel_size - 1) // 2 * dilation
        conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias=False
        )
        activation = [] if activation_layer is None else [activation_layer(inplace=True)]
        super().__init__(conv, norm_layer(out_channels), *activation)
        self.out_channels = out_channels


class SqueezeExcitation(Module):
    """Multiply each channel by a weight, which a small network computes from the means of all.

    Source: Hu et al., Squeeze-and-Excitation Networks (2017), https://arxiv.org/abs/1709.01507
    """

    def __init__(self, input_channels: int, squeeze_channels: int):
        super().__init__()
        self.avgpool = AdaptiveAvgPool2d(1)
        self.fc1 = Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = Conv2d(squeeze_channels, input_channels, 1)
        self.activation = ReLU()
        self.scale_activation = Hardsigmoid()

    def forward(self, input: Tensor) -> Tensor:
        """Return the channels times their weights."""
        mean = self.avgpool(input)
        return self.scale_activation(self.fc2(self.activation(self.fc1(mean)))) * input


def _initialize(net: Module) -> None:
    for module in net.modules():
        if isinstance(module, Conv2d):
            init.kaiming_normal_(module.weight, mode="fan_out")
        elif isinstance(module, (BatchNorm2d, GroupNorm)) and module.weight is not None:
            init.ones_(module.weight)
        elif isinstance(module, Linear):
            init.normal_(module.weight, 0, 0.01)
        if isinstance(getattr(module, "bias", None), Tensor):
            init.zeros_(module.bias)


# ---- version 2 ----


class _LinearBottleneck(Module):
    """A block of version 2: channels are expanded, convolved one by one, and projected."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, norm_layer: Norm):
        super().__init__()
        hidden = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        make = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=ReLU6)
        expand = [make(inp, hidden, 1)] if expand_ratio != 1 else []
        depthwise = make(hidden, hidden, stride=stride, groups=hidden)
        project = Conv2d(hidden, oup, 1, bias=False)
        self.conv = Sequential(*expand, depthwise, project, norm_layer(oup))

    def forward(self, x: Tensor) -> Tensor:
        """Return the projected channels, added to the input if they have its shape."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


_STAGES = (  # expansion, channels, blocks, stride of the first
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class MobileNetV2(Module):
    """MobileNetV2: inverted residuals with linear bottlenecks.

    Args:
        num_classes: the number of outputs.
        width_mult: a factor of all numbers of channels.
        inverted_residual_setting: expansion, channels, number of blocks and first stride of each
            stage.
        round_nearest: numbers of channels are multiples of it.
        norm_layer: makes a normalization for a number of channels; by default, BatchNorm2d.
        dropout: the probability of ``Dropout``.

    Shape: ``(N, 3, H, W)`` becomes ``(N, num_classes)``.

    Source: Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks (2018),
    https://arxiv.org/abs/1801.04381

    Example:
        >>> from tinynet.compat.vision.models import mobilenet_v2
        >>> mobilenet_v2(num_classes=10)(tn.ones(2, 3, 32, 32)).shape
        tinynet.Size([2, 10])
    """

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] | None = None,
        round_nearest: int = 8,
        norm_layer: Norm | None = None,
        dropout: float = 0.2,
    ):
        super().__init__()
        norm = norm_layer or BatchNorm2d
        make = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=ReLU6)
        channels = _divisible(32 * width_mult, round_nearest)
        self.last_channel = _divisible(1280 * max(1.0, width_mult), round_nearest)
        features: list[Module] = [make(3, channels, stride=2)]
        for expansion, width, blocks, stride in inverted_residual_setting or _STAGES:
            width = _divisible(width * width_mult, round_nearest)
            for block in range(blocks):
                step = stride if block == 0 else 1
                features.append(_LinearBottleneck(channels, width, step, expansion, norm))
                channels = width
        self.features = Sequential(*features, make(channels, self.last_channel, 1))
        self.classifier = Sequential(Dropout(dropout), Linear(self.last_channel, num_classes))
        _initialize(self)

    def forward(self, x: Tensor) -> Tensor:
        """Return a logit for each class."""
        return self.classifier(self.features(x).mean((2, 3)))


# ---- version 3 ----


class InvertedResidualConfig(NamedTuple):
    """The sizes of a block: ``use_hs`` is its activation, hardswish or relu."""

    input_channels: int
    kernel: int
    expanded_channels: int
    out_channels: int
    use_se: bool
    use_hs: bool
    stride: int


class InvertedResidual(Module):
    """A block of version 3: that of version 2, with weights of channels before the projection."""

    def __init__(self, cnf: InvertedResidualConfig, norm_layer: Norm):
        super().__init__()
        inner = cnf.expanded_channels
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        make = partial(
            Conv2dNormActivation,
            norm_layer=norm_layer,
            activation_layer=Hardswish if cnf.use_hs else ReLU,
        )
        layers: list[Module] = []
        if inner != cnf.input_channels:
            layers.append(make(cnf.input_channels, inner, 1))
        layers.append(make(inner, inner, cnf.kernel, cnf.stride, inner))
        if cnf.use_se:
            layers.append(SqueezeExcitation(inner, _divisible(inner // 4)))
        layers.append(make(inner, cnf.out_channels, 1, activation_layer=None))
        self.block = Sequential(*layers)

    def forward(self, input: Tensor) -> Tensor:
        """Return the projected channels, added to the input if they have its shape."""
        return self.block(input) + input if self.use_res_connect else self.block(input)


def _blocks(first: int, *rows: tuple[int, int, int, bool, bool, int]) -> Any:
    """Return the sizes of blocks, each of which has the channels of the one before it."""
    inputs = [first, *(row[2] for row in rows)]
    return [
        InvertedResidualConfig(channels, *row) for channels, row in zip(inputs, rows, strict=False)
    ]


_LARGE = _blocks(
    16,
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)
_SMALL = _blocks(
    16,
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
    (5, 576, 96, True, True, 1),
)


class MobileNetV3(Module):
    """MobileNetV3: blocks found by a search, with weights of channels and hardswish.

    Args:
        inverted_residual_setting: the sizes of the blocks.
        last_channel: the width of the layer before the last.
        num_classes: the number of outputs.
        norm_layer: makes a normalization for a number of channels; by default, BatchNorm2d.
        dropout: the probability of ``Dropout``.

    Shape: ``(N, 3, H, W)`` becomes ``(N, num_classes)``.

    Source: Howard et al., Searching for MobileNetV3 (2019), https://arxiv.org/abs/1905.02244

    Example:
        >>> from tinynet.compat.vision.models import mobilenet_v3_small
        >>> mobilenet_v3_small(num_classes=10)(tn.ones(2, 3, 32, 32)).shape
        tinynet.Size([2, 10])
    """

    def __init__(
        self,
        inverted_residual_setting: Sequence[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        norm_layer: Norm | None = None,
        dropout: float = 0.2,
    ):
        super().__init__()
        norm = norm_layer or partial(BatchNorm2d, eps=0.001, momentum=0.01)
        make = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=Hardswish)
        sizes = inverted_residual_setting
        wide = 6 * sizes[-1].out_channels
        self.features = Sequential(
            make(3, sizes[0].input_channels, stride=2),
            *(InvertedResidual(cnf, norm) for cnf in sizes),
            make(sizes[-1].out_channels, wide, 1),
        )
        self.avgpool = AdaptiveAvgPool2d(1)
        self.classifier = Sequential(
            Linear(wide, last_channel),
            Hardswish(inplace=True),
            Dropout(dropout, inplace=True),
            Linear(last_channel, num_classes),
        )
        _initialize(self)

    def forward(self, x: Tensor) -> Tensor:
        """Return a logit for each class."""
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


V1, V2 = "IMAGENET1K_V1", "IMAGENET1K_V2"
MobileNet_V2_Weights = weights_of(
    "MobileNet_V2_Weights", {V1: "mobilenet_v2-b0353104.pth", V2: "mobilenet_v2-7ebf99e0.pth"}
)
MobileNet_V3_Large_Weights = weights_of(
    "MobileNet_V3_Large_Weights",
    {V1: "mobilenet_v3_large-8738ca79.pth", V2: "mobilenet_v3_large-5c1a4163.pth"},
)
MobileNet_V3_Small_Weights = weights_of(
    "MobileNet_V3_Small_Weights", {V1: "mobilenet_v3_small-047dcff4.pth"}
)

mobilenet_v2 = constructor("mobilenet_v2", "MobileNetV2", MobileNetV2, MobileNet_V2_Weights)
mobilenet_v3_large = constructor(
    "mobilenet_v3_large",
    "MobileNetV3",
    partial(MobileNetV3, _LARGE, 1280),
    MobileNet_V3_Large_Weights,
)
mobilenet_v3_small = constructor(
    "mobilenet_v3_small",
    "MobileNetV3",
    partial(MobileNetV3, _SMALL, 1024),
    MobileNet_V3_Small_Weights,
)
