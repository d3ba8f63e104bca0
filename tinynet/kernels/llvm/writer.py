"""Writes instructions in LLVM's language: arithmetic, conversions, memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tinynet.kernels.llvm.values import (
    BYTES,
    LLVM,
    ArrayValue,
    Form,
    Number,
    common,
    in_memory,
    is_float,
    is_unsigned,
    types_of_parts,
)

Value = ArrayValue | Number
FLOAT_OPERATIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
WHOLE_OPERATIONS = {"+": "add nsw", "-": "sub nsw", "*": "mul nsw"}
BITS = {"&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "ashr"}
ORDERS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def literal(value: float | int | bool, kind: str) -> Number:
    """Return a number that is known at compile time."""
    if kind == "bool":
        return Number(kind, "true" if value else "false")
    if not is_float(kind):
        return Number(kind, str(int(value)))
    if kind == "float32":  # LLVM writes it as the float64 number of the same value
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return Number(kind, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


class Writer:
    """Writes the instructions of a function.

    Args:
        flags: what LLVM may assume of floating-point numbers.
    """

    def __init__(self, flags: str):
        self.flags = flags
        self.slots: list[str] = []  # the places of variables
        self.lines: list[str] = []
        self._count = 0

    def name(self, of: str = "t") -> str:
        """Return a new name."""
        self._count += 1
        return f"{of}{self._count}"

    def put(self, instruction: str) -> str:
        """Write an instruction; return the name of its result."""
        name = f"%{self.name()}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def line(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {instruction}")

    # ---- blocks -----------------------------------------------------------------------------

    def begin(self, block: str) -> None:
        """Begin a block; the one before goes on with it unless it has ended."""
        if not self.has_ended():
            self.jump(block)
        self.lines.append(f"{block}:")

    def has_ended(self) -> bool:
        """Return whether the block has ended."""
        return bool(self.lines) and self.lines[-1].startswith(("  br ", "  ret ", "  unreachable"))

    def jump(self, block: str) -> None:
        """End the block: go on with another one."""
        if not self.has_ended():
            self.line(f"br label %{block}")

    def branch(self, condition: Number, yes: str, no: str) -> None:
        """End the block: go on with one of two."""
        self.line(f"br i1 {condition.text}, label %{yes}, label %{no}")

    # ---- numbers ----------------------------------------------------------------------------

    def cast(self, x: Number, kind: str) -> Number:
        """Convert a number."""
        if x.kind == kind:
            return x
        if kind == "bool":
            return self.compare("!=", x, literal(0, x.kind))
        old, new = LLVM[x.kind], LLVM[kind]
        if is_float(x.kind) and is_float(kind):
            how = "fpext" if new == "double" else "fptrunc"
        elif is_float(kind):
            how = "uitofp" if is_unsigned(x.kind) else "sitofp"
        elif is_float(x.kind):
            how = "fptoui" if is_unsigned(kind) else "fptosi"
        elif old == new:
            return Number(kind, x.text)
        elif x.kind == "bool" or BYTES[kind] > BYTES[x.kind]:
            how = "zext" if is_unsigned(x.kind) else "sext"
        else:
            how = "trunc"
        return Number(kind, self.put(f"{how} {old} {x.text} to {new}"))

    def reinterpret(self, x: Number, kind: str) -> Number:
        """Return the number of another kind that has the same bits."""
        return Number(kind, self.put(f"bitcast {LLVM[x.kind]} {x.text} to {LLVM[kind]}"))

    def arithmetic(self, sign: str, a: Number, b: Number) -> Number:
        """Compute ``a + b`` and the like, as numpy does."""
        kind = common(a.kind, b.kind)
        if sign == "/" and not is_float(kind):
            kind = "float64"
        a, b = self.cast(a, kind), self.cast(b, kind)
        operands = f"{LLVM[kind]} {a.text}, {b.text}"
        if is_float(kind):
            if sign not in FLOAT_OPERATIONS:
                raise TypeError(f"native code has no {sign} of floating-point numbers")
            return Number(kind, self.put(f"{FLOAT_OPERATIONS[sign]} {self.flags} {operands}"))
        if sign in ("//", "%"):
            return self._floor(sign, kind, a, b)
        if sign in BITS:
            how = "lshr" if sign == ">>" and is_unsigned(kind) else BITS[sign]
            return Number(kind, self.put(f"{how} {operands}"))
        wraps = kind == "int32"  # exponents are built so
        operation = WHOLE_OPERATIONS[sign].split()[0] if wraps else WHOLE_OPERATIONS[sign]
        return Number(kind, self.put(f"{operation} {operands}"))

    def _floor(self, sign: str, kind: str, a: Number, b: Number) -> Number:
        """Compute a quotient rounded down, or its remainder, which has the sign of ``b``."""
        t = LLVM[kind]
        if is_unsigned(kind):
            how = "udiv" if sign == "//" else "urem"
            return Number(kind, self.put(f"{how} {t} {a.text}, {b.text}"))
        rest = self.put(f"srem {t} {a.text}, {b.text}")
        differs = self.put(f"xor {t} {rest}, {b.text}")
        is_below = self.put(f"icmp slt {t} {differs}, 0")
        is_left = self.put(f"icmp ne {t} {rest}, 0")
        moves = self.put(f"and i1 {is_below}, {is_left}")
        if sign == "%":
            moved = self.put(f"add {t} {rest}, {b.text}")
            return Number(kind, self.put(f"select i1 {moves}, {t} {moved}, {t} {rest}"))
        quotient = self.put(f"sdiv {t} {a.text}, {b.text}")
        less = self.put(f"zext i1 {moves} to {t}")
        return Number(kind, self.put(f"sub {t} {quotient}, {less}"))

    def compare(self, sign: str, a: Number, b: Number) -> Number:
        """Compute ``a < b`` and the like; comparisons with NaN are false but for ``!=``."""
        kind = a.kind if a.kind == b.kind else common(a.kind, b.kind)
        a, b = self.cast(a, kind), self.cast(b, kind)
        order = ORDERS[sign]
        if is_float(kind):
            how = f"fcmp {self.flags} {'u' if sign == '!=' else 'o'}{order}"
        elif sign in ("==", "!="):
            how = f"icmp {order}"
        else:
            how = f"icmp {'u' if is_unsigned(kind) else 's'}{order}"
        return Number("bool", self.put(f"{how} {LLVM[kind]} {a.text}, {b.text}"))

    def negative(self, x: Number) -> Number:
        """Compute ``-x``."""
        if x.text.isdigit():
            return Number(x.kind, f"-{x.text}")
        if is_float(x.kind):
            return Number(x.kind, self.put(f"fneg {self.flags} {LLVM[x.kind]} {x.text}"))
        return self.arithmetic("-", literal(0, x.kind), x)

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        """Choose one of two numbers."""
        kind = a.kind if a.kind == b.kind else common(a.kind, b.kind)
        a, b, t = self.cast(a, kind), self.cast(b, kind), LLVM[kind]
        flags = f"{self.flags} " if is_float(kind) else ""
        text = f"select {flags}i1 {condition.text}, {t} {a.text}, {t} {b.text}"
        return Number(kind, self.put(text))

    def call(self, name: str, result: str, takes: Sequence[tuple[str, str]]) -> str:
        """Call a function of LLVM or C; ``takes`` are types and texts."""
        given = ", ".join(f"{t} {text}" for t, text in takes)
        flags = f"{self.flags} " if result in ("float", "double") else ""
        text = f"call {flags}{result} @{name}({given})"
        if result == "void":
            self.line(text)
            return ""
        return self.put(text)

    def times(self, a: str, b: str) -> str:
        """Return the product of two sizes."""
        if a.isdigit() and b.isdigit():
            return str(int(a) * int(b))
        return b if a == "1" else a if b == "1" else self.put(f"mul nsw i64 {a}, {b}")

    def plus(self, a: str, b: str) -> str:
        """Return the sum of two offsets."""
        return b if a == "0" else a if b == "0" else self.put(f"add nsw i64 {a}, {b}")

    # ---- memory -----------------------------------------------------------------------------

    def slot(self, kind: str) -> str:
        """Return the place of a new variable."""
        name = f"%{self.name('v')}"
        self.slots.append(f"  {name} = alloca {kind}")
        return name

    def load(self, kind: str, place: str) -> str:
        """Read a place."""
        return self.put(f"load {kind}, ptr {place}")

    def store(self, kind: str, text: str, place: str) -> None:
        """Write to a place."""
        self.line(f"store {kind} {text}, ptr {place}")

    def size(self, x: ArrayValue) -> str:
        """Return the number of elements."""
        total = "1"
        for n in x.shape:
            total = self.times(total, n)
        return total

    def steps(self, x: ArrayValue) -> tuple[str, ...]:
        """Return the distances between neighbours along each dimension, in elements."""
        if x.steps is not None:
            return x.steps
        steps = ["1"] if x.shape else []
        for n in reversed(x.shape[1:]):
            steps.insert(0, self.times(steps[0], n))
        return tuple(steps)

    def address(self, x: ArrayValue, offset: str) -> str:
        """Return the address of an element."""
        if offset == "0":
            return x.data
        return self.put(f"getelementptr inbounds {in_memory(x.kind)}, ptr {x.data}, i64 {offset}")

    def read(self, x: ArrayValue, offset: str) -> Number:
        """Read an element."""
        text = self.load(in_memory(x.kind), self.address(x, offset))
        if x.kind == "bool":
            text = self.put(f"icmp ne i8 {text}, 0")
        return Number(x.kind, text)

    def write(self, x: ArrayValue, offset: str, value: Number) -> None:
        """Write an element."""
        text = self.cast(value, x.kind).text
        if x.kind == "bool":
            text = self.put(f"zext i1 {text} to i8")
        self.store(in_memory(x.kind), text, self.address(x, offset))


class Variable:
    """A variable of a function, in memory: LLVM puts it into a register.

    Args:
        writer: writes its function.
        form: the kind of a number, or the form of an array.
    """

    def __init__(self, writer: Writer, form: str | Form):
        self._writer, self.form = writer, form
        self._types = [LLVM[form]] if isinstance(form, str) else types_of_parts(form)
        self._places = [writer.slot(t) for t in self._types]

    def get(self) -> Value:
        """Return its value."""
        texts = [self._writer.load(*pair) for pair in zip(self._types, self._places, strict=True)]
        if isinstance(self.form, str):
            return Number(self.form, texts[0])
        return ArrayValue.of_parts(self.form, texts)

    def number(self) -> Number:
        """Return its value, a number."""
        value = self.get()
        assert isinstance(value, Number)
        return value

    def set(self, value: Value) -> None:
        """Set it to a value of its form, or of one that it includes."""
        w = self._writer
        if isinstance(value, Number):
            value = w.cast(value, str(self.form))
        elif isinstance(self.form, Form) and not self.form.contiguous:
            value = ArrayValue(value.kind, value.data, value.shape, w.steps(value))
        for (t, text), place in zip(value.parts(), self._places, strict=True):
            w.store(t, text, place)
