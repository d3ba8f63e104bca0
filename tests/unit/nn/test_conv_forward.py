"""Subclasses of convolutions use and override `_conv_forward`, as models for PyTorch do."""

import tinynet as tn
from tinynet import nn


class WithoutBias(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight * 2, None)


class Shifted(nn.Conv2d):
    def _conv_forward(self, input, weight, bias):
        return super()._conv_forward(input + 1, weight, bias)


def test_is_called_and_overridden():
    x = tn.ones(1, 1, 3, 3)
    net = WithoutBias(1, 1, 2, padding=1, padding_mode="reflect")
    padded = nn.functional.pad(x, (1, 1, 1, 1), mode="reflect")
    assert tn.equal(net(x), nn.functional.conv2d(padded, net.weight * 2))
    shifted = Shifted(1, 1, 2)
    assert tn.equal(shifted(x), nn.functional.conv2d(x + 1, shifted.weight, shifted.bias))
