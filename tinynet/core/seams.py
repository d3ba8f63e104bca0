"""Seams: what lower rooms call and rooms above them fill in, so that no import points upwards.

There are no others. This file imports nothing, so that any other can use it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, TypeAlias

Tensor: TypeAlias = Any  # the types are above this file
Array: TypeAlias = Any


class Recorded:
    """The operations that the engine needs when formulas run on tensors; set by ``ops``.

    Attributes:
        batched: whether a pass over these nodes involves arrays of ``batching``, which support
            operations only, so that formulas must run on tensors; None without such arrays.
        settled: converts a batched gradient for a node or leaf outside the batch.
    """

    add: Callable[[Tensor, Tensor], Tensor]
    clone: Callable[[Tensor], Tensor]
    sum_to: Callable[[Tensor, tuple[int, ...]], Tensor]
    cast: Callable[[Tensor, Any], Tensor]
    conjugate: Callable[[Tensor], Tensor]
    batched: Callable[[list[Any]], bool] | None = None
    settled: Callable[[Tensor, Any], Tensor]


# From ``ops/creation``: makes the tensor of a class from the arguments of ``Tensor(...)``.
construct: list[Callable[[type, tuple[Any, ...], dict[str, Any]], Tensor]] = []

# From ``ops/creation``: a write -> what replaces it, if no method has its name without underscore.
out_of_place: dict[str, str] = {}

# From ``core/declaration``: called when the first class derived from Tensor is declared.
subclassed: list[Callable[[], None]] = []

# From ``core/explanations``: adds to an error what it means and how to mend it.
explain: list[Callable[[Exception], None]] = []

# From ``nn/base``: the code of ``Module.__call__``, which tracebacks leave out.
module_calls: set[CodeType] = set()

# From ``nn/parallel`` and ``train``: the id of a weight that processes share -> what renormalises
# its rows on all of them.
shared_weights: dict[int, Callable[[Array, float, float], None]] = {}

# From ``train``: returns the site of an operation that no line of the user's program has called.
fallback: list[Callable[[], tuple[CodeType, int] | None]] = []

# From ``compat``: what ``Module.compile`` does.
compile_forward: list[Callable[..., None]] = []
