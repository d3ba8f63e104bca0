"""Translates expressions of a Python function to LLVM's language."""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np

from tinynet.kernels.llvm.scope import Scope, unknown
from tinynet.kernels.llvm.values import (
    BYTES,
    LLVM,
    ArrayValue,
    Number,
    Part,
    Static,
    is_float,
)
from tinynet.kernels.llvm.writer import Variable, literal

SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
# Functions of floating-point numbers: of LLVM ("llvm."), or of the C library.
OF_FLOATS = {
    math.sqrt: "llvm.sqrt", np.sqrt: "llvm.sqrt", math.exp: "llvm.exp", np.exp: "llvm.exp",
    math.log: "llvm.log", np.log: "llvm.log", math.sin: "llvm.sin", math.cos: "llvm.cos",
    np.floor: "llvm.floor", builtins.abs: "llvm.fabs", math.tanh: "tanh", math.log1p: "log1p",
    math.expm1: "expm1",
}  # fmt: skip


class Expressions(Scope):
    """Translates expressions."""

    # ---- names and constants ----------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise unknown(node)
        return method(node)

    def number(self, node: ast.expr) -> Number:
        """Return the value of an expression that is a number."""
        found = self.value(node)
        if not isinstance(found, Number):
            raise TypeError(f"this is no number: {ast.unparse(node)}")
        return found

    def truth(self, node: ast.expr) -> Number:
        """Return whether a value is true."""
        return self.writer.cast(self.number(node), "bool")

    def _constant(self, node: ast.Constant) -> Any:
        return self._known(node.value)

    def _known(self, found: Any) -> Any:
        """Return the value of a Python object."""
        if isinstance(found, bool | np.bool_):
            return literal(bool(found), "bool")
        if isinstance(found, int):
            return literal(found, "int64")
        if isinstance(found, np.generic) and found.dtype.name in LLVM:
            return literal(found.item(), found.dtype.name)
        if isinstance(found, float):
            return literal(found, "float64")
        return Static(found)

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            found = self.names[node.id]
            return found.get() if isinstance(found, Variable) else found
        if node.id in self.space:
            return self._known(self.space[node.id])
        if not hasattr(builtins, node.id):
            raise TypeError(f"native code has no {node.id}")
        return Static(getattr(builtins, node.id))

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(part) for part in node.elts)

    def _attribute(self, node: ast.Attribute) -> Any:
        w, name = self.writer, node.attr
        if name == "data" and isinstance(node.value, ast.Attribute) and node.value.attr == "ctypes":
            return self.address_of(self.value(node.value.value), node)
        owner = self.value(node.value)
        if isinstance(owner, Static):
            return self._known(getattr(owner.object, name))
        if not isinstance(owner, Number | ArrayValue):
            raise unknown(node)
        if name == "dtype":
            return Static(np.dtype(owner.kind))
        if not isinstance(owner, ArrayValue) or name not in (
            "size",
            "itemsize",
            "strides",
            "shape",
        ):
            raise unknown(node)
        if name == "size":
            return Number("int64", w.size(owner))
        if name == "itemsize":
            return literal(BYTES[owner.kind], "int64")
        if name == "strides":
            item = str(BYTES[owner.kind])
            return tuple(Number("int64", w.times(step, item)) for step in w.steps(owner))
        return tuple(Number("int64", n) for n in owner.shape)

    # ---- operators --------------------------------------------------------------------------

    def sign(self, operator: ast.operator | ast.cmpop) -> str:
        """Return the sign of an operator."""
        if type(operator) not in SIGNS:
            raise TypeError(f"native code has no operator {type(operator).__name__}")
        return SIGNS[type(operator)]

    def _binop(self, node: ast.BinOp) -> Number:
        a, b = self.number(node.left), self.number(node.right)
        return self.writer.arithmetic(self.sign(node.op), a, b)

    def _unaryop(self, node: ast.UnaryOp) -> Number:
        if isinstance(node.op, ast.Not):
            return self.writer.compare("==", self.truth(node.operand), literal(False, "bool"))
        if not isinstance(node.op, ast.USub):
            raise unknown(node)
        return self.writer.negative(self.number(node.operand))

    def _compare(self, node: ast.Compare) -> Number:
        pairs = zip(node.ops, node.comparators, strict=True)
        left, found = self.number(node.left), None
        for operator, comparator in pairs:
            right = self.number(comparator)
            one = self.writer.compare(self.sign(operator), left, right)
            found = one if found is None else self._both("and", found, one)
            left = right
        assert found is not None
        return found

    def _both(self, how: str, a: Number, b: Number) -> Number:
        return Number("bool", self.writer.put(f"{how} i1 {a.text}, {b.text}"))

    def _boolop(self, node: ast.BoolOp) -> Number:
        how = "and" if isinstance(node.op, ast.And) else "or"
        found = self.truth(node.values[0])
        for operand in node.values[1:]:
            if _is_plain(operand):
                found = self._both(how, found, self.truth(operand))
            else:
                found = self._unless(how, found, operand)
        return found

    def _unless(self, how: str, found: Number, operand: ast.expr) -> Number:
        """Compute an operand only if the one before does not decide."""
        w, result = self.writer, Variable(self.writer, "bool")
        result.set(found)
        further, end = w.name("further"), w.name("end")
        w.branch(found, *((further, end) if how == "and" else (end, further)))
        w.begin(further)
        result.set(self.truth(operand))
        w.begin(end)
        return result.number()

    def _ifexp(self, node: ast.IfExp) -> Any:
        condition = self.truth(node.test)
        if _is_plain(node.body) and _is_plain(node.orelse):
            return self._selected(condition, self.value(node.body), self.value(node.orelse))
        w, name = self.writer, f"?{node.lineno}.{node.col_offset}"
        yes, no, end = (w.name(kind) for kind in ("yes", "no", "end"))
        w.branch(condition, yes, no)
        for block, part in ((yes, node.body), (no, node.orelse)):
            w.begin(block)
            found = self.value(part)
            for k, one in enumerate(found if type(found) is tuple else (found,)):
                self.assign(f"{name}.{k}", one)
            w.jump(end)
        w.begin(end)
        if type(found) is tuple:
            return tuple(self.names[f"{name}.{k}"].get() for k in range(len(found)))
        return self.names[f"{name}.0"].get()

    def _selected(self, condition: Number, a: Any, b: Any) -> Any:
        if isinstance(a, Number) and isinstance(b, Number):
            return self.writer.select(condition, a, b)
        if type(a) is not tuple or type(b) is not tuple:
            raise TypeError("native code chooses between numbers")
        return tuple(self._selected(condition, *pair) for pair in zip(a, b, strict=True))

    # ---- elements and parts of arrays -------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if type(owner) is tuple:
            return owner[ast.literal_eval(node.slice)]
        place = self._part(owner, node)
        return place if isinstance(place, ArrayValue) else self.writer.read(*place)

    def place(self, node: ast.Subscript) -> Any:
        """Return the array and the offset of an element, or the part of an array."""
        return self._part(self.value(node.value), node)

    def _part(self, x: ArrayValue, node: ast.Subscript) -> Any:
        if not isinstance(x, ArrayValue):
            raise unknown(node)
        w = self.writer
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        places = [self._index(one) for one in given]
        steps, offset = w.steps(x), "0"
        shape: list[str] = []
        kept: list[str] = []
        gaps = False  # whether elements are left out between those that stay
        for at, n in enumerate(x.shape):
            place = places[at] if at < len(places) else Part(None, None)
            if isinstance(place, Number):
                index = w.cast(place, "int64").text
                offset = w.plus(offset, w.times(index, steps[at]))
                gaps = gaps or bool(shape)
                continue
            start, length = self._range(place, n)
            offset = w.plus(offset, w.times(start, steps[at]))
            gaps = gaps or bool(shape) and place != Part(None, None)
            shape.append(length)
            kept.append(steps[at])
        if not shape:
            return x, offset
        whole = None if x.steps is None and not gaps else tuple(kept)
        return ArrayValue(x.kind, w.address(x, offset), tuple(shape), whole)

    def _index(self, node: ast.expr) -> Number | Part:
        ends: list[ast.expr | None] = [node]
        if isinstance(node, ast.Slice):
            if node.step is not None:
                raise unknown(node)
            ends = [node.lower, node.upper]
        found = [None if n is None else self.value(n) for n in ends]
        if any(isinstance(n, Number) and n.text.startswith("-") for n in found):
            raise TypeError(f"places do not count from the end: {ast.unparse(node)}")
        if isinstance(node, ast.Slice):
            return Part(*found)
        if not isinstance(found[0], Number | Part):
            raise unknown(node)
        return found[0]

    def _range(self, part: Part, n: str) -> tuple[str, str]:
        """Return the first position and the length of a part of a dimension."""
        w = self.writer
        start = "0" if part.start is None else w.cast(part.start, "int64").text
        if part.stop is None:
            stop = n
        else:
            self.module.declare("llvm.smin.i64", "i64", ["i64", "i64"])
            ends = [("i64", w.cast(part.stop, "int64").text), ("i64", n)]
            stop = w.call("llvm.smin.i64", "i64", ends)
        return start, stop if start == "0" else w.put(f"sub nsw i64 {stop}, {start}")

    # ---- calls ------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Any:
        if node.keywords:
            raise unknown(node)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if not isinstance(owner, Static):
                return self._method(owner, node.func.attr, node)
        return self.called(self.value(node.func).object, [self.value(arg) for arg in node.args])

    def _method(self, owner: Any, name: str, node: ast.Call) -> Any:
        args = [self.value(arg) for arg in node.args]
        if name == "view" and isinstance(owner, Number):
            return self.writer.reinterpret(owner, np.dtype(args[0].object).name)
        if name != "reshape" or not isinstance(owner, ArrayValue):
            raise unknown(node)
        return self.reshaped(owner, tuple(args))

    def reshaped(self, x: ArrayValue, shape: tuple[Number, ...]) -> ArrayValue:
        """Return a contiguous array in another shape."""
        if x.steps is not None or any(n.text.startswith("-") for n in shape):
            raise TypeError("only a contiguous array has other shapes, of known lengths")
        return ArrayValue(x.kind, x.data, tuple(n.text for n in shape))

    def called(self, function: Any, args: list[Any]) -> Any:
        """Return the result of a call."""
        w = self.writer
        if isinstance(function, type) and issubclass(function, np.generic | float | int):
            return w.cast(args[0], np.dtype(function).name)
        if function in OF_FLOATS:
            return self._of_float(OF_FLOATS[function], args[0])
        return self.module.call(self, function, args)

    def _of_float(self, name: str, x: Number) -> Number:
        if name == "llvm.fabs" and not is_float(x.kind):
            self.module.declare("llvm.abs.i64", "i64", ["i64", "i1"])
            given = [("i64", self.writer.cast(x, "int64").text), ("i1", "false")]
            return Number("int64", self.writer.call("llvm.abs.i64", "i64", given))
        kind = x.kind if is_float(x.kind) else "float64"
        single = kind == "float32"
        if name.startswith("llvm."):
            name += ".f32" if single else ".f64"
        else:
            name += "f" if single else ""
        t = LLVM[kind]
        self.module.declare(name, t, [t])
        return Number(kind, self.writer.call(name, t, [(t, self.writer.cast(x, kind).text)]))


def _is_plain(node: ast.expr) -> bool:
    """Return whether an expression may be computed where its value is not needed."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and not _of_shape(part):
            return False
        if isinstance(part, ast.Call) and not (
            isinstance(part.func, ast.Name) and part.func.id in LLVM
        ):
            return False
    return True


def _of_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")
