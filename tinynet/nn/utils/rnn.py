"""Sequences of different lengths: padded to one length, or packed without padding.

A packed batch holds, for each step, the elements of the sequences that are long enough. Sequences
are sorted by length, longest first, so the last ones end first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import name_of, refuse_other_elements
from tinynet.ops.creation.constructors import as_tensor, full
from tinynet.ops.shaping.joining import cat

NOT_SORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
    "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
    "requirement if you do not need ONNX exportability."
)


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences of different lengths without padding; RNN, LSTM and GRU take it.

    Make one with ``pack_padded_sequence`` or ``pack_sequence``.

    Attributes:
        data: all elements, step by step, ``[sum of lengths, ...]``.
        batch_sizes: the number of sequences at each step, int64.
        sorted_indices: the original index of each sorted sequence; None if already sorted.
        unsorted_indices: the inverse permutation.

    Raises:
        AssertionError: ``batch_sizes`` is missing, and ``data`` is not a pair that includes it.

    Example:
        >>> nn.utils.rnn.pack_sequence([tn.tensor([1, 2]), tn.tensor([3])])
        PackedSequence(data=tensor([1, 3, 2]), batch_sizes=tensor([2, 1]), sorted_indices=None, \
unsorted_indices=None)
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """Create from data and batch sizes, or from a pair of them."""
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the packed sequence with data of another dtype; self if it is unchanged."""
        return self._with_data(self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """Return self: everything is on the CPU."""
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Raise RuntimeError, as ``Tensor.cuda`` does."""
        return self._with_data(self.data.cuda(*args, **kwargs))

    def pin_memory(self) -> PackedSequence:
        """Return self: there is no GPU to copy to."""
        return self

    def double(self) -> PackedSequence:
        """Return the packed sequence with data in float64."""
        return self._with_data(self.data.double())

    def float(self) -> PackedSequence:
        """Return the packed sequence with data in float32."""
        return self._with_data(self.data.float())

    def half(self) -> PackedSequence:
        """Return the packed sequence with data in float16."""
        return self._with_data(self.data.half())

    def long(self) -> PackedSequence:
        """Return the packed sequence with data in int64."""
        return self._with_data(self.data.long())

    def int(self) -> PackedSequence:
        """Return the packed sequence with data in int32."""
        return self._with_data(self.data.int())

    def short(self) -> PackedSequence:
        """Return the packed sequence with data in int16."""
        return self._with_data(self.data.short())

    def char(self) -> PackedSequence:
        """Return the packed sequence with data in int8."""
        return self._with_data(self.data.char())

    def byte(self) -> PackedSequence:
        """Return the packed sequence with data in uint8."""
        return self._with_data(self.data.byte())

    def _with_data(self, data: Tensor) -> PackedSequence:
        return self if data is self.data else PackedSequence(data, *self[1:])

    @property
    def is_cuda(self) -> bool:
        """False: everything is on the CPU."""
        return False

    def is_pinned(self) -> bool:
        """Return False: there is no pinned memory."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the permutation that undoes another one; None for None.

    Raises:
        IndexError: an element is not an int or is out of range.

    Example:
        >>> nn.utils.rnn.invert_permutation(tn.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    inverse = np.empty_like(permutation._array)
    inverse[permutation._array] = np.arange(len(inverse))
    return wrap(inverse)


# ---- packed -------------------------------------------------------------------------------------


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack a padded batch, dropping the padding.

    Args:
        input: ``[steps, batch, ...]``.
        lengths: the lengths of the sequences.
        batch_first: whether the input is ``[batch, steps, ...]``.
        enforce_sorted: require sequences sorted by length, longest first. Otherwise they are sorted
            here, and the result stores the permutation.

    Raises:
        RuntimeError: the lengths are not positive, too large, unsorted, or not one per sequence.

    Example:
        >>> padded = tn.tensor([[1, 2], [3, 0]])
        >>> nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True).data
        tensor([1, 3, 2])
    """
    if input.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    padded = input.transpose(0, 1) if batch_first else input
    steps, batch = padded.shape[:2]
    ends = as_tensor(lengths)._array.astype(np.int64)
    order = None
    if not enforce_sorted:
        order = np.argsort(-ends, kind="stable")
        ends = ends[order]
    _check_lengths(ends, padded)
    sizes = np.array([np.count_nonzero(ends > t) for t in range(int(ends[0]))], np.int64)
    columns = np.arange(batch) if order is None else order
    rows = np.concatenate([t * batch + columns[:size] for t, size in enumerate(sizes)])
    data = padded.flatten(0, 1).index_select(0, wrap(rows))
    return PackedSequence(data, wrap(sizes), None if order is None else wrap(order))


def _check_lengths(ends: Array, padded: Tensor) -> None:
    steps, batch = padded.shape[:2]
    if padded.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if ends.ndim != 1:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{ends.ndim}D cpu {name_of(ends)} tensor"
        )
    if len(ends) != batch:
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{len(ends)} (batch_size={batch})"
        )
    if (ends <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (ends[1:] > ends[:-1]).any():
        raise RuntimeError(NOT_SORTED)
    if ends[0] > steps:
        raise RuntimeError(
            f"The 'lengths' of pack_padded_sequence must be <= {steps}, the padded length. "
            f"Got {ends[0]} instead."
        )


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad a packed batch to one length; return it with the lengths.

    Args:
        sequence: the packed batch.
        batch_first: return ``[batch, steps, ...]`` instead of ``[steps, batch, ...]``.
        padding_value: the value of the padding.
        total_length: the length to pad to; the longest length unless given.

    Raises:
        ValueError: ``total_length`` is less than the length of the longest sequence.

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([tn.tensor([1, 2]), tn.tensor([3])])
        >>> nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2],
                [3, 0]]), tensor([2, 1]))
    """
    sizes = sequence.batch_sizes._array
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {len(sizes)}"
        )
    inside = np.zeros((steps, sizes[0]), bool)
    inside[: len(sizes)] = np.arange(sizes[0]) < sizes[:, None]
    rows = np.full(inside.shape, -1)
    rows[inside] = np.arange(len(sequence.data))
    lengths = np.count_nonzero(inside, axis=0)
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices._array
        rows, lengths = rows[:, back], lengths[back]
    if batch_first:
        rows = rows.T
    return _select(sequence.data, rows, padding_value), wrap(lengths.astype(np.int64))


def _select(data: Tensor, rows: Array, padding_value: float) -> Tensor:
    """Return the rows of ``data`` at the given indices; -1 gives a row of padding."""
    padding = full((1, *data.shape[1:]), padding_value, dtype=data.dtype)
    flat = np.where(rows < 0, len(data), rows).reshape(-1)
    selected = cat([data, padding]).index_select(0, wrap(flat))
    return selected.reshape(*rows.shape, *data.shape[1:])


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences, each ``[length, ...]``.

    Args:
        sequences: the sequences to pack.
        enforce_sorted: see ``pack_padded_sequence``.

    Example:
        >>> a, b = tn.tensor([1]), tn.tensor([2, 3])
        >>> nn.utils.rnn.pack_sequence([a, b], enforce_sorted=False).data
        tensor([2, 1, 3])
    """
    lengths = [len(s) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a packed batch as a list.

    Args:
        packed_sequences: the packed batch, from ``pack_sequence`` or an RNN.

    Raises:
        AttributeError: the argument is not a PackedSequence.

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([tn.tensor([1, 2]), tn.tensor([3])])
        >>> nn.utils.rnn.unpack_sequence(packed)
        [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


# ---- padded -------------------------------------------------------------------------------------


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Pad sequences of different lengths, each ``[length, ...]``, to one batch.

    Args:
        sequences: the sequences to pad; the first determines the dtype.
        batch_first: return ``[batch, steps, ...]`` instead of ``[steps, batch, ...]``.
        padding_value: the value of the padding.
        padding_side: ``"right"`` or ``"left"``.

    Raises:
        RuntimeError: there are no sequences, or their shapes differ after the first dimension.

    Example:
        >>> nn.utils.rnn.pad_sequence([tn.tensor([1, 2]), tn.tensor([3])], batch_first=True)
        tensor([[1, 2],
                [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    given = list(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    refuse_other_elements(0, given)
    checked = [_checked(s, given[0], i) for i, s in enumerate(given)]
    lengths = np.array([len(s) for s in checked])
    steps = np.arange(lengths.max())
    starts = (np.cumsum(lengths) - lengths)[:, None]
    before = steps - (steps.size - lengths[:, None] if padding_side == "left" else 0)
    rows = np.where((before >= 0) & (before < lengths[:, None]), starts + before, -1)
    return _select(cat(checked), rows if batch_first else rows.T, padding_value)


def _checked(sequence: Any, first: Tensor, index: int) -> Tensor:
    """Return a sequence with the shape and dtype of the first one."""
    if not sequence.ndim:
        raise RuntimeError(
            "The 'sequences' of pad_sequence must have 1 or more dimensions. "
            f"Got a number as element {index} instead."
        )
    shape, target = sequence.shape[1:], first.shape[1:]
    if shape != target:
        try:
            broadcast = np.broadcast_shapes(shape, target)
        except ValueError:
            raise errors.not_broadcastable((1, *target), (1, *shape)) from None
        if broadcast != tuple(target):
            raise RuntimeError(
                f"output with shape {[len(sequence), *target]} doesn't match the broadcast shape "
                f"{[len(sequence), *broadcast]}"
            )
        sequence = sequence.expand(len(sequence), *target)
    return sequence.to(first.dtype)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences of a padded batch as a list.

    Args:
        padded_sequences: ``[steps, batch, ...]``.
        lengths: the lengths of the sequences.
        batch_first: whether the batch is ``[batch, steps, ...]``.

    Raises:
        ValueError: the number of lengths differs from the number of sequences.
        IndexError: the batch has fewer than two dimensions.

    Example:
        >>> nn.utils.rnn.unpad_sequence(tn.tensor([[1, 3], [2, 0]]), tn.tensor([2, 1]))
        [tensor([1, 2]), tensor([3])]
    """
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    if len(batch) != len(lengths):
        raise ValueError(
            f"Expected one length for each of the {len(batch)} sequences. Got {len(lengths)} "
            "instead."
        )
    return [s[: int(n)] for s, n in zip(batch, lengths.tolist(), strict=True)]
