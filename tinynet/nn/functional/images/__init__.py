"""Padding, resizing, warping and shuffling of images."""

from tinynet.nn.functional.images.grid_sample import *
from tinynet.nn.functional.images.interpolation import *
from tinynet.nn.functional.images.padding import *
from tinynet.nn.functional.images.shuffle import *
