"""Proxies: values of a program while it is traced. What is done with them becomes nodes."""

from __future__ import annotations

import collections
import copy
import dataclasses
import dis
import inspect
import operator
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tinynet.compat.fx.codegen import MAGIC_METHODS
from tinynet.compat.fx.graph import Graph
from tinynet.compat.fx.interception import Intercepting, first
from tinynet.compat.fx.node import Node, map_aggregate
from tinynet.compat.fx.targets import paths, recorded
from tinynet.core.devices import device
from tinynet.core.layouts import layout, memory_format
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype

__all__ = [
    "TracerBase",
    "GraphAppendingTracer",
    "TraceError",
    "Proxy",
    "Attribute",
    "ParameterProxy",
    "Scope",
    "ScopeContextManager",
]

BASE_TYPES = (str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout)
_TRACING = f"{__name__.rpartition('.')[0]}._symbolic_trace"
_NOT_ITERABLE = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as "
    "a *args or **kwargs function argument. See the torch.fx docs on pytorch.org for a more "
    "detailed explanation of what types of control flow can be traced, and check out the Proxy "
    "docstring for help troubleshooting Proxy iteration errors"
)


class TraceError(ValueError):
    """A program does what cannot be traced, such as a branch on a value."""


class Scope(NamedTuple):
    """A module while its ``forward`` is traced.

    Attributes:
        module_path: its path.
        module_type: its class.
    """

    module_path: str
    module_type: Any


class ScopeContextManager:
    """Makes a scope the present one for the duration of a ``with``."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self.holder, self.scope = scope, current_scope

    def __enter__(self) -> Scope:
        return self.scope

    def __exit__(self, *exception: object) -> None:
        return None


class TracerBase:
    """What turns operations on proxies into nodes of a graph.

    Attributes:
        graph: the graph.
        record_stack_traces: keep the call stack of each node in its ``meta``.
        check_mutable_operations: unused.
        trace_asserts: unused.
        proxy_buffer_attributes: let buffers become proxies, too.
        traced_func_name: the name of the traced function.
    """

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: collections.OrderedDict[str, Any]

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph, and return it; see ``Graph.create_node``."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        stack = getattr(self, "module_stack", None)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = _users_stack()
        if stack:
            node.meta["nn_module_stack"] = copy.copy(stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """Return a proxy for a node's value."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Add a node whose arguments may be proxies, and return a proxy for its value.

        Args:
            kind, target, args, kwargs, name, type_expr: see ``Graph.create_node``.
            proxy_factory_fn: makes the proxy; ``proxy`` unless given.
        """
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        assert isinstance(args_, tuple)
        assert isinstance(kwargs_, dict)
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        made = (proxy_factory_fn or self.proxy)(node)
        return made

    def create_arg(self, a: Any) -> Any:
        """Return an argument with nodes in place of proxies.

        Raises:
            NotImplementedError: it has a type that a node cannot hold.
            RuntimeError: a dict has a proxy among its keys.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            if hasattr(a, "_fields"):
                return type(a)(*items)
            return type(a)(items) if type(a).__module__ == "builtins" else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {_key(self.create_arg(k)): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(*map(self.create_arg, (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*map(self.create_arg, (a.start, a.stop, a.step)))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            values = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), values)
        if a is None or a is ... or isinstance(a, (Node, *BASE_TYPES)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """Return whether a branch is taken; subclasses may answer.

        Raises:
            TraceError: always.
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Return an iterator over a value; subclasses may know the length.

        Raises:
            TraceError: always.
        """
        raise TraceError(_NOT_ITERABLE)

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a value, which ``**value`` asks for."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """A tracer that adds to a graph.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope: dict[str, tuple[str, type]] = {}


class Proxy(Intercepting):
    """A value of a program while it is traced.

    Args:
        node: the node that computes it.
        tracer: what records further operations; one that adds to the node's graph unless given.

    Example:
        >>> from tinynet.compat import fx
        >>> graph = fx.Graph()
        >>> x = fx.Proxy(graph.placeholder("x"))
        >>> tn.relu(x).sum(dim=1) * 2
        Proxy(mul)
        >>> [node.name for node in graph.nodes]
        ['x', 'relu', 'sum_1', 'mul']
    """

    node: Node
    tracer: Any

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node
        self._count()

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        """Return an attribute of the value; PyTorch's class does so, too."""
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        return Proxy(copy.deepcopy(self.node, memo), copy.deepcopy(self.tracer, memo))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame = inspect.currentframe()
        calling = frame.f_back if frame is not None else None
        unpacked = _unpacked(calling)
        if unpacked is not None:
            return (self.__getitem__(i) for i in range(unpacked))
        iterator: Iterator[Any] = self.tracer.iter(self)
        return iterator

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return bool(self.tracer.to_bool(self))

    def keys(self) -> Any:
        """Return the keys of the value."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Record a call of a function that has proxies among its arguments."""
        kwargs = {} if kwargs is None else kwargs
        tracer = first(args, kwargs).tracer
        path = paths().get(orig_method)
        if path is None:  # a program's own function that asks its arguments
            return tracer.create_proxy("call_function", orig_method, args, kwargs)
        if "." not in path:  # a method of its input
            return tracer.create_proxy("call_method", path, args, kwargs)
        return tracer.create_proxy("call_function", *recorded(orig_method, args, kwargs))


class Attribute(Proxy):
    """An attribute of a value: a node when it is used, or a method when it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None
        self._count()

    @property
    def node(self) -> Node:  # type: ignore[override]  # made when it is asked for
        """The node that reads the attribute."""
        if self._node is None:
            arguments = (self.root, self.attr)
            self._node = self.tracer.create_proxy("call_function", getattr, arguments, {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A proxy of a parameter whose shape and dtype are constants of the program."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        assert isinstance(param, Tensor)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    def size(self, *args: Any) -> Any:
        """Return the parameter's size."""
        return self.param.size(*args)

    def dim(self) -> int:
        """Return the parameter's number of dimensions."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """The parameter's number of dimensions."""
        return self.param.ndim

    def numel(self) -> int:
        """Return the parameter's number of elements."""
        return self.param.numel()

    def nelement(self) -> int:
        """Return the parameter's number of elements."""
        return self.param.numel()


def _key(key: Any) -> Any:
    def refuse(x: Any) -> Any:
        if isinstance(x, Node):
            raise RuntimeError(
                f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}"
            )
        return x

    return map_aggregate(key, refuse)


def _users_stack() -> str | None:
    """Return the lines of the program that is traced, from its outermost function on."""
    frames = []
    for frame, line in traceback.walk_stack(inspect.currentframe()):
        home = frame.f_globals.get("__name__", "")
        if home == _TRACING and frame.f_code.co_name == "trace":
            break
        if not home.startswith("tinynet."):
            frames.append((frame, line))
    summary = traceback.StackSummary.extract(iter(frames[::-1]))
    return "".join(traceback.StackSummary.from_list(summary).format()).strip() or None


def _unpacked(frame: Any) -> int | None:
    """Return the number of names to the left of ``a, b = x``; None if it is no such statement."""
    if frame is None:
        return None
    found = (i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti)
    instruction = next(found, None)
    is_one = instruction is not None and instruction.opname == "UNPACK_SEQUENCE"
    return int(instruction.argval) if is_one and instruction is not None else None


# ---- operators ----------------------------------------------------------------------------------


def _operator(name: str) -> Any:
    target = getattr(operator, name)

    def method(*args: Any, **kwargs: Any) -> Any:
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    return method


def _reflected(name: str) -> Any:
    target = getattr(operator, name)

    def method(self: Proxy, rhs: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    return method


def _add_operators() -> None:
    comparisons = "eq ne lt gt le ge".split()
    for name in MAGIC_METHODS:
        magic = f"__{name.rstrip('_')}__"
        setattr(Proxy, magic, _operator(name))
        getattr(Proxy, magic).__name__ = magic
        if name not in (*comparisons, "pos", "neg", "invert", "getitem"):
            setattr(Proxy, f"__r{magic[2:]}", _reflected(name))
    Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # __eq__ records


_add_operators()
