"""From samples to batches: what reads the samples, and what builds a batch of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.dataset import Samples, fetch
from tinynet.dtypes import Array
from tinynet.ops.shaping.joining import stack

# ---- fetching -----------------------------------------------------------------------------------
# PyTorch's ``torch.utils.data._utils.fetch``: the loader reads data sets with a length by the class
# that has the name ``_MapDatasetFetcher`` when a pass begins, so a program may put its own in its
# place.


class _BaseDatasetFetcher:
    """Reads the samples of one batch after the other.

    Args:
        dataset: the data set.
        auto_collation: whether there are batches, or single samples.
        collate_fn: makes a batch of the samples.
        drop_last: whether to leave out a last batch that is smaller.
    """

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the batch of some indices, or the sample of one."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples by their indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the batch of some indices, or the sample of one."""
        if self.auto_collation:
            return self.collate_fn(fetch(self.dataset, possibly_batched_index))
        return self.collate_fn(self.dataset[possibly_batched_index])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads the next samples of a stream; only their number counts."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.dataset_iter = iter(self.dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the next batch, or sample.

        Raises:
            StopIteration: the stream has ended.
        """
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        count = len(possibly_batched_index)
        samples = [sample for _, sample in zip(range(count), self.dataset_iter, strict=False)]
        self.ended = len(samples) < count
        if not samples or (self.ended and self.drop_last):
            raise StopIteration
        return self.collate_fn(samples)


# ---- collating ----------------------------------------------------------------------------------


# The collate function of a type; called with a batch and the whole map as ``collate_fn_map=``.
CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return a batch of the same structure as its samples, with a map of functions for the leaves.

    Args:
        batch: the samples.
        collate_fn_map: a type, or tuple of types -> the function that builds a batch of such
            samples. The exact type is looked up first, then the first entry that the sample is an
            instance of. Mappings and sequences without an entry are collated item by item.

    Raises:
        TypeError: the type of a sample is not supported.
        RuntimeError: sequences in the samples differ in length.

    Example:
        >>> from fractions import Fraction
        >>> def of_fractions(batch, *, collate_fn_map=None):
        ...     return tn.tensor([float(x) for x in batch])
        >>> halves = [{"x": Fraction(1, 2)}, {"x": Fraction(3, 2)}]
        >>> tn.data.loading.collate.collate(halves, collate_fn_map={Fraction: of_fractions})
        {'x': tensor([0.5000, 1.5000])}
    """
    if len(batch) == 0:
        raise IndexError("default_collate: the batch is empty; it must hold at least one sample.")
    first, fn_map = batch[0], collate_fn_map or {}
    chosen = fn_map.get(type(first))
    if chosen is None:
        chosen = next((f for types, f in fn_map.items() if isinstance(first, types)), None)
    if chosen is not None:
        return chosen(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _of_mappings(batch, fn_map)
    if isinstance(first, Sequence):
        return _of_sequences(batch, fn_map)
    raise _unsupported(type(first))


def default_collate(batch: Sequence[Any]) -> Any:
    """Return a batch of the same structure as its samples, with tensors for leaves.

    ===================================  =====================================================
    samples                              batch
    ===================================  =====================================================
    tensors, numpy arrays                one tensor with a new first dimension
    numbers                              a tensor: bool, int64, or float64 for Python floats
    str, bytes                           a list
    dicts, named tuples                  the same type, with batches as values
    tuples, lists                        a list of batches
    ===================================  =====================================================

    For custom types, add to ``default_collate_fn_map`` in
    ``tinynet.data.loading.collate`` (see ``collate``).

    Raises:
        TypeError: the type of a sample is not supported.
        RuntimeError: the samples differ in size.
        IndexError: there are no samples.

    Example:
        >>> tn.data.default_collate([(1, "a"), (2, "b")])
        [tensor([1, 2]), ('a', 'b')]
        >>> tn.data.default_collate([{"x": tn.ones(2)}, {"x": tn.zeros(2)}])
        {'x': tensor([[1., 1.],
                [0., 0.]])}
    """
    if isinstance(batch, Samples):
        return list(batch.columns)
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """Return a sample with its numpy arrays converted to tensors, and the rest unchanged.

    This is the default ``collate_fn`` without batching (``batch_size=None``).

    Args:
        data: any sample; arrays inside sequences and mappings are converted, too.

    Example:
        >>> tn.data.default_convert((np.array([1, 2]), "a"))
        [tensor([1, 2]), 'a']
    """
    if isinstance(data, (str, bytes, Tensor)):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return _tensor(np.asarray(data)) if data.dtype.kind in "biuf" else data
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, Sequence):
        return _like_sequence(data, [default_convert(item) for item in data])
    return data


# ---- leaves ----


default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
np_str_obj_array_pattern = re.compile(r"[SaUO]")  # what copies of PyTorch's collate ask of dtypes


def _unsupported(found: Any) -> TypeError:
    sentence = default_collate_err_msg_format.format(found)
    fix = "return one of these from the dataset, or pass a `collate_fn` to the DataLoader"
    return TypeError(errors.with_fix(sentence, fix))


def _tensor(array: Array) -> Tensor:
    dtypes.of(array)  # raises TypeError for an unsupported dtype
    return wrap(array)


_RAGGED = (
    "the samples differ in size: cut or pad them in the dataset, or pass a `collate_fn` to the "
    "DataLoader, which makes the batch from a list of samples: "
    "`lambda samples: nn.utils.rnn.pad_sequence(samples, batch_first=True)`"
)


def collate_tensor_fn(batch: Sequence[Any], **_: Any) -> Tensor:
    """Return one tensor of tensors of one size."""
    try:
        return stack(list(batch))
    except RuntimeError as error:
        if not str(error).startswith("stack expects each tensor to be equal size"):
            raise
        raise RuntimeError(errors.with_fix(str(error), _RAGGED)) from None


def collate_numpy_array_fn(batch: Sequence[Any], **_: Any) -> Tensor:
    """Return one tensor of arrays of one size."""
    if batch[0].dtype.kind not in "biuf":
        raise _unsupported(batch[0].dtype)
    return collate_tensor_fn([_tensor(np.asarray(item)) for item in batch])


def collate_numpy_scalar_fn(batch: Sequence[Any], **_: Any) -> Tensor:
    """Return a tensor of numpy's numbers."""
    return _tensor(np.array(batch))


def collate_float_fn(batch: Sequence[Any], **_: Any) -> Tensor:
    """Return a float64 tensor of Python's floats."""
    return _tensor(np.array(batch, dtype=np.float64))


def collate_int_fn(batch: Sequence[Any], **_: Any) -> Tensor:
    """Return a tensor of Python's ints."""
    array = np.array(batch)
    # As in PyTorch, only a batch whose first number is a float becomes float64.
    return _tensor(array.astype(dtypes.default_float()) if array.dtype.kind == "f" else array)


def collate_str_fn(batch: Sequence[Any], **_: Any) -> Any:
    """Return texts unchanged."""
    return batch


# ---- structures ----


def _like_mapping(pattern: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """Return a mapping of the type of ``pattern`` with other values; a dict if that fails."""
    try:
        if isinstance(pattern, MutableMapping):
            filled = copy.copy(pattern)  # keeps the other attributes of the instance
            filled.update(items)
            return filled
        return type(pattern)(items)  # type: ignore[call-arg]  # TypeError below
    except TypeError:
        return items


def _like_sequence(pattern: Sequence[Any], items: list[Any]) -> Any:
    if isinstance(pattern, tuple):
        return type(pattern)(*items) if hasattr(pattern, "_fields") else items
    try:
        return type(pattern)(items)  # type: ignore[call-arg]  # TypeError below
    except TypeError:  # such as a range
        return items


def _of_mappings(batch: Sequence[Any], fn_map: CollateMap) -> Any:
    keys = batch[0]
    columns = {key: [sample[key] for sample in batch] for key in keys}
    return _like_mapping(
        keys, {key: collate(column, collate_fn_map=fn_map) for key, column in columns.items()}
    )


def _of_sequences(batch: Sequence[Any], fn_map: CollateMap) -> Any:
    if len({len(sample) for sample in batch}) > 1:
        sentence = "each element in list of batch should be of equal size"
        raise RuntimeError(errors.with_fix(sentence, _RAGGED))
    columns = zip(*batch, strict=True)
    return _like_sequence(batch[0], [collate(column, collate_fn_map=fn_map) for column in columns])


# PyTorch's map of this name. np.float64 is a float, np.str_ a str, and bool an int.
default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
