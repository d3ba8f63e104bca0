"""torchvision's data sets, transforms, models and utilities for programs that import it."""

from tinynet.compat.version import TorchVersion as _Version
from tinynet.compat.vision import datasets as datasets
from tinynet.compat.vision import models as models
from tinynet.compat.vision import transforms as transforms
from tinynet.compat.vision import utils as utils


def disable_beta_transforms_warning() -> None:
    """Do nothing: there is no such warning."""


def get_image_backend() -> str:
    """Return the name of the package that reads images: Pillow.

    Example:
        >>> from tinynet.compat import vision
        >>> vision.get_image_backend()
        'PIL'
    """
    return "PIL"


__version__ = _Version("0.28.0+tinynet")
