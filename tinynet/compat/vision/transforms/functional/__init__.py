"""``torchvision.transforms.functional``: functions of images with their parameters as arguments.

Images are tensors of shape (..., channels, height, width), or Pillow images. For these, functions
that Pillow has are Pillow's.
"""

from tinynet.compat.vision.pillow import InterpolationMode as InterpolationMode
from tinynet.compat.vision.transforms.functional.conversion import *
from tinynet.compat.vision.transforms.functional.geometry import *
