"""Flatten and Unflatten."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.base.options import options_repr, with_options

__all__ = ["Flatten", "Unflatten"]


@with_options
class Flatten(Module):
    """Flattens several dimensions into one, by default all but the batch.

    Args:
        start_dim: the first dimension to flatten.
        end_dim: the last dimension to flatten.

    Shape:
        ``[batch, a, b, ...]`` to ``[batch, a * b * ...]`` with the defaults.

    Raises:
        IndexError: the dimension is out of range.
        RuntimeError: ``end_dim`` comes before ``start_dim``.

    Example:
        >>> nn.Flatten()(tn.zeros(32, 1, 8, 8)).shape
        tinynet.Size([32, 64])
    """

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        """Flatten the input."""
        return input.flatten(self.start_dim, self.end_dim)

    extra_repr = options_repr


class Unflatten(Module):
    """Splits one dimension into several.

    Args:
        dim: the dimension to split.
        unflattened_size: the new lengths; one may be -1.

    Shape:
        ``[..., n, ...]`` to ``[..., *unflattened_size, ...]``.

    Raises:
        TypeError: the lengths are not a sequence of ints.
        IndexError: ``dim`` is out of range.
        RuntimeError: the product of the lengths differs from the length of the dimension.

    Example:
        >>> nn.Unflatten(1, (8, 8))(tn.zeros(32, 64)).shape
        tinynet.Size([32, 8, 8])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]):
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for position, n in enumerate(unflattened_size):
            if not isinstance(n, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type "
                    f"{type(n).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Split the dimension."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the dimension and the lengths."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
