"""Attention and transformers."""

from tinynet.nn.layers.attention.multihead import *
from tinynet.nn.layers.attention.transformer import *
from tinynet.nn.layers.attention.transformer_layers import *
