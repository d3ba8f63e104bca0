"""The base classes of layers, from which programs derive their own as PyTorch's do."""

import math

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn import functional as F
from tinynet.nn.layers.adaptive_pooling import _AdaptiveAvgPoolNd
from tinynet.nn.layers.batchnorm import _BatchNorm, _InstanceNorm
from tinynet.nn.layers.convolution import _ConvNd, _ConvTransposeNd
from tinynet.nn.layers.images import _ConstantPadNd, _ReflectionPadNd
from tinynet.nn.layers.pooling import _LPPoolNd, _MaxPoolNd, _MaxUnpoolNd
from tinynet.nn.modules.utils import _pair


class Standardized(_ConvNd):
    def __init__(self, channels, features, size, padding=0, transposed=False):
        lengths = _pair(size), _pair(1), _pair(padding), _pair(1)
        rest = transposed, _pair(0), 1, False, "zeros"
        super().__init__(channels, features, *lengths, *rest)

    def forward(self, x):
        weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
        return F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Normalized(_BatchNorm):
    def forward(self, x):
        self._check_input_dim(x)
        options = self.weight, self.bias, True, self.momentum, self.eps
        return F.batch_norm(x, self.running_mean, self.running_var, *options)


class Spread(_ConvTransposeNd):
    _output_padding = _ConvTransposeNd._output_padding  # as libraries keep PyTorch's

    def forward(self, x, output_size=None):
        lengths = self.stride, self.padding, self.kernel_size
        extra = self._output_padding(x, output_size, *lengths, 2, self.dilation)
        options = self.stride, self.padding, extra, self.groups, self.dilation
        return F.conv_transpose2d(x, self.weight, self.bias, *options)


def test_a_transposed_convolution_of_a_users_own():
    lengths = _pair(3), _pair(2), _pair(1), _pair(1)
    layer = Spread(3, 4, *lengths, True, _pair(0), 1, True, "zeros")
    x = tn.ones(2, 3, 4, 4)
    assert layer(x).shape == (2, 4, 7, 7) and layer(x, [8, 7]).shape == (2, 4, 8, 7)
    assert layer._output_padding(x, [2, 4, 8, 8], (2, 2), (1, 1), (3, 3), 2) == [1, 1]
    with pytest.raises(ValueError, match="requested an output size of"):
        layer(x, [9, 9])


def test_a_convolution_of_a_users_own():
    layer = Standardized(3, 8, 3, padding=1)
    assert layer.weight.shape == (8, 3, 3, 3) and layer.weight.abs().max() <= 1 / math.sqrt(27)
    assert layer(tn.ones(2, 3, 5, 5)).shape == (2, 8, 5, 5) and not layer.transposed
    assert repr(layer) == (
        "Standardized(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)"
    )
    assert layer._reversed_padding_repeated_twice == [1, 1, 1, 1]
    assert Standardized(3, 8, 2, transposed=True).weight.shape == (3, 8, 2, 2)


def test_a_norm_of_a_users_own_checks_its_input_itself():
    x = tn.ones(2, 3, 4)
    with pytest.raises(NotImplementedError):
        Normalized(3)(x)
    Normalized._check_input_dim = nn.BatchNorm3d._check_input_dim
    with pytest.raises(ValueError, match=r"^expected 5D input \(got 3D input\)"):
        Normalized(3)(x)
    assert Normalized(3)(x.reshape(2, 3, 1, 2, 2)).shape == (2, 3, 1, 2, 2)


@pytest.mark.parametrize(
    ("layer", "base"),
    [
        (nn.Conv1d(1, 1, 1), _ConvNd),
        (nn.ConvTranspose2d(1, 1, 1), _ConvTransposeNd),
        (nn.InstanceNorm2d(1), _InstanceNorm),
        (nn.MaxPool2d(2), _MaxPoolNd),
        (nn.MaxUnpool1d(2), _MaxUnpoolNd),
        (nn.LPPool1d(2, 2), _LPPoolNd),
        (nn.AdaptiveAvgPool3d(1), _AdaptiveAvgPoolNd),
        (nn.ConstantPad1d(1, 0.0), _ConstantPadNd),
        (nn.ReflectionPad2d(1), _ReflectionPadNd),
    ],
)
def test_layers_are_instances_of_them(layer, base):
    assert isinstance(layer, base)
