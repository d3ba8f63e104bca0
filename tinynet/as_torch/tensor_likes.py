"""Classes of programs and libraries that have a ``__torch_function__``.

PyTorch's functions ask all of their arguments for it; tinynet's operations ask tensors only, which
costs a program nothing. Subclasses of Tensor then see the operations of which a function consists.
So the first module that defines such a class lets all functions ask.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

from tinynet.core.tensors.tensor import Tensor

_NAME = "__torch_function__"


class _Finder(MetaPathFinder):
    """Finds modules as Python does, and looks through those that mention the method."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self.ask = ask

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec, with the loader that looks through it."""
        if name.startswith("tinynet."):  # its proxies let functions ask while they live
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(loader := spec.loader) is SourceFileLoader:
            spec.loader = _Loader(loader.name, loader.path)
            spec.loader.ask = self.ask
        return spec


class _Loader(SourceFileLoader):
    """Python's loader, which looks through a module that it has loaded."""

    ask: Callable[[], None]
    mentioned = False

    def get_data(self, path: str) -> bytes:
        """Return the bytes of the source or of the compiled module."""
        data = super().get_data(path)
        self.mentioned = self.mentioned or _NAME.encode() in data
        return data

    def exec_module(self, module: ModuleType) -> None:
        """Load the module; let functions ask the classes that it defines."""
        super().exec_module(module)
        if self.mentioned and any(_is_asked(x, module) for x in vars(module).values()):
            self.ask()


def _is_asked(x: object, module: ModuleType) -> bool:
    if not isinstance(x, type) or x.__module__ != module.__name__:
        return False
    method = getattr(x, _NAME, None)  # that of a mode is not a class method
    return hasattr(method, "__self__") and (_NAME in vars(x) or not issubclass(x, Tensor))


def defined_by(program: str) -> bool:
    """Return whether a script defines such a class."""
    if not program.endswith(".py"):
        return False
    with open(program, "rb") as file:
        text = file.read()
    return _NAME.encode() in text and any(map(_defines, ast.walk(ast.parse(text))))


def _defines(node: ast.AST) -> bool:
    """Return whether a statement defines a class with the method; that of a mode has ``self``."""
    if not isinstance(node, ast.ClassDef):
        return False
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return any(method.name == _NAME and method.decorator_list for method in methods)


def install(ask: Callable[[], None]) -> None:
    """Look through the modules that are imported from now on.

    Args:
        ask: lets all functions ask their arguments.
    """
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(place, _Finder(ask))
