"""The API reference, from the objects themselves.

mkdocstrings reads source files, and the functions and methods of tensors are compiled when tinynet
is imported: it does not find them. See "Dependencies" in docs/design.md.
"""

import dataclasses
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import tinynet
from docs import stubs
from docs.site import glossary, inventory, raises
from docs.site.derivatives import formulas
from docs.site.docstrings import markdown
from docs.site.inventory import MODULES, OPERATIONS, TITLES, Name, file_of, operation_of
from docs.site.text import cell, fenced, plain, table
from tinynet import dtypes
from tinynet.core.declaration.operation import Operation
from tinynet.train.config.sections import field_docs

LINE = 64
SKIPPED = {"forward", "extra_repr", "reset_parameters"}  # of layers: the class documents them


def pages() -> dict[str, str]:
    """Return the pages by address."""
    found = {f"api/{page}.md": functions_page(page) for page in [*OPERATIONS, "settings"]}
    found["api/tensor.md"] = tensor_page()
    found |= {f"api/{page}.md": modules_page(page) for page in MODULES}
    found["api/index.md"] = index()
    return {page: found[page] for page in addresses()}


def addresses() -> list[str]:
    """Return the addresses of the pages, in order."""
    return [f"api/{page}.md" for page in ("index", *TITLES)]


def index() -> str:
    """Return the first page: a table of the others."""
    rows = []
    for page, title in TITLES.items():
        first = [name.name for name in names_of(page)]
        shown = ", ".join(f"`{n}`" for n in first[:8]) + (", ..." if len(first) > 8 else "")
        rows.append([f"[{title}]({page}.md)", str(len(first)), shown])
    return (
        "# API\n\nEvery public name, by kind. The search finds all of them. Names and semantics are"
        " PyTorch's; [Departures](../departures.md) lists the differences. `tn` is `tinynet`, `nn`"
        " is `tinynet.nn`, `F` is `tinynet.nn.functional`. The tests run every example.\n\n"
        + table(["page", "names", "for example"], rows)
    )


def names_of(page: str) -> list[Name]:
    """Return all names that a page documents."""
    if page == "tensor":
        members = [n for n in dir(tinynet.Tensor) if not n.startswith("_")]
        return [Name("Tensor", n, getattr(tinynet.Tensor, n)) for n in members]
    if page in MODULES:
        return [name for module in MODULES[page] for name in inventory.public(module)]
    return [name for _, names in inventory.functions(page) for name in names]


# ---- pages ----


def functions_page(page: str) -> str:
    """Return a page of functions of `tinynet`."""
    parts = [f"# {TITLES[page]}", raises.EVERYWHERE]
    if page == "settings":
        parts += [constants(), "## Functions and classes"]
    for heading, names in inventory.functions(page):
        parts += [f"## {plain(heading)}"] * bool(heading)
        parts += entries(n for n in names if n.value is not tinynet.Tensor)
    return "\n\n".join(parts)


def modules_page(page: str) -> str:
    """Return a page of modules."""
    parts = [f"# {TITLES[page]}"]
    for path in MODULES[page]:
        module = inventory.module_of(path)
        doc = inspect.getdoc(module) or ""
        parts += [f"## tinynet.{path}", markdown(doc)]
        parts += entries(inventory.public(path))
    return "\n\n".join(parts)


def constants() -> str:
    """Return the table of dtypes and numbers."""
    rows = []
    for name in inventory.CONSTANTS.split():
        value = getattr(tinynet, name)
        what = f"dtype, {value.itemsize} bytes per element" if is_dtype(value) else repr(value)
        rows.append([f'<a id="tn.{name}"></a>`tn.{name}`', cell(what)])
    return "## Dtypes and constants\n\n" + table(["name", "value"], rows)


def is_dtype(value: Any) -> bool:
    """Return whether a constant is a dtype."""
    return isinstance(value, dtypes.dtype)


def tensor_page() -> str:
    """Return the page of the methods and attributes of tensors."""
    linked, written, own = [], [], []
    members = {n.name for n in names_of("tensor")}
    for name in names_of("tensor"):
        if inventory.page_of(name.name) and not name.name.endswith("_"):
            linked.append(name)
        elif name.name.endswith("_") and name.name[:-1] in members:
            written.append(name)
        else:
            own.append(name)
    parts = [
        f"# Tensor\n\n{markdown(inspect.getdoc(tinynet.Tensor) or '')}",
        "## Methods that are also functions\n\n`x.f(...)` is `tn.f(x, ...)`.",
        ", ".join(sorted(link(n) for n in linked)),
        "## In place\n\nA method with an underscore writes the result of the one without it to the"
        " tensor, and returns the tensor. [What can go wrong](../inplace.md).",
        ", ".join(f'<a id="Tensor.{n.name}"></a>`{n.name}`' for n in written),
        "## Other methods and attributes",
        *entries(own),
    ]
    return "\n\n".join(parts)


def link(name: Name) -> str:
    """Return the link from a method to the function of that name."""
    page = inventory.page_of(name.name)
    return f'<a id="Tensor.{name.name}"></a>[`{name.name}`]({page}.md#tn.{name.name})'


# ---- entries ----


def entries(names: Iterable[Name]) -> Iterator[str]:
    """Yield the entries of a group; an entry lists the other names of the same object."""
    groups: dict[int, list[Name]] = {}
    by_name: dict[str, int] = {}
    for name in names:
        stem = name.name.removesuffix("_")
        key = by_name.get(stem) if name.name != stem else None
        key = key or identity(name.value)
        by_name[name.name] = key
        groups.setdefault(key, []).append(name)
    for group in groups.values():
        yield entry(group[0], group[1:])


def identity(value: Any) -> int:
    """Return what names of the same object have in common."""
    return id(operation_of(value) or (inspect.unwrap(value) if callable(value) else value))


def entry(name: Name, others: list[Name]) -> str:
    """Return the entry of one public name."""
    anchors = "".join(f'<a id="{other.path}"></a>' for other in others)
    parts = [f"### {plain(name.name)} {{ #{name.path} }}", anchors, signature(name)]
    parts.append(markdown(inspect.getdoc(name.value) or ""))
    if inspect.isclass(name.value) and name.value is not tinynet.Tensor:
        parts += members(name)
    parts.append(facts(name, others))
    return "\n\n".join(part for part in parts if part)


def signature(name: Name) -> str:
    """Return the call of a name, with parameters and types."""
    shown = f"{name.path}" if name.module != "Tensor" else f"x.{name.name}"
    value = name.value
    if isinstance(value, property) or not callable(value):
        return fenced(shown, "python")
    if inspect.isclass(value) and issubclass(value, Exception | Warning):
        return fenced(shown, "python")
    op = operation_of(value) if inspect.isroutine(value) else None
    try:
        arguments, returns = typed(value, op)
    except (TypeError, ValueError):
        return fenced(f"{shown}(...)", "python")
    if name.module == "Tensor" or (inspect.isclass(value) and arguments[:1] == ["self"]):
        arguments = arguments[1:]
    arrow = "" if inspect.isclass(value) or not returns else f" -> {returns}"
    whole = f"{shown}({', '.join(arguments)}){arrow}"
    if len(whole) > LINE:
        lines = "".join(f"    {argument},\n" for argument in arguments)
        whole = f"{shown}(\n{lines}){arrow}"
    return fenced(whole, "python")


def typed(value: Any, op: Operation | None) -> tuple[list[str], str]:
    """Return the parameters with types and defaults, and the type of the result."""
    if op is not None:
        names = stubs.Names(())
        return (
            [p for p in stubs._parameters(value, names, as_method=False)],
            stubs._returns(op.name, value, names, as_method=False),
        )
    found = inspect.signature(value)
    parameters, starred = [], False
    for p in found.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            starred = True
            parameters.append("*")
        starred = starred or p.kind is p.VAR_POSITIONAL
        stars = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        declared = "" if p.annotation is p.empty else f": {annotation(p.annotation)}"
        equals = " = " if declared else "="
        default = "" if p.default is p.empty else f"{equals}{default_of(p.default)}"
        parameters.append(f"{stars}{p.name}{declared}{default}")
    returns = found.return_annotation
    return parameters, "" if returns is found.empty else annotation(returns)


def annotation(declared: Any) -> str:
    """Return a type as source code."""
    if isinstance(declared, str):
        return declared
    return declared.__name__ if inspect.isclass(declared) else str(declared)


def default_of(value: Any) -> str:
    """Return a default as source code, or dots."""
    text = repr(value)
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(value.__name__)
    return "..." if text.startswith("<") else text


def members(name: Name) -> Iterator[str]:
    """Yield the fields, and the public methods and properties that override no base's."""
    if dataclasses.is_dataclass(name.value):
        docs = field_docs(name.value)
        yield "\n".join(f"- `{n}`: {plain(' '.join(d.split()))}" for n, d in docs.items())
    for member, value in vars(name.value).items():
        doc = inspect.getdoc(getattr(value, "__func__", value))
        overrides = any(hasattr(base, member) for base in name.value.__mro__[1:])
        if member.startswith("_") or member in SKIPPED or overrides or not doc:
            continue
        if isinstance(seen := getattr(name.value, member), property):
            value = seen  # also a lazy attribute, which the class shows as a property
        if isinstance(value, property) or inspect.isroutine(value):
            yield method(name, member, value, doc)


def method(name: Name, member: str, value: Any, doc: str) -> str:
    """Return the entry of a method or property of a class."""
    call = ""
    if not isinstance(value, property):
        arguments, returns = typed(getattr(value, "__func__", value), None)
        arguments = arguments if isinstance(value, staticmethod) else arguments[1:]
        call = f"({', '.join(arguments)})" + (f" -> {returns}" if returns else "")
    head = f"#### {plain(name.name)}.{plain(member)} {{ #{name.path}.{member} }}"
    shown = fenced(f"{member}{call}", "python") if call else ""
    return "\n\n".join(part for part in [head, shown, markdown(doc)] if part)


# ---- facts from declarations ----


def facts(name: Name, others: list[Name]) -> str:
    """Return other names, facts from the declaration of an operation, and the file."""
    lines = [f"`{n}`: {text}" for n, text in glossary.of(name.value).items()]
    if others:
        lines.append("Also " + ", ".join(f"`{o.path}`" for o in others) + ".")
    op = operation_of(name.value) if inspect.isroutine(name.value) else None
    if op is not None:
        lines += of_operation(op, name)
    lines += [f"Raises {plain(error)}" for error in raises.of(name.value)]
    written = inspect.isclass(name.value) or inspect.isroutine(name.value)
    path = file_of(name.value) if written else None
    if path is not None:
        lines.append(f"In `tinynet/{path}`.")
    items = [line if line.startswith("    ") else f"- {line}" for line in lines]
    return "\n".join(["<!-- ends the list before -->\n", *items]) if items else ""


def of_operation(op: Operation, name: Name) -> Iterator[str]:
    """Yield shapes, dtypes, node and derivative, from the declaration."""
    if hasattr(tinynet.Tensor, name.name) and name.module == "":
        yield f"As a method: `x.{name.name}({'...' * (len(op.tensors + op.attributes) > 1)})`."
    if op.kind == "pointwise":
        shape = "the shape of the input" if len(op.tensors) == 1 else "the inputs broadcast"
        whole = {"float": "; integers become floating-point", "error": "; integers raise an error"}
        yield f"Elementwise: {shape}{whole.get(op.ints, '')}."
    elif op.kind == "view":
        yield "A view: it shares the memory and the version of its input."
    if op.formulas is None:
        yield "Without derivative."
        return
    found = formulas(op)
    yield f"Node `{op.node_name}`" + ("." if not found else "; the gradient of each input:")
    for key, text in found.items():
        yield f"    - `{key}`: `{text}`"
