"""``torch.return_types``: the classes of results with several named parts.

They are named tuples, made from their parts: ``return_types.max(values, indices)``.
"""

from __future__ import annotations

from collections.abc import Iterator

from tinynet import ops
from tinynet.ops import everything as everything  # before it is looked at
from tinynet.ops.reduction.extrema import MinAndMax


def _inside(cls: type) -> Iterator[type]:
    """Yield the classes of results that are derived from a class."""
    derived: type
    for derived in cls.__subclasses__():
        if derived.__module__ == "tinynet.return_types":
            yield derived
        elif derived.__module__.startswith(ops.__name__):
            yield from _inside(derived)


all_return_types = [*_inside(tuple), MinAndMax]
globals().update({cls.__name__: cls for cls in all_return_types}, aminmax=MinAndMax)
