"""Grids, and broadcasting of tensors to each other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.ops.arguments import refuse_others
from tinynet.ops.shaping import reshaping
from tinynet.ops.shaping.stacking import nonempty


@composite(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return coordinate grids: one tensor per vector, all of the same shape.

    Args:
        tensors: vectors or 0-d tensors, as arguments or in one sequence.
        indexing: ``"ij"``: the first vector varies along the first dimension; ``"xy"``: along the
            second.

    Raises:
        RuntimeError: no tensors, a tensor with two or more dimensions, or an unknown ``indexing``.

    Example:
        >>> tn.meshgrid(tn.tensor([1, 2]), tn.tensor([3, 4, 5]), indexing="ij")[1]
        tensor([[3, 4, 5],
                [3, 4, 5]])
    """
    given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    vectors = nonempty("meshgrid", list(given))
    if indexing is None:
        warnings.warn(
            "tinynet.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            UserWarning,
            stacklevel=2,
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'tinynet.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for t in vectors:
        if t._array.ndim > 1:
            raise RuntimeError(
                "tinynet.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{t.tolist()}"
            )
        if t._array.dtype != vectors[0]._array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swapped = indexing == "xy" and len(vectors) > 1
    if swapped:
        vectors[:2] = vectors[1::-1]
    sizes = tuple(t._array.size for t in vectors)
    grids = []
    for i, t in enumerate(vectors):
        line = reshaping.reshape(t, (1,) * i + (-1,) + (1,) * (len(sizes) - i - 1))
        grids.append(reshaping.expand(line, sizes))
    if swapped:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@composite(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors to each other; return views of the common shape.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> [t.shape for t in tn.broadcast_tensors(tn.ones(3), tn.ones(2, 1))]
        [tinynet.Size([2, 3]), tinynet.Size([2, 3])]
    """
    given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    refuse_others("broadcast_tensors", **{f"tensors[{i}]": t for i, t in enumerate(given)})
    common = _common([t._array.shape for t in given])
    return tuple(t if t._array.shape == common else reshaping.expand(t, common) for t in given)


def _common(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common shape; raise RuntimeError for the first pair that does not broadcast."""
    found: tuple[int, ...] = ()
    for sizes in shapes:
        count = max(len(found), len(sizes))
        a, b = (1,) * (count - len(found)) + found, (1,) * (count - len(sizes)) + sizes
        for d in reversed(range(count)):
            if a[d] != b[d] and 1 not in (a[d], b[d]):
                raise RuntimeError(
                    f"The size of tensor a ({a[d]}) must match the size of tensor b ({b[d]}) at "
                    f"non-singleton dimension {d}"
                )
        found = tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    return found


@composite(method=False)
def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """Return the shape that tensors of these shapes broadcast to.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> tn.broadcast_shapes((2, 1), (3,))
        tinynet.Size([2, 3])
    """
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    found = [1] * max((len(s) for s in given), default=0)
    for i, sizes in enumerate(given):
        for back, n in enumerate(reversed(sizes), 1):
            if n == 1 or n == found[-back]:
                continue
            if found[-back] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at -{back}! Mismatching "
                    f"argument at index {i} had {sizes}; but expected shape should be "
                    f"broadcastable to {found}"
                )
            found[-back] = n
    return Size(found)
