"""The source text of compiled operations: one straight-line function each."""

from __future__ import annotations

import textwrap
from typing import Any

from tinynet.core.declaration import casting
from tinynet.core.graph.recorded_backward import parameters
from tinynet.core.tensors import subclasses

# ---- a node's backward, and what its formulas use ------------------------------------------------


def saved_arrays(op: Any) -> list[str]:
    """Return the inputs and outputs whose arrays the formulas use, in a fixed order."""
    used = {name for f in op.formulas.values() for name in parameters(f)[1:]}
    return [n for n in (*op.tensors, "result", *op.outputs, *op.hidden) if n in used]


def saved_constants(op: Any) -> list[str]:
    """Return the attributes and shapes that the formulas use."""
    used = {name for f in op.formulas.values() for name in parameters(f)[1:]}
    shapes = [f"{t}_shape{s}" for t in op.tensors for s in ("", "s")]
    return [n for n in (*op.attributes, *shapes) if n in used]


class Backward:
    """Generates a node's ``backward`` on arrays."""

    def __init__(self, op: Any):
        self.op = op

    def source(self) -> str:
        op = self.op
        lines = ["def compiled(n, g, freed, wanted):"]
        arrays, constants = saved_arrays(op), saved_constants(op)
        for name in arrays:
            lines += [
                f"    {name} = n.saved_{name}",
                f"    v_{name} = n.saved_{name}_version",
                f"    if v_{name} is not None and v_{name}.n != n.saved_{name}_at:",
                f"        {name} = restore(n, {name!r})",
            ]
        for name in constants:
            lines.append(f"    {name} = n.saved_{name}")
            if name in op.frees:
                lines.append(f"    if {name}.__class__ is Freed: raise already_freed(n, {name})")
        if op.many or op.differentiable > 1:
            some = "" if op.many else f"[:{op.differentiable}]"
            lines.append(f"    g = tuple(filled(g{some}, n.shape{some}, n.dtype{some}))")
        elif op.multiple:
            lines.append("    g = g[0]")
        if op.kind == "sequence":
            (t,) = op.tensors
            lines.append(f"    results = {self.call(f'{op.name}_grad_{t}', op.formulas[t])}")
        else:
            lines += self.per_input()
        lines.append("    if freed is not None:")
        for name in arrays:
            held = name if name in op.hidden else f"v_{name}"
            lines += [
                f"        if {held} is not None:",
                f"            n.saved_{name} = None",
                f"            n.saved_{name}_version = freed",
                f"            n.saved_{name}_at = 0",
            ]
        lines += [f"        n.saved_{name} = freed" for name in constants if name in op.frees]
        lines.append("        pass")
        lines.append("    return results")
        return "\n".join(lines) + "\n"

    def call(self, function: str, formula: Any) -> str:
        return f"{function}({', '.join(('g', *parameters(formula)[1:]))})"

    def per_input(self) -> list[str]:
        op = self.op
        names = [f"e{i}" for i in range(len(op.tensors))]
        lines = [f"    {', '.join(names)}, = n.edges", "    if wanted is not None:"]
        lines += [f"        if {e} and {e}[0] not in wanted: {e} = None" for e in names]
        if op.joint is not None:
            lines.append(f"    needs = ({' '.join(f'bool({e}),' for e in names)})")
            lines.append(f"    results = {self.call(f'{op.name}_joint', op.joint)}")
            return lines
        results = []
        for i, t in enumerate(op.tensors):
            if t not in op.formulas:
                results.append("None")
                continue
            call = self.call(f"{op.name}_grad_{t}", op.formulas[t])
            lines.append(f"    r{i} = {call} if e{i} else None")
            results.append(f"r{i}")
        lines.append(f"    results = ({', '.join(results)},)")
        return lines


# ---- operations ----------------------------------------------------------------------------------


class Forward:
    """Generates the function that runs and records an operation.

    Args:
        op: the operation.
        operator: generate the form behind Python's operator, see ``compiler.lazy``.
    """

    def __init__(self, op: Any, operator: bool):
        self.op = op
        self.n = op.name
        self.form = "operator" if operator else "function"
        self.inputs = f"({', '.join(op.tensors)},)"
        self.rest = "{" + ", ".join(f"{a!r}: {a}" for a in op.attributes) + "}"
        coerce = "operands" if operator else "coerce"
        self.coerce = f"{op.name}_op.{coerce}({self.inputs}, {self.rest})"
        self.lines: list[str] = []

    def source(self) -> str:
        op, n, inputs, rest = self.op, self.n, self.inputs, self.rest
        self.signature(["out"] if op.takes_out else [])
        if op.takes_out:
            self.body(f"""
                if out is not None:
                    return written({n}_op.function, {inputs}, {rest}, out, {n}_op.out_rules)""")
        self.lines += subclasses.lines(op, f"{n}_op.{self.form}") + casting.lines(op, rest)
        self.read_numbers()
        {"pointwise": self.pointwise, "sequence": self.sequence}.get(op.kind, self.plain)()
        self.kernel()
        self.results()
        if op.formulas is not None:
            self.record()
        self.emit("    return " + self.returned)
        return "\n".join(self.lines) + "\n"

    def emit(self, text: str) -> None:
        self.lines += textwrap.dedent(text).strip("\n").splitlines() if "\n" in text else [text]

    def body(self, text: str) -> None:
        self.lines += textwrap.indent(textwrap.dedent(text).strip("\n"), "    ").splitlines()

    # ---- arguments to arrays ----------------------------------------------------------------

    def signature(self, more: list[str]) -> None:
        names = [*self.op.tensors, *self.op.attributes]
        split = len(names) - self.op.keyword_only
        keyword = [*names[split:], *more]
        taken = [*names[:split], *(["*"] if keyword else []), *keyword]
        self.emit(f"def compiled({', '.join(taken)}):")

    def read_numbers(self) -> None:
        """Convert attributes declared as numbers that are of another type, such as numpy's."""
        for a, kind in self.op.declared.__annotations__.items():
            if a in self.op.attributes and kind in ("float", "float | None"):
                given = "" if kind == "float" else f"{a} is not None and "
                read = f"{a} = number_of({a}, {self.n!r}, {a!r})"
                self.body(f"if {given}{a}.__class__ not in NUMBERS: {read}")

    def plain(self) -> None:
        for i, t in enumerate(self.op.tensors):
            self.body(f"""
                if not isinstance({t}, Tensor): return {self.coerce}
                a{i} = {t}._array""")

    def sequence(self) -> None:
        (t,) = self.op.tensors
        self.body(f"a0, some = {self.n}_op.function.arrays({t})")

    def pointwise(self) -> None:
        if len(self.op.tensors) == 1:
            self.plain()
        elif len(self.op.tensors) == 2 and not self.op.exempt:
            self.pair()
        else:
            self.several()

    def pair(self) -> None:
        """Convert two tensors, or a tensor and a number."""
        op, n = self.op, self.n
        s, o = op.tensors
        numbers = "" if op.numbers else "False and "
        if op.mixed is not None and op.numbers:
            numbers = f"type({o}) is not bool and "
        common = "kind = promoted((a0, a1)); a0 = converted(a0, kind); a1 = "
        tensors, whole = f"{common}converted(a1, kind)", f"{common}number(a1, kind)"
        unusual = "kind != 'f'"
        if op.opmath:
            tensors = whole = "a0, a1 = in_opmath(a0, a1)"
            unusual = "char in 'eE'" if op.ints == "float" else "char not in 'fd'"
        elif op.ints == "float":
            whole = "pass  # converted below"
        mixed = f"{n}_op.mixed(a0, a1); " if op.mixed is not None else ""
        self.body(f"""
            if not isinstance({s}, Tensor): return {self.coerce}
            a0 = {s}._array
            if isinstance({o}, Tensor):
                a1 = {o}._array
                r1 = {o}._requires_grad
                if a0.dtype is not a1.dtype:
                    {mixed}{tensors}
            elif {numbers}type({o}) in NUMBERS:
                a1 = {o}
                r1 = None
                if a0.dtype.{unusual}:
                    {mixed.replace("a1", "asarray(a1)")}{whole}
            else:
                return {self.coerce}""")

    def several(self) -> None:
        """Convert tensors only."""
        op = self.op
        checks = " and ".join(f"isinstance({t}, Tensor)" for t in op.tensors)
        self.body(f"if not ({checks}): return {self.coerce}")
        for i, t in enumerate(op.tensors):
            self.body(f"a{i} = {t}._array")
        counted = [f"a{i}" for i, t in enumerate(op.tensors) if t not in op.exempt]
        if len(counted) > 1:
            self.body(f"kind = promoted(({', '.join(counted)},))")
            for a in counted:
                self.body(f"if {a}.dtype is not kind: {a} = converted({a}, kind)")

    # ---- kernel -----------------------------------------------------------------------------

    def arguments(self, tensors: list[str]) -> str:
        """Return the arguments of a call: expressions for the tensors, and the attributes."""
        split = len(self.op.attributes) - self.op.keyword_only
        keyword = [f"{k}={k}" for k in self.op.attributes[split:]]
        return ", ".join([*tensors, *self.op.attributes[:split], *keyword])

    def kernel(self) -> None:
        op, n = self.op, self.n
        arrays = [f"a{i}" for i in range(len(op.tensors))]
        if op.ints == "float":
            lines = ["if a0.dtype.kind not in 'fVc':", "    kind = floating_kind(a0)"]
            for a in arrays:
                lines.append(f"    if {a}.__class__ not in NUMBERS: {a} = converted({a}, kind)")
            self.body("\n".join(lines))
        self.body(f"""
            try:
                r = {n}_kernel({self.arguments(arrays)})
            except (ValueError, TypeError, MemoryError) as error:
                raise explain({n}_op, error, ({", ".join(arrays)},)) from None""")

    # ---- arrays to tensors ------------------------------------------------------------------

    def make(self, array: str, target: str, margin: str = "    ") -> None:
        made = f"""
            {target} = new(Tensor)
            {target}._array = {array}
            {target}._counter = {target}._edge = {target}._grad = None
            {target}._view = {target}._hooks = None
            {target}._requires_grad = False
            if inferring and mode.inference: {target}._counter = INFERENCE"""
        self.lines += textwrap.indent(textwrap.dedent(made).strip(), margin).splitlines()

    def results(self) -> None:
        op = self.op
        args = "(" + ", ".join(op.attributes) + ("," if op.attributes else "") + ")"
        (first, *_) = op.tensors
        if op.many:
            self.body("t, site, grad = [], outward(getframe(1)), mode.grad")
            self.body("for i, part in enumerate(r):")
            self.make("part", "one", "        ")
            self.body(f"""
                    link = make_view({first}, one, (({self.n}_op, (i, {args[1:]}),), grad, site)
                    if grad: link.origin = MULTIPLE
                    t.append(one)
                t = tuple(t)""")
            self.returned = "t"
        elif op.multiple:
            names = [*op.outputs, *op.hidden]
            self.body(f"{', '.join('o_' + x for x in names)} = r")
            for i, x in enumerate(op.outputs):
                self.order(f"o_{x}")
                self.make(f"o_{x}", f"t{i}")
            tensors = ", ".join(f"t{i}" for i in range(len(op.outputs)))
            self.returned = f"{self.n}_op.result({tensors})" if op.result else f"({tensors})"
        else:
            if op.hidden:
                self.body(f"r, {', '.join('o_' + x for x in op.hidden)} = r")
            if op.kind != "view":
                self.order("r")
            self.make("r", "t")
            if op.kind == "view":
                self.body(f"make_view({first}, t, (({self.n}_op, {args}),), mode.grad)")
            self.returned = "t"

    def order(self, result: str) -> None:
        """Make a result an array, laid out as PyTorch does: see layouts.py.

        Row-major inputs are the usual case. numpy's ufuncs of one array have PyTorch's order, and
        those of two arrays unless the first one is not row-major, or has fewer dimensions.
        """
        op = self.op
        whole = f"if {result}.__class__ is not ndarray: {result} = asarray({result})"
        arrays = [f"a{i}" for i in range(len(op.tensors))]
        # An expanded array that was converted has another order than PyTorch's iterator sees.
        given = [f"getattr({t}, '_array', None)" for t in op.tensors]
        walked = given if op.kind == "pointwise" else arrays
        laid = f"{result} = {op.order}({result}, {', '.join(walked)})"
        tests = [f"not {a}.flags.c_contiguous" for a in arrays]
        if op.ufunc is not None and self.second_may_be_number():
            self.body(f"""
                d = a0.ndim
                if d > 1:
                    if r1 is not None and ({tests[0]} or a1.ndim > d and {tests[1]}): {laid}
                el{whole}""")
            return
        self.body(whole)
        if not op.order or (op.ufunc is not None and len(arrays) == 1):
            return
        unusual = f"{tests[0]} or not {result}.flags.c_contiguous"
        if op.order == "in_rows":
            unusual = f"not {result}.flags.c_contiguous"
        elif op.order in ("as_convolved", "as_spread"):
            unusual = " or ".join([*tests[:2], f"not {result}.flags.c_contiguous"])
        elif op.order == "iterated":
            if self.second_may_be_number():
                tests[1] = f"r1 is not None and {tests[1]}"
            unusual = " or ".join(tests)
        self.body(laid if op.order == "in_columns" else f"if {unusual}: {laid}")

    # ---- recording --------------------------------------------------------------------------

    def record(self) -> None:
        """Make a node if grad mode is on and an input requires grad."""
        op = self.op
        condition, lines, edges = self.edges()
        lines = ["if m := mode.grad:", *("    " + line for line in lines)]
        inner = [
            f"n = new({op.name}_node)",
            f"n.edges = {edges}",
            "n.sequence = count_nodes()",
            "n.hooks = None",
            "f = getframe(1)",
            "c = f.f_code",
            "try: o = OUTSIDE[c.co_filename]",
            "except KeyError: o = is_outside(c.co_filename)",
            "n.site = (c, f.f_lasti) if o else outward(f.f_back)",
            "n.scope = mode.scope",
            *self.describe(),
            *self.save(),
        ]
        if saved_arrays(op):
            inner.append("if m is not True: m.keep(n)")
        lines += ["        " + line for line in inner]
        if self.returned == "t" and op.kind in ("plain", "pointwise"):
            lines += ["else:", "    t._requires_grad = UNRECORDED"]
        self.body("\n".join([f"if {condition}:", *("    " + line for line in lines)]))

    def edges(self) -> tuple[str, list[str], str]:
        """Return the condition, the lines that find the edges (ending in an ``if``), the edges."""
        op = self.op
        if op.kind == "sequence":
            (t,) = op.tensors
            find = [f"edges = tuple([edge_of(x) for x in {t}])"]
            return "some", [*find, "if any([e is not None for e in edges]):"], "edges"
        number = op.tensors[1] if self.second_may_be_number() else None
        flags, names, lines = [], [], []
        for i, t in enumerate(op.tensors):
            if t not in op.formulas:
                names.append("None")
                continue
            flag = "r1" if t == number else f"{t}._requires_grad"
            lines.append(
                f"e{i} = None if not {flag} else view_edge({t}) if {flag} is VIEW "
                f"else ({t}._edge or ({t}, 0))"
            )
            flags.append(flag)
            names.append(f"e{i}")
        some = " or ".join(f"{e} is not None" for e in names if e != "None")
        lines.append(f"if {some}:")
        return f"({' or '.join(flags)})", lines, f"({', '.join(names)},)"

    def second_may_be_number(self) -> bool:
        """Return True if the second operand may be a number; ``r1`` is its ``_requires_grad``."""
        op = self.op
        return op.kind == "pointwise" and len(op.tensors) == 2 and not op.exempt

    def describe(self) -> list[str]:
        op = self.op
        if op.many:
            return [
                "n.shape = tuple([x.shape for x in r])",
                "n.dtype = tuple([x.dtype for x in r])",
                "for i, one in enumerate(t): one._edge = (n, i)",
            ]
        if op.multiple:
            return [
                f"n.shape = ({''.join(f'o_{x}.shape, ' for x in op.outputs)})",
                f"n.dtype = ({''.join(f'o_{x}.dtype, ' for x in op.outputs)})",
                *(f"t{i}._edge = (n, {i})" for i in range(op.differentiable)),
                *(f"t{i}._requires_grad = True" for i in range(op.differentiable)),
            ]
        lines = ["n.shape = r.shape", "n.dtype = r.dtype", "t._edge = (n, 0)"]
        return lines if op.kind == "view" else [*lines, "t._requires_grad = True"]

    def save(self) -> list[str]:
        """Save only what the formulas of the inputs that require grad use."""
        op = self.op
        lines = []
        for name in saved_arrays(op):
            # As in PyTorch, one of several inputs is only saved for an edge that leads somewhere.
            some = "" if name in op.formulas and len(op.formulas) > 1 else " is not None"
            users = [
                f"e{i}{some}"
                for i, t in enumerate(op.tensors)
                if t in op.formulas and name in parameters(op.formulas[t])[1:]
            ]
            lines.append(f"if {'True' if op.kind == 'sequence' else ' or '.join(users)}:")
            lines += ["    " + line for line in self.save_array(name)]
            lines += ["else:", f"    n.saved_{name} = n.saved_{name}_version = None"]
        for name in saved_constants(op):
            if name in op.attributes:
                lines.append(f"n.saved_{name} = {name}")
            elif name.endswith("_shapes"):
                lines.append(f"n.saved_{name} = tuple([a.shape for a in a0])")
            else:
                index = op.tensors.index(name.removesuffix("_shape"))
                lines.append(f"n.saved_{name} = a{index}.shape")
        return lines

    def save_array(self, name: str) -> list[str]:
        """Save one array with the version of the tensor that owns it."""
        op, slot = self.op, f"n.saved_{name}"
        if name in op.hidden:  # not visible outside, so it cannot change
            return [f"{slot} = o_{name}", f"{slot}_version = None"]
        if name in op.tensors:
            array, owner = f"a{op.tensors.index(name)}", name
        elif name == "result":
            array, owner = "r", "t"
        else:
            array, owner = f"o_{name}", f"t{op.outputs.index(name)}"
        version = [
            f"v = {owner}._counter",
            "if v is None:",
            f"    v = {owner}._counter = new(Version)",
            "    v.n = 0",
            f"{slot}_version = v",
            f"{slot}_at = v.n",
        ]
        if self.second_may_be_number() and owner == op.tensors[1]:
            version = [
                "if r1 is not None:",
                *("    " + line for line in version),
                "else:",
                f"    {slot}_version = NUMBER",
                f"    {slot}_at = 0",
            ]
        return [f"{slot} = {array}", *version]


# ---- in-place operations that need no history ----------------------------------------------------


class InPlace(Forward):
    """Generates the function that writes the result of an operation over its first input.

    Writes that are recorded or observed, mix dtypes or might overlap take the slow path
    (``core/graph/inplace.py``), which repeats all checks.

    Args:
        what: the name of the write in messages.
        rules: the last arguments of ``run_inplace``.
    """

    def __init__(self, op: Any, what: str, operator: bool, rules: dict[str, bool]):
        super().__init__(op, operator)
        self.what, self.rules = what, rules

    def source(self) -> str:
        n, (first, *others) = self.n, self.op.tensors
        self.signature([])
        self.lines += subclasses.lines(self.op, f"{n}_{self.what}")
        self.read_numbers()
        head, self.lines = self.lines, []
        self.body(f"""
            a0 = {first}._array
            if observers or a0.__class__ is not ndarray or {first}._counter is INFERENCE: break
            if {first}._requires_grad and mode.grad and requires_grad({first}): break
            if {"constant" not in self.rules} and a0.base is not None and 0 in a0.strides: break
            if {self.op.ints == "float"} and a0.dtype.kind not in 'fVc': break""")
        for i, t in enumerate(others, 1):
            self.operand(f"a{i}", t)
        self.write(self.arguments([f"a{i}" for i in range(len(self.op.tensors))]))
        self.body(_BUMP.format(t=first, what=self.what))
        quick = textwrap.indent("\n".join(self.lines), "    ")
        rules = "".join(f", {rule}={value}" for rule, value in self.rules.items())
        slow = f"    return run_inplace({n}_op, {self.inputs}, {self.rest}, {self.what!r}{rules})"
        if self.form == "operator":
            slow += f" if is_operand({others[0]}) else NotImplemented"
        once = "    while True:  # once: a break leads to the slow path"
        return "\n".join([*head, once, quick, slow]) + "\n"

    def operand(self, a: str, t: str) -> None:
        op = self.op
        promoted = op.kind == "pointwise" and t not in op.exempt
        other = f" or {a}.dtype is not a0.dtype" if promoted else ""
        number = self.second_may_be_number() and f"a0.dtype.char in {op.written_dtypes or 'fd'!r}"
        same = "is a0 or" if op.into or "apart" in self.rules else "is not a0 and"
        viewed = f"a0.base is not None or {a}.base is not None"
        self.body(f"""
            if isinstance({t}, Tensor):
                {a} = {t}._array
                if {a}.__class__ is not ndarray{other}: break
                if {a} {same} ({viewed}) and may_share_memory(a0, {a}): break
                if {t}._requires_grad and mode.grad and requires_grad({t}): break
            elif {bool(op.numbers) and number} and ({t}.__class__ is float or {t}.__class__ is int):
                {a} = {t}
            else:
                break""")

    def write(self, args: str) -> None:
        """Write with the operation's own means, or copy what its kernel returns."""
        op, n = self.op, self.n
        if op.assigns is not None:
            self.body(f"r = {n}_op.assigns({args})\nif r is None: break\na0[...] = r")
        elif op.into is not None:
            self.body(f"""
                if a0.dtype.itemsize == 2 or not a0.flags.c_contiguous or Recorded.batched: break
                {n}_op.into({args})""")
        elif op.written_dtypes:
            self.body(f"""
                if a0.dtype.char not in {op.written_dtypes!r}: break
                try: {n}_ufunc({args}, out=a0)
                except (ValueError, TypeError, OverflowError): break""")
        else:
            self.body(f"""
                try: r = {n}_kernel({args})
                except (ValueError, TypeError, MemoryError): break
                if r.shape != a0.shape or r.dtype is not a0.dtype: break
                a0[...] = r""")


_BUMP = """\
v = {t}._counter
if v is None:
    v = {t}._counter = new(Version)
    v.n = 0
f = getframe(1)
c = f.f_code
try: o = OUTSIDE[c.co_filename]
except KeyError: o = is_outside(c.co_filename)
v.bump((c, f.f_lasti) if o else outward(f), {what!r})
return {t}"""
