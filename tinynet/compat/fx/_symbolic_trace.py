"""Tracing: a program runs with proxies for its arguments, and what it does becomes a graph."""

from __future__ import annotations

import collections
import copy
import inspect
import math
import typing
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tinynet.compat import pytree
from tinynet.compat.fx.codegen import _PyTreeCodeGen, _PyTreeInfo
from tinynet.compat.fx.graph import Graph
from tinynet.compat.fx.graph_module import GraphModule
from tinynet.compat.fx.interception import first, patches, replace_listed, replace_wrapped
from tinynet.compat.fx.interception import wrap as wrap
from tinynet.compat.fx.node import Node
from tinynet.compat.fx.proxy import BASE_TYPES, ParameterProxy, Proxy, Scope, TracerBase
from tinynet.compat.runtime import _assert
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.container import Sequential
from tinynet.nn.parameter import Parameter

_VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PHBase:
    """A part of a nested argument that is traced, where the others are constants."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


def _assert_is_none(value: Any, msg: str) -> None:
    """Raise AssertionError with a text unless a value is None."""
    assert value is None, msg


class Tracer(TracerBase):
    """What traces programs; override its methods to trace otherwise.

    Args:
        autowrap_modules: modules whose functions are recorded as a whole.
        autowrap_functions: further functions of that kind.
        param_shapes_constant: whether the shapes of parameters are constants of the program.

    Example:
        >>> from tinynet.compat import fx
        >>> class Whole(fx.Tracer):
        ...     def is_leaf_module(self, m, module_qualified_name):
        ...         return True
        >>> net = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.ReLU())
        >>> [node.target for node in Whole().trace(net).nodes]
        ['input', '0', '1', 'output']
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        functions = [f for module in autowrap_modules for f in vars(module).values() if callable(f)]
        self._autowrap_function_ids = {id(f) for f in (*functions, *autowrap_functions)}
        self._autowrap_search = [*autowrap_modules]
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope: dict[str, tuple[str, type]] = {}
        self.tensor_attrs: dict[int, tuple[Any, str]] = {}

    # ---- what subclasses override -----------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return whether a module's call is one node: it is one of tinynet's layers.

        Args:
            m: the module.
            module_qualified_name: its path.
        """
        home = type(m).__module__
        known = home.startswith(("tinynet.nn.", "tinynet.compat.quantized.", "torch.nn."))
        return known and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """Return the path of a submodule of the root.

        Raises:
            NameError: it is none.
        """
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = next((n for n, m in self.root.named_modules() if m is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        assert isinstance(path, str)
        return path

    def call_module(
        self,
        m: Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Return what a module returns while it is traced: a proxy, or what ``forward`` does.

        Args:
            m: the module.
            forward: its call.
            args, kwargs: the arguments.
        """
        path = self.path_of_module(m)
        calls = self.num_calls[path] = self.num_calls.get(path, -1) + 1
        key = f"{path}@{calls}" if calls else path
        outer, self.scope = self.scope, Scope(path, type(m))
        self.module_stack[key] = (path, type(m))
        try:
            if not self.is_leaf_module(m, path):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", path, args, kwargs)
        finally:
            self.module_stack.pop(key)
            self.scope = outer

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """Return the value of a module's attribute while it is traced.

        Args:
            attr: its name.
            attr_val: its value.
            parameter_proxy_cache: the proxies of parameters and buffers, by their paths.
        """
        if isinstance(attr_val, Parameter):
            named = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            named = self.root.named_buffers()
        else:
            return attr_val
        path = next((n for n, value in named if value is attr_val), None)
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            constant = self.param_shapes_constant

            def made(node: Node) -> Proxy:
                return ParameterProxy(self, node, path, attr_val) if constant else self.proxy(node)

            options: dict[str, Any] = {"proxy_factory_fn": made} if constant else {}
            proxy = self.create_proxy("get_attr", path, (), {}, **options)
            parameter_proxy_cache[path] = proxy
        return parameter_proxy_cache[path]

    def create_arg(self, a: Any) -> Any:
        """Return an argument with nodes in place of proxies, parameters and other tensors."""
        if isinstance(a, Parameter):
            path = next((n for n, p in self.root.named_parameters() if p is a), None)
            if path is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", path, (), {})
        if isinstance(a, (Tensor, Module)):
            members = self.root.named_buffers() if isinstance(a, Tensor) else ()
            members = members or self.root.named_modules()
            path = next((n for n, value in members if value is a), None)
            if path is not None:
                return self.create_node("get_attr", path, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        if isinstance(a, Tensor):
            if id(a) not in self.tensor_attrs:
                path = self.get_fresh_qualname("_tensor_constant")
                self.tensor_attrs[id(a)] = a, path
                setattr(self.root, path, a)
            return self.create_node("get_attr", self.tensor_attrs[id(a)][1], (), {})
        return super().create_arg(a)

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return a name with a number that the root has no attribute of."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    # ---- tracing ----------------------------------------------------------------------------

    def trace(
        self,
        root: Module | Callable[..., Any],
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> Graph:
        """Return the graph of a module or function.

        Args:
            root: the module or function.
            concrete_args: values of arguments that are constants of the program.

        Raises:
            TraceError: the program branches on a traced value, or iterates over it.
        """
        if isinstance(root, Module):
            self.root: Any = root
            assert hasattr(type(root), self.traced_func_name), (
                f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
            )
            function = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {m: name for name, m in root.named_modules()}
        else:
            self.root, function = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {}
        self._collect(self.root, "")
        is_module = isinstance(root, Module)
        function, args = self.create_args_for_root(function, is_module, concrete_args)
        with patches() as made:
            self._patch(made, function)
            result = self.create_arg(function(*args))
            note = _annotations(function).get("return")
            self.create_node("output", "output", (result,), {}, type_expr=note)
        self.submodule_paths = None
        return self.graph

    def _collect(self, module: Module, prefix: str) -> None:
        """Find the tensors that are attributes of modules, but no parameters or buffers."""
        for name, value in module.__dict__.items():
            if isinstance(value, Tensor):
                self.tensor_attrs[id(value)] = value, prefix + name
        for name, child in module.named_children():
            self._collect(child, f"{prefix}{name}.")

    def _patch(self, made: Any, function: Any) -> None:
        """Let modules ask the tracer, and wrapped functions look for proxies."""
        cache: dict[str, Proxy] = {}
        original_call, original_get = Module.__call__, Module.__getattribute__

        def call(module: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return original_call(module, *args, **kwargs)

            globals_of = getattr(getattr(module, "forward", None), "__globals__", {})
            replace_listed(made, globals_of, self._autowrap_function_ids, first)
            return self.call_module(module, forward, args, kwargs)

        def get(module: Module, name: str) -> Any:
            value = original_get(module, name)
            return self.getattr(name, value, cache) if isinstance(value, Tensor) else value

        made.method(Module, "__call__", call)
        made.method(Module, "__getattribute__", get)
        replace_wrapped(made, first)
        for names in (getattr(function, "__globals__", {}), *map(vars, self._autowrap_search)):
            replace_listed(made, names, self._autowrap_function_ids, first)

    def create_args_for_root(
        self,
        root_fn: Any,
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Any, list[Any]]:
        """Return the function to call and its arguments: proxies, but for constants.

        Args:
            root_fn: the function.
            is_module: whether its first parameter is the root.
            concrete_args: see ``trace``.

        Raises:
            RuntimeError: there are more or fewer values in a tuple than arguments.
        """
        analyzed = inspect.unwrap(root_fn)
        code = analyzed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[is_module:total]
        if isinstance(concrete_args, tuple):
            if len(names) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(names)} arguments but got {len(concrete_args)} "
                    "concrete arguments"
                )
            concrete_args = dict(zip(names, concrete_args, strict=True))
        signature = inspect.signature(analyzed)
        args = [self._placeholder(name, concrete_args, signature, analyzed) for name in names]
        args = [self.root] * is_module + args
        if code.co_kwonlyargcount or code.co_flags & _VARIABLE:
            rest = code.co_varnames[total:]
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._placeholder(f"*{rest[0]}", concrete_args, signature, analyzed))
                rest = rest[1:]
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._placeholder(f"**{rest[0]}", concrete_args, signature, analyzed))
            root_fn = _positional(root_fn, len(args))
        flat, spec = pytree.tree_flatten(tuple(args))
        if len(flat) == len(args):
            return root_fn, args
        return self._flattening(root_fn, [*code.co_varnames[:total]], spec), flat

    def _flattening(self, function: Any, names: list[str], spec: Any) -> Any:
        """Return a function of the leaves of nested arguments."""
        codegen = _PyTreeCodeGen(_PyTreeInfo(names, spec, None))
        self.graph.set_codegen(codegen)

        def flattened(*leaves):
            result = function(*pytree.tree_unflatten([*leaves], spec))
            values, out_spec = pytree.tree_flatten(result)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return values

        return flattened

    def _placeholder(self, name: str, concrete: Any, signature: Any, function: Any) -> Any:
        default: tuple[Any, ...] = ()
        if not name.startswith("*"):
            given = signature.parameters[name].default
            default = () if given is inspect.Parameter.empty else (given,)
        if concrete is None or name not in concrete:
            note = _annotations(function).get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=note)
        count = 0

        def replaced(x: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            return proxy if isinstance(x, PHBase) else self._constant(name, proxy, x)

        return pytree.tree_map(replaced, concrete[name])

    def _constant(self, name: str, proxy: Any, x: Any) -> Any:
        """Record that an argument must have the value that it was traced with, and return that."""
        text = f"{name} has been specialized to have value {x} but got another value"
        if x is None:
            self.create_proxy("call_function", _assert_is_none, (proxy, text), {})
        elif isinstance(x, BASE_TYPES) and not isinstance(x, Tensor):
            self.create_proxy("call_function", _assert, (proxy == x, text), {})
        else:
            warnings.warn(
                "Was not able to add assertion to guarantee correct input "
                f"{name} to specialized function. It is up to the user to make sure that your "
                "inputs match the inputs you specialized the function with.",
                stacklevel=2,
            )
        return x

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = Tracer.__new__(type(self))
        for name, value in self.__dict__.items():
            kept = name in ("_autowrap_search", "tensor_attrs")
            setattr(made, name, copy.copy(value) if kept else copy.deepcopy(value, memo))
        return made


def _annotations(function: Any) -> dict[str, Any]:
    """Return the annotations of a program's function: none of layers, as PyTorch's have none."""
    home = getattr(function, "__module__", None) or ""
    if home.startswith("tinynet.nn."):
        return {}
    notes: dict[str, Any] = getattr(function, "__annotations__", {})
    return typing.get_type_hints(function) if home.startswith("tinynet.") else notes


def _positional(function: Any, count: int) -> Any:
    """Return a function that takes all its arguments by position, ``*args`` as one value."""
    code: CodeType = function.__code__
    made = code.replace(
        co_flags=code.co_flags & ~_VARIABLE,
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
    )
    return FunctionType(made, function.__globals__, function.__name__, None, function.__closure__)


def symbolic_trace(
    root: Module | Callable[..., Any],
    concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
) -> GraphModule:
    """Return a module that runs what a module or function does, from the graph of that.

    Args:
        root: the module or function.
        concrete_args: values of arguments that are constants of the program, for branches.

    Raises:
        TraceError: the program branches on a traced value, or iterates over it.

    Example:
        >>> from tinynet.compat import fx
        >>> print(fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).code.strip())
        def forward(self, input):
            input_1 = input
            _0 = getattr(self, "0")(input_1);  input_1 = None
            _1 = getattr(self, "1")(_0);  _0 = None
            return _1
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
