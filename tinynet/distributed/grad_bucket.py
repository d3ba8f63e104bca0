"""What a communication hook of ``DistributedDataParallel`` is given."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor


class GradBucket:
    """The gradients of some parameters, side by side in one tensor.

    Example:
        >>> def fp16_sum(group, bucket: tn.distributed.GradBucket):
        ...     n = tn.distributed.get_world_size(group)
        ...     half = bucket.buffer().to(tn.float16).div_(n)
        ...     work = tn.distributed.all_reduce(half, group=group, async_op=True)
        ...     return work.get_future().then(lambda done: done.value()[0].to(tn.float32))
        >>> net.register_comm_hook(None, fp16_sum)  # doctest: +SKIP
    """

    def __init__(
        self,
        index: int,
        buffer: Tensor,
        gradients: Sequence[Tensor],
        parameters: Sequence[Tensor],
        is_last: bool,
    ):
        self._index, self._buffer, self._is_last = index, buffer, is_last
        self._gradients, self._parameters = list(gradients), list(parameters)

    def index(self) -> int:
        """Return the number of the bucket, from 0 in the order of reduction."""
        return self._index

    def buffer(self) -> Tensor:
        """Return all gradients as one tensor with one dimension, not yet divided."""
        return self._buffer

    def set_buffer(self, tensor: Tensor) -> None:
        """Replace the values of the buffer."""
        self._buffer._array[...] = tensor._array.reshape(-1)

    def gradients(self) -> list[Tensor]:
        """Return the part of the buffer for each parameter, in its shape."""
        return self._gradients

    def parameters(self) -> list[Tensor]:
        """Return the parameters."""
        return self._parameters

    def is_last(self) -> bool:
        """Return whether this is the last bucket of the backward pass."""
        return self._is_last
