"""LLVM's code for calls of numpy's BLAS."""

from __future__ import annotations

import ctypes
from typing import Any

from tinynet import threads

_ROW_BY_ROW, _AS_IT_IS = 101, 111  # what BLAS calls them; a transpose is one more


def name() -> str | None:
    """Return the name by which compiled code knows BLAS; None if it was not found."""
    found = threads.blas_function("cblas_sgemm")
    return None if found is None else f"tinynet_sgemm_{found[1]}"


def publish() -> None:
    """Let compiled code know where BLAS is."""
    from llvmlite import binding

    found = threads.blas_function("cblas_sgemm")
    if found is not None:
        binding.add_symbol(name(), ctypes.cast(found[0], ctypes.c_void_p).value)


def product_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``blas.multiply``; without BLAS it raises."""
    from llvmlite import ir
    from numba.core import cgutils

    found = threads.blas_function("cblas_sgemm")
    bits = 64 if found is None else found[1]
    length, kind, number = ir.IntType(bits), ir.IntType(32), ir.FloatType()
    place = number.as_pointer()

    def array(n: int) -> tuple[Any, Any, Any]:
        made = context.make_array(signature.args[n])(context, builder, arguments[n])
        step = builder.udiv(
            cgutils.unpack_tuple(builder, made.strides)[0], ir.Constant(ir.IntType(64), 4)
        )
        return made.data, step, cgutils.unpack_tuple(builder, made.shape)

    def fits(n: Any) -> Any:
        return n if n.type == length else builder.trunc(n, length)

    def order(turned: Any) -> Any:
        return builder.add(ir.Constant(kind, _AS_IT_IS), builder.trunc(turned, kind))

    (a, a_step, a_shape), (b, b_step, _), (out, out_step, shape) = array(0), array(2), array(4)
    turned = builder.icmp_signed("!=", arguments[1], arguments[1].type(0))
    inputs = builder.select(turned, a_shape[0], a_shape[1])
    takes = (
        [kind] * 3 + [length] * 3 + [number, place, length, place, length, number, place, length]
    )
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), takes), name()
    )
    builder.call(function, [
        ir.Constant(kind, _ROW_BY_ROW), order(arguments[1]), order(arguments[3]),
        *map(fits, (*shape, inputs)), number(1.0), a, fits(a_step), b, fits(b_step), number(0.0),
        out, fits(out_step),
    ])  # fmt: skip
    return context.get_dummy_value()
