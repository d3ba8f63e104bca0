"""Layers as functions: the computations of the modules of ``nn``, without state."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.nn import grad as grad
    from tinynet.nn.functional.affine import *
    from tinynet.nn.functional.convolution.convolution import *
    from tinynet.nn.functional.convolution.folding import *
    from tinynet.nn.functional.dropouts import *
    from tinynet.nn.functional.images.grid_sampling import *
    from tinynet.nn.functional.images.interpolation import *
    from tinynet.nn.functional.images.padding import *
    from tinynet.nn.functional.images.shuffle import *
    from tinynet.nn.functional.lookup import *
    from tinynet.nn.functional.losses.classification import *
    from tinynet.nn.functional.losses.ctc import *
    from tinynet.nn.functional.losses.linear_cross_entropy import *
    from tinynet.nn.functional.losses.margin import *
    from tinynet.nn.functional.losses.regression import *
    from tinynet.nn.functional.multi_head_attention import *
    from tinynet.nn.functional.normalization import *
    from tinynet.nn.functional.piecewise_activation import *
    from tinynet.nn.functional.pooling.pooling import *
    from tinynet.nn.functional.pooling.unpooling import *
    from tinynet.nn.functional.scaled_dot_product import *
    from tinynet.nn.functional.smooth_activation import *
    from tinynet.nn.functional.vector import *
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
