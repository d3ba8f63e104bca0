"""``torchvision.transforms.v2``: transforms of samples, which may be nested.

Each applies to the images of a sample and keeps the rest. Images are plain tensors or Pillow
images: there are no bounding boxes, masks or videos.
"""

from tinynet.compat.vision.pillow import InterpolationMode as InterpolationMode
from tinynet.compat.vision.transforms.v2 import functional as functional
from tinynet.compat.vision.transforms.v2.samples import *
from tinynet.compat.vision.transforms.v2.samples import Transform as Transform
