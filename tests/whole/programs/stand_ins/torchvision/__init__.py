"""A stand-in for torchvision: small random data sets, the usual transforms, a few models."""

from . import datasets as datasets
from . import models as models
from . import transforms as transforms
from . import utils as utils

__version__ = "0.28.0"
