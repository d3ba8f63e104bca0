"""Batch and instance norms that infer the number of features from their first input."""

from __future__ import annotations

from typing import Any

from tinynet.nn.base.lazy import LazyModuleMixin, materialize
from tinynet.nn.layers.docstrings import complete
from tinynet.nn.layers.normalization.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _NormBase,
)
from tinynet.nn.parameter import UninitializedBuffer, UninitializedParameter
from tinynet.ops.creation.constructors import tensor

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _LazyNorm(LazyModuleMixin, _NormBase):
    """Base class of lazy batch and instance norms.

    Raises:
        RuntimeError, ValueError: see the class that it becomes; or the module is used before its
            first input.
    """

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(0, eps, momentum, False, False, device)
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = tensor(0)

    def reset_parameters(self) -> None:
        """Reset the running statistics, and set weight and bias to ones and zeros."""
        if self.num_features and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Infer the number of features from an input."""
        self._check_input_dim(input)
        self.num_features = input.shape[1]
        waiting = self.weight, self.bias, self.running_mean, self.running_var
        if any([materialize(t, (self.num_features,)) for t in waiting]):
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A ``BatchNorm1d`` that takes ``num_features`` from its first input; same arguments.

    Example:
        >>> norm = nn.LazyBatchNorm1d(eps=1e-3)
        >>> norm(tn.ones(4, 3)).shape
        tinynet.Size([4, 3])
        >>> norm.num_features, type(norm).__name__
        (3, 'BatchNorm1d')
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A ``BatchNorm2d`` that takes ``num_features`` from its first input; same arguments.

    Example:
        >>> nn.LazyBatchNorm2d()(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A ``BatchNorm3d`` that takes ``num_features`` from its first input; same arguments.

    Example:
        >>> nn.LazyBatchNorm3d()(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An ``InstanceNorm1d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics by default; same arguments.

    Example:
        >>> nn.LazyInstanceNorm1d()(tn.rand(2, 3, 4)).shape
        tinynet.Size([2, 3, 4])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An ``InstanceNorm2d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics by default; same arguments.

    Example:
        >>> nn.LazyInstanceNorm2d()(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An ``InstanceNorm3d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics by default; same arguments.

    Example:
        >>> nn.LazyInstanceNorm3d()(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = InstanceNorm3d


complete(__name__)
