"""Pooling as modules."""

from tinynet.nn.layers.pooling.adaptive import *
from tinynet.nn.layers.pooling.power import *
from tinynet.nn.layers.pooling.unpooling import *
from tinynet.nn.layers.pooling.windows import *
