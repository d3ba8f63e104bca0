"""Layers, models and what they are made of."""

from tinynet.nn import functional as functional
from tinynet.nn import init as init
from tinynet.nn import modules as modules
from tinynet.nn import utils as utils
from tinynet.nn.base.module import Module as Module
from tinynet.nn.functional.losses.linear_cross_entropy import (
    LinearCrossEntropyOptions as LinearCrossEntropyOptions,
)
from tinynet.nn.layers import *
from tinynet.nn.parallel import DataParallel as DataParallel
from tinynet.nn.parameter import Buffer as Buffer
from tinynet.nn.parameter import Parameter as Parameter
from tinynet.nn.parameter import UninitializedBuffer as UninitializedBuffer
from tinynet.nn.parameter import UninitializedParameter as UninitializedParameter
