"""Layers without a family of their own."""

from tinynet.nn.layers.activation import *
from tinynet.nn.layers.attention import *
from tinynet.nn.layers.container import *
from tinynet.nn.layers.convolution import *
from tinynet.nn.layers.deprecated import *
from tinynet.nn.layers.distance import *
from tinynet.nn.layers.dropout import *
from tinynet.nn.layers.embedding import *
from tinynet.nn.layers.flatten import *
from tinynet.nn.layers.images import *
from tinynet.nn.layers.linear import *
from tinynet.nn.layers.losses import *
from tinynet.nn.layers.normalization import *
from tinynet.nn.layers.parameter_container import *
from tinynet.nn.layers.pooling import *
from tinynet.nn.layers.recurrent import *
