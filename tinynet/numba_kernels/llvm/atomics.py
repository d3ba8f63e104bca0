"""LLVM's code for the few instructions that threads need to share work, see ``sharing``.

They read and write the *board*: 64-bit numbers in memory that all threads of this process see.
Compiled code, also such that was read from numba's cache, knows it by its name.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tinynet.dtypes import Array

BOARD = "tinynet_kernels_board"
_LINE = 8  # numbers of a line of the cache


def lines(count: int) -> Array:
    """Return memory for so many lines of 8 whole numbers, zeros."""
    memory = np.zeros((count + 1) * _LINE, np.int64)
    start = -memory.ctypes.data // 8 % _LINE
    return memory[start : start + count * _LINE]


def publish(board: Array) -> None:
    """Let compiled code know where the board is."""
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
    """Write the code that reads a number."""
    return builder.load_atomic(_place(builder, args[0]), "seq_cst", 8)


def swap_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code that replaces a number and returns what was there."""
    return builder.atomic_rmw("xchg", _place(builder, args[0]), args[1], "seq_cst")


def add_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code that adds to a number and returns what was there."""
    return builder.atomic_rmw("add", _place(builder, args[0]), args[1], "seq_cst")


def address_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code that returns the address of a number."""
    return builder.ptrtoint(_place(builder, args[0]), args[0].type)


def pause_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code that waits for a moment, and leaves the core to others meanwhile."""
    from llvmlite import binding, ir

    if binding.get_process_triple().startswith(("x86_64", "i686", "i386")):
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
    return ir.Constant(ir.IntType(64), 0)


def call_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code that calls a function at an address with three numbers."""
    from llvmlite import ir

    number = ir.IntType(64)
    kind = ir.FunctionType(number, [number] * 3)
    return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])


def tuple_address_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code that keeps a tuple in this function's memory and returns its address."""
    from llvmlite import ir
    from numba.core import cgutils

    kept = cgutils.alloca_once_value(builder, args[0])
    return builder.ptrtoint(kept, ir.IntType(64))


def part_name(part: Any, kinds: Any) -> str:
    """Return the name by which compiled code knows a part for some types of arguments."""
    kept = hashlib.sha256(repr(kinds).encode()).hexdigest()[:16]
    return f"{part.py_func.__qualname__}_{kept}"


def publish_part(part: Any, kinds: Any) -> None:
    """Compile a part for some types of the kernel's arguments; let compiled code know where it is.

    Code that calls it may come from numba's cache, and then this has to be done before.
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
    """Compile a part for the types of its arguments; return the type of an address."""
    from numba import types

    publish_part(part.dispatcher, kept.types)
    return types.int64


def part_address_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write a function that does a part, ``f(address of the arguments, part, parts)``.

    It returns 1 where the part raised, else 0.

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
