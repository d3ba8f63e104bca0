"""Describes what a user can see of values, errors and warnings, in terms of neither library.

A description is made of dicts, lists, strings, numbers and numpy arrays. What is as usual (a leaf,
no grad, version 0, no view) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from warnings import WarningMessage

import numpy as np

COMPOSITION = ("version", "output", "view_of")
"""What shows how something was composed of operations. Left out of gradients, whose formulas and
sums are an engine's own affair."""
PLAIN = (str, bool, int, float, list, tuple, dict, Exception, np.ndarray, type(None))


def text(value: str) -> str:
    """Return a text with tinynet's name for PyTorch's, and without the files of classes."""
    value = re.sub(
        r"\b(torch\.nn\.modules|tinynet\.nn\.layers)\.([a-z_0-9]+\.)*", "tinynet.nn.", value
    )
    return re.sub(r"\btorch(\.|::| Tensor)", r"tinynet\1", value)


def first_sentence(value: str) -> str:
    """Return the first sentence of the first line, without the full stop."""
    line = text(value.split("\n", 1)[0])
    return re.split(r"(?<!i\.e)(?<!e\.g)(?<=[\w)\]'`])\.(?:\s|$)", line, maxsplit=1)[0].strip()


def error(raised: Exception) -> dict[str, str]:
    """Describe an error by the built-in class that ``except`` would name and its first sentence."""
    builtin = next(c for c in type(raised).__mro__ if c.__module__ == "builtins")
    return {"raises": builtin.__name__, "says": first_sentence(str(raised))}


def warned(heard: Sequence[WarningMessage]) -> list[str]:
    """Describe warnings by class and first sentence."""
    texts = [re.sub(r" ?\(Triggered internally at .*\)", "", str(w.message)) for w in heard]
    kinds = [w.category.__name__ for w in heard]
    return [f"{kind}: {first_sentence(t)}" for kind, t in zip(kinds, texts, strict=True)]


def tensors_in(T: Any, value: Any) -> list[Any]:
    """Return the tensors in a structure, in order."""
    if isinstance(value, T.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return []
    return [t for part in value for t in tensors_in(T, part)]


def numbers(tensor: Any) -> np.ndarray:
    """Return the elements, in the tensor's own memory where that is possible."""
    t = tensor.detach()
    if t.is_sparse:
        return t.to_dense().numpy()
    try:
        return t.numpy()
    except RuntimeError:  # PyTorch's lazy tensor of zeros
        return t.clone().numpy()


def looked_up(look: Callable[[], Any]) -> Any:
    """Return what a look at a property gives, or a description of the error that it raises."""
    try:
        return look()
    except Exception as raised:  # whatever comes is the answer
        return error(raised)


class Describer:
    """Describes values in turn. An object that has a name already is described by that name.

    Args:
        T: the library.
        inputs: of a row, whose result may be one of them or share their memory.
        composition: whether nodes, versions and views are described. They are of operations, and
            not of modules, which may compose them in another way.
    """

    def __init__(
        self, T: Any, inputs: Sequence[Any] | None = None, composition: bool = True
    ) -> None:
        self.T = T
        self.of_row = inputs is not None
        self.composition = composition
        self.names: list[tuple[Any, str]] = []  # keeps what it names alive, so that ids stay true
        self.memory: list[tuple[np.ndarray, str]] = []
        self.undescribed: set[str] = set()  # inputs are named before they appear in a result
        for number, tensor in enumerate(inputs or ()):
            name = f"input {number}"
            self.names.append((tensor, name))
            self.memory.append((numbers(tensor), name))
            self.undescribed.add(name)

    def describe_all(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Describe a program's variables, without functions, classes and helpers."""
        shown = {k: v for k, v in sorted(variables.items()) if self.is_shown(k, v)}
        for name, value in shown.items():
            self.introduce(value, name)
        return {name: self.describe(value, name) for name, value in shown.items()}

    def is_shown(self, name: str, value: Any) -> bool:
        return name[0] != "_" and (isinstance(value, PLAIN) or self.has_identity(value))

    def has_identity(self, value: Any) -> bool:
        return isinstance(value, (self.T.Tensor, self.T.nn.Module)) or self.is_node(value)

    def is_node(self, value: Any) -> bool:
        return hasattr(value, "next_functions") and not isinstance(value, type)

    def introduce(self, value: Any, name: str) -> None:
        """Name the tensors, modules and nodes in a variable before any is described."""
        if isinstance(value, list | tuple | dict):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                self.introduce(part, f"{name}[{key}]")
        elif self.has_identity(value) and self.name_of(value) is None:
            self.names.append((value, name))

    def name_of(self, value: Any) -> str | None:
        return next((name for known, name in self.names if known is value), None)

    def describe(self, value: Any, name: str) -> Any:
        """Describe a value of any kind, found under a name."""
        if type(value).__name__.startswith("Uninitialized"):
            return text(repr(value))  # it has nothing else to show
        if self.has_identity(value):
            known = self.name_of(value)
            if known is None:
                self.names.append((value, name))
            elif known != name and known not in self.undescribed:
                return {"is": known}
            return self.object(value, name, known)
        if isinstance(value, list | tuple):
            return [self.describe(part, f"{name}[{i}]") for i, part in enumerate(value)]
        if isinstance(value, dict):
            return {str(key): self.describe(v, f"{name}[{key}]") for key, v in value.items()}
        if isinstance(value, (np.ndarray, np.generic)):
            return np.array(value)
        if isinstance(value, Exception):
            return error(value)
        if isinstance(value, str):
            return text(value)
        if type(value).__name__ == "dtype":
            return str(value).rpartition(".")[2]
        plain = value is None or type(value) in (bool, int, float)
        return value if plain else type(value).__name__

    def object(self, value: Any, name: str, known: str | None) -> dict[str, Any]:
        """Describe a tensor, module or node that was not described before."""
        if isinstance(value, self.T.nn.Module):
            return self.module(value, name)
        if not isinstance(value, self.T.Tensor):
            return {"node": type(value).__name__}
        self.undescribed.discard(known or "")
        plain = name[:2] == "d_" or not self.composition
        seen = (self.gradient if plain else self.tensor)(value, known or name)
        return seen if known in (None, name) else seen | {"is": known}

    def module(self, module: Any, name: str) -> dict[str, Any]:
        state = module.state_dict().items()
        return {
            "module": text(repr(module)).split("\n"),
            "training": module.training,
            "state": {k: self.describe(t, f"{name}.{k}") for k, t in state},
        }

    def tensor(self, t: Any, name: str) -> dict[str, Any]:
        array = numbers(t)
        seen = {
            "tensor": array.copy(),
            "parameter": isinstance(t, self.T.nn.Parameter) or None,
            "requires_grad": t.requires_grad or None,
            "grad_fn": looked_up(lambda: t.grad_fn and type(t.grad_fn).__name__),
            "is_leaf": looked_up(lambda: None if t.is_leaf else False),
            "retains_grad": looked_up(lambda: t.retains_grad or None),
            "version": looked_up(lambda: t._version or None),
            "output": looked_up(lambda: t.output_nr or None),
            "view_of": self.base(t) if t._is_view() else None,
            "memory_of": self.owner(array, name),
            "grad": looked_up(lambda: self.grad(t, f"{name}.grad")),
        }
        return {key: part for key, part in seen.items() if part is not None}

    def base(self, t: Any) -> str | None:
        known = self.name_of(t._base)
        if known is None and self.of_row:
            return None  # a temporary of a composed operation
        if known is None:
            known = f"a tensor without a name ({len(self.names)})"
            self.names.append((t._base, known))
        return known

    def owner(self, array: np.ndarray, name: str) -> str | None:
        """Return the first name whose memory an array shares, if any."""
        found = next((n for other, n in self.memory if np.shares_memory(array, other)), None)
        self.memory.append((array, name))
        return None if found == name else found

    def grad(self, t: Any, name: str) -> Any:
        if t.grad is None:
            return None
        known = self.name_of(t.grad)
        if known is not None:
            return {"is": known}
        self.names.append((t.grad, name))
        return self.gradient(t.grad, name)

    def gradient(self, t: Any, name: str) -> dict[str, Any]:
        """Describe a gradient: whether it has a history, but not by which formula or sums."""
        seen = self.tensor(t, name)
        if "grad_fn" in seen:
            seen["grad_fn"] = "some"
        return {k: v for k, v in seen.items() if k not in COMPOSITION}
