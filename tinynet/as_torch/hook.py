"""The import hook: ``import torch`` and ``import torch.x.y`` import tinynet's modules.

So does ``import torchvision``, where it is not installed.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tinynet.as_torch import tensor_likes
from tinynet.as_torch.reasons import PATHS, is_served, reason
from tinynet.base import lazy
from tinynet.compat import paths
from tinynet.core.devices import device
from tinynet.core.layouts import layout, memory_format
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype
from tinynet.dtypes.kinds import HOMES
from tinynet.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from tinynet.random import Generator

HERE = str(Path(__file__).parent)
RENAMED: dict[str, tuple[type, ...]] = {
    "torch": (Tensor, Size, Generator, device, dtype, layout, memory_format),
    "torch.nn.parameter": (Buffer, Parameter, UninitializedBuffer, UninitializedParameter),
}
"""The modules that the types of values name: libraries ask whether "torch" is in ``str(type(x))``,
and programs compare the texts of a dtype and of ``x.type()``."""


class Absence(NamedTuple):
    """A name that a program uses and tinynet lacks, and where."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        why = next((r for path in parents(self.name) if (r := reason(path))), "")
        return f"{self.file}:{self.line}: tinynet has no {self.name}{why and f': {why}'}"


absences: dict[Absence, int] = {}
"""All absences, and how often each was met."""


def parents(name: str) -> list[str]:
    """Return a dotted name and its parents: ``a.b.c``, ``a.b``, ``a``."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def note(name: str) -> Absence:
    """Count an absence at the program's current line."""
    frame: Any = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith((HERE, "<frozen importlib")):
        frame = frame.f_back
    found = Absence(frame.f_code.co_filename, frame.f_lineno, name)
    absences[found] = absences.get(found, 0) + 1
    return found


class TorchFinder(MetaPathFinder, Loader):
    """Finds and loads PyTorch's modules, using the map in ``paths.py``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec for torch, one of its submodules, or a package beside it.

        Raises:
            ModuleNotFoundError: there is nothing in tinynet under that path, and it is imported
                rather than looked for with ``importlib.util.find_spec``.
        """
        if not is_served(name):
            return None
        if name not in PATHS:
            if sys._getframe(2).f_globals.get("__name__") == "importlib.util":
                return None
            raise ModuleNotFoundError(str(note(name)))
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None for Python's default; ``exec_module`` replaces the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the empty module that Python created with tinynet's."""
        serve(module.__name__, module)


def serve(path: str, empty: ModuleType) -> None:
    """Install tinynet's module for a path of PyTorch.

    Args:
        path: the path.
        empty: a module for the names of all modules, if a path stands for several.
    """
    homes = [importlib.import_module(f"tinynet.{home}".rstrip(".")) for home in PATHS[path].split()]
    sys.modules[path] = module = paths.unite(path, homes, empty)
    if getattr(vars(module).get("__getattr__"), "func", None) is not inner:
        vars(module)["__getattr__"] = partial(inner, path, homes)
    if path == "torch.optim":  # programs and libraries choose optimizers from its __dict__
        lazy.members(module)
    if path == "torch.nn":  # PyTorch's loads it, and tinynet's would be here without serving it
        importlib.import_module("tinynet.nn.functional")
    for child in PATHS:
        parent, _, name = child.rpartition(".")
        if parent == path and name in vars(module):
            if isinstance(vars(module)[name], ModuleType):
                importlib.import_module(child)
            else:  # the parent keeps its function of the same name
                serve(child, ModuleType(child))


def inner(path: str, homes: list[ModuleType], name: str) -> Any:
    """Return a submodule of a module or a name that loads lazily, as its missing attribute.

    Args:
        path: PyTorch's path of the module.
        homes: tinynet's modules for that path.
        name: the missing attribute.

    Raises:
        AttributeError: there is no such name in tinynet; the absence is counted.
    """
    full = f"{path}.{name}"
    if name == "torch":  # PyTorch's modules import it, and programs reach it through them
        return sys.modules["torch"]
    if full in PATHS:
        return importlib.import_module(full)
    if source := paths.source_of(path, name):
        module, _, name = source.rpartition(".")
        return getattr(importlib.import_module(module), name)
    with suppress(KeyError):
        vars(sys.modules[path])[name] = value = paths.lazy_name(homes, name)
        return value
    importing = sys._getframe(1).f_code.co_filename.startswith("<frozen importlib")
    if name.startswith("__") or (importing and sys.modules[path].__name__ == path):
        raise AttributeError(f"module {path!r} has no attribute {name!r}")  # find_spec comes next
    raise AttributeError(str(note(full)), name=name, obj=sys.modules[path])


def ask() -> None:
    """Let all functions ask ``__torch_function__`` of arguments that are no tensors."""
    importlib.import_module("tinynet.compat.fx.interception").ask_all()


def install() -> None:
    """Install the import hook for this process.

    Raises:
        ImportError: the real torch has already been imported.
    """
    there = sys.modules.get("torch")
    if any(isinstance(finder, TorchFinder) for finder in sys.meta_path):
        return
    if there is not None:
        raise ImportError(
            f"torch has been imported already, from {there.__file__}: tinynet can stand in for it "
            "only from the beginning. Make `import tinynet.as_torch` the first line of the "
            "program, or run it with `python -m tinynet.as_torch program.py`."
        )
    for module, classes in RENAMED.items():
        for cls in classes:
            HOMES.setdefault(id(cls), cls.__module__)
            cls.__module__ = module
    sys.meta_path.insert(0, TorchFinder())
    tensor_likes.install(ask)
    program = getattr(sys.modules["__main__"], "__file__", None)
    if program is not None and tensor_likes.defined_by(program):
        ask()
