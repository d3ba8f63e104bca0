"""Runs one program under one library and describes all that a user can see afterwards.

An answer is made of dicts, lists, strings, numbers and numpy arrays. What is as usual (a leaf, no
grad, version 0, no view) is left out. A program that raises is described by its error and the
locals that it had then.
"""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any

import numpy as np

from tests.oracle.run import describe_error, first_sentence

from .spec import Program


def answer(T: Any, program: Program) -> dict[str, Any]:
    """What is to be seen after `program` has run under the library `T`."""
    error = None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = program.run(T)
        except Exception as caught:  # whatever comes is the answer
            error, found = describe_error(caught), locals_of(program, caught.__traceback__)
        finally:
            T.set_grad_enabled(True)  # a program may end in another mode
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told: dict[str, Any] = {"sees": Describer(T).describe_all(found)}
    if error is not None:
        told["ends"] = error
    if heard:
        told["warns"] = [f"{w.category.__name__}: {first_sentence(str(w.message))}" for w in heard]
    return told


def locals_of(program: Program, traceback: TracebackType | None) -> dict[str, Any]:
    """The program's variables at the moment of an error."""
    while traceback is not None:
        if traceback.tb_frame.f_code is program.run.__code__:
            return dict(traceback.tb_frame.f_locals)
        traceback = traceback.tb_next
    raise AssertionError(f"{program.id} did not even begin.")


# What is not told of a gradient, since it shows how the engine and the formulas are made.
GRADIENTS_OWN = ("version", "output", "view_of")


class Describer:
    """Describes variables in neutral terms; an object that has a name already, by that name."""

    def __init__(self, T: Any) -> None:
        self.T = T
        self.names: list[tuple[Any, str]] = []  # keeps what it names alive, so that ids stay true
        self.memory: list[tuple[np.ndarray, str]] = []

    def describe_all(self, variables: dict[str, Any]) -> dict[str, Any]:
        shown = {k: v for k, v in sorted(variables.items()) if self.is_shown(v)}
        for name, value in shown.items():
            self.introduce(value, name)
        return {name: self.describe(value, name) for name, value in shown.items()}

    def is_shown(self, value: Any) -> bool:
        """Leaves out the library, functions, classes, and helpers such as hook handles."""
        plain = (str, bool, int, float, list, tuple, dict, Exception, np.ndarray, type(None))
        return isinstance(value, plain) or self.is_tensor(value) or self.is_node(value)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.T.Tensor)

    def is_node(self, value: Any) -> bool:
        return hasattr(value, "next_functions") and not isinstance(value, type)

    def introduce(self, value: Any, name: str) -> None:
        """Gives names to all tensors and nodes in the variables, before any is described."""
        if isinstance(value, list | tuple | dict):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                self.introduce(part, f"{name}[{key}]")
        elif (self.is_tensor(value) or self.is_node(value)) and self.name_of(value) is None:
            self.names.append((value, name))

    def name_of(self, value: Any) -> str | None:
        return next((name for known, name in self.names if known is value), None)

    def describe(self, value: Any, name: str) -> Any:
        if self.is_tensor(value):
            return self.gradient(value, name) if name[:2] == "d_" else self.tensor(value, name)
        if self.is_node(value):
            known = self.name_of(value)
            return {"is": known} if known != name else {"node": type(value).__name__}
        if isinstance(value, self.T.Size):
            return list(value)
        if isinstance(value, list | tuple):
            return [self.describe(part, f"{name}[{i}]") for i, part in enumerate(value)]
        if isinstance(value, dict):
            return {str(key): self.describe(v, f"{name}[{key}]") for key, v in value.items()}
        if isinstance(value, Exception):
            return describe_error(value)
        if isinstance(value, str):
            return value.replace("torch.", "tinynet.").replace("torch::", "tinynet::")
        return value

    def tensor(self, t: Any, name: str) -> Any:
        known = self.name_of(t)
        if known is None:
            self.names.append((t, name))
        elif known != name:
            return {"is": known}
        array = numbers(t)
        told = {
            "tensor": array.copy(),
            "requires_grad": t.requires_grad or None,
            "grad_fn": seen(lambda: t.grad_fn and type(t.grad_fn).__name__),
            "is_leaf": seen(lambda: None if t.is_leaf else False),
            "retains_grad": seen(lambda: t.retains_grad or None),
            "version": seen(lambda: t._version or None),
            "output": seen(lambda: t.output_nr or None),
            "view_of": self.base(t) if t._is_view() else None,
            "memory_of": self.owner(array, name),
            "grad": seen(lambda: self.grad(t, f"{name}.grad")),
        }
        return {key: part for key, part in told.items() if part is not None}

    def base(self, t: Any) -> str:
        known = self.name_of(t._base)
        if known is None:
            known = f"a tensor without a name ({len(self.names)})"
            self.names.append((t._base, known))
        return known

    def owner(self, array: np.ndarray, name: str) -> str | None:
        """The first variable that lies in the same memory, if any."""
        found = next((n for other, n in self.memory if np.shares_memory(array, other)), None)
        self.memory.append((array, name))
        return found

    def grad(self, t: Any, name: str) -> Any:
        return None if t.grad is None else self.gradient(t.grad, name)

    def gradient(self, t: Any, name: str) -> dict[str, Any]:
        """Whether it has a history is told, but not how the formula was written that made it, and
        not how the engine added it up.
        """
        told = self.tensor(t, name)
        if "grad_fn" in told:
            told["grad_fn"] = "some"
        return {k: v for k, v in told.items() if k not in GRADIENTS_OWN}


def numbers(t: Any) -> np.ndarray:
    """The numbers of a tensor; PyTorch's lazy tensor of zeros is one that must be cloned."""
    try:
        return t.detach().numpy()
    except RuntimeError:
        return t.detach().clone().numpy()


def seen(look: Any) -> Any:
    """What a look at a property gives; the error if it raises."""
    try:
        return look()
    except Exception as error:  # whatever comes is the answer
        return describe_error(error)
