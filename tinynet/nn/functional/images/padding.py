"""Padding with a constant or with elements of the input."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import (
    Ints,
    by_rank,
    int_tuple,
    not_implemented,
    spatial,
    tensor_only,
)

__all__ = ["pad"]


def _frames(pad: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Return (before, after) for ``count`` dimensions, from PyTorch's order: the last one first."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (count - len(pairs)) + pairs[::-1]


def _parts(shape: Sequence[int], frames: list[tuple[int, int]]) -> tuple[slice, ...]:
    """Return ``shape`` after cropping; negative lengths crop nothing."""
    pairs = zip(shape, frames, strict=True)
    return tuple(slice(max(b, 0), n - max(a, 0)) for n, (b, a) in pairs)


# ---- a constant ---------------------------------------------------------------------------------


@operation(node="ConstantPadNdBackward0", complex=True, order="as_image")
def constant_pad(input: Array, /, pad: Ints, value: float) -> Array:
    """Return the input with ``value`` around it; negative lengths crop.

    An operation, since its derivative is the same with the signs flipped.
    """
    frames = _frames(pad, input.ndim)
    for n, (before, after) in zip(input.shape, frames, strict=True):
        if n + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError(
                "narrow(): length must be non-negative.\n  The lengths that are cut off must fit "
                f"into the input. Got pad {list(pad)} for an input of shape {list(input.shape)}."
            )
    shape = [n + before + after for n, (before, after) in zip(input.shape, frames, strict=True)]
    value = dtypes.representable(value, input.dtype)
    padded = np.full(shape, value, input.dtype) if value else np.zeros(shape, input.dtype)
    crops = [(-before, -after) for before, after in frames]
    padded[_parts(shape, frames)] = input[_parts(input.shape, crops)]
    return padded


constant_pad.grad(input=lambda g, pad: constant_pad(g, tuple(-n for n in pad), 0.0))

# ---- the input's own elements -------------------------------------------------------------------
# Along each dimension, element i of the result is element ``source(i - before)`` of the input.


def _reflected(place: Array, n: int) -> Array:
    """... 2 1 | 0 1 2 3 | 2 1 ..."""
    return (n - 1) - np.abs((n - 1) - np.abs(place))


def _replicated(place: Array, n: int) -> Array:
    """... 0 0 | 0 1 2 3 | 3 3 ..."""
    return np.clip(place, 0, n - 1)


def _circular(place: Array, n: int) -> Array:
    """... 2 3 | 0 1 2 3 | 0 1 ...; cropped elements do not repeat."""
    period = place[(place >= 0) & (place < n)]
    return period[(place - period[0]) % len(period)] if len(period) else period


class _Frame(NamedTuple):
    """Where an array goes in its padded copy, and where the padding comes from.

    Attributes:
        crops: the dimensions with a negative length, with the elements that stay.
        outer: the shape of the padded copy.
        inner: the place of the array in it.
        edges: slices of the copy, in turn, and the slices that they repeat: as many or one.
    """

    crops: tuple[tuple[int, Array], ...]
    outer: Ints
    inner: tuple[slice, ...]
    edges: tuple[tuple[tuple[slice, ...], tuple[slice, ...]], ...]


@functools.lru_cache(maxsize=256)
def _frame(source: Any, shape: Ints, pad: Ints) -> _Frame:
    """Return the frame of an array for a mode, which is a function of places."""
    crops: list[tuple[int, Array]] = []
    edges: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = []
    outer, inner = list(shape), [slice(None)] * len(shape)
    for axis, (n, (before, after)) in enumerate(zip(shape, _frames(pad, len(shape)), strict=True)):
        if not (before or after):
            continue
        outer[axis] = stop = n + before + after
        elements = source(np.arange(-before, n + after), n)
        if min(before, after) < 0:
            crops.append((axis, elements))
            continue
        inner[axis] = slice(before, before + n)
        for edge in (slice(0, before), slice(before + n, stop)):
            if edge.start < edge.stop:
                first, last = (int(elements[i]) + before for i in (edge.start, edge.stop - 1))
                step = 1 if first <= last else -1
                origin = slice(first, last + step if last + step >= 0 else None, step)
                lead = (slice(None),) * axis
                edges.append(((*lead, edge), (*lead, origin)))
    return _Frame(tuple(crops), tuple(outer), tuple(inner), tuple(edges))


def _declare(mode: str, title: str, source: Any, autocast: str | None = None) -> dict[int, Any]:
    """Declare one mode, as operations for speed: derivatives by index would cost many times more.

    The padding is copied within the result, slice by slice; the adjoint adds it to its sources.
    """

    def extend(input: Array, /, pad: Ints) -> Array:
        """Pad the input with its own elements."""
        _check(mode, input, pad)
        frame = _frame(source, input.shape, pad)
        for axis, elements in frame.crops:
            input = np.take(input, elements, axis)
        padded = np.empty(frame.outer, input.dtype)
        padded[frame.inner] = input
        for edge, origin in frame.edges:
            padded[edge] = padded[origin]
        return padded

    def fold(self: Array, /, pad: Ints, shape: Ints) -> Array:
        """Return, for each element of the input, the sum over its copies."""
        frame = _frame(source, shape, pad)
        whole = self.copy() if frame.edges else self
        for edge, origin in frame.edges:
            _add_edge(whole, edge, origin)
        total = np.array(whole[frame.inner], order="C")
        for axis, elements in reversed(frame.crops):
            total = _spread(total, axis, shape[axis], elements)
        return total

    extend.__name__, fold.__name__ = f"{mode}_pad", f"{mode}_fold"
    order = "as_plane" if mode == "circular" else "as_image"
    options: dict[str, Any] = {"autocast": autocast, "complex": True, "order": order}
    extended = by_rank(extend, title + "{}DBackward0", **options)
    folded = by_rank(fold, title + "{}DBackwardBackward0", complex=True)
    for rank in extended:
        extended[rank].grad(
            input=lambda g, pad, input_shape: folded[len(pad) // 2](g, pad, input_shape)
        )
        folded[rank].grad(self=lambda g, pad: extended[len(pad) // 2](g, pad))
    return extended


def _add_edge(whole: Array, edge: tuple[slice, ...], origin: tuple[slice, ...]) -> None:
    """Add the padding at one edge to the elements that it repeats, in place."""
    *lead, added = edge
    if whole[edge].shape == whole[origin].shape:
        whole[origin] += whole[edge]
        return
    for i in range(added.start, added.stop):
        whole[origin] += whole[(*lead, slice(i, i + 1))]


def _spread(g: Array, axis: int, n: int, elements: Array) -> Array:
    """Return zeros of length ``n`` along a dimension with slices added at the elements."""
    total = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), g.dtype)
    target, source = np.moveaxis(total, axis, 0), np.moveaxis(g, axis, 0)
    for i, element in enumerate(elements):
        target[element] += source[i]
    return total


PADS = {
    "reflect": _declare("reflect", "ReflectionPad", _reflected, "float32"),
    "replicate": _declare("replicate", "ReplicationPad", _replicated, "float32"),
    "circular": _declare("circular", "CircularPad", _circular),
}


def _check(mode: str, input: Array, pad: Ints) -> None:
    """Raise RuntimeError if the input is too small for the padding."""
    rank = len(pad) // 2
    if mode == "circular":
        _check_circular(input, pad)
        return
    if input.dtype.kind == "b":
        name = {"reflect": "reflection", "replicate": "replication"}[mode]
        raise not_implemented(f"{name}_pad{rank}d", input)
    if 0 in input.shape[1 if input.ndim == rank + 2 else 0 :]:
        raise RuntimeError(
            f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(input.shape)}"
        )
    sizes = spatial(input.shape, rank)
    for i in range(rank if mode == "reflect" else 0):
        before, after, n = pad[2 * i], pad[2 * i + 1], sizes[-1 - i]
        if before >= n or after >= n:
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension "
                f"{input.ndim - 1 - i} of input {list(input.shape)}"
            )
    frames = _frames(pad, rank)
    outputs = [n + before + after for n, (before, after) in zip(sizes, frames, strict=True)]
    if max(outputs) < 1 or min(outputs) < 0:
        raise RuntimeError(
            f"input ({_named(sizes)}) is too small. Calculated output {_named(outputs, ' ')}"
        )


def _named(sizes: Sequence[int], between: str = ", ") -> str:
    """Return sizes as PyTorch prints them: ``H: 4, W: 5``."""
    return between.join(f"{c}: {n}" for c, n in zip("DHW"[-len(sizes) :], sizes, strict=True))


def _check_circular(input: Array, pad: Ints) -> None:
    for n, (before, after) in zip(input.shape, _frames(pad, input.ndim), strict=True):
        if before > n or after > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        left = n + min(before, 0) + min(after, 0)
        if left < 0 or (left == 0 and max(before, after) > 0):
            raise RuntimeError("Negative padding value is resulting in an empty dimension")


# ---- the function -------------------------------------------------------------------------------


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Pad the last dimensions of the input.

    Args:
        input: any shape for ``"constant"``; otherwise one or two dimensions more than are padded.
        pad: for the last dimension the lengths before and after it, then for the one before it, and
            so on; negative lengths crop.
        mode: ``"constant"``; ``"reflect"``, the input mirrored at its edge elements;
            ``"replicate"``, the edge elements; ``"circular"``, the opposite end. The last three pad
            one to three dimensions.
        value: the constant; 0 unless given.

    Raises:
        RuntimeError: the lengths are not pairs, are too many, or do not fit the input.
        NotImplementedError: the mode is unknown or does not support the number of dimensions.

    Example:
        >>> F.pad(tn.ones(1, 2), (1, 0))
        tensor([[0., 1., 1.]])
        >>> F.pad(tn.arange(4)[None], (2, 2), mode="reflect")
        tensor([[2, 1, 0, 1, 2, 3, 2, 1]])
    """
    tensor_only("pad", input=input)
    lengths = int_tuple("pad", "pad", 2, pad)
    if not isinstance(value, (int, float, complex)) and value is not None:
        kind = type(value).__name__
        raise TypeError(f"pad(): argument 'value' (position 4) must be float, not {kind}")
    if mode != "constant" and mode not in PADS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(lengths) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(lengths) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(lengths)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad.function(input, lengths, 0.0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    rank = len(lengths) // 2
    if rank not in PADS[mode] or input.ndim - rank not in (1, 2):
        raise NotImplementedError(
            f"Padding size {len(lengths)} is not supported for {input.ndim}D input tensor."
        )
    return PADS[mode][rank].function(input, lengths)
