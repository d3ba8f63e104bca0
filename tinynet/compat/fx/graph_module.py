"""Modules that run graphs."""

from __future__ import annotations

import copy
import itertools
import linecache
from pathlib import Path
from typing import Any

from tinynet.compat.fx.codegen import _PyTreeCodeGen
from tinynet.compat.fx.graph import Graph, PythonCode
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.parameter import Parameter

__all__ = ["GraphModule", "reduce_graph_module"]

_numbers = itertools.count()
_HINT = "# To see more debug info, please use `graph_module.print_readable()`"


_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(Module):
    """A module with given attributes, from which a graph's module takes what it needs."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__.update(body)


class GraphModule(Module):
    """A module that runs a graph: its ``forward`` is the graph's code.

    Args:
        root: the module, or the dict from paths to values, that has what the graph names.
        graph: the graph.
        class_name: the name of the class, which each instance has for itself.

    Raises:
        RuntimeError: the dict lacks what the graph names.

    Example:
        >>> from tinynet.compat import fx
        >>> traced = fx.symbolic_trace(lambda x: tn.relu(x))
        >>> for node in traced.graph.nodes:
        ...     if node.target is tn.relu:
        ...         node.target = tn.neg
        >>> _ = traced.recompile()
        >>> traced(tn.ones(2))
        tensor([-1., -1.])
    """

    _graph: Graph
    _code: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return an instance of a class of its own, which gets the graph's ``forward``."""

        class GraphModuleImpl(_base(cls)):  # type: ignore[misc]  # known at run time
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(
        self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        type(self).__name__ = class_name
        super().__init__()
        self.meta: dict[str, Any] = {}
        named = [n for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            if isinstance(root, GraphModule):
                self.meta.update(root.meta)
            for node in named:
                _copy_attr(root, self, node.target)
        elif not isinstance(root, dict):
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        else:
            for node in named:
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not "
                        "provided in ``root``!"
                    )
            for target in sorted({n.target for n in named}, key=lambda t: str(t).count(".")):
                _assign(root[target], self, target)
        self.graph = graph
        self._tracer_cls = graph._tracer_cls

    @property
    def graph(self) -> Graph:
        """The graph; assigning another recompiles the module."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        assert isinstance(g, Graph), f"Expected a Graph instance, but got {type(g)}"
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The Python code of ``forward``."""
        return self._code

    def recompile(self) -> PythonCode:
        """Write and compile the code again, after the graph has changed."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        file = f"<eval_with_key>.{next(_numbers)}"
        linecache.cache[file] = (len(made.src), None, made.src.splitlines(keepends=True), file)
        names = {**made.globals}
        exec(compile(made.src, file, "exec"), names)
        type(self).forward = names["forward"]  # type: ignore[method-assign]  # of its own class
        return made

    # ---- submodules -------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Add a submodule at a path, with modules for what is missing on the way.

        Returns:
            False if something on the way is no module.
        """
        *path, name = target.split(".")
        place: Any = self
        for item in path:
            if not hasattr(place, item):
                setattr(place, item, Module())
            place = getattr(place, item)
            if not isinstance(place, Module):
                return False
        place.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Delete the submodule at a path; return whether there was one."""
        path, _, name = target.rpartition(".")
        try:
            place = self.get_submodule(path)
        except AttributeError:
            return False
        if not isinstance(getattr(place, name, None), Module):
            return False
        delattr(place, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Delete the submodules that the graph does not name, nor one inside them."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
            called = (
                dict(self.named_modules()).get(node.target) if node.op == "call_module" else None
            )
            if called is not None:
                used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---- copies -----------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        left_out = ("_graph", "_code", "_tracer_cls")  # tracers' classes may be local
        return {k: v for k, v in self.__getstate__().items() if k not in left_out}

    def _deepcopy_init(self) -> Any:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        state = copy.deepcopy(self._state(), memo)
        return reduce_graph_module(_base(type(self)), state, copy.deepcopy(self._graph, memo))

    def __copy__(self) -> GraphModule:
        state = {k: copy.copy(v) if k.startswith("_") else v for k, v in self._state().items()}
        return reduce_graph_module(_base(type(self)), state, self._graph)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = _base(type(self)), self._state(), self._graph, type(self).__name__
        return reduce_graph_module, arguments

    # ---- text -------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join([super().__str__(), self._code, _HINT])

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """Print the code as a class, with the lines of the program; return the text.

        Args:
            print_output: whether to print it.
            **options: unused.
        """
        code = self._graph.python_code(root_module="self", verbose=True).src.lstrip("\n")
        text = f"class {self._get_name()}(torch.nn.Module):\n{_indented(code.rstrip(' '))}"
        for child in self.children():
            if isinstance(child, GraphModule):
                text += "\n" + _indented(child.print_readable(print_output=False))
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: str | Path, module_name: str = "FxModule") -> None:
        """Write the code to a file ``module.py`` of a folder; PyTorch writes the weights too.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "tinynet has no GraphModule.to_folder: save the module with torch.save"
        )


def reduce_graph_module(
    base: Any, state: dict[str, Any], graph: Graph, class_name: str = "GraphModule"
) -> GraphModule:
    """Return a copy of a module, or one that was pickled.

    Args:
        base: the class from which its own class derives.
        state: its attributes.
        graph: its graph.
        class_name: the name of its own class.
    """
    made: GraphModule = base.__new__(base)
    type(made).__name__ = class_name
    made.__setstate__(state)
    made.graph = graph
    made._tracer_cls = graph._tracer_cls
    return made


def _base(cls: type) -> type:
    """Return the class from which the class of one module derives."""
    return next(c for c in cls.__mro__ if c.__qualname__.split(".")[-1] != "GraphModuleImpl")


def _indented(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(f"    {line}" if line.strip() else "\n" for line in lines)


def _copy_attr(source: Any, place: Any, target: str) -> None:
    """Give a module what another has at a path, with modules for what is missing on the way."""
    *path, name = target.split(".")
    for item in path:
        inner = getattr(source, item)
        if getattr(place, item, None) is inner:
            return  # the module is there as a whole
        if getattr(place, item, None) is None:
            setattr(place, item, Module())
        source, place = inner, getattr(place, item)
    _set(place, name, getattr(source, name))


def _assign(value: Any, place: Any, target: str) -> None:
    *path, name = target.split(".")
    for item in path:
        if getattr(place, item, None) is None:
            setattr(place, item, Module())
        place = getattr(place, item)
    _set(place, name, value)


def _set(place: Any, name: str, value: Any) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        place.register_buffer(name, value)
    else:
        setattr(place, name, value)
