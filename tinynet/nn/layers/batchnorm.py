"""Batch norm and instance norm, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.callsite import warn
from tinynet.core.devices import require_cpu
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.distributed.process_group import world
from tinynet.dtypes import Array
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional.sync_batch_norm import sync_batch_norm
from tinynet.nn.layers.declaration import Spatial, complete
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty, ones, tensor, zeros

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "SyncBatchNorm",
]


def _of_dimensions(*expected: int) -> Any:
    """Return the check of a class whose inputs have one of these numbers of dimensions."""

    def _check_input_dim(self: Any, input: Any) -> None:
        if input.ndim not in expected:
            shown = " or ".join(f"{n}D" for n in expected)
            raise ValueError(f"expected {shown} input (got {input.ndim}D input)")

    return _check_input_dim


class _NormBase(Spatial):
    """Base class of batch and instance norm: parameters and running statistics per channel.

    Args:
        num_features: number of channels.
        eps: added under the square root for numerical stability.
        affine: whether to learn a weight and a bias.
        device: must be the CPU.
        dtype: dtype of the parameters and statistics; the default dtype unless given.
        bias: whether to add a bias, if ``affine``.
    """

    _version = 2  # 1 had no num_batches_tracked
    weight: Parameter  # or None, without affine parameters: annotated as most programs use it
    bias: Parameter
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if device is not None:
            require_cpu(device)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: dict[str, Any] = {"dtype": dtype, "device": device}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, Parameter(empty(num_features, **made)) if wanted else None
            )
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **made) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **made) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics to mean 0 and variance 1."""
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the running statistics, and set weight and bias to ones and zeros."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


# ---- batch norm ---------------------------------------------------------------------------------


class _BatchNorm(_NormBase):
    """Base class of batch norm.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and (biased) variance of each
    channel over the batch and all positions. Training updates the running mean and (unbiased)
    variance; evaluation uses them instead.

    Args:
        momentum: weight of the current batch in the running statistics; None averages all batches.
        track_running_stats: whether to keep running statistics; without them, evaluation also uses
            the statistics of the batch.

    Shape:
        ``[batch, channels, {sizes}]``, in one dimension also ``[batch, channels]``; the output has
        the same shape.

    Raises:
        ValueError: the input has the wrong number of dimensions or, in training, one element per
            channel.
        RuntimeError: the number of channels or the dtype does not match.
        NotImplementedError: the input has an integer dtype.

    Source: Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
    internal covariate shift", 2015, arXiv:1502.03167.
    """

    _expected_shapes: tuple[str, ...] = ("[N, {num_features}, {sizes}]",)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input; in training, update the running statistics."""
        self._check_input_dim(input)
        mean, var, count = self.running_mean, self.running_var, self.num_batches_tracked
        of_batch = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        counting = self.training and self.track_running_stats
        momentum: Any = self.momentum
        if momentum is None:  # cumulative average
            momentum = _share(count._array) if counting and count is not None else 0.0
        output = self._normalized(input, mean, var, of_batch, momentum)
        if counting and count is not None:
            count.add_(1)
        return output

    def _normalized(
        self, input: Tensor, mean: Any, var: Any, of_batch: bool, momentum: float
    ) -> Tensor:
        """Return the result; ``mean`` and ``var`` are running statistics, or None."""
        return F.batch_norm(input, mean, var, self.weight, self.bias, of_batch, momentum, self.eps)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        """Load a state dict; formats without a batch count keep the module's own."""
        key = f"{prefix}num_batches_tracked"
        old = (local_metadata.get("version") or 1) < 2
        if old and self.num_batches_tracked is not None:
            state_dict.setdefault(key, self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


@traced
def _share(count: Array) -> Array:
    """Return the weight of the next batch in the average of all."""
    return np.asarray(1.0 / (int(count) + 1))


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of a batch of vectors or series.

    Example:
        >>> nn.BatchNorm1d(1, eps=1e-9)(tn.tensor([[1.0], [3.0]])).flatten().tolist()
        [-1.0, 1.0]
    """

    rank = 1
    _check_input_dim = _of_dimensions(2, 3)
    _expected_shapes = ("[N, {num_features}]", "[N, {num_features}, L]")


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of a batch of images.

    Example:
        >>> nn.BatchNorm2d(3)(tn.zeros(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    rank = 2
    _check_input_dim = _of_dimensions(4)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of a batch of volumes.

    Example:
        >>> nn.BatchNorm3d(3)(tn.zeros(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    rank = 3
    _check_input_dim = _of_dimensions(5)


# ---- instance norm ------------------------------------------------------------------------------


class _InstanceNorm(_NormBase):
    """Base class of instance norm.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and (biased) variance of each
    channel of each sample over all positions, in training and evaluation.

    Args:
        momentum: weight of the current input in the running statistics.
        track_running_stats: whether to keep running statistics and use them in evaluation.

    Shape:
        ``[batch, channels, {sizes}]`` or without batch; the output has the same shape.

    Raises:
        ValueError: the input has the wrong number of dimensions or, with ``affine``, of channels;
            or one position per channel in training.
        NotImplementedError: the input has an integer dtype.

    Source: Ulyanov et al., "Instance normalization: the missing ingredient for fast stylization",
    2016, arXiv:1607.08022.
    """

    _expected_shapes = ("[N, {num_features}, {sizes}]", "[{num_features}, {sizes}]")

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        options = (affine, track_running_stats, device, dtype)
        super().__init__(num_features, eps, momentum, *options, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input; in training, update the running statistics, if tracked."""
        self._check_input_dim(input)
        unbatched = input.ndim == self.rank + 1
        dim = 0 if unbatched else 1
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features "
                    f"({self.num_features}), but got: {input.shape[dim]}."
                )
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False"
            )
        output = F.instance_norm(
            input.unsqueeze(0) if unbatched else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return output.squeeze(0) if unbatched else output


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each series independently.

    Example:
        >>> nn.InstanceNorm1d(1, eps=1e-9)(tn.tensor([[1.0, 3.0]]))
        tensor([[-1.,  1.]])
    """

    rank = 1
    _check_input_dim = _of_dimensions(2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image independently.

    Example:
        >>> nn.InstanceNorm2d(3)(tn.zeros(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    rank = 2
    _check_input_dim = _of_dimensions(3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each volume independently.

    Example:
        >>> nn.InstanceNorm3d(3)(tn.zeros(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    rank = 3
    _check_input_dim = _of_dimensions(4, 5)


# ---- sync batchnorm -----------------------------------------------------------------------------
# Synchronised batch norm.


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
