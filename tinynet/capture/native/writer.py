"""Writing native functions: a run of calls as the source of one function for LLVM.

Numbers of no dimensions are local variables. Elementwise calls of one shape, one after the other,
become one loop, in which values that nothing else needs are local variables, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.capture.program import Call, Value
from tinynet.kernels.llvm.sharing import LARGE

Shape = tuple[int, ...]


class Writer:
    """Writes the body of a native function.

    Args:
        kind: the dtype of all floating-point values.
        needed: numbers of the values that the caller needs.
        last: number of a value -> the last call that uses it.
    """

    def __init__(self, kind: np.dtype[Any], needed: set[int], last: dict[int, int]):
        self.kind, self.needed, self.last = kind, needed, last
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.at = 0  # the number of the call
        self._shape: Shape | None = None  # of the loop being collected
        self._loop: list[tuple[Value, str, list[Value]]] = []
        self._flat: set[int] = set()
        self._made: set[int] = set()
        self.inputs: dict[int, Value] = {}
        self.can_fail = False
        self.scratch = 0  # bytes of the arrays that only the function sees

    # ---- values -----------------------------------------------------------------------------

    def number(self, value: Any) -> str:
        """Return the name of a constant in the dtype of the program."""
        text = f"{self.kind.name}({float(value)!r})"
        if not math.isfinite(value):
            text = f"{self.kind.name}(np.{'nan' if value != value else 'inf'})"
            text = f"-{text}" if value < 0 else text
        return self.constants.setdefault(text, f"c{len(self.constants)}")

    def array(self, value: Value) -> str:
        """Return the name of a value as an array, after all loops that compute it."""
        self.flush()
        self._use(value)
        return f"v{value.number}"

    def scalar(self, value: Value) -> str:
        """Return the name of a value of no dimensions."""
        self._use(value)
        return f"s{value.number}"

    def _use(self, value: Value) -> None:
        if value.number not in self._made:
            self.inputs.setdefault(value.number, value)

    def new(self, value: Value) -> str:
        """Return the name of a new array for a value."""
        self.flush()
        self._made.add(value.number)
        if value.number not in self.needed:
            kind = f"np.{value.dtype.name}"
            self.lines.append(f"v{value.number} = empty({value.shape!r}, {kind})")
            self.scratch += value.nbytes
        return f"v{value.number}"

    def view(self, value: Value, text: str) -> None:
        """Name a view of another value."""
        self._made.add(value.number)
        self.lines.append(f"v{value.number} = {text}")

    def set_scalar(self, value: Value, text: str) -> None:
        """Compute a value of no dimensions."""
        self._made.add(value.number)
        self.lines.append(f"s{value.number} = {text}")
        if value.number in self.needed:
            self.lines.append(f"v{value.number}[()] = s{value.number}")

    # ---- loops ------------------------------------------------------------------------------

    def element(self, value: Value) -> str:
        """Return text that stands for the element of a value in the loop being collected."""
        self._use(value)
        return f"s{value.number}" if value.shape == () else f"<{value.number}>"

    def elementwise(self, value: Value, text: str, operands: list[Value]) -> None:
        """Compute a value element by element; ``text`` is made of ``element``s."""
        shape = value.shape
        assert shape is not None
        if shape == ():
            self.flush()
            self.set_scalar(value, text)
            return
        inside = {v.number for v, _, _ in self._loop}
        odd = any(v.number in inside and v.shape != shape for v in operands)
        if shape != self._shape or odd:
            self.flush()
        self._shape = shape
        self._made.add(value.number)
        self._loop.append((value, text, operands))

    def flush(self) -> None:
        """Write the loop that was collected."""
        if not self._loop:
            return
        loop, shape = self._loop, self._shape
        assert shape is not None
        self._loop, self._shape = [], None
        inside = {value.number for value, _, _ in loop}
        stored = [
            v for v, _, _ in loop if v.number in self.needed or self.last[v.number] >= self.at
        ]
        for value in stored:
            self.new(value)
        outside = {
            v.number: v
            for _, _, operands in loop
            for v in operands
            if v.number not in inside and v.shape != ()
        }
        flat = all(v.shape == shape for v in outside.values()) and len(shape) > 1
        if flat:
            for value in (*outside.values(), *stored):
                if value.number not in self._flat:
                    self._flat.add(value.number)
                    self.lines.append(f"f{value.number} = view(v{value.number}, ({value.size},))")
            axes: Shape = (math.prod(shape),)
        else:
            axes = shape
        self._write(loop, stored, outside, axes, flat)

    def _write(
        self,
        loop: list[tuple[Value, str, list[Value]]],
        stored: list[Value],
        outside: dict[int, Value],
        axes: Shape,
        flat: bool,
    ) -> None:
        shape, array = loop[0][0].shape or (), "f" if flat else "v"
        indent = ""
        work = math.prod(axes) * len(loop)
        for d, n in enumerate(axes):
            numbers = f"shared({n}, {work})" if d == 0 and work >= LARGE else f"range({n})"
            self.lines.append(f"{indent}for i{d} in {numbers}:")
            indent += "    "
        for number, value in outside.items():
            place = "i0" if flat else self._place(value, shape)
            self.lines.append(f"{indent}e{number} = {array}{number}[{place}]")
        for value, text, operands in loop:
            for v in operands:
                text = text.replace(f"<{v.number}>", f"e{v.number}")
            self.lines.append(f"{indent}e{value.number} = {text}")
            if value in stored:
                place = "i0" if flat else ", ".join(f"i{d}" for d in range(len(shape)))
                self.lines.append(f"{indent}{array}{value.number}[{place}] = e{value.number}")

    @staticmethod
    def _place(value: Value, shape: Shape) -> str:
        assert value.shape is not None
        skipped = len(shape) - len(value.shape)
        each = (f"i{d + skipped}" if n != 1 or shape[d + skipped] == 1 else "0"
                for d, n in enumerate(value.shape))  # fmt: skip
        return ", ".join(each)


def last_uses(calls: list[Call]) -> dict[int, int]:
    """Return the number of the last call that uses each value."""
    last: dict[int, int] = {}
    for at, call in enumerate(calls):
        for value in (*call.inputs(), *call.outputs()):
            last[value.number] = at
    return last
