"""Values of compiled functions: what each holds, and the text that names it in LLVM's language."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Kinds of numbers -> LLVM's type. Boolean values are bytes in memory, and bits elsewhere.
LLVM = {
    "bool": "i1", "int8": "i8", "uint8": "i8", "int32": "i32", "int64": "i64", "uint64": "i64",
    "float32": "float", "float64": "double",
}  # fmt: skip
BYTES = {kind: np.dtype(kind).itemsize for kind in LLVM}


def is_float(kind: str) -> bool:
    """Return whether numbers of a kind are floating-point."""
    return kind.startswith("float")


def is_unsigned(kind: str) -> bool:
    """Return whether numbers of a kind have no sign."""
    return kind in ("bool", "uint8", "uint64")


def in_memory(kind: str) -> str:
    """Return LLVM's type of an element of an array."""
    return "i8" if kind == "bool" else LLVM[kind]


def type_of_results(kinds: tuple[str, ...]) -> str:
    """Return LLVM's type of what a function returns: nothing, a number, or several."""
    types = [LLVM[kind] for kind in kinds]
    return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}" if types else "void"


class Number(NamedTuple):
    """A number: its kind, a key of ``LLVM``, and the text of its value."""

    kind: str
    text: str

    @property
    def form(self) -> str:
        return self.kind

    def parts(self) -> list[tuple[str, str]]:
        """Return LLVM's type and its text."""
        return [(LLVM[self.kind], self.text)]


class Form(NamedTuple):
    """What is known of an array at compile time.

    Attributes:
        kind: the kind of its elements.
        rank: the number of dimensions.
        contiguous: whether its elements stand in order, without gaps.
    """

    kind: str
    rank: int
    contiguous: bool = True


class ArrayValue(NamedTuple):
    """An array: the texts of its address, of its lengths, and of its steps in elements."""

    kind: str
    data: str
    shape: tuple[str, ...]
    steps: tuple[str, ...] | None = None  # None: contiguous

    @property
    def form(self) -> Form:
        return Form(self.kind, len(self.shape), self.steps is None)

    def parts(self) -> list[tuple[str, str]]:
        """Return LLVM's type and the text of each part."""
        sizes = (*self.shape, *(self.steps or ()))
        return [("ptr", self.data), *(("i64", size) for size in sizes)]

    @classmethod
    def of_parts(cls, form: Form, texts: list[str]) -> ArrayValue:
        """Return the array of a form whose parts have these texts."""
        data, *sizes = texts
        shape = tuple(sizes[: form.rank])
        return cls(form.kind, data, shape, None if form.contiguous else tuple(sizes[form.rank :]))


def types_of_parts(form: Form) -> list[str]:
    """Return LLVM's types of the parts of an array."""
    return ["ptr"] + ["i64"] * (form.rank * (1 if form.contiguous else 2))


class Part(NamedTuple):
    """A slice of the elements along a dimension; None stands for the first, and for the end."""

    start: Number | None
    stop: Number | None


class Static(NamedTuple):
    """A Python object that is known at compile time, such as a function, a module or a dtype."""

    object: Any


def common(a: str, b: str) -> str:
    """Return the kind of the result of arithmetic with two kinds: numpy's, at least int32."""
    if a == b and a not in ("bool", "int8", "uint8"):
        return a
    if is_float(a) or is_float(b):
        wide = {"float64", "int32", "int64", "uint64"} & {a, b}
        return "float64" if wide else "float32"
    if "uint64" in (a, b):
        return "uint64"
    return (
        "int32" if {a, b} <= {"bool", "int8", "uint8", "int32"} and "int32" in (a, b) else "int64"
    )


def united(a: Any, b: Any) -> Any:
    """Return the form of a variable that gets values of two forms.

    Raises:
        TypeError: there is none.
    """
    if a == b:
        return a
    if isinstance(a, str) and isinstance(b, str):
        return common(a, b)
    if isinstance(a, Form) and isinstance(b, Form) and (a.kind, a.rank) == (b.kind, b.rank):
        return Form(a.kind, a.rank, False)
    raise TypeError(f"a variable is first {a}, and then {b}")
