"""Activations."""

from tinynet.nn.functional.activation.activations_inplace import *
from tinynet.nn.functional.activation.piecewise import *
from tinynet.nn.functional.activation.smooth import *
from tinynet.nn.functional.activation.softmax import *
