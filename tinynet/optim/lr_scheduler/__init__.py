"""Learning-rate schedules.

Most schedules multiply the group's current learning rate or add to it, so several schedules and
manual changes combine.
"""

from tinynet.optim.lr_scheduler.base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from tinynet.optim.lr_scheduler.base import LRScheduler as LRScheduler
from tinynet.optim.lr_scheduler.base import _LRScheduler as _LRScheduler
from tinynet.optim.lr_scheduler.combined import ChainedScheduler as ChainedScheduler
from tinynet.optim.lr_scheduler.combined import SequentialLR as SequentialLR
from tinynet.optim.lr_scheduler.cyclic import CosineAnnealingLR as CosineAnnealingLR
from tinynet.optim.lr_scheduler.cyclic import (
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
)
from tinynet.optim.lr_scheduler.cyclic import CyclicLR as CyclicLR
from tinynet.optim.lr_scheduler.cyclic import OneCycleLR as OneCycleLR
from tinynet.optim.lr_scheduler.factors import *
from tinynet.optim.lr_scheduler.factors import LambdaLR as LambdaLR
from tinynet.optim.lr_scheduler.factors import MultiplicativeLR as MultiplicativeLR
from tinynet.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau
