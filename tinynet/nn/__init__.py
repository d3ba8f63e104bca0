"""Layers, containers and their building blocks."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.nn import functional as functional
    from tinynet.nn import grad as grad
    from tinynet.nn import init as init
    from tinynet.nn import modules as modules
    from tinynet.nn import utils as utils
    from tinynet.nn.base.module import Module as Module
    from tinynet.nn.functional.losses.linear_cross_entropy import (
        LinearCrossEntropyOptions as LinearCrossEntropyOptions,
    )
    from tinynet.nn.layers.adaptive_pooling import *
    from tinynet.nn.layers.attention import *
    from tinynet.nn.layers.batchnorm import *
    from tinynet.nn.layers.container import *
    from tinynet.nn.layers.convolution import *
    from tinynet.nn.layers.dropout import *
    from tinynet.nn.layers.embedding import *
    from tinynet.nn.layers.images import *
    from tinynet.nn.layers.lazy import *
    from tinynet.nn.layers.likelihood_losses import *
    from tinynet.nn.layers.linear import *
    from tinynet.nn.layers.losses import *
    from tinynet.nn.layers.margin_losses import *
    from tinynet.nn.layers.normalization import *
    from tinynet.nn.layers.parameter_container import *
    from tinynet.nn.layers.piecewise_activation import *
    from tinynet.nn.layers.pooling import *
    from tinynet.nn.layers.rnn import *
    from tinynet.nn.layers.rnn_cells import *
    from tinynet.nn.layers.shaping import *
    from tinynet.nn.layers.smooth_activation import *
    from tinynet.nn.layers.transformer import *
    from tinynet.nn.parallel import DataParallel as DataParallel
    from tinynet.nn.parameter import Buffer as Buffer
    from tinynet.nn.parameter import Parameter as Parameter
    from tinynet.nn.parameter import UninitializedBuffer as UninitializedBuffer
    from tinynet.nn.parameter import UninitializedParameter as UninitializedParameter
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
