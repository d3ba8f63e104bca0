"""Functions of numbers and arrays that are compiled when they are called, or read from disk."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.kernels.llvm import machine, store
from tinynet.kernels.llvm.assembly import Module, tree_of
from tinynet.kernels.llvm.entry import Entry
from tinynet.kernels.llvm.values import LLVM, Form
from tinynet.kernels.threads import fork_safe_lock

# Forks wait for compilations: a child could not go on with one, nor begin another.
compiling = fork_safe_lock()
Source = tuple[ast.FunctionDef, Mapping[str, Any]]


class Kernel:
    """A compiled function, for each form of its arguments.

    Args:
        plain: the Python function.
        version: a digest of all that its machine code depends on, besides its source.
    """

    def __init__(self, plain: Any, version: str):
        self.plain, self._version = plain, version
        self._known: dict[tuple[Any, ...], Any] = {}
        self._last: Any = _unknown
        self.__name__, self.__doc__ = plain.__name__, plain.__doc__

    def __call__(self, *args: Any) -> Any:
        """Run the function.

        Raises:
            TypeError: compiled functions take no such arguments.
        """
        found = self._last(*args)
        if found is NotImplemented:
            self._last = function = self._for(tuple(map(form_of, args)))
            found = function(*args)
        if found is NotImplemented:
            raise TypeError(f"{self.__name__} takes no such arguments")
        return found

    def _for(self, forms: tuple[Any, ...]) -> Any:
        if forms not in self._known:
            name = store.digest(f"{self._version} {self.plain.__module__} {self.__name__} {forms}")
            self._known[forms] = compiled(self.__name__, name, forms, self._source)
        return self._known[forms]

    def _source(self) -> Source:
        return tree_of(self.plain), self.plain.__globals__


def _unknown(*args: Any) -> Any:
    return NotImplemented


def form_of(arg: Any) -> Form | str:
    """Return the form of an argument of a compiled function.

    Raises:
        TypeError: compiled functions take no such argument.
    """
    kind = (
        np.dtype(type(arg)).name
        if type(arg) in (bool, int, float)
        else str(getattr(arg, "dtype", type(arg).__name__))
    )
    if kind not in LLVM:
        raise TypeError(f"compiled functions take no {kind}")
    if type(arg) is np.ndarray:
        return Form(kind, arg.ndim, arg.flags.c_contiguous and arg.flags.aligned)
    return kind


def compiled(title: str, name: str, forms: tuple[Any, ...], source: Callable[[], Source]) -> Any:
    """Return the Python function that calls machine code, which is compiled or read from disk.

    Args:
        title: its name for people.
        name: a digest of all that the code depends on.
        forms: those of its arguments.
        source: returns its syntax tree and its global names.

    Raises:
        TypeError: it is no function that LLVM can compile.
    """
    with compiling:
        code = store.read(name)
        if code is None:
            code = machine.machine_code(text_of(forms, *source()))
            store.write(name, code)
        return machine.Loaded(code, title).function()


def text_of(forms: tuple[Any, ...], tree: ast.FunctionDef, space: Mapping[str, Any]) -> str:
    """Return a function and its entry in LLVM's language."""
    module = Module()
    results = module.add("function", tree, space, forms)
    module.put(Entry(module, "function", forms, results).text())
    return module.text()


@functools.cache
def version() -> str:
    """Return a digest of this compiler, of LLVM and of the processor."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    texts = [file.read_text("utf-8") for file in files]
    return store.digest(f"{machine.version()} {machine.processor()} {np.__version__} {texts}")
