"""A convolutional network with buffers, nested Sequential and ModuleList, hooks on its features."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np

import tinynet as tn
from tinynet import nn


def conv3x3(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    expansion: int = 1

    def __init__(
        self,
        in_planes: int,
        planes: int,
        stride: int = 1,
        norm_layer: Callable[[int], nn.Module] | None = None,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        if norm_layer is None:
            norm_layer = nn.BatchNorm2d
        self.conv1 = conv3x3(in_planes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.act = activation()
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample: nn.Module | None = None
        if stride != 1 or in_planes != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(in_planes, planes, 1, stride, bias=False),
                norm_layer(planes),
            )

    def forward(self, x: tn.Tensor) -> tn.Tensor:
        identity = x
        out: tn.Tensor = self.act(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        out = self.act(out)
        return out


class ResNet(nn.Module):
    def __init__(self, widths: list[int], num_classes: int = 10) -> None:
        super().__init__()
        self.register_buffer("mean", tn.tensor([0.5]).view(1, 1, 1, 1))
        self.register_buffer("std", tn.full((1, 1, 1, 1), 0.25), persistent=False)
        self.stem = nn.Sequential(
            OrderedDict([("conv", conv3x3(1, widths[0])), ("norm", nn.BatchNorm2d(widths[0]))])
        )
        self.stages = nn.ModuleList()
        for n_in, n_out in zip(widths, widths[1:]):
            stage = nn.Sequential(BasicBlock(n_in, n_out, stride=2), BasicBlock(n_out, n_out))
            self.stages.append(stage)
        self.heads = nn.ModuleDict({"main": nn.Linear(widths[-1], num_classes)})
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self._initialize()

    def _initialize(self) -> None:
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)
        self.heads["main"].weight.data.mul_(0.5)

    def features(self, x: tn.Tensor) -> list[tn.Tensor]:
        x = (x - self.mean) / self.std
        x = self.stem(x)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps

    def forward(self, x: tn.Tensor) -> tn.Tensor:
        x = self.pool(self.features(x)[-1])
        logits: tn.Tensor = self.heads["main"](tn.flatten(x, 1))
        return logits


def weight_decay_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    decay: list[nn.Parameter] = []
    no_decay: list[nn.Parameter] = []
    for name, param in model.named_parameters():
        if not param.requires_grad:
            continue
        if param.ndim == 1 or name.endswith(".bias"):
            no_decay.append(param)
        else:
            decay.append(param)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]


def main() -> None:
    tn.manual_seed(1)
    model = ResNet([4, 8, 16])
    images = tn.randn(8, 1, 16, 16)
    labels = tn.randint(0, 10, (8,))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = tn.optim.SGD(weight_decay_groups(model, 1e-4), lr=0.1, momentum=0.9, nesterov=True)
    for step in range(3):
        logits = model(images)
        loss = criterion(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        print(f"step {step}: {loss.item():.3f}")
    bn = model.stem[1]
    print(type(bn).__name__, bn.running_mean.shape)
    last = model.stages[-1]
    print(len(model.stages), last[0].conv1.weight.shape)
    predictions: np.ndarray = model.eval()(images).argmax(1).numpy()
    print(predictions.shape, [tuple(m.shape) for m in model.features(images)])
    grad = model.stem[0].weight.grad
    if grad is not None:
        print(float(grad.abs().max()) > 0, (grad**2).mean().sqrt().item() > 0)


if __name__ == "__main__":
    main()
