"""Python code from graphs: names, arguments, annotations, and the lines of nodes."""

from __future__ import annotations

import builtins
import contextlib
import enum
import keyword
import math
import re
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

from tinynet.compat import pytree
from tinynet.compat.fx.node import Node, map_arg, type_name
from tinynet.compat.fx.targets import is_of_torch, qualified_name
from tinynet.core.devices import device
from tinynet.core.layouts import layout, memory_format
from tinynet.dtypes import dtype

__all__ = ["PythonCode", "CodeGen"]

MAGIC_METHODS = {
    **{
        name: f"{{}} {sign} {{}}"
        for name, sign in {
            **{"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="},
            **{"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "mod": "%"},
            **{"pow": "**", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^"},
            **{"matmul": "@"},
        }.items()
    },
    **{"pos": "+{}", "neg": "-{}", "invert": "~{}", "getitem": "{}[{}]"},
}
INPLACE_METHODS = {
    f"i{name.rstrip('_')}": text.replace(" {}", "= {}", 1)
    for name, text in MAGIC_METHODS.items()
    if name in "add sub mul floordiv truediv mod pow lshift rshift and_ or_ xor matmul".split()
}
BASE_NAMES = {"inf": math.inf, "nan": math.nan, "NoneType": type(None), "device": device}
RESERVED = {**BASE_NAMES, "torch": None, "fx_pytree": None, "pytree": pytree}


class PythonCode(NamedTuple):
    """The code of a graph.

    Attributes:
        src: the text of a function ``forward``.
        globals: the global names that the text uses, and their values.
    """

    src: str
    globals: dict[str, Any]


class Namespace:
    """The names that a graph's code has used: each value gets one of its own."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """Return a name for a value: the candidate, with a number where it is taken.

        Args:
            candidate: the name to begin with.
            obj: the value; None for one without a name to be found by.
        """
        if obj is not None and obj in self._names:
            return self._names[obj]
        candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, 0)
        number = number or self._counts.get(base, 0)
        while candidate in self._used or _is_taken(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._counts[base] = number
        if obj is not None:
            self._names[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Let a value have a name."""
        self._names[obj] = name

    def _rename_object(self, obj: Any, name: str) -> None:
        self._names[obj] = name
        self._used.add(name)


def _is_taken(name: str, obj: Any) -> bool:
    """Return whether Python or generated code uses a name for another value."""
    if name in keyword.kwlist:
        return True
    for known in (vars(builtins), RESERVED):
        if name in known:
            return obj is None or obj is not known[name]
    return False


class Globals:
    """The global names of a graph's code, as they are found."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace, self.values = namespace, dict[str, Any]()
        self.torch = types.SimpleNamespace()
        self.wrapped: dict[str, None] = {}
        self.values |= {**BASE_NAMES, "torch": self.torch}

    def within_torch(self, path: str, value: Any) -> str:
        """Return a path in PyTorch's package, and let the code find the value there."""
        *packages, name = path.split(".")[1:]
        place = self.torch
        for package in packages:
            if not isinstance(vars(place).get(package), types.SimpleNamespace):
                setattr(place, package, types.SimpleNamespace())
            place = getattr(place, package)
        setattr(place, name, value)
        return path

    def add(self, path: str, value: Any) -> str:
        """Return the name by which the code reaches a function or class."""
        if is_of_torch(value) and value is not device:
            return self.within_torch(path, value)
        if path.startswith("torch.fx."):
            return self.within_torch(path, value)
        name = path.removeprefix("builtins.").replace(".", "_")
        name = f"_{name}" if path.startswith("operator.") else name
        for known, same in self.values.items():
            if same is value and known != "torch":
                return known
        name = self.namespace.create_name(name, value)
        self.values[name] = value
        return name

    def annotation(self, kind: Any) -> str:
        """Return the text of an annotation."""
        if kind == ():
            return "()"
        if isinstance(kind, str):
            return self.add(repr(kind), kind)
        origin, arguments = getattr(kind, "__origin__", None), getattr(kind, "__args__", ())
        if origin is not None and not isinstance(kind, type):
            union = origin is typing.Union
            name = "Union" if union else getattr(kind, "_name", None)
            path = f"typing.{name}" if name else qualified_name(origin)
            generic = getattr(typing, name, origin) if name else origin
            return f"{self.add(path, generic)}[{','.join(map(self.annotation, arguments))}]"
        return self.add(qualified_name(kind) if isinstance(kind, type) else type_name(kind), kind)

    def text(self, a: Any) -> str:
        """Return the text of an argument."""
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return f"{self.add(qualified_name(type(a)), type(a))}({', '.join(map(self.text, a))})"
        if isinstance(a, tuple):
            return f"({', '.join(map(self.text, a))}{',' * (len(a) == 1)})"
        if isinstance(a, list):
            return f"[{', '.join(map(self.text, a))}]"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{k!r}: {self.text(v)}" for k, v in a.items()) + "}"
        if isinstance(a, slice):
            return f"slice({', '.join(map(self.text, (a.start, a.stop, a.step)))})"
        if isinstance(a, enum.Enum):
            return f"{self.add(qualified_name(type(a)), type(a))}.{a.name}"
        if isinstance(a, (dtype, layout, memory_format)):
            return self.within_torch(f"torch.{str(a).rpartition('.')[2]}", a)
        if isinstance(a, (types.FunctionType, types.BuiltinFunctionType, type)):
            return self.add(qualified_name(a), a)
        return repr(a)


class CodeGen:
    """Writes the code of a graph: the function's head, the lines of its nodes, and its end."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the first line.

        Args:
            free_vars: the parameters, with annotations and defaults.
            maybe_return_annotation: the annotation of the result, with its arrow, or "".
        """
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, text: Callable[[Any], str] = repr) -> str:
        """Return the last line."""
        return f"return {text(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders, given the function's arguments."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return the function's result, given the graph's."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return further global names of the code and their values."""
        return []


class _PyTreeInfo(NamedTuple):
    """How nested arguments and results are flattened.

    Attributes:
        orig_args: the names of the function's parameters.
        in_spec, out_spec: the structures of its arguments and of its result.
    """

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """Code that flattens its arguments, for a graph whose placeholders are their leaves."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        self.pytree_info = pytree_info

    def process_inputs(self, *args: Any) -> Any:
        """Return the leaves of the arguments."""
        return pytree.tree_leaves(args)

    def process_outputs(self, outputs: Any) -> Any:
        """Return the result in its structure."""
        spec = self.pytree_info.out_spec
        if spec is None:
            return outputs
        flat = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return pytree.tree_unflatten(flat, spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the first line, and one that takes the arguments apart."""
        names = self.pytree_info.orig_args
        own = names[:1] == ["self"]
        head = super().gen_fn_def([*names], maybe_return_annotation)
        if not free_vars:
            return head
        leaves = "".join(f"{v.partition(' ')[0].partition(':')[0]}, " for v in free_vars)
        arguments = ", ".join(names[own:])
        flat = f"fx_pytree.tree_flatten_spec([{arguments}], self._in_spec)"
        return f"{head}\n    {leaves.rstrip()} = {flat}"

    def generate_output(self, output_args: Any, text: Callable[[Any], str] = repr) -> str:
        """Return the last line, which puts the result together."""
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, text)
        flat = [*output_args] if isinstance(output_args, (list, tuple)) else [output_args]
        return f"return pytree.tree_unflatten({text(flat)}, self._out_spec)"

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return the names of the modules that flatten."""
        flatten = types.SimpleNamespace(
            tree_flatten_spec=lambda tree, spec: pytree.tree_leaves(tree)
        )
        return [("pytree", pytree), ("fx_pytree", flatten)]


def _path(root: str, target: str) -> str:
    for name in target.split("."):
        root = f"{root}.{name}" if name.isidentifier() else f'getattr({root}, "{name}")'
    return root


class Lines:
    """The lines of a graph's code."""

    def __init__(self, graph: Any, root_module: str, namespace: Namespace, wrap: Any) -> None:
        self.graph, self.root_module, self.wrap = graph, root_module, wrap
        self.globals = Globals(namespace)
        self.body: list[str] = []
        self.parameters: list[str] = []
        self.annotation = ""
        self.trace: str | None = ""
        self.last_uses = _last_uses(graph)

    def call(self, args: Any, kwargs: dict[str, Any]) -> str:
        """Return the text of arguments."""
        text = self.globals.text
        return ", ".join([*map(text, args), *(f"{k} = {text(v)}" for k, v in kwargs.items())])

    def placeholder(self, node: Node) -> str | None:
        """Add a parameter; return the line that renames it, if its name is another."""
        note = f" : {self.globals.annotation(node.type)}" if node.type is not None else ""
        default = f" = {self.globals.text(node.args[0])}" if node.args else ""
        self.parameters.append(f"{node.target}{note}{default}")
        plain = node.target.replace("*", "")
        return None if plain == repr(node) else f"{node!r} = {plain}"

    def call_function(self, node: Node, note: str) -> str:
        """Return the line of a call, or of the operator that it stands for."""
        name = getattr(node.target, "__name__", "")
        if getattr(node.target, "__module__", None) == "_operator":
            texts = [self.globals.text(a) for a in node.args]
            if name in MAGIC_METHODS:
                return f"{node!r}{note} = {MAGIC_METHODS[name].format(*texts)}"
            if name in INPLACE_METHODS:
                return f"{INPLACE_METHODS[name].format(*texts)};  {node!r}{note} = {texts[0]}"
        path = qualified_name(node.target)
        found = self.globals.add(path, node.target)
        if node.meta.get("is_wrapped", False):
            self.globals.wrapped[found] = None
        if (
            found == "getattr"
            and len(node.args) == 2
            and isinstance(node.args[1], str)
            and node.args[1].isidentifier()
        ):
            return f"{node!r}{note} = {_path(self.globals.text(node.args[0]), node.args[1])}"
        return f"{node!r}{note} = {found}({self.call(node.args, node.kwargs)})"

    def line(self, node: Node) -> str | None:
        """Return the line of a node; None if it needs none."""
        if node.op == "placeholder":
            return self.placeholder(node)
        if node.op == "output":
            if node.type is not None:
                self.annotation = f" -> {self.globals.annotation(node.type)}"
            return str(self.graph._codegen.generate_output(node.args[0], self.globals.text))
        note = f" : {self.globals.annotation(node.type)}" if node.type is not None else ""
        if node.op == "call_function":
            return self.call_function(node, note)
        if node.op == "call_method":
            place = _path(self.globals.text(node.args[0]), node.target)
            return f"{node!r}{note} = {place}({self.call(node.args[1:], node.kwargs)})"
        place = _path(self.root_module, node.target)
        if node.op == "get_attr":
            return f"{node!r}{note} = {place}"
        return f"{node!r}{note} = {place}({self.call(node.args, node.kwargs)})"

    def deleted(self, node: Node) -> str:
        """Return what frees the values that no later node uses."""
        if node.op in ("placeholder", "output"):
            return ""
        unused = [*map(repr, self.last_uses.get(node, ()))] + [repr(node)] * (not node.users)
        return f";  {' = '.join(unused)} = None" if unused else ""

    def origin(self, node: Node) -> str:
        """Return a comment with the line of the program that a node is from, if it has changed."""
        if node.op in ("placeholder", "output"):
            return ""
        before, self.trace = self.trace, node.stack_trace
        if node.stack_trace is None:
            return "" if before is None else "\n# No stacktrace found for following nodes\n"
        if node.stack_trace == before:
            return ""
        found = re.findall(r'File "(.+)", line (\d+), in (.+)\n\s*(.+)', node.stack_trace)
        return "\n# File: {}:{} in {}, code: {}\n".format(*found[-1]) if found else ""

    def code(self, verbose: bool = False) -> PythonCode:
        """Return the text of the function and the global names that it uses."""
        for i, node in enumerate(self.graph.nodes):
            self.body.append(f"# COUNTER: {i}\n")  # as PyTorch's, for what changes the code
            line = self.line(node)
            if line is not None:
                origin = self.origin(node) if verbose else ""
                self.body += [origin + line, self.deleted(node) + "\n"]
        for name, value in self.graph._codegen.additional_globals():
            self.globals.values[name] = value
        wrapping = "torch.fx._symbolic_trace.wrap"
        wraps = "\n".join(f'{wrapping}("{name}")' for name in self.globals.wrapped)
        if wraps:
            self.globals.within_torch(wrapping, self.wrap)
        head = self.graph._codegen.gen_fn_def(self.parameters, self.annotation)
        body = self.body or ["pass\n"]
        for transform in self.graph._code_transforms:
            body = transform(body)
        text = re.sub(r"# COUNTER: \d+\n", "", "".join(body)).lstrip("\n")
        indented = "\n".join(f"    {line}" for line in text.split("\n"))
        return PythonCode(f"\n{wraps}\n\n{head}\n{indented}", self.globals.values)


def _last_uses(graph: Any) -> dict[Node, list[Node]]:
    """Return the values that each node is the last to use."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for user in reversed(graph.nodes):

        def use(node: Node, user: Node = user) -> Node:
            if node not in seen:
                seen.add(node)
                found.setdefault(user, []).append(node)
            return node

        map_arg((user.args, user.kwargs), use)
    return found


@contextlib.contextmanager
def names_shown(graph: Any, namespace: Namespace) -> Any:
    """Let nodes print as the names that they have in generated code."""
    for node in graph.nodes:
        node._repr_fn = lambda n: namespace.create_name(n.name, n)
    try:
        yield
    finally:
        for node in graph.nodes:
            node._repr_fn = None
