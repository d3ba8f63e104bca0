"""The language of the programs: families, endings, and what a program may call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Run = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Program:
    """A function of a namespace `T` (torch or tinynet) that returns its locals.

    `fails` says that PyTorch refuses its last line; the recorder refuses a program that ends
    otherwise, so that a slip is never recorded as an expected error. `strict`: tinynet runs it
    with `set_strict_leaf_writes(True)`, which is what PyTorch always does.
    """

    family: str
    name: str
    run: Run
    fails: bool = False
    strict: bool = False

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"


class Family:
    """The programs of one file, in order; its name is the file's.

    It is a decorator: the function's name, which says what the program shows, is the program's.
    """

    def __init__(self, module: str) -> None:
        self.name = module.rpartition(".")[2].removeprefix("programs_")
        self.programs: list[Program] = []

    def __call__(self, run: Run) -> Run:
        return self.add(run.__name__, run)

    def fails(self, run: Run) -> Run:
        """For a program whose last line raises in PyTorch."""
        return self.add(run.__name__, run, fails=True)

    def strict(self, run: Run) -> Run:
        """For a program about indexed writes to leaves, as PyTorch has them today."""
        return self.add(run.__name__, run, strict=True)

    def add(self, name: str, run: Run, **options: bool) -> Run:
        """Adds a program under a name of its own: for programs made in a loop."""
        self.programs.append(Program(self.name, name, run, **options))
        return run


def attempt(call: Callable[[], Any]) -> Exception | None:
    """The error that `call` raises; None if it raises none."""
    try:
        call()
    except Exception as error:  # whatever comes is the answer
        return error.with_traceback(None)
    return None


def function(T: Any, forward: Any, backward: Any = None, **more: Any) -> Any:
    """A class `Custom` derived from `autograd.Function` that has these static methods."""
    methods = {"forward": forward, "backward": backward, **more}
    given = {name: staticmethod(method) for name, method in methods.items() if method}
    return type("Custom", (T.autograd.Function,), {"__module__": "program", **given})
