"""The source text of a node's ``backward``, and what its formulas use."""

from __future__ import annotations

import inspect
from typing import Any


def parameters(function: Any) -> tuple[str, ...]:
    """Return the names of a function's parameters."""
    code = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount]  # type: ignore[no-any-return]


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
        if op.many:
            lines.append("    g = filled(g, n.shape, n.dtype)")
        elif op.differentiable > 1:
            k = op.differentiable
            lines.append(f"    g = tuple(filled(g[:{k}], n.shape[:{k}], n.dtype[:{k}]))")
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
