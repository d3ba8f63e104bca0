"""Utilities for parameters and their gradients."""

from tinynet.nn.utils import parametrizations as parametrizations
from tinynet.nn.utils import parametrize as parametrize
from tinynet.nn.utils import rnn as rnn
from tinynet.nn.utils import stateless as stateless
from tinynet.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
from tinynet.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from tinynet.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from tinynet.nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from tinynet.nn.utils.clip_grad import get_total_norm as get_total_norm
from tinynet.nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
from tinynet.nn.utils.fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
from tinynet.nn.utils.fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
from tinynet.nn.utils.fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
from tinynet.nn.utils.norm_hooks import remove_spectral_norm as remove_spectral_norm
from tinynet.nn.utils.norm_hooks import remove_weight_norm as remove_weight_norm
from tinynet.nn.utils.norm_hooks import spectral_norm as spectral_norm
from tinynet.nn.utils.norm_hooks import weight_norm as weight_norm
from tinynet.nn.utils.parameters import (
    convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format,
)
from tinynet.nn.utils.parameters import (
    convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format,
)
from tinynet.nn.utils.parameters import parameters_to_vector as parameters_to_vector
from tinynet.nn.utils.parameters import skip_init as skip_init
from tinynet.nn.utils.parameters import vector_to_parameters as vector_to_parameters
