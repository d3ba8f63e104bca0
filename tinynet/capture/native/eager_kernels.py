"""Calls that have no native form, but a kernel of ``kernels/numba``: they run with it."""

from __future__ import annotations

import copy
import functools
from typing import Any

from tinynet.capture.native.forms import formula_of
from tinynet.capture.program import Call
from tinynet.kernels import numba as numba_kernels
from tinynet.nn.functional.lookup.embeddings import shorten_rows

OPERATIONS = {
    "lstm_sequence", "gru_sequence", "embedding_rows", "summed_rows",
    "convolve", "convolve_biased", "spread", "spread_biased", "correlate",
}  # fmt: skip


def with_kernels(call: Call) -> Call:
    """Return the call with the kernels enabled while it runs; other calls as they are."""
    if not _has_kernel(call):
        return call
    made = copy.copy(call)
    made.function = enabled(call.function)
    return made


def _has_kernel(call: Call) -> bool:
    if call.kind == "write":
        return call.function is getattr(shorten_rows, "untraced", shorten_rows)
    op = call.op
    if op is None and call.kind == "compute":
        owner = formula_of(call.function)
        op = owner and owner[0]
    return op is not None and op.name in OPERATIONS


def enabled(function: Any) -> Any:
    """Return a function that runs with the kernels enabled in its thread."""
    numba_kernels.compiler.prepare()
    thread = numba_kernels.thread

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        before, thread.on = thread.on, True
        try:
            return function(*args, **kwargs)
        finally:
            thread.on = before

    return run
