"""Tools for parameters and their gradients."""

from tinynet.nn.utils.clip import clip_grad_norm_ as clip_grad_norm_
from tinynet.nn.utils.clip import clip_grad_value_ as clip_grad_value_
from tinynet.nn.utils.clip import clip_grads_with_norm_ as clip_grads_with_norm_
from tinynet.nn.utils.clip import get_total_norm as get_total_norm
from tinynet.nn.utils.vectors import parameters_to_vector as parameters_to_vector
from tinynet.nn.utils.vectors import vector_to_parameters as vector_to_parameters
