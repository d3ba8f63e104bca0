"""Padding, resizing and shuffling of images."""

from tinynet.nn.layers.images.constant_padding import *
from tinynet.nn.layers.images.padding import *
from tinynet.nn.layers.images.shuffle import *
from tinynet.nn.layers.images.upsampling import *
