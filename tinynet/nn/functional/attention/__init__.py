"""Attention."""

from tinynet.nn.functional.attention.multi_head import *
from tinynet.nn.functional.attention.scaled_dot_product import *
