"""Optimizers, and schedules of their learning rates."""

from tinynet.optim import lr_scheduler as lr_scheduler
from tinynet.optim.adam import Adam as Adam
from tinynet.optim.adam import AdamW as AdamW
from tinynet.optim.optimizer import Optimizer as Optimizer
from tinynet.optim.sgd import SGD as SGD
