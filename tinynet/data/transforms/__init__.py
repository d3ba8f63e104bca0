"""Transforms of samples, under torchvision's names: from file contents to model inputs.

They work on tensors whose last two dimensions are height and width, and record no gradients.
Random transforms draw from their ``generator``, or from the default one; equal states give equal
results. Under a DataLoader, leave the generator out: the loader seeds the default generator for
each batch, so the results are the same for any number of workers, whereas each worker process has
a copy of a generator passed explicitly.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.data.transforms.augmentation import *
    from tinynet.data.transforms.base import *
    from tinynet.data.transforms.color import *
    from tinynet.data.transforms.conversion import *
    from tinynet.data.transforms.geometry import *
    from tinynet.data.transforms.mixtures import *
    from tinynet.data.transforms.policies import *
    from tinynet.data.transforms.warps import *
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
