"""Gradients: ``backward``, ``grad``, ``Function``, grad modes, ``gradcheck``."""

from typing import TYPE_CHECKING

from tinynet.autograd.gradcheck import gradcheck as gradcheck
from tinynet.autograd.modes import checked as checked
from tinynet.autograd.modes import set_strict_leaf_writes as set_strict_leaf_writes
from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.autograd import functional as functional
    from tinynet.autograd import graph as graph
    from tinynet.autograd.anomaly import detect_anomaly as detect_anomaly
    from tinynet.autograd.anomaly import (
        is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
    )
    from tinynet.autograd.anomaly import is_anomaly_enabled as is_anomaly_enabled
    from tinynet.autograd.anomaly import set_detect_anomaly as set_detect_anomaly
    from tinynet.autograd.derivatives import backward as backward
    from tinynet.autograd.derivatives import grad as grad
    from tinynet.autograd.function import Function as Function
    from tinynet.autograd.gradcheck import GradcheckError as GradcheckError
    from tinynet.autograd.gradcheck import gradgradcheck as gradgradcheck
    from tinynet.autograd.modes import inference_mode as inference_mode
    from tinynet.autograd.modes import is_inference_mode_enabled as is_inference_mode_enabled
    from tinynet.autograd.variable import Variable as Variable
    from tinynet.core.modes import enable_grad as enable_grad
    from tinynet.core.modes import no_grad as no_grad
    from tinynet.core.modes import set_grad_enabled as set_grad_enabled
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
