"""Synchronised batch norm."""

from __future__ import annotations

from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.process_group import world
from tinynet.nn.base.module import Module
from tinynet.nn.functional.normalization.sync_batch_norm import sync_batch_norm
from tinynet.nn.layers.docstrings import complete
from tinynet.nn.layers.normalization.batchnorm import _BatchNorm

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """Normalises each channel by the statistics of the batches of all processes.

    In training, the result and its gradients are those of batch norm over the joined batch, and all
    ranks get the same running statistics. In evaluation, and in a single process, this is batch
    norm for inputs of any number of dimensions.

    Gradients of weight and bias are those of the own batch, which `DistributedDataParallel` adds.

    Args:
        process_group: the ranks whose batches are joined; by default all.

    Shape:
        ``[batch, channels, ...]``; the output has the same shape.

    Raises:
        ValueError: fewer than two dimensions, or no channels; in training, one element per channel.
        RuntimeError: the number of channels or the dtype does not match.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.SyncBatchNorm(3)(tn.zeros(2, 3, 4)).shape
        tinynet.Size([2, 3, 4])
    """

    _expected_shapes = ("[N, {num_features}, ...]",)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _normalized(
        self, input: Tensor, mean: Any, var: Any, of_batch: bool, momentum: float
    ) -> Tensor:
        group = self.process_group or world.default
        if not self.training or group is None or group.size() == 1:
            return super()._normalized(input, mean, var, of_batch, momentum)
        return sync_batch_norm(input, mean, var, self.weight, self.bias, momentum, self.eps, group)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace each batch norm with a SyncBatchNorm that has its parameters and statistics.

        Args:
            module: the module to convert in place, unless it is a batch norm itself.
            process_group: the process group of the new modules.

        Returns:
            The module, or its replacement.

        Example:
            >>> nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))[0]
            SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, \
track_running_stats=True)
        """
        made = module
        if isinstance(module, _BatchNorm):
            options = (module.num_features, module.eps, module.momentum, module.affine)
            made = cls(
                *options,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            for name in (*module._parameters, *module._buffers):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


complete(__name__)
