"""Normalisation."""

from tinynet.nn.functional.normalization.normalization import *
