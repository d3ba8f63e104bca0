"""The C function by which Python calls a compiled function: it reads numpy's arrays itself.

The fields of an array object stand where numpy's C interface guarantees them. Where an argument is
not of the form that the function was compiled for, the entry returns ``NotImplemented``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.kernels.llvm.assembly import Module
from tinynet.kernels.llvm.functions import NO_MEMORY
from tinynet.kernels.llvm.values import BYTES, LLVM, ArrayValue, Form, Number
from tinynet.kernels.llvm.writer import Writer, literal

NAME = "tinynet_entry"
HEAD = object.__basicsize__  # bytes of the head of a Python object; its type is the last field
DATA, RANK, SHAPE, STRIDES, DTYPE, FLAGS = (HEAD + n for n in (0, 8, 16, 24, 40, 48))
NUMBER = HEAD + 12  # of its dtype, in the dtype
ORDER = HEAD + 10  # of its bytes
CONTIGUOUS, ALIGNED = 0x1, 0x100
CHARACTERS = "?bBhHiIlLqQfd"  # of dtypes; two of them may be int64
POINTER = 8


class Entry:
    """Writes the entry of a function.

    Args:
        module: the module of the function.
        callee: its name.
        forms: the forms of its arguments.
        results: the kinds of what it returns; one at most.
    """

    def __init__(self, module: Module, callee: str, forms: Sequence[Any], results: tuple[str, ...]):
        self._module, self._callee, self._forms, self._results = module, callee, forms, results
        self._writer = w = Writer("")
        self._fits = Number("bool", w.put(f"icmp eq i64 %count, {len(forms)}"))

    def text(self) -> str:
        """Return its definition."""
        w = self._writer
        self._go_on("objects")
        places = [self._word("ptr", "%args", k * POINTER) for k in range(len(self._forms))]
        pairs = [*zip(places, self._forms, strict=True)]
        arrays = [(place, form) for place, form in pairs if isinstance(form, Form)]
        for place, _ in arrays:
            self._check_type(place)
        self._go_on("arrays")
        for place, form in arrays:
            self._check_form(place, form)
        self._go_on("sizes")  # an array of another rank may have none
        given = [
            part
            for place, form in pairs
            for part in (
                self._array(place, form) if isinstance(form, Form) else self._number(place, form)
            )
        ]
        if len(arrays) < len(pairs):
            failed = self._call("PyErr_Occurred", "ptr", [])
            self._require(w.put(f"icmp eq ptr {failed}, null"))
        self._go_on("fits")
        state = self._call("PyEval_SaveThread", "ptr", [])
        result = LLVM[self._results[0]] if self._results else "void"
        made = w.call(self._callee, result, given)
        self._call("PyEval_RestoreThread", "void", [("ptr", state)])
        self._check_memory()
        self._return(made)
        w.begin("other")
        self._call("PyErr_Clear", "void", [])
        self._return_object("_Py_NotImplementedStruct")
        head = f"define ptr @{NAME}(ptr %self, ptr %args, i64 %count) {{"
        return "\n".join([head, "entry:", *w.lines, "}"])

    def _check_memory(self) -> None:
        """Raise MemoryError if an array could not be made."""
        w = self._writer
        found = w.load("i8", f"@{NO_MEMORY}")
        w.branch(Number("bool", w.put(f"icmp eq i8 {found}, 0")), "done", "full")
        w.begin("full")
        w.store("i8", "0", f"@{NO_MEMORY}")
        self._call("PyErr_NoMemory", "ptr", [])
        w.line("ret ptr null")
        w.begin("done")

    def _return(self, made: str) -> None:
        w = self._writer
        if not self._results:
            self._return_object("_Py_NoneStruct")
            return
        x = Number(self._results[0], made)
        if x.kind.startswith("float"):
            given = [("double", w.cast(x, "float64").text)]
            w.line(f"ret ptr {self._call('PyFloat_FromDouble', 'ptr', given)}")
            return
        given = [("i64", w.cast(x, "int64").text)]
        name = "PyBool_FromLong" if x.kind == "bool" else "PyLong_FromLongLong"
        w.line(f"ret ptr {self._call(name, 'ptr', given)}")

    def _return_object(self, name: str) -> None:
        self._module.globals.add(name)
        self._call("Py_IncRef", "void", [("ptr", f"@{name}")])
        self._writer.line(f"ret ptr @{name}")

    def _call(self, name: str, result: str, takes: list[tuple[str, str]]) -> str:
        self._module.declare(name, result, [t for t, _ in takes])
        return self._writer.call(name, result, takes)

    def _word(self, kind: str, base: str, offset: int) -> str:
        """Read a field of a structure."""
        place = self._writer.put(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self._writer.load(kind, place)

    def _go_on(self, block: str) -> None:
        """Go on with a block if all that was required holds."""
        self._writer.branch(self._fits, block, "other")
        self._writer.begin(block)
        self._fits = literal(True, "bool")

    def _require(self, condition: str) -> None:
        text = self._writer.put(f"and i1 {self._fits.text}, {condition}")
        self._fits = Number("bool", text)

    def _check_type(self, place: str) -> None:
        self._module.globals.add("tinynet_ndarray")
        kind = self._word("ptr", place, HEAD - POINTER)
        self._require(self._writer.put(f"icmp eq ptr {kind}, @tinynet_ndarray"))

    def _check_form(self, place: str, form: Form) -> None:
        w, dtype = self._writer, self._word("ptr", place, DTYPE)
        number, is_kind = self._word("i32", dtype, NUMBER), "false"
        for own in sorted({np.dtype(c).num for c in CHARACTERS if np.dtype(c).name == form.kind}):
            is_kind = w.put(f"or i1 {is_kind}, {w.put(f'icmp eq i32 {number}, {own}')}")
        self._require(is_kind)
        swapped = ord("<>"[sys.byteorder == "little"])
        self._require(w.put(f"icmp ne i8 {self._word('i8', dtype, ORDER)}, {swapped}"))
        self._require(w.put(f"icmp eq i32 {self._word('i32', place, RANK)}, {form.rank}"))
        flags = CONTIGUOUS | ALIGNED if form.contiguous else ALIGNED
        found = w.put(f"and i32 {self._word('i32', place, FLAGS)}, {flags}")
        self._require(w.put(f"icmp eq i32 {found}, {flags}"))

    def _array(self, place: str, form: Form) -> list[tuple[str, str]]:
        w = self._writer
        data, sizes = self._word("ptr", place, DATA), self._word("ptr", place, SHAPE)
        shape = tuple(self._word("i64", sizes, k * POINTER) for k in range(form.rank))
        steps = None
        if not form.contiguous:
            strides = self._word("ptr", place, STRIDES)
            each = (self._word("i64", strides, k * POINTER) for k in range(form.rank))
            steps = tuple(w.put(f"sdiv exact i64 {step}, {BYTES[form.kind]}") for step in each)
        return ArrayValue(form.kind, data, shape, steps).parts()

    def _number(self, place: str, kind: str) -> list[tuple[str, str]]:
        w = self._writer
        if kind.startswith("float"):
            text = self._call("PyFloat_AsDouble", "double", [("ptr", place)])
            return [(LLVM[kind], w.cast(Number("float64", text), kind).text)]
        if kind == "bool":
            text = self._call("PyObject_IsTrue", "i32", [("ptr", place)])
            return [("i1", w.put(f"icmp ne i32 {text}, 0"))]
        text = self._call("PyLong_AsLongLong", "i64", [("ptr", place)])
        return [(LLVM[kind], w.cast(Number("int64", text), kind).text)]
