"""Translates a Python function of numbers and arrays to LLVM's language: its statements.

The function is a loop nest: assignments, ``for`` over ``range``, ``if`` and ``return``. Variables have
one kind, the widest that they get. Indices are not checked, and do not count from the end. Arrays
that the function makes are freed after the last statement that uses them.
"""

from __future__ import annotations

import ast
from typing import Any

from tinynet.kernels.llvm.expressions import Expressions
from tinynet.kernels.llvm.values import LLVM, ArrayValue, Form, Number, types_of_parts, united
from tinynet.kernels.llvm.writer import Variable, literal


class Widened(Exception):  # noqa: N818
    """A variable needs another form: the function is translated again."""


class Translation(Expressions):
    """The translation of a function for arguments of given forms.

    Args:
        module: the LLVM module that it becomes part of.
        tree: its syntax tree.
        space: its global names.
        widened: forms of variables that an earlier attempt has found.
    """

    def __init__(self, module: Any, tree: ast.FunctionDef, space: Any, widened: dict[str, Any]):
        super().__init__(module, space)
        self._tree, self._widened = tree, widened
        self.result: tuple[str, ...] | None = None  # kinds of what it returns

    def text(self, name: str, forms: tuple[Any, ...]) -> str:
        """Return the definition of the function."""
        w, takes = self.writer, []
        for arg, form in zip(self._tree.args.args, forms, strict=True):
            types = [LLVM[form]] if isinstance(form, str) else types_of_parts(form)
            texts = [f"%{arg.arg}.{k}" for k in range(len(types))]
            takes += [f"{t} {text}" for t, text in zip(types, texts, strict=True)]
            plain = isinstance(form, str)
            self.assign(arg.arg, Number(form, texts[0]) if plain else ArrayValue.of_parts(form, texts))
        body = self._tree.body
        for at, statement in enumerate(body):
            self.statement(statement)
            self._free_unused(body[at + 1 :])
        if not w.has_ended():
            self._return(None)
        inline = "" if any(isinstance(form, Form) for form in forms) else " alwaysinline"
        head = f"define internal {self.returned()} @{name}({', '.join(takes)}) nounwind{inline} {{"
        lines = [head, "entry:", *w.slots]
        lines += [f"  store ptr null, ptr {slot}" for slot in self.allocated]
        return "\n".join([*lines, "  br label %body", "body:", *w.lines, "}"])

    def returned(self) -> str:
        """Return LLVM's type of what it returns."""
        kinds = self.result or ()
        types = [LLVM[kind] for kind in kinds]
        return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}" if types else "void"

    # ---- variables --------------------------------------------------------------------------

    def assign(self, name: str, value: Any) -> None:
        """Set a variable, or what a name stands for at compile time."""
        if not isinstance(value, Number | ArrayValue):
            self.names[name] = value
            return
        variable = self.names.get(name)
        if not isinstance(variable, Variable):
            form = self._widened.get(name, value.form)
            variable = self.names[name] = Variable(self.writer, form)
        self._fit(name, variable.form, value.form)
        variable.set(value)

    def _fit(self, name: str, form: Any, given: Any) -> None:
        whole = united(form, given)
        if whole != form:
            self._widened[name] = whole
            raise Widened(name)

    # ---- statements -------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> None:
        """Translate a statement."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise TypeError(f"native code has no {type(node).__name__}, line {node.lineno}")
        method(node)

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.value(node.value)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._put(target, value)
        self._share(_names(node.value), _names(*node.targets))

    def _put(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Tuple):
            parts = value if isinstance(value, tuple) else ()
            for one, part in zip(target.elts, parts, strict=True):
                self._put(one, part)
        elif isinstance(target, ast.Name):
            self.assign(target.id, value)
        else:
            assert isinstance(target, ast.Subscript)
            self._write(self.place(target), value)

    def _write(self, place: tuple[ArrayValue, str] | ArrayValue, value: Number) -> None:
        """Write a number to an element, or to each of a contiguous array."""
        w = self.writer
        if isinstance(place, tuple) and not isinstance(place, ArrayValue):
            w.write(*place, value)
            return
        assert place.steps is None
        same = w.cast(value, place.kind)
        self.loop(literal(0, "int64"), Number("int64", w.size(place)), literal(1, "int64"),
                  lambda i: w.write(place, i.text, same))  # fmt: skip

    def _augassign(self, node: ast.AugAssign) -> None:
        value, sign = self.value(node.value), self.sign(node.op)
        if isinstance(node.target, ast.Name):
            found = self.writer.arithmetic(sign, self.value(node.target), value)
            self.assign(node.target.id, found)
            return
        place = self.place(node.target)
        old = self.writer.read(*place)
        self._write(place, self.writer.arithmetic(sign, old, value))

    def _if(self, node: ast.If) -> None:
        w = self.writer
        yes, no, end = (w.name(kind) for kind in ("yes", "no", "end"))
        w.branch(self.truth(node.test), yes, no)
        for block, statements in ((yes, node.body), (no, node.orelse)):
            w.begin(block)
            for statement in statements:
                self.statement(statement)
            w.jump(end)
        w.begin(end)

    def _for(self, node: ast.For) -> None:
        call = node.iter
        assert isinstance(call, ast.Call)
        assert isinstance(node.target, ast.Name)
        name, given = node.target.id, [self.value(arg) for arg in call.args]
        start, stop = (literal(0, "int64"), *given)[-2:] if len(given) < 3 else given[:2]
        step = given[2] if len(given) == 3 else literal(1, "int64")

        def body(i: Number) -> None:
            self.assign(name, i)
            for statement in node.body:
                self.statement(statement)

        self.loop(start, stop, step, body)

    def loop(self, start: Number, stop: Number, step: Number, body: Any) -> None:
        """Write a loop over a range of whole numbers, upwards."""
        w, kind = self.writer, stop.kind
        counter = Variable(w, kind)
        counter.set(start)
        head, inside, after, end = (w.name(part) for part in ("head", "inside", "after", "end"))
        w.begin(head)
        i = counter.get()
        assert isinstance(i, Number)
        w.branch(w.compare("<", i, stop), inside, end)
        w.begin(inside)
        self.loops.append((after, end))
        body(i)
        self.loops.pop()
        w.begin(after)
        counter.set(w.arithmetic("+", i, w.cast(step, kind)))
        w.jump(head)
        w.begin(end)

    def _continue(self, node: ast.Continue) -> None:
        self._leave(self.loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self._leave(self.loops[-1][1])

    def _leave(self, block: str) -> None:
        self.writer.jump(block)

    def _return(self, node: ast.Return | None) -> None:
        w = self.writer
        value = None if node is None or node.value is None else self.value(node.value)
        values = value if type(value) is tuple else () if value is None else (value,)
        kinds = tuple(v.kind for v in values)
        if self.result is None:
            self.result = self._widened.get("return", kinds)
        if len(kinds) != len(self.result):
            raise TypeError("a function returns values, or none")
        whole = tuple(united(a, b) for a, b in zip(self.result, kinds, strict=True))
        if whole != self.result:
            self._widened["return"] = whole
            raise Widened("return")
        texts = [w.cast(v, kind) for v, kind in zip(values, whole, strict=True)]
        for place in self.allocated:
            self._free(place)
        if len(texts) < 2:
            w.line(f"ret {self.returned()} {texts[0].text}" if texts else "ret void")
            return
        made = "poison"
        for k, (kind, text) in enumerate(texts):
            made = w.put(f"insertvalue {self.returned()} {made}, {LLVM[kind]} {text}, {k}")
        w.line(f"ret {self.returned()} {made}")

    # ---- memory -----------------------------------------------------------------------------

    def _share(self, given: set[str], names: set[str]) -> None:
        """Note that names may stand for the arrays that others stand for."""
        for own in self.owned.values():
            if own & given:
                own |= names
        for place in self.fresh:
            self.owned[place] = {*names}
        self.fresh.clear()

    def _free_unused(self, rest: list[ast.stmt]) -> None:
        """Free the arrays that the rest of the function does not use."""
        if self.writer.has_ended():
            return
        later = _names(*rest) | self.pinned
        for place in [place for place, names in self.owned.items() if not names & later]:
            self._free(place)
            self.writer.store("ptr", "null", place)
            del self.owned[place]

    def _free(self, place: str) -> None:
        self.writer.call("free", "void", [("ptr", self.writer.load("ptr", place))])


def _names(*nodes: ast.AST) -> set[str]:
    """Return the names in syntax trees."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}
