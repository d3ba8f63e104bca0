"""Optimizers and learning-rate schedules."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.optim import lr_scheduler as lr_scheduler
    from tinynet.optim import swa_utils as swa_utils
    from tinynet.optim.adadelta import Adadelta as Adadelta
    from tinynet.optim.adafactor import Adafactor as Adafactor
    from tinynet.optim.adagrad import Adagrad as Adagrad
    from tinynet.optim.adam import Adam as Adam
    from tinynet.optim.adam import AdamW as AdamW
    from tinynet.optim.adamax import Adamax as Adamax
    from tinynet.optim.asgd import ASGD as ASGD
    from tinynet.optim.base.swapping import (
        swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state,
    )
    from tinynet.optim.lbfgs import LBFGS as LBFGS
    from tinynet.optim.muon import Muon as Muon
    from tinynet.optim.nadam import NAdam as NAdam
    from tinynet.optim.optimizer import Optimizer as Optimizer
    from tinynet.optim.radam import RAdam as RAdam
    from tinynet.optim.rmsprop import RMSprop as RMSprop
    from tinynet.optim.rprop import Rprop as Rprop
    from tinynet.optim.sgd import SGD as SGD
    from tinynet.optim.sparse_adam import SparseAdam as SparseAdam
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
