"""Convolutions as modules."""

from tinynet.nn.layers.convolution.conv import *
from tinynet.nn.layers.convolution.conv_transpose import *
from tinynet.nn.layers.convolution.fold import *
from tinynet.nn.layers.convolution.lazy import *
