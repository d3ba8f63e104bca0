"""Writing initial values, unless initialisation is skipped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tinynet.core import arrays
from tinynet.core.graph.inplace import wrote
from tinynet.core.tensors.tensor import Tensor


class _Mode(threading.local):
    skip = False


mode = _Mode()


@contextmanager
def skipped() -> Iterator[None]:
    """Turn all initialisers into no-ops inside the block; see ``nn.utils.skip_init``."""
    before, mode.skip = mode.skip, True
    try:
        yield
    finally:
        mode.skip = before


def fill(tensor: Tensor, values: Any, what: str) -> Tensor:
    """Write values to a tensor; ``what`` names the function in messages."""
    if not mode.skip:
        arrays.assign(tensor._array, values)
        wrote(tensor, what)
    return tensor
