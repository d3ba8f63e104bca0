"""Argument checks, errors, and the named tuples that linear algebra returns."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import layouts
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.errors import LinAlgError
from tinynet.ops.arguments import name_of

# ---- arguments ----------------------------------------------------------------------------------


def matrices(name: str, x: Any, argument: str = "A") -> Array:
    """Return the array of a tensor of matrices; refuse other shapes."""
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(name.replace(".", "_"), argument, 1, x)
    if x._array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    return x._array


def floating(name: str, x: Array) -> None:
    """Refuse integers and half precision."""
    if not dtypes.is_inexact(x.dtype):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {name_of(x)}"
        )
    if x.dtype.itemsize < 4:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {name_of(x)}")


def square(name: str, x: Any) -> Array:
    """Return the array of a tensor of floating-point square matrices; refuse others."""
    a = matrices(name, x)
    square_sizes(name, a)
    floating(name, a)
    return a


def square_sizes(name: str, a: Array) -> None:
    """Refuse matrices that are not square."""
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )


def fitting(name: str, a: Array, b: Array, left: bool, names: str = "A and B") -> None:
    """Refuse right-hand sides whose sizes, batches or dtype do not match the matrices."""
    if a.dtype != b.dtype:
        first, second = names.split(" and ")
        raise RuntimeError(
            f"{name}: Expected {names} to have the same dtype, but found {first} of type "
            f"{name_of(a)} and {second} of type {name_of(b)} instead"
        )
    if a.shape[-1] != b.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        sizes = " and ".join(f"{x.shape[-2]}x{x.shape[-1]}" for x in (a, b))
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({sizes})"
        )
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise errors.not_broadcastable(b.shape[:-2], a.shape[:-2]) from None


# ---- failures -----------------------------------------------------------------------------------


@traced
def failed(name: str, info: Array, reason: str) -> None:
    """Raise LinAlgError for the first matrix with a nonzero ``info``.

    Args:
        name: the name of the function.
        info: one code per matrix.
        reason: the meaning of the code; ``{}`` stands for the code.
    """
    if not info.any():
        return
    which = int(np.flatnonzero(info.reshape(-1))[0])
    batch = f"(Batch element {which}): " if info.ndim else ""
    raise LinAlgError(f"{name}: {batch}{reason.format(info.reshape(-1)[which])}")


# ---- results ------------------------------------------------------------------------------------


def named(name: str, fields: Sequence[str]) -> Any:
    """Return a tuple type with named fields that prints like PyTorch's ``return_types``.

    Making a type with ``collections.namedtuple`` takes ten times as long, which the import of
    tinynet would show.
    """

    def made(cls: Any, *values: Any) -> Any:
        return tuple.__new__(cls, values)

    def shown(self: Any) -> str:
        parts = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self, strict=True))
        return f"tinynet.return_types.{name}(\n{parts})"

    members: dict[str, Any] = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    members.update(__new__=made, __getnewargs__=lambda self: (*self,), __repr__=shown, __slots__=())
    members.update(_fields=(*fields,), __module__="tinynet.return_types")
    return type(name, (tuple,), members)


def in_columns(t: Tensor) -> Tensor:
    """Lay out the matrices of a new tensor in column-major order, as LAPACK writes them."""
    t._array = _in_columns(t._array, t._array)
    return t


_in_columns = traced(layouts.in_columns)
