"""``torch.ao.nn``: layers of quantized numbers, which raise when made; float ones, which work."""

from __future__ import annotations

from tinynet import ops
from tinynet.compat.refusal import absent
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.container import Sequential
from tinynet.nn.layers.linear import Identity

_INSTEAD = "there are no quantized numbers; train in float32 with torch.nn"
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


vars().update({name: absent(f"ao.nn.quantized.{name}", _INSTEAD) for name in _LAYERS.split()})
vars().update({name: type(name, (_Fused,), {}) for name in _FUSED.split()})


class FloatFunctional(Module):
    """Arithmetic as a module: what quantized models use in place of operators.

    Example:
        >>> from tinynet.compat.quantized import modules
        >>> modules.FloatFunctional().add_relu(tn.tensor([-3.0, 1.0]), tn.ones(2))
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
