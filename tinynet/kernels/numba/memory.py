"""Arrays and views in compiled functions.

Numba takes 30 ms to compile each of its own reshapes, and more for the first ``np.empty``.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from tinynet.dtypes import Array


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return a new array."""
    return np.empty(shape, dtype)


def view(x: Array, shape: tuple[int, ...]) -> Array:
    """Return a contiguous array in another shape of the same size."""
    return x.reshape(shape)


def line(address: int, size: int) -> Array:
    """Return the array of float32 at an address, in one dimension."""
    return np.ctypeslib.as_array((ctypes.c_float * int(size)).from_address(int(address)))


def declare(numba: Any) -> None:
    """Tell numba what the functions are."""
    types, extending = numba.types, numba.extending
    array, unpacked = functools.partial(_array, numba), numba.core.cgutils.unpack_tuple

    @extending.type_callable(empty)
    def type_empty(context):
        return lambda shape, dtype: types.Array(dtype.dtype, len(shape), "C")

    @extending.lower_builtin(empty, types.BaseTuple, types.DTypeSpec)
    def lower_empty(context, builder, signature, values):
        kind, dims = signature.return_type, unpacked(builder, values[0])
        size = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
        for n in dims:
            size = builder.mul(size, n)
        owner = context.nrt.meminfo_alloc_aligned(builder, size, 64)
        data = context.nrt.meminfo_data(builder, owner)
        return array(context, builder, kind, data, dims, owner)

    @extending.type_callable(view)
    def type_view(context):
        return lambda x, shape: types.Array(x.dtype, len(shape), "C") if x.layout == "C" else None

    @extending.lower_builtin(view, types.Array, types.BaseTuple)
    def lower_view(context, builder, signature, values):
        given = context.make_array(signature.args[0])(context, builder, values[0])
        dims, kind = unpacked(builder, values[1]), signature.return_type
        made = array(context, builder, kind, given.data, dims, given.meminfo)
        return numba.core.imputils.impl_ret_borrowed(context, builder, kind, made)

    @extending.type_callable(line)
    def type_line(context):
        return lambda address, size: types.Array(types.float32, 1, "C")

    @extending.lower_builtin(line, types.Integer, types.Integer)
    def lower_line(context, builder, signature, values):
        kind, (address, size) = signature.return_type, values
        data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
        return array(context, builder, kind, data, [size], None)


def _array(
    numba: Any, context: Any, builder: Any, kind: Any, data: Any, dims: Any, owner: Any
) -> Any:
    """Return the LLVM value of a contiguous array at a pointer."""
    made = context.make_array(kind)(context, builder)
    item = context.get_constant(numba.types.intp, kind.dtype.bitwidth // 8)
    steps = [item]
    for n in reversed(dims[1:]):
        steps.insert(0, builder.mul(steps[0], n))
    data = builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer())
    numba.np.arrayobj.populate_array(made, data, dims, steps, item, owner)
    return made._getvalue()
