"""Convolutions."""

from tinynet.nn.functional.convolution.convolution import *
from tinynet.nn.functional.convolution.fold import *
