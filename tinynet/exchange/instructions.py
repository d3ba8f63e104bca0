"""Pickle instructions, protocol 2, as bytes.

Source: the documentation of the instructions in Python's ``pickletools``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

START, STOP = b"\x80\x02", b"."
MARK, REDUCE, BUILD, PERSISTENT = b"(", b"R", b"b", b"Q"
NEW_OBJECT, NEW_OBJECT_NAMED = b"\x81", b"\x92"  # the second is protocol 4, supported everywhere
TUPLE, LIST, DICT = b"t", b"]", b"}"
APPENDS, SET_ITEMS, POP = b"e", b"u", b"0"
NONE = b"N"


def text(value: str) -> bytes:
    """Return the instruction for a text."""
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value: int) -> bytes:
    """Return the instruction for an integer of any length."""
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(data) < 256:
        return b"\x8a" + bytes([len(data)]) + data
    return b"\x8b" + struct.pack("<i", len(data)) + data


def number(value: float) -> bytes:
    """Return the instruction for a float."""
    return b"G" + struct.pack(">d", value)


def truth(value: bool) -> bytes:
    """Return the instruction for a bool."""
    return b"\x88" if value else b"\x89"


def octets(value: bytes) -> bytes:
    """Return the instructions for bytes, which protocol 2 stores as text."""
    return call("_codecs.encode", text(value.decode("latin1")), text("latin1"))


def complex_number(value: complex) -> bytes:
    """Return the instructions for a complex number."""
    return call("__builtin__.complex", number(value.real), number(value.imag))


def named(name: str) -> bytes:
    """Return the instruction that looks up a class or function by its full name."""
    module, _, attribute = name.rpartition(".")
    return f"c{module}\n{attribute}\n".encode()


def items(parts: Iterable[bytes]) -> bytes:
    """Return the instructions for a tuple."""
    return MARK + b"".join(parts) + TUPLE


def call(name: str, *arguments: bytes) -> bytes:
    """Return the instructions for a call by name."""
    return named(name) + items(arguments) + REDUCE


def put(number: int) -> bytes:
    """Return the instruction that stores the last value in the memo under a number."""
    return b"r" + struct.pack("<I", number)


def get(number: int) -> bytes:
    """Return the instruction that fetches a value from the memo."""
    return b"j" + struct.pack("<I", number)
