"""Type stubs for what is installed at import, where no type checker can see it.

    python -m docs.stubs            writes methods.pyi, ops/__init__.pyi, ops/special.pyi
    python -m docs.stubs --check    checks that they are up to date

Signatures come from the declarations. The text is what ``ruff format`` leaves as it is.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.util
import inspect
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tinynet import ops
from tinynet.base.lazy import HOMES
from tinynet.core.declaration.operation import REGISTRY, Operation
from tinynet.core.tensors.tensor import METHODS
from tinynet.ops import everything as everything
from tinynet.ops.special_functions import SPECIAL

PACKAGE = Path(__file__).parents[1] / "tinynet"
WIDTH = 100
OPERATIONS = {op.declared: op for op in REGISTRY.values()}

# ---- names: where an annotation's names come from -----------------------------------------------


class Origin(NamedTuple):
    """Where a name is defined: ``from module import name``, or ``import module as name``."""

    module: str
    name: str
    is_module: bool = False


@functools.cache
def _statements(module: str) -> list[ast.stmt]:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body


def origin(module: str, name: str) -> Origin | None:
    """Return where ``name`` comes from that is used in ``module``; None for a builtin.

    Raises:
        NameError: it is not known there.
    """
    for statement in _statements(module):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                if name == (alias.asname or alias.name):
                    return _imported(statement, alias)
        elif name in _defined(statement):
            return Origin(module, name)
    if not hasattr(builtins, name):
        raise NameError(f"the annotations of {module} use {name!r}, which it does not define")
    return None


def _imported(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> Origin | None:
    if isinstance(statement, ast.Import):
        return Origin(alias.name, alias.asname or alias.name, is_module=True)
    assert statement.module is not None
    if statement.module.startswith("tinynet.") and not _is_module(statement.module, alias.name):
        return origin(statement.module, alias.name)
    return Origin(statement.module, alias.name)


def _is_module(package: str, name: str) -> bool:
    folder = PACKAGE.parent / package.replace(".", "/")
    return (folder / f"{name}.py").exists() or (folder / name).is_dir()


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


class Names:
    """The imports of one stub.

    Args:
        hidden: names that the stub defines itself; a builtin among them needs its full name.
    """

    def __init__(self, hidden: Iterable[str]):
        self.hidden = frozenset(hidden)
        self.origins = {Origin("tinynet.core.tensors.tensor", "Tensor")}

    def annotation(self, text: str, module: str) -> str:
        """Return an annotation of ``module`` as it is written in the stub."""
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = self._name(node.id, module)
        return ast.unparse(tree)

    def _name(self, name: str, module: str) -> str:
        found = origin(module, name)
        if found is None and name not in self.hidden:
            return name
        if found is None:
            self.origins.add(Origin("builtins", "builtins", is_module=True))
            return f"builtins.{name}"
        assert name not in self.hidden, f"{name!r} is both a type and a name in the stub"
        self.origins.add(found)
        return found.name

    def imports(self, own: str) -> str:
        """Return the import statements, in the order that ``ruff`` expects."""
        sections: dict[int, list[str]] = {}
        plain = sorted(o for o in self.origins if o.is_module)
        for o in plain:
            renamed = "" if o.name == o.module else f" as {o.name}"
            sections.setdefault(_section(o.module), []).append(f"import {o.module}{renamed}")
        modules = sorted({o.module for o in self.origins if not o.is_module and o.module != own})
        for module in modules:
            names = sorted(o.name for o in self.origins if o.module == module)
            names.sort(key=lambda name: (not name.isupper(), not name[0].isupper()))
            text = f"from {module} import {', '.join(names)}"
            assert len(text) <= WIDTH
            sections.setdefault(_section(module), []).append(text)
        return "\n\n".join("\n".join(lines) for _, lines in sorted(sections.items()))


def _section(module: str) -> int:
    top = module.split(".")[0]
    return 0 if top in sys.stdlib_module_names else 2 if top == "tinynet" else 1


# ---- definitions --------------------------------------------------------------------------------


def _default(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    text = repr(value)
    simple = isinstance(value, (bool, int, float, tuple, type(None)))
    return text if simple and text not in ("inf", "-inf", "nan") else "..."


def _parameters(function: Any, names: Names, as_method: bool) -> Iterator[str]:
    """Write the parameters: inputs of operations as tensors, all else as it is annotated."""
    declared = inspect.unwrap(function)
    op = OPERATIONS.get(declared)
    keyword_only = False
    for i, p in enumerate(inspect.signature(declared).parameters.values()):
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "*"
        keyword_only = keyword_only or p.kind is p.VAR_POSITIONAL
        if i == 0 and as_method:
            yield "self"
            continue
        if op is not None and p.name in op.tensors:
            text = _input(op, p.name, names)
        else:
            text = names.annotation(p.annotation, declared.__module__)
        stars = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        equals = "" if p.default is p.empty else f" = {_default(p.default)}"
        yield f"{stars}{p.name}: {text}{equals}"


def _input(op: Operation, name: str, names: Names) -> str:
    if op.kind == "sequence":
        names.origins.add(Origin("collections.abc", "Sequence"))
        return "Sequence[Tensor]"
    if op.kind == "pointwise" and op.numbers and name != op.tensors[0]:
        return names.annotation("Tensor | float", "tinynet.core.tensors.tensor")
    return "Tensor"


def _returns(name: str, function: Any, names: Names, as_method: bool) -> str:
    declared = inspect.unwrap(function)
    op = OPERATIONS.get(declared)
    if op is None:
        text = inspect.signature(declared).return_annotation
        text = names.annotation(text, declared.__module__)
    elif op.many:
        return "tuple[Tensor, ...]"
    elif isinstance(op.result, type):
        public = next(c for c in op.result.__mro__ if c.__module__ in sys.modules)
        names.origins.add(Origin(public.__module__, public.__name__))
        return public.__name__
    else:
        text = f"tuple[{', '.join(['Tensor'] * len(op.outputs))}]" if op.multiple else "Tensor"
    dunder = name.startswith("__")
    writes = dunder and f"{name[:2]}{name[3:]}" in METHODS or not dunder and name.endswith("_")
    if as_method and text == "Tensor" and writes and name[:3] != "__r":
        names.origins.add(Origin("typing", "Self"))  # it returns the very tensor
        return "Self"
    return text


def definition(name: str, function: Any, names: Names, as_method: bool, note: str = "") -> str:
    """Return the stub of one function or method."""
    width = WIDTH - 4 * as_method
    parameters = list(_parameters(function, names, as_method))
    returns = _returns(name, function, names, as_method)
    head = f"def {name}({', '.join(parameters)}) -> {returns}:"
    if len(head) > width:
        inside = ", ".join(parameters)
        if len(inside) + 4 > width:
            inside = ",\n    ".join([*parameters, ""]).rstrip()
        head = f"def {name}(\n    {inside}\n) -> {returns}:"
    if note:
        head = head.replace("\n", f"  {note}\n", 1) if "\n" in head else f"{head}  {note}"
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    if not summary:
        return head + " ..."
    if len(summary) + 10 > width:
        summary = "\n".join(textwrap.wrap(summary, width - 10))
    return head + "\n" + textwrap.indent(f'"""{summary}"""', "    ")


def tensor_type(name: str, found: type) -> str:
    """Return the stub of a class whose instances are tensors of one dtype."""
    summary = (inspect.getdoc(found) or "").partition("\n")[0]
    return f'class {name}(Tensor):\n    """{summary}"""'


def _property(name: str, found: property, names: Names) -> str:
    getter = definition(name, found.fget, names, as_method=True)
    lines = [f"@property\n{getter}"]
    if found.fset is not None:
        *_, value = inspect.signature(found.fset).parameters.values()
        text = names.annotation(value.annotation, found.fset.__module__)
        lines.append(f"@{name}.setter\ndef {name}(self, value: {text}) -> None: ...")
    if found.fdel is not None:
        lines.append(f"@{name}.deleter\ndef {name}(self) -> None: ...")
    return "\n".join(lines)


# ---- the two stubs ------------------------------------------------------------------------------

GENERATED = "Written by ``python -m docs.stubs``."


def methods() -> str:
    """Return the text of ``core/tensors/methods.pyi``."""
    names = Names(METHODS)
    members = []
    for name, found in sorted(METHODS.items()):
        if isinstance(found, property):
            members.append(_property(name, found, names))
        else:
            ignored = "# type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            members.append(definition(name, found, names, as_method=True, note=ignored))
    body = textwrap.indent("\n".join(members), "    ")
    return (
        f'"""What other files add to Tensor. {GENERATED}"""\n\n'
        f"{names.imports('tinynet.core.tensors.methods')}\n\n"
        f'class TensorMethods:\n    """The base of Tensor for type checkers."""\n\n{body}\n'
    )


def public_functions(module: str, functions: dict[str, Any], title: str) -> str:
    """Return the text of the stub of a module of functions.

    Args:
        module: its dotted name.
        functions: its functions, by their names.
        title: the first sentence of its docstring.
    """
    names = Names(functions)
    found = [
        tensor_type(name, f) if isinstance(f, type) else definition(name, f, names, as_method=False)
        for name, f in sorted(functions.items())
    ]
    listed = "".join(f'    "{name}",\n' for name in sorted(functions))
    return (
        f'"""{title} {GENERATED}"""\n\n'
        f"{names.imports(module)}\n\n"
        f"__all__ = [\n{listed}]\n\n" + "\n\n".join(found) + "\n"
    )


def main(arguments: list[str]) -> int:
    """Write the stubs, or compare them; the result is the exit status."""
    texts = {
        PACKAGE / "core" / "tensors" / "methods.pyi": methods(),
        PACKAGE / "ops" / "__init__.pyi": public_functions(
            "tinynet.ops",
            {name: getattr(ops, name) for name in HOMES["tinynet.ops"]},
            "The public functions on tensors.",
        ),
        PACKAGE / "ops" / "special.pyi": public_functions(
            "tinynet.ops.special", SPECIAL, "Special functions."
        ),
    }
    old = [p for p, text in texts.items() if not p.exists() or p.read_text("utf-8") != text]
    for path in old:
        if arguments == ["--check"]:
            print(f"{path.name} is out of date: python -m docs.stubs", file=sys.stderr)
        else:
            path.write_text(texts[path], encoding="utf-8")
    return 1 if old and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
