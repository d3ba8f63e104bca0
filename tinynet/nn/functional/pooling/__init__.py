"""Pooling."""

from tinynet.nn.functional.pooling.adaptive_pooling import *
from tinynet.nn.functional.pooling.pooling import *
from tinynet.nn.functional.pooling.unpooling import *
from tinynet.nn.functional.pooling.with_indices import *
