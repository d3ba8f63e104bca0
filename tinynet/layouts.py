"""How the elements of a tensor lie in memory: PyTorch's memory formats and layouts.

Memory formats are accepted wherever PyTorch takes them, and change no values. New tensors are
row-major (``contiguous_format``) or keep the order of another one (``preserve_format``);
``channels_last`` is taken as ``contiguous_format``.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array


class _Named:
    """An object that is only compared, and shows its name."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"tinynet.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format(_Named):  # noqa: N801  # PyTorch's names
    """The order of the elements, such as ``tinynet.channels_last``.

    Args:
        name: users make none: they are all there.

    Example:
        >>> tn.channels_last, isinstance(tn.channels_last, tn.memory_format)
        (tinynet.channels_last, True)
    """


class layout(_Named):  # noqa: N801
    """What is kept of the elements, such as ``tinynet.strided``: all of them.

    Args:
        name: users make none: they are all there.

    Example:
        >>> tn.ones(2).layout
        tinynet.strided
    """


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")


def lies(array: Array, wanted: memory_format) -> bool:
    """Return whether the elements of an array lie in the order of a memory format."""
    ndim = {channels_last: 4, channels_last_3d: 5}.get(wanted)
    if ndim is None:
        return bool(array.flags.c_contiguous)
    return array.ndim == ndim and bool(np.moveaxis(array, 1, -1).flags.c_contiguous)
