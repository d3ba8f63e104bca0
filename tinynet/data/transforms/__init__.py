"""Transforms of samples, under torchvision's names: from file contents to model inputs.

They work on tensors whose last two dimensions are height and width, and record no gradients.
Random transforms draw from their ``generator``, or from the default one; equal states give equal
results. Under a DataLoader, leave the generator out: the loader seeds the default generator for
each batch, so the results are the same for any number of workers, whereas each worker process has
a copy of a generator passed explicitly.
"""

from tinynet.data.transforms.augmentation import RandomApply as RandomApply
from tinynet.data.transforms.augmentation import RandomCrop as RandomCrop
from tinynet.data.transforms.augmentation import RandomErasing as RandomErasing
from tinynet.data.transforms.augmentation import RandomHorizontalFlip as RandomHorizontalFlip
from tinynet.data.transforms.augmentation import RandomRotation90 as RandomRotation90
from tinynet.data.transforms.augmentation import RandomVerticalFlip as RandomVerticalFlip
from tinynet.data.transforms.base import Compose as Compose
from tinynet.data.transforms.base import Lambda as Lambda
from tinynet.data.transforms.base import Transform as Transform
from tinynet.data.transforms.conversion import ConvertImageDtype as ConvertImageDtype
from tinynet.data.transforms.conversion import Normalize as Normalize
from tinynet.data.transforms.conversion import OneHot as OneHot
from tinynet.data.transforms.conversion import ToDtype as ToDtype
from tinynet.data.transforms.conversion import ToTensor as ToTensor
from tinynet.data.transforms.geometry import CenterCrop as CenterCrop
from tinynet.data.transforms.geometry import Pad as Pad
