"""Translates a Python function of numbers and arrays to LLVM's language: its statements.

A function consists of assignments, ``for`` over ``range``, ``if`` and ``return``. A variable has
one kind, the widest that it gets. Indices are not checked, and do not count from the end. Arrays
that the function makes are freed after the last statement that uses them.
"""

from __future__ import annotations

import ast
from typing import Any

from tinynet.kernels.llvm import memory, sharing
from tinynet.kernels.llvm.expressions import Expressions
from tinynet.kernels.llvm.scope import names_in, unknown
from tinynet.kernels.llvm.values import (
    LLVM,
    ArrayValue,
    Form,
    Number,
    Static,
    type_of_results,
    types_of_parts,
)
from tinynet.kernels.llvm.writer import literal

NO_MEMORY = "tinynet_no_memory"  # the variable that says that an array could not be made


class Translation(Expressions):
    """The translation of a function for arguments of given forms.

    Args:
        module: the LLVM module that it becomes part of.
        tree: its syntax tree.
        space: its global names.
        widened: the forms of variables that an earlier attempt has found.
    """

    def __init__(self, module: Any, tree: ast.FunctionDef, space: Any, widened: dict[str, Any]):
        super().__init__(module, space, widened)
        self._tree = tree
        self._is_over = False  # both sides of a condition have returned
        self.result: tuple[str, ...] | None = None  # kinds of what it returns

    def text(self, name: str, forms: tuple[Any, ...]) -> str:
        """Return the definition of the function.

        Raises:
            Widened: a variable needs another form than it had so far.
        """
        w, takes = self.writer, self._parameters(forms)
        body = self._tree.body
        for at, statement in enumerate(body):
            self._block([statement])
            self.free_unused(body[at + 1 :])
        if self._is_over:
            w.line("unreachable")
        elif not w.has_ended():
            self._return(None)
        if self.allocated:
            w.begin("failed")
            self.free_all()
            w.store("i8", "1", f"@{NO_MEMORY}")
            w.line(f"ret {self.returned()} {'zeroinitializer' if self.result else ''}")
        inline = "" if any(isinstance(form, Form) for form in forms) else " alwaysinline"
        head = f"define internal {self.returned()} @{name}({', '.join(takes)}) nounwind{inline} {{"
        return self._definition(head)

    def _definition(self, head: str) -> str:
        lines = [head, "entry:", *self.writer.slots]
        lines += [f"  store ptr null, ptr {place}" for place in self.allocated]
        return "\n".join([*lines, "  br label %body", "body:", *self.writer.lines, "}"])

    def _parameters(self, forms: tuple[Any, ...]) -> list[str]:
        """Set the variables of the arguments; return LLVM's parameters."""
        takes: list[str] = []
        for arg, form in zip(self._tree.args.args, forms, strict=True):
            types = [LLVM[form]] if isinstance(form, str) else types_of_parts(form)
            texts = [f"%{arg.arg}.{k}" for k in range(len(types))]
            takes += [f"{t} {text}" for t, text in zip(types, texts, strict=True)]
            is_number = isinstance(form, str)
            value = Number(form, texts[0]) if is_number else ArrayValue.of_parts(form, texts)
            self.assign(arg.arg, value)
        return takes

    def returned(self) -> str:
        """Return LLVM's type of what it returns."""
        return type_of_results(self.result or ())

    # ---- statements -------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> None:
        """Translate statements; those after a return are never reached."""
        for node in statements:
            if self.writer.has_ended() or self._is_over:
                return
            method = getattr(self, f"_{type(node).__name__.lower()}", None)
            if method is None:
                raise unknown(node)
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
        values = value if type(value) is tuple else (value,)
        if any(isinstance(one, ArrayValue) for one in values):
            self.share(names_in(node.value), names_in(*node.targets))

    def _put(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            self._write(self.place(target), value)
        elif not isinstance(target, ast.Tuple) or type(value) is not tuple:
            raise unknown(target)
        else:
            for one, part in zip(target.elts, value, strict=True):
                self._put(one, part)

    def _write(self, place: tuple[ArrayValue, str] | ArrayValue, value: Number) -> None:
        if isinstance(place, ArrayValue):
            self.fill(place, value)
        else:
            self.writer.write(*place, value)

    def _augassign(self, node: ast.AugAssign) -> None:
        value, sign = self.value(node.value), self.sign(node.op)
        if isinstance(node.target, ast.Name):
            found = self.writer.arithmetic(sign, self.value(node.target), value)
            self.assign(node.target.id, found)
            return
        if not isinstance(node.target, ast.Subscript):
            raise unknown(node)
        place = self.place(node.target)
        old = self.writer.read(*place)
        self._write(place, self.writer.arithmetic(sign, old, value))

    def _if(self, node: ast.If) -> None:
        w, goes_on = self.writer, False
        yes, no, end = (w.name(kind) for kind in ("yes", "no", "end"))
        w.branch(self.truth(node.test), yes, no)
        for block, statements in ((yes, node.body), (no, node.orelse)):
            w.begin(block)
            self._block(statements)
            goes_on = goes_on or not (w.has_ended() or self._is_over)
            if self._is_over:
                w.line("unreachable")
                self._is_over = False
            w.jump(end)
        w.begin(end)
        self._is_over = not goes_on

    def _for(self, node: ast.For) -> None:
        call, target = node.iter, node.target
        if not isinstance(call, ast.Call) or not isinstance(target, ast.Name) or node.orelse:
            raise unknown(node)
        function, given = self.value(call.func), [self.number(arg) for arg in call.args]
        if function == Static(memory.shared):
            self._share(node, target.id, *given)
            return
        if function != Static(range):
            raise unknown(call)
        start, stop = (literal(0, "int64"), *given)[-2:] if len(given) < 3 else given[:2]
        step = given[2] if len(given) == 3 else literal(1, "int64")
        if step.text.startswith("-") or step.text == "0":
            raise TypeError(f"a loop goes upwards: {ast.unparse(call)}")

        def body(i: Number) -> None:
            self.assign(target.id, i)
            self._block(node.body)
            if self._is_over:
                self.writer.line("unreachable")
                self._is_over = False

        self.loop(start, stop, step, body)

    def _share(self, node: ast.For, target: str, count: Number, work: Number) -> None:
        """Write a loop over ``shared(count, work)``, see ``sharing``."""
        w, module, own = self.writer, self.module, sharing.assigned(node)
        for name in own:
            self.names.pop(name, None)
        inner = Translation(module, self._tree, self.space, self.widened)
        name = module.unique("loop")
        fields = sharing.Fields(name, w, inner.writer, w.cast(count, "int64").text)
        for one in sorted(names_in(*node.body) & {*self.names}):
            inner.names[one] = fields.given(self.names[one])

        def body(i: Number) -> None:
            inner.assign(target, i)
            inner._block(node.body)

        is_flat = not any(isinstance(part, ast.For) for part in ast.walk(node) if part is not node)
        note = "" if is_flat else module.note("llvm.loop.vectorize.enable", "i1 false")
        inner.loop(sharing.FIRST, sharing.END, literal(1, "int64"), body, note)
        inner.writer.line("ret void")
        # Inlined, it would add in another order where the lengths of a call are known.
        head = f"define internal void @{name}({sharing.PARAMETERS}) nounwind noinline {{"
        runner = sharing.runner(module, name, is_flat)
        for text in (fields.kind(), inner._definition(head), runner):
            module.put(text)
        given = [("ptr", fields.store()), ("i64", w.cast(work, "int64").text)]
        w.call(f"{name}.run", "void", given)

    def _continue(self, node: ast.Continue) -> None:
        self.writer.jump(self.loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self.writer.jump(self.loops[-1][1])

    def _return(self, node: ast.Return | None) -> None:
        w = self.writer
        value = None if node is None or node.value is None else self.value(node.value)
        values = value if type(value) is tuple else () if value is None else (value,)
        kinds = tuple(v.kind for v in values)
        if self.result is None:
            self.result = tuple(self.widened.get(f"return {k}", v) for k, v in enumerate(kinds))
        if len(kinds) != len(self.result):
            raise TypeError("a function returns as many values everywhere")
        for at, pair in enumerate(zip(self.result, kinds, strict=True)):
            self.fit(f"return {at}", *pair)
        given = [w.cast(v, kind) for v, kind in zip(values, self.result, strict=True)]
        self.free_all()
        if len(given) < 2:
            w.line(f"ret {self.returned()} {given[0].text}" if given else "ret void")
            return
        made = "poison"
        for k, (kind, text) in enumerate(given):
            made = w.put(f"insertvalue {self.returned()} {made}, {LLVM[kind]} {text}, {k}")
        w.line(f"ret {self.returned()} {made}")
