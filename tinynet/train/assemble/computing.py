"""How a run computes: with which kernels, on how many threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tinynet.kernels import numba as numba_kernels
from tinynet.kernels import threads
from tinynet.train.config.sections import RunSection


@contextlib.contextmanager
def computing(run: RunSection) -> Iterator[None]:
    """Use the kernels and the number of threads of a config inside a ``with`` block."""
    count = None if run.threads == "auto" else run.threads
    with numba_kernels.used(run.numba), threads.used(count):
        yield


def threads_left_to_others() -> str:
    """Return a line about the threads if other programs use some of the processors; or nothing."""
    count, usable = threads.get_count(), threads.processors.usable()
    if threads.chosen() is not None or count == usable:
        return ""
    are = f"{count} thread{'s' * (count > 1)}"
    return f"other programs are using processors: {are} of {usable} (run.threads sets the number)"
