"""``torchvision.transforms``: transforms of Pillow images and of tensors.

They draw random numbers from the default generator, which a DataLoader seeds for each batch.
"""

from tinynet.compat.vision.pillow import InterpolationMode as InterpolationMode
from tinynet.compat.vision.transforms import functional as functional
from tinynet.compat.vision.transforms import v2 as v2
from tinynet.compat.vision.transforms.automatic import *
from tinynet.compat.vision.transforms.base import *
from tinynet.compat.vision.transforms.colors import *
from tinynet.compat.vision.transforms.crops import *
from tinynet.compat.vision.transforms.geometry import *
