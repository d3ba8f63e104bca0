"""Activations as modules."""

from tinynet.nn.layers.activation.piecewise import *
from tinynet.nn.layers.activation.smooth import *
from tinynet.nn.layers.activation.softmax import *
