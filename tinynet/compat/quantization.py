"""Quantization: its names, for programs that import them; there are no quantized numbers.

Models that can be quantized import these names, and train in float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tinynet import ops
from tinynet.compat.refusal import absent, refusal
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.container import Sequential
from tinynet.nn.layers.linear import Identity

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
        >>> from tinynet import quantization
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


_FLOAT = "there are no quantized numbers; train in float32 with torch.nn"
_LAYERS = """
    BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
    DeQuantize Dropout ELU Embedding EmbeddingBag GRU GRUCell GroupNorm Hardswish InstanceNorm1d
    InstanceNorm2d InstanceNorm3d LSTM LSTMCell LayerNorm LeakyReLU Linear MultiheadAttention PReLU
    QFunctional Quantize RNNCell ReLU6 Sigmoid Softmax
"""
_FUSED = """
    BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d
    ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU LinearReLU LinearTanh
"""


class _Fused(Sequential):
    """Layers that a quantized model would compute in one operation, and that run in turn."""

    def __init__(self, *layers: Module):
        super().__init__(*layers)


vars().update({name: absent(f"ao.nn.quantized.{name}", _FLOAT) for name in _LAYERS.split()})
vars().update({name: type(name, (_Fused,), {}) for name in _FUSED.split()})


class FloatFunctional(Module):
    """Arithmetic as a module: what quantized models use in place of operators.

    Example:
        >>> from tinynet.ao.nn.quantized import FloatFunctional
        >>> FloatFunctional().add_relu(tn.tensor([-3.0, 1.0]), tn.ones(2))
        tensor([0., 2.])
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Raise RuntimeError: the methods are called instead.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying "
            "operation"
        )

    def _seen(self, result: Tensor) -> Tensor:
        return self.activation_post_process(result)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum."""
        return self._seen(x + y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return the sum with a number."""
        return x + y

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the product."""
        return self._seen(x * y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return the product with a number."""
        return x * y

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """Return the tensors, joined along a dimension."""
        return self._seen(ops.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the positive part of the sum."""
        return self._seen(ops.relu(x + y))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the matrix product."""
        return self._seen(x @ y)


FXFloatFunctional = FloatFunctional
