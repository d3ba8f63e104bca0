"""``torchvision.transforms.v2.functional``: the functions of version 1, and newer names."""

from tinynet.compat.vision.transforms.functional import *
from tinynet.compat.vision.transforms.functional import conversion, geometry

elastic = geometry.elastic_transform
grayscale_to_rgb = conversion.grayscale_to_rgb
to_dtype = conversion.to_dtype
to_image = conversion.to_image
get_num_channels = geometry.get_image_num_channels
get_size = geometry.get_size
horizontal_flip = geometry.hflip
vertical_flip = geometry.vflip
