"""Graphs: lists of nodes, from which Python code is written."""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from tinynet.compat.fx.codegen import CodeGen as CodeGen
from tinynet.compat.fx.codegen import Lines, Namespace, names_shown
from tinynet.compat.fx.codegen import PythonCode as PythonCode
from tinynet.compat.fx.codegen import _PyTreeCodeGen as _PyTreeCodeGen
from tinynet.compat.fx.codegen import _PyTreeInfo as _PyTreeInfo
from tinynet.compat.fx.interception import wrap
from tinynet.compat.fx.node import Argument, Node, NodeList, Target, map_arg
from tinynet.compat.fx.targets import by_path, is_of_torch, node_name, qualified_name

__all__ = ["PythonCode", "CodeGen", "Graph"]


class _InsertPoint:
    """The place of new nodes; as a context manager it restores the former one."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.former = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self.graph._insert = self.former


class Graph:
    """The operations of a traced program.

    Args:
        owning_module: the module that runs it, the last one of several.
        tracer_cls: the class of the tracer that made it.
        tracer_extras: unused.

    Example:
        >>> from tinynet.compat import fx
        >>> graph = fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_function(tn.relu, (x,))
        >>> _ = graph.output(y)
        >>> print(graph)
        graph():
            %x : [num_users=1] = placeholder[target=x]
            %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
            return relu
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._len = 0
        self._insert: Callable[[Node], None] = self._root.prepend
        self._graph_namespace = Namespace()
        self.owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._code_transforms: list[Callable[[list[str]], list[str]]] = []

    @property
    def nodes(self) -> NodeList:
        """The nodes in their order."""
        return NodeList(self)

    def output_node(self) -> Node:
        """Return the output, which is the last node.

        Raises:
            AssertionError: the last node is another one.
        """
        node = self._root.prev
        assert node.op == "output", f"Expected output node, got op={node.op}"
        return node

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """Return the nodes of an op, and of a target if it is given."""
        same = [node for node in self.nodes if node.op == op]
        return same if target is None else [node for node in same if node.target == target]

    # ---- making nodes -----------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node at the place for new ones, and return it.

        Args:
            op, target, args, kwargs: as of Node.
            name: the name to begin with; by default the target's.
            type_expr: the annotation of its value.
        """
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        assert isinstance(args, tuple), f"args must be a tuple, got {type(args)}"
        assert isinstance(kwargs, dict), f"kwargs must be a dict, got {type(kwargs)}"
        candidate = self._target_to_str(target) if name is None else name
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Target) -> str:
        name = target if isinstance(target, str) else node_name(target)
        if name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()

    def placeholder(
        self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty
    ) -> Node:
        """Add a parameter of the function.

        Args:
            name: its name; ``*args`` and ``**kwargs`` take what is left.
            type_expr: its annotation.
            default_value: its default.
        """
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add the value of a parameter, buffer or other attribute, given its path."""
        self._look_for(qualified_name, "get_attr", "attribute")
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a submodule, given its path."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Add the node that returns the function's result."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def _look_for(self, path: str, op: str, what: str) -> None:
        found: Any = self.owning_module
        for name in path.split(".") if found is not None else ():
            if not hasattr(found, name):
                warnings.warn(
                    f"Attempted to insert a {op} Node with no underlying reference in the owning "
                    "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                    "GraphModule.add_parameter to add the necessary Parameter, or "
                    "nn.Module.register_buffer to add the necessary buffer",
                    stacklevel=3,
                )
                return
            found = getattr(found, name)

    # ---- changing ---------------------------------------------------------------------------

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Place new nodes before ``n``, or at the beginning; in a ``with`` for its duration."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph == self, "Node to insert before is not in graph."
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Place each new node after ``n``, or at the end; in a ``with`` for its duration."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph == self, "Node to insert after is not in graph."
        return _InsertPoint(self, n.append)

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node.

        Raises:
            RuntimeError: it has users, or is a node of another graph.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph != self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._set(map_arg(to_erase.args, _nothing), map_arg(to_erase.kwargs, _nothing))

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes without users; return whether there were any.

        Args:
            is_impure_node: returns whether a node stays without users; ``Node.is_impure`` unless
                given.
        """
        self.lint()
        stays = is_impure_node or Node.is_impure
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not stays(node):
                self.erase_node(node)
        return self._len < before

    # ---- copying ----------------------------------------------------------------------------

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x
    ) -> Node:
        """Add a copy of a node of another graph.

        Args:
            node: the node.
            arg_transform: returns this graph's counterpart of one of its inputs.
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Argument | None:
        """Add copies of all nodes of a graph but its output; return what that returns.

        Args:
            g: the graph.
            val_map: gets the copy of each node; nodes that it has are not copied.
            return_output_node: return the output's node too.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        memo = {} if memo is None else memo
        made = Graph(tracer_cls=self._tracer_cls)
        memo[id(self)] = made
        val_map: dict[Node, Node] = {}
        result = made.graph_copy(self, val_map, return_output_node=True)
        if result is not None:
            value, old = result
            new = made.output(value, old.type)
            new.meta = copy.copy(old.meta)
        for node in val_map.values():
            node.meta = copy.copy(node.meta)
        made._codegen = copy.deepcopy(self._codegen)
        made._code_transforms = [*self._code_transforms]
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return the nodes as a flat list: links would make pickles as deep as graphs are long."""
        numbers = {node: i for i, node in enumerate(self.nodes)}
        state = self.__dict__.copy()
        for name in ("_root", "_insert", "_graph_namespace", "owning_module", "_tracer_cls"):
            state.pop(name)
        state["_nodes"] = [
            (
                *(n.op, _path(n.target), n.name, n.type, _without_classes(n.meta)),
                *(map_arg(a, lambda x: _Place(numbers[x])) for a in (n.args, n.kwargs)),
            )
            for n in self.nodes
        ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        Graph.__init__(self)  # the state lacks what it makes
        nodes: list[Node] = []
        for op, target, name, kind, meta, args, kwargs in state.pop("_nodes"):
            placed = _placed(args, nodes), _placed(kwargs, nodes)
            target = by_path()[target] if isinstance(target, _Path) else target
            nodes.append(self.create_node(op, target, *placed, name, kind))
            nodes[-1].meta = meta
        state.pop("_len")
        self.__dict__.update(state)

    # ---- text -------------------------------------------------------------------------------

    def python_code(self, root_module: str, *, verbose: bool = False, **options: Any) -> PythonCode:
        """Return the code of the graph, and the global names that it uses.

        Args:
            root_module: the name of the module, ``"self"``.
            verbose: add comments with the lines of the program.
            **options: unused.
        """
        namespace = Namespace()
        with names_shown(self, namespace):
            return Lines(self, root_module, namespace, wrap).code(verbose)

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(str(node.format_node()) for node in self.nodes)])

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(_table(["opcode", "name", "target", "args", "kwargs"], rows))

    # ---- checks -----------------------------------------------------------------------------

    def lint(self) -> None:
        """Check the graph: order, names, and that what it names exists.

        Raises:
            RuntimeError: a node uses one that comes later, or of another graph; a name occurs
                twice; a module or attribute is missing.
            ValueError: a target has the wrong type.
        """
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                if used.graph is not self:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' does not belong to this Graph, but "
                        "was used as an argument! If you are copying nodes from another graph, "
                        "make sure to use ``arg_transform`` on node_copy() to remap values\n"
                        f"{self}"
                    )
                if used not in seen:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! "
                        f"Please check that Nodes in the graph are topologically ordered\n{self}"
                    )
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                _reach(self.owning_module, node)

    # ---- code -------------------------------------------------------------------------------

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let another object write the code."""
        self._codegen = codegen

    @contextlib.contextmanager
    def on_generate_code(
        self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]
    ) -> Iterator[None]:
        """Change the lines of generated code for the duration of a ``with``.

        Args:
            make_transformer: takes the present function from lines to lines, or None, and returns
                the new one.
        """
        before = self._code_transforms
        self._code_transforms = [make_transformer(before[0] if before else None)]
        try:
            yield
        finally:
            self._code_transforms = before

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders, given the function's arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return the function's result, given the output's."""
        return self._codegen.process_outputs(out)


def _table(head: list[str], rows: list[list[Any]]) -> str:
    """Return a table with a line below its head."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [
        max(len(title) + 2, *(len(row[i]) for row in texts), 0) for i, title in enumerate(head)
    ]
    lines = [head, ["-" * width for width in widths], *texts]
    padded = ([cell.ljust(n) for cell, n in zip(line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


class _Place(int):
    """The number of a node, in its place in the arguments of another."""


def _placed(a: Argument, nodes: list[Node]) -> Argument:
    if isinstance(a, _Place):
        return nodes[a]
    if isinstance(a, tuple):
        items = [_placed(x, nodes) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return [_placed(x, nodes) for x in a]
    if isinstance(a, dict):
        return {k: _placed(v, nodes) for k, v in a.items()}
    if isinstance(a, slice):
        return slice(*(_placed(x, nodes) for x in (a.start, a.stop, a.step)))
    return a


class _Path(str):
    """The path of a function in PyTorch's package, which a pickle has in place of it."""


def _path(target: Target) -> Target:
    return _Path(qualified_name(target)) if is_of_torch(target) else target


def _without_classes(meta: dict[str, Any]) -> dict[str, Any]:
    """Return what a node's ``meta`` holds but the modules around it: their classes may be local."""
    return {name: value for name, value in meta.items() if name != "nn_module_stack"}


def _nothing(node: Node) -> None:
    return None


def _reach(module: Any, node: Node) -> None:
    found = module
    for name in node.target.split("."):
        if not hasattr(found, name):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {name} of "
                f"{'.'.join(node.target.split('.')[: node.target.split('.').index(name)])}"
            )
        found = getattr(found, name)
