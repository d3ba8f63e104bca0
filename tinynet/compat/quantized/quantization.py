"""``torch.ao.quantization``: stubs are identities, as in a float model; the rest raises.

Models that can be quantized import these names, and train in float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tinynet.compat.refusal import refusal
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module

_INSTEAD = "there are no quantized numbers; train and save in float32"
_FUNCTIONS = """
    add_quant_dequant convert convert_jit default_eval_fn disable_fake_quant disable_observer
    enable_fake_quant enable_observer fuse_conv_bn fuse_conv_bn_relu fuse_linear_bn fuse_modules
    fuse_modules_qat get_default_qat_qconfig get_default_qat_qconfig_mapping get_default_qconfig
    get_default_qconfig_mapping get_observer_state_dict load_observer_state_dict prepare prepare_jit
    prepare_qat propagate_qconfig_ quantize quantize_dynamic quantize_dynamic_jit quantize_jit
    quantize_qat swap_module
"""
_OBSERVERS = """
    FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FixedQParamsObserver
    FusedMovingAvgObsFakeQuantize HistogramObserver MinMaxObserver MovingAverageMinMaxObserver
    MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver
    PlaceholderObserver RecordingObserver ReuseInputObserver UniformQuantizationObserverBase
    QConfigMapping
"""


class _Observer(Module):
    """A module that would choose the scale of quantized numbers; making one raises."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refusal(f"ao.quantization.{type(self).__name__}", _INSTEAD)()

    @classmethod
    def with_args(cls, *args: Any, **kwargs: Any) -> type[_Observer]:
        """Return the class: module-level configurations name it with its arguments."""
        return cls

    with_callable_args = with_args


vars().update({name: refusal(f"ao.quantization.{name}", _INSTEAD) for name in _FUNCTIONS.split()})
vars().update({name: type(name, (_Observer,), {}) for name in _OBSERVERS.split()})


class QConfig(NamedTuple):
    """The observers of a module's results and weights.

    Attributes:
        activation, weight: classes or functions that make observers.
    """

    activation: Any
    weight: Any


class QuantStub(Module):
    """An identity, where quantized numbers would begin.

    Args:
        qconfig: kept as an attribute.

    Example:
        >>> from tinynet.compat.quantized import quantization
        >>> quantization.DeQuantStub()(quantization.QuantStub()(tn.ones(2)))
        tensor([1., 1.])
    """

    def __init__(self, qconfig: Any = None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """Return the input."""
        return x


class DeQuantStub(QuantStub):
    """An identity, where quantized numbers would end."""


class QuantWrapper(Module):
    """A module between the two stubs.

    Args:
        module: the module.
    """

    def __init__(self, module: Module):
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.module = module
        self.train(module.training)

    def forward(self, x: Tensor) -> Tensor:
        """Return the module's result."""
        return self.dequant(self.module(self.quant(x)))
