"""Layers as functions: what the modules of ``nn`` compute, without state."""

from tinynet.nn.functional.activation import *
from tinynet.nn.functional.affine import *
from tinynet.nn.functional.attention import *
from tinynet.nn.functional.convolution import *
from tinynet.nn.functional.dropouts import *
from tinynet.nn.functional.images import *
from tinynet.nn.functional.lookup import *
from tinynet.nn.functional.losses import *
from tinynet.nn.functional.normalization import *
from tinynet.nn.functional.pooling import *
from tinynet.nn.functional.vector import *
