"""Nodes: the operations of a graph, linked in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tinynet.compat.fx.targets import has_effect, is_random, qualified_name

__all__ = [
    "immutable_list",
    "immutable_dict",
    "Node",
    "map_arg",
    "map_aggregate",
    "has_side_effect",
]


# ---- arguments ----------------------------------------------------------------------------------
# Lists and dicts that are arguments of nodes, and do not change.


class immutable_list(list[Any]):  # noqa: N801  # PyTorch's name
    """A list in a node's arguments: changing it would not update the users of its nodes."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{type(self).__name__!r} object does not support mutation. If you are attempting to "
            "modify the kwargs or args of a torch.fx.Node object,\ninstead create a new copy of it "
            "and assign the copy to the node:\n\n    new_args = ...  # copy and mutate args\n"
            "    node.args = new_args"
        )

    __delitem__ = __setitem__ = __iadd__ = __imul__ = append = _refuse
    clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, ([*self],)

    def __hash__(self) -> int:  # type: ignore[override]  # as PyTorch's
        return hash(tuple(self))


class immutable_dict(dict[str, Any]):  # noqa: N801  # PyTorch's name
    """A dict in a node's arguments."""

    __delitem__ = __setitem__ = __ior__ = clear = immutable_list._refuse
    pop = popitem = setdefault = update = immutable_list._refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, ({**self},)


Argument = Any
Target = Any
LEGAL_OPS = frozenset(
    "call_function call_method call_module get_attr output placeholder root".split()
)
_side_effectful_functions: set[Any] = set()


def has_side_effect(fn: Any) -> Any:
    """Keep calls of a function when dead code is eliminated; return the function.

    Example:
        >>> from tinynet.compat import fx
        >>> @fx.has_side_effect
        ... def log(x):
        ...     print(x)
    """
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Argument, fn: Callable[[Any], Any]) -> Any:
    """Return a nested argument with ``fn`` applied to all that is not a container.

    Args:
        a: a value in any nesting of tuples, lists, dicts and slices.
        fn: the function.

    Example:
        >>> from tinynet.compat.fx.node import map_aggregate
        >>> map_aggregate((1, [2, {"k": 3}]), lambda x: x + 1)
        (2, [3, {'k': 4}])
    """
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list(map_aggregate(x, fn) for x in a)
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """Return a nested argument with ``fn`` applied to its nodes.

    Example:
        >>> from tinynet.compat import fx
        >>> x = fx.Graph().placeholder("x")
        >>> fx.map_arg([x, (1, x)], lambda node: node.name)
        ['x', (1, 'x')]
    """
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """An operation of a graph.

    Attributes:
        op: ``"placeholder"``, ``"get_attr"``, ``"call_function"``, ``"call_module"``,
            ``"call_method"`` or ``"output"``.
        name: the name of its value in generated code.
        target: the function, or the name of the argument, attribute, module or method.
        args, kwargs: its arguments, with nodes in place of values.
        users: the nodes that use its value, as the keys of a dict.
        type: the annotation of its value, or None.
        meta: a dict for passes.

    Example:
        >>> from tinynet.compat import fx
        >>> graph = fx.symbolic_trace(lambda x: tn.relu(x) + 1).graph
        >>> [(n.op, n.name, n.args) for n in graph.nodes][1:3]
        [('call_function', 'relu', (x,)), ('call_function', 'add', (relu, 1))]
    """

    def __init__(
        self,
        graph: Any,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        assert op in LEGAL_OPS, f"op '{op}' is not in _legal_ops"
        if op == "call_function" and not callable(target):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                f"{type(target).__name__} but a Callable is expected"
            )
        if op not in ("call_function", "root") and not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                f"{type(target).__name__} but a str is expected"
            )
        self.graph, self.name, self.op, self.target, self.type = (
            graph,
            name,
            op,
            target,
            return_type,
        )
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = {}
        self._set(args, kwargs)

    # ---- place in the graph -----------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The next node of the graph."""
        return self._next

    @property
    def prev(self) -> Node:
        """The previous node of the graph."""
        return self._prev

    def __lt__(self, other: Node) -> bool:
        """Return whether the node stands before another one of its graph."""
        node = self._next
        while node is not other and node.op != "root":
            node = node._next
        return node is other

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self

    def prepend(self, x: Node) -> None:
        """Move ``x`` to the place before this node.

        Raises:
            AssertionError: it is a node of another graph.
        """
        assert self.graph == x.graph, "Attempting to move a Node into a different Graph"
        if self is x:
            return
        x._remove_from_list()
        x._prev, x._next = self._prev, self
        self._prev._next = x
        self._prev = x

    def append(self, x: Node) -> None:
        """Move ``x`` to the place after this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    # ---- arguments --------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments; assign a new tuple to change them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Argument, ...]) -> None:
        self._set(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments; assign a new dict to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Argument]) -> None:
        self._set(self._args, k)

    def _set(self, args: Any, kwargs: Any) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def use(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args, self._kwargs = map_arg(args, use), map_arg(kwargs, use)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return [*self._input_nodes]

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace a positional argument."""
        self.args = (*self._args[:idx], arg, *self._args[idx + 1 :])

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert a positional argument.

        Raises:
            AssertionError: there are fewer arguments than ``idx``.
        """
        assert 0 <= idx <= len(self._args), (
            f"insert_args index must be between 0 and len(self.args), got {idx}"
        )
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Set a keyword argument."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use another node wherever an argument is ``old_input``."""

        def swapped(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set(map_arg(self._args, swapped), map_arg(self._kwargs, swapped))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let all users of this node use another one; return the users that changed.

        Args:
            replace_with: the other node.
            delete_user_cb: returns whether a user is to change; all of them unless given.
            propagate_meta: copy ``meta`` to the other node, which has none.
        """
        if propagate_meta:
            assert not replace_with.meta, (
                "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                "but replace_with already has .meta keys"
            )
            replace_with.meta.update(self.meta)
        changed = [u for u in self.users if delete_user_cb is None or delete_user_cb(u)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ---- what it does -----------------------------------------------------------------------

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether it does more than compute a value, so that it stays without users.

        Args:
            impure_random: whether drawing random numbers counts.

        Raises:
            AssertionError: it calls a module that its graph's module lacks.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            effects = self.target in _side_effectful_functions or has_effect(self.target)
            return effects or (impure_random and is_random(self.target))
        if self.op == "call_module":
            root = self.graph.owning_module
            assert root is not None, "self.graph.owning_module not set for purity check"
            module = root.get_submodule(self.target)
            return bool(getattr(module, "is_impure", False))
        return False

    @property
    def stack_trace(self) -> str | None:
        """The call stack at which it was recorded, if that was kept."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    # ---- printing ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def _rename(self, candidate: str) -> None:
        """Take another name, with a number where it is in use."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)

    def _pretty_print_target(self, target: Any) -> str:
        return target if isinstance(target, str) else qualified_name(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """Return the line that describes the node in the text of a graph.

        Args:
            placeholder_names: gets a placeholder's text, for the first line of a graph.
            maybe_return_typename: gets the annotation of the output.
            include_tensor_metadata: unused.
        """
        head = f"%{self.name} : {annotated(self.type)}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(
                    self.target + (f" : {type_name(self.type)}" * bool(self.type))
                )
            default = f"(default={self._args[0]})" if self._args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self._args[0]}"
        arguments = f"args = {shown(self._args)}, kwargs = {shown(self._kwargs)}"
        return f"{head}[target={self._pretty_print_target(self.target)}]({arguments})"


def annotated(annotation: Any) -> str:
    """Return an annotation as the text of a node shows it, with a space behind it."""
    return "" if annotation is None else f"{type_name(annotation)} "


def type_name(annotation: Any) -> str:
    """Return the text of an annotation."""
    if isinstance(annotation, str):
        return repr(annotation)
    if not isinstance(annotation, type) or hasattr(annotation, "__origin__"):
        return repr(annotation).replace("typing.", "").replace("tinynet.", "torch.")
    if annotation.__module__ == "builtins":
        return annotation.__qualname__
    return qualified_name(annotation)


def shown(a: Argument) -> str:
    """Return the text of arguments with the names of nodes after ``%``, and keys without quotes."""
    if isinstance(a, list):
        return f"[{', '.join(map(shown, a))}]"
    if isinstance(a, tuple):
        if hasattr(a, "_fields"):
            return repr(a)
        return f"({', '.join(map(shown, a))}{',' * (len(a) == 1)})"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{k}: {shown(v)}" for k, v in a.items()) + "}"
    if isinstance(a, Node):
        return f"%{a.name}"
    return str(a)


class NodeList:
    """The nodes of a graph in their order; nodes may be erased while it is walked."""

    def __init__(self, graph: Any, direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return int(self.graph._len)

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> Iterable[Node]:
        return NodeList(self.graph, "_prev" if self.direction == "_next" else "_next")

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Node) and node.graph is self.graph and not node._erased
