"""Losses as modules."""

from tinynet.nn.layers.losses.adaptive_softmax import *
from tinynet.nn.layers.losses.likelihood import *
from tinynet.nn.layers.losses.linear_cross_entropy import *
from tinynet.nn.layers.losses.loss import *
from tinynet.nn.layers.losses.margin import *
