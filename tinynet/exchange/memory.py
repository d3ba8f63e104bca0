"""Arrays that share memory, and storing them so that they share it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.dtypes import Array, extension_dtypes
from tinynet.kernels.strides import array_in

_ALIGNMENT = 16
_DTYPE = re.compile(r"[<>|=][?biufcSUmM]\d+(\[\w+\])?|bfloat16")  # valid dtypes of a Layout


class Layout(NamedTuple):
    """The position of an array within the memory of another one.

    Attributes:
        dtype: numpy's short name, such as ``"<f4"``, or ``"bfloat16"``.
        offset: bytes from the beginning to the first element.
        shape: the shape.
        strides: strides in bytes.
    """

    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Block(NamedTuple):
    """Memory to store in one piece, and the arrays within it.

    Attributes:
        array: the array to store.
        members: positions of arrays, each with its layout in ``array``; None if it is ``array``.
    """

    array: Array
    members: list[tuple[int, Layout | None]]


def bounds(array: Array) -> tuple[int, int]:
    """Return the addresses of the first byte of an array and of the end of its last one."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


def overlapping(arrays: Sequence[Array]) -> Iterator[list[int]]:
    """Yield the positions of arrays, grouped by overlapping ranges of memory.

    Arrays without elements are skipped. Two columns of one matrix overlap in this sense.
    """
    spans = sorted((*bounds(a), i) for i, a in enumerate(arrays) if a.size)
    yield from ([i] for i, a in enumerate(arrays) if not a.size)
    group: list[int] = []
    end = 0
    for low, high, i in spans:
        if group and low >= end:
            yield group
            group = []
        end = max(end, high) if group else high
        group.append(i)
    if group:
        yield group


def blocks(arrays: Sequence[Array]) -> list[Block]:
    """Return the blocks to store for some arrays, so that shared memory is shared again on loading.

    A separate array is stored directly. For arrays that share memory, the one that covers all of
    it is stored, or else the bytes from the first to the last. The same is done for an array that
    is larger than its memory (expanded). Record arrays are always stored separately.
    """
    plain = [i for i, array in enumerate(arrays) if not _is_record(array)]
    groups = overlapping([arrays[i] for i in plain])
    made = [_block(arrays, [plain[i] for i in group]) for group in groups]
    # A Layout cannot represent the fields of a record.
    made += [Block(a, [(i, None)]) for i, a in enumerate(arrays) if _is_record(a)]
    return sorted(made, key=lambda block: block.members[0][0])


def _is_record(array: Array) -> bool:
    return array.dtype.kind == "V" and not is_bfloat16(array)


def is_bfloat16(array: Array) -> bool:
    """Return whether an array has dtype bfloat16."""
    return array.dtype.name == dtypes.bfloat16.name


def of_bfloat16_bits(bits: Array) -> Array:
    """Return bfloat16 numbers from their uint16 bits; as float32 if ml_dtypes is not installed."""
    if extension_dtypes.installed():
        return bits.view(dtypes.bfloat16.numpy)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _block(arrays: Sequence[Array], group: list[int]) -> Block:
    group = sorted(group)
    first = arrays[group[0]]
    if all(_same(first, arrays[i]) for i in group) and not _expanded(first):
        return Block(first, [(i, None) for i in group])
    ends = [bounds(arrays[i]) for i in group]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    for i in group:
        if arrays[i].flags.forc and bounds(arrays[i]) == (low, high):
            owner = arrays[i]
            members = [
                (j, None if _same(owner, arrays[j]) else _layout(arrays[j], low)) for j in group
            ]
            return Block(owner, members)
    return _raw_block(arrays, group, low, high)


def _raw_block(arrays: Sequence[Array], group: list[int], low: int, high: int) -> Block:
    """Return a block of plain elements, or of bytes if members differ in dtype."""
    kind = arrays[group[0]].dtype
    alike = (high - low) % kind.itemsize == 0 and all(
        arrays[i].dtype == kind and (_start(arrays[i]) - low) % kind.itemsize == 0 for i in group
    )
    owners = [arrays[i] for i in group]
    data = np.asarray(_Memory(low, high, owners))
    if alike:
        data = data.view(kind)
    else:  # preserve alignment
        low_aligned = low - low % _ALIGNMENT
        data = np.concatenate([np.zeros(low - low_aligned, np.uint8), data])
        low = low_aligned
    return Block(data, [(i, _layout(arrays[i], low)) for i in group])


class _Memory:
    """Bytes between two addresses; keeps the arrays in them alive."""

    def __init__(self, low: int, high: int, owners: list[Array]):
        self.owners = owners
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (high - low,),
            "data": (low, True),  # read-only
        }


def _start(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _same(a: Array, b: Array) -> bool:
    return (
        _start(a) == _start(b)
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
    )


def _expanded(array: Array) -> bool:
    low, high = bounds(array)
    return array.size > 0 and high - low < array.nbytes


def _layout(array: Array, low: int) -> Layout:
    name = array.dtype.name if is_bfloat16(array) else array.dtype.str
    return Layout(name, _start(array) - low, array.shape, array.strides)


def storable(arrays: Sequence[Array], block: Block) -> Block:
    """Return a block whose array numpy can write to a file: bfloat16 as uint16 bits."""
    if not is_bfloat16(block.array):
        return block
    low = _start(block.array)
    members: list[tuple[int, Layout | None]] = [
        (i, layout or _layout(arrays[i], low)) for i, layout in block.members
    ]
    return Block(block.array.view(np.uint16), members)


def placed(array: Array, layout: Layout) -> Array:
    """Return an array within the memory of another one; see ``Layout``.

    Raises:
        ValueError: it would lie outside that memory.
    """
    if not _DTYPE.fullmatch(layout.dtype):
        raise ValueError(f"the dtype {layout.dtype!r:.50}")
    memory = array.T if array.flags.f_contiguous else array
    kind = dtypes.bfloat16.numpy if layout.dtype == dtypes.bfloat16.name else layout.dtype
    return array_in(memory, layout.shape, kind, layout.offset, layout.strides)


def native(array: Array) -> Array:
    """Return an array with one of tinynet's dtypes, in this machine's byte order.

    Raises:
        TypeError: tinynet does not have its dtype.
    """
    array = np.asarray(array, array.dtype.newbyteorder("="))
    return np.asarray(array, dtypes.of(array).numpy)  # the same object, as some callers rely on
