"""LLVM code for the few instructions that threads need to share work, see ``sharing``.

They access the *board*: 64-bit integers in memory visible to all threads of this process. Compiled
code, including code from numba's cache, refers to it by name.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tinynet.dtypes import Array

BOARD = "tinynet_kernels_board"
_LINE = 8  # numbers per cache line


def lines(count: int) -> Array:
    """Return zeros for ``count`` cache lines of 8 integers."""
    memory = np.zeros((count + 1) * _LINE, np.int64)
    start = -memory.ctypes.data // 8 % _LINE
    return memory[start : start + count * _LINE]


def publish(board: Array) -> None:
    """Register the board's address for compiled code."""
    from llvmlite import binding

    binding.add_symbol(BOARD, board.ctypes.data)


def _place(builder: Any, number: Any) -> Any:
    """Return a pointer to a number on the board."""
    from llvmlite import ir

    found = builder.module.globals.get(BOARD)
    if found is None:
        found = ir.GlobalVariable(builder.module, ir.IntType(64), BOARD)
        found.linkage = "external"
    return builder.gep(found, [number])


def load_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that reads a number."""
    return builder.load_atomic(_place(builder, args[0]), "seq_cst", 8)


def swap_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that replaces a number and returns the old one."""
    return builder.atomic_rmw("xchg", _place(builder, args[0]), args[1], "seq_cst")


def add_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that adds to a number and returns the old one."""
    return builder.atomic_rmw("add", _place(builder, args[0]), args[1], "seq_cst")


def address_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that returns the address of a number."""
    return builder.ptrtoint(_place(builder, args[0]), args[0].type)


def pause_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that waits for a few cycles, leaving the core to other threads."""
    from llvmlite import binding, ir

    if binding.get_process_triple().startswith(("x86_64", "i686", "i386")):
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
    return ir.Constant(ir.IntType(64), 0)


def call_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that calls a function at an address with three integers."""
    from llvmlite import ir

    number = ir.IntType(64)
    kind = ir.FunctionType(number, [number] * 3)
    return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])


def tuple_address_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit code that stores a tuple in this function's stack memory and returns its address."""
    from llvmlite import ir
    from numba.core import cgutils

    kept = cgutils.alloca_once_value(builder, args[0])
    return builder.ptrtoint(kept, ir.IntType(64))


def part_name(part: Any, kinds: Any) -> str:
    """Return the name of a part in compiled code, for some types of arguments."""
    kept = hashlib.sha256(repr(kinds).encode()).hexdigest()[:16]
    return f"{part.py_func.__qualname__}_{kept}"


def publish_part(part: Any, kinds: Any) -> None:
    """Compile a part for some argument types of the kernel, and register its address.

    The calling code may come from numba's cache; this must be done before it runs.
    """
    from llvmlite import binding
    from numba import types

    kinds = tuple(kinds)
    of_part = types.intp, types.intp, *kinds
    part.compile(of_part)
    made = part.overloads[of_part]
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    binding.add_symbol(part_name(part, kinds), address)


def part_type(context: Any, part: Any, kept: Any) -> Any:
    """Compile a part for its argument types; return the type of an address."""
    from numba import types

    publish_part(part.dispatcher, kept.types)
    return types.int64


def part_address_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit a function that computes a part, ``f(address of the arguments, part, parts)``.

    It returns 1 if the part raised, else 0.

    Returns:
        Code for its address.
    """
    from llvmlite import ir
    from numba.core import cgutils, types

    part, kept = signature.args
    takes = (types.intp, types.intp, *kept.types)
    kind = context.call_conv.get_function_type(types.none, takes)
    name = part_name(part.dispatcher, kept.types)
    callee = cgutils.get_or_insert_function(builder.module, kind, name)
    number = ir.IntType(64)
    made = ir.Function(
        builder.module, ir.FunctionType(number, [number] * 3), builder.module.get_unique_name("do")
    )
    made.linkage = "internal"
    code = ir.IRBuilder(made.append_basic_block())
    place, *which = made.args
    given = code.load(code.inttoptr(place, context.get_value_type(kept).as_pointer()))
    inputs = [*which, *cgutils.unpack_tuple(code, given, len(kept.types))]
    status, _ = context.call_conv.call_function(code, callee, types.none, takes, inputs)
    code.ret(code.zext(status.is_error, number))
    return builder.ptrtoint(made, number)
