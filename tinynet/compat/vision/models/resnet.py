"""ResNet, with the names of torchvision's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tinynet.compat.vision.models.weights import WeightsEnum, constructor, weights_of
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import (
    AdaptiveAvgPool2d,
    BatchNorm2d,
    Conv2d,
    GroupNorm,
    Linear,
    MaxPool2d,
    Module,
    ReLU,
    Sequential,
    init,
)

__all__ = [
    "ResNet",
    "ResNet18_Weights",
    "ResNet34_Weights",
    "ResNet50_Weights",
    "ResNet101_Weights",
    "ResNet152_Weights",
    "ResNeXt50_32X4D_Weights",
    "ResNeXt101_32X8D_Weights",
    "Wide_ResNet50_2_Weights",
    "Wide_ResNet101_2_Weights",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "wide_resnet50_2",
    "wide_resnet101_2",
]

Norm = Callable[[int], Module]


def conv3x3(
    in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1
) -> Conv2d:
    """Return a 3 x 3 convolution that keeps the size (divided by the stride), without a bias."""
    return Conv2d(in_planes, out_planes, 3, stride, dilation, dilation, groups=groups, bias=False)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> Conv2d:
    """Return a 1 x 1 convolution without a bias."""
    return Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(Module):
    """Two convolutions beside a shortcut.

    Args:
        inplanes, planes: the numbers of channels of the input and of the block.
        stride: the first convolution's.
        downsample: the shortcut; None for the input itself.
        groups, base_width, dilation: 1, 64 and 1; other values are for ``Bottleneck``.
        norm_layer: makes a normalization for a number of channels.

    Raises:
        ValueError: ``groups`` is not 1 or ``base_width`` not 64.
        NotImplementedError: ``dilation`` is greater than 1.
    """

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ):
        super().__init__()
        norm = norm_layer or BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of both ways, after ReLU."""
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(Module):
    """Three convolutions, the outer ones 1 x 1, beside a shortcut.

    Args:
        inplanes, planes: the numbers of channels of the input, and of the block before its
            expansion.
        stride, groups, dilation: the 3 x 3 convolution's.
        downsample: the shortcut; None for the input itself.
        base_width: the width of the 3 x 3 convolution, in 64ths of ``planes``.
        norm_layer: makes a normalization for a number of channels.
    """

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ):
        super().__init__()
        norm = norm_layer or BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of both ways, after ReLU."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(out)))))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


Block = type[BasicBlock] | type[Bottleneck]


class ResNet(Module):
    """A residual network for images of about 224 x 224 pixels with three channels.

    Args:
        block: ``BasicBlock`` or ``Bottleneck``.
        layers: the number of blocks in each of the four stages.
        num_classes: the number of outputs.
        zero_init_residual: whether each block starts as its shortcut.
        groups, width_per_group: the blocks'.
        replace_stride_with_dilation: for each of the last three stages, whether it dilates instead
            of halving the image.
        norm_layer: makes a normalization for a number of channels; by default, BatchNorm2d.

    Shape: ``(N, 3, H, W)`` becomes ``(N, num_classes)``.

    Source: He et al., Deep Residual Learning for Image Recognition (2015),
    https://arxiv.org/abs/1512.03385

    Example:
        >>> from tinynet.compat.vision.models import resnet18
        >>> resnet18(num_classes=10)(tn.ones(2, 3, 32, 32)).shape
        tinynet.Size([2, 10])
    """

    def __init__(
        self,
        block: Block,
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: Norm | None = None,
    ):
        super().__init__()
        dilated = replace_stride_with_dilation or (False, False, False)
        if len(dilated) != 3:
            raise ValueError(
                "replace_stride_with_dilation should be None or a 3-element tuple, got "
                f"{replace_stride_with_dilation}"
            )
        self._norm_layer = norm_layer or BatchNorm2d
        self.inplanes, self.dilation = 64, 1
        self.groups, self.base_width = groups, width_per_group
        self.conv1 = Conv2d(3, self.inplanes, 7, 2, 3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = ReLU(inplace=True)
        self.maxpool = MaxPool2d(3, 2, 1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilated[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilated[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilated[2])
        self.avgpool = AdaptiveAvgPool2d((1, 1))
        self.fc = Linear(512 * block.expansion, num_classes)
        self._initialize(zero_init_residual)

    def _initialize(self, zero_init_residual: bool) -> None:
        for module in self.modules():
            if isinstance(module, Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (BatchNorm2d, GroupNorm)) and module.weight is not None:
                init.constant_(module.weight, 1)
                init.constant_(module.bias, 0)
        for module in self.modules() if zero_init_residual else ():
            last = {BasicBlock: "bn2", Bottleneck: "bn3"}.get(type(module))
            if last is not None:
                init.constant_(getattr(module, last).weight, 0)

    def _make_layer(
        self, block: Block, planes: int, blocks: int, stride: int = 1, dilate: bool = False
    ) -> Sequential:
        before = self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        width = planes * block.expansion
        shortcut = None
        if stride != 1 or self.inplanes != width:
            shortcut = Sequential(conv1x1(self.inplanes, width, stride), self._norm_layer(width))
        options = (self.groups, self.base_width)
        made = [block(self.inplanes, planes, stride, shortcut, *options, before, self._norm_layer)]
        self.inplanes = width
        for _ in range(1, blocks):
            last = (self.dilation, self._norm_layer)
            made.append(block(self.inplanes, planes, 1, None, *options, *last))
        return Sequential(*made)

    def forward(self, x: Tensor) -> Tensor:
        """Return a logit for each class."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


V1, V2 = "IMAGENET1K_V1", "IMAGENET1K_V2"
ResNet18_Weights = weights_of("ResNet18_Weights", {V1: "resnet18-f37072fd.pth"})
ResNet34_Weights = weights_of("ResNet34_Weights", {V1: "resnet34-b627a593.pth"})
ResNet50_Weights = weights_of(
    "ResNet50_Weights", {V1: "resnet50-0676ba61.pth", V2: "resnet50-11ad3fa6.pth"}
)
ResNet101_Weights = weights_of(
    "ResNet101_Weights", {V1: "resnet101-63fe2227.pth", V2: "resnet101-cd907fc2.pth"}
)
ResNet152_Weights = weights_of(
    "ResNet152_Weights", {V1: "resnet152-394f9c45.pth", V2: "resnet152-f82ba261.pth"}
)


ResNeXt50_32X4D_Weights = weights_of(
    "ResNeXt50_32X4D_Weights",
    {V1: "resnext50_32x4d-7cdf4587.pth", V2: "resnext50_32x4d-1a0047aa.pth"},
)
ResNeXt101_32X8D_Weights = weights_of(
    "ResNeXt101_32X8D_Weights",
    {V1: "resnext101_32x8d-8ba56ff5.pth", V2: "resnext101_32x8d-110c445d.pth"},
)
Wide_ResNet50_2_Weights = weights_of(
    "Wide_ResNet50_2_Weights",
    {V1: "wide_resnet50_2-95faca4d.pth", V2: "wide_resnet50_2-9ba9bcbe.pth"},
)
Wide_ResNet101_2_Weights = weights_of(
    "Wide_ResNet101_2_Weights",
    {V1: "wide_resnet101_2-32ee1156.pth", V2: "wide_resnet101_2-d733dc28.pth"},
)


def _function(
    name: str, block: Block, layers: Sequence[int], kinds: type[WeightsEnum], **fixed: Any
) -> Any:
    return constructor(name, "ResNet", partial(ResNet, block, layers, **fixed), kinds)


resnet18 = _function("resnet18", BasicBlock, (2, 2, 2, 2), ResNet18_Weights)
resnet34 = _function("resnet34", BasicBlock, (3, 4, 6, 3), ResNet34_Weights)
resnet50 = _function("resnet50", Bottleneck, (3, 4, 6, 3), ResNet50_Weights)
resnet101 = _function("resnet101", Bottleneck, (3, 4, 23, 3), ResNet101_Weights)
resnet152 = _function("resnet152", Bottleneck, (3, 8, 36, 3), ResNet152_Weights)
resnext50_32x4d = _function(
    "resnext50_32x4d",
    Bottleneck,
    (3, 4, 6, 3),
    ResNeXt50_32X4D_Weights,
    groups=32,
    width_per_group=4,
)
resnext101_32x8d = _function(
    "resnext101_32x8d",
    Bottleneck,
    (3, 4, 23, 3),
    ResNeXt101_32X8D_Weights,
    groups=32,
    width_per_group=8,
)
wide_resnet50_2 = _function(
    "wide_resnet50_2", Bottleneck, (3, 4, 6, 3), Wide_ResNet50_2_Weights, width_per_group=128
)
wide_resnet101_2 = _function(
    "wide_resnet101_2", Bottleneck, (3, 4, 23, 3), Wide_ResNet101_2_Weights, width_per_group=128
)
