"""Running graphs node by node, and writing new ones on the way."""

from __future__ import annotations

import inspect
from typing import Any

from tinynet.compat.fx._symbolic_trace import Tracer
from tinynet.compat.fx.graph import Graph
from tinynet.compat.fx.graph_module import GraphModule
from tinynet.compat.fx.node import Argument, Node, Target, map_aggregate, map_arg
from tinynet.compat.fx.proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node; override its methods to watch or to change what is run.

    Args:
        module: the module that has what the graph names.
        garbage_collect_values: forget each value after its last use.
        graph: the graph; by default the module's.

    Example:
        >>> from tinynet.compat import fx
        >>> class Shapes(fx.Interpreter):
        ...     def run_node(self, n):
        ...         result = super().run_node(n)
        ...         print(n.name, tuple(result.shape))
        ...         return result
        >>> _ = Shapes(fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2)))).run(tn.ones(5, 3))
        input_1 (5, 3)
        _0 (5, 2)
        output (5, 2)
    """

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for user in reversed(self.graph.nodes) if garbage_collect_values else ():
            last = [node for node in user.all_input_nodes if node not in seen]
            seen.update(last)
            self.user_to_last_uses[user] = last

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Return the graph's result.

        Args:
            *args: its arguments.
            initial_env: the values of nodes that are not to run.
            enable_io_processing: flatten nested arguments, and put the result together again.
        """
        self.env = {} if initial_env is None else {**initial_env}
        inputs = self.graph.process_inputs(*args) if enable_io_processing else args
        self.args_iter = iter(inputs)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _name_the_node(error, node)
                raise
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Return the result for arguments in a list, which is emptied."""
        args = [*args_list]
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """Return the value of a node: what the method named as its op returns."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # ---- the ops ----------------------------------------------------------------------------

    def placeholder(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument, or the default.

        Raises:
            RuntimeError: there is neither.
        """
        if target.startswith("*"):
            return [*self.args_iter]
        missing = object()
        value = next(self.args_iter, missing)
        if value is not missing:
            return value
        if not args:
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            )
        return args[0]

    def get_attr(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the attribute at a path."""
        return self.fetch_attr(target)

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a function returns."""
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a method of the first argument returns."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a submodule returns."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result."""
        return args[0]

    # ---- values -----------------------------------------------------------------------------

    def fetch_attr(self, target: str) -> Any:
        """Return the attribute at a path of the module.

        Raises:
            RuntimeError: there is none.
        """
        found = self.module
        parts = target.split(".")
        for i, name in enumerate(parts):
            if not hasattr(found, name):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            found = getattr(found, name)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the values of a node's arguments."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Argument, n: Node) -> Any:
        """Return arguments of a node with values in place of nodes.

        Raises:
            RuntimeError: a node has no value.
        """

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose "
                    "such issues"
                )
            return self.env[node]

        return map_arg(args, value)


class Transformer(Interpreter):
    """Writes a new graph from a module's; override its methods to change what is written.

    Args:
        module: the module.

    Example:
        >>> from tinynet.compat import fx
        >>> class Swap(fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         target = tn.sigmoid if target is tn.relu else target
        ...         return super().call_function(target, args, kwargs)
        >>> Swap(fx.symbolic_trace(lambda x: tn.relu(x))).transform()(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _AppendingTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return a proxy for an argument."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return a proxy for an attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a proxy for what a submodule returns."""
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a proxy for what a function returns."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return a module with the new graph."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            value = map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a)
            new = self.new_graph.output(value)
            new.meta.update(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)


class _AppendingTracer(Tracer):
    """A tracer that adds to a graph, with all modules as leaves."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Return True."""
        return True


def _name_the_node(error: Exception, node: Node) -> None:
    """Add the node that was run to an error's text."""
    text = f"While executing {node.format_node()}"
    first = f"{error.args[0]}\n\n{text}" if error.args else text
    if not isinstance(error, KeyError) and "While executing %" not in str(error):
        error.args = (f"{first}\nOriginal traceback:\n{node.stack_trace}", *error.args[1:])
