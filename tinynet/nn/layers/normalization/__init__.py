"""Batch, instance, layer, group and RMS norm."""

from tinynet.nn.layers.normalization.batchnorm import *
from tinynet.nn.layers.normalization.lazy import *
from tinynet.nn.layers.normalization.normalization import *
from tinynet.nn.layers.normalization.sync_batchnorm import *
