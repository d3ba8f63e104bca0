"""Programs: functions of a library that return their local variables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import describe
from .compare import answer_differences
from .suite import Entries

Run = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Program:
    """A function of a namespace ``T`` (PyTorch or tinynet) that returns its locals.

    Attributes:
        fails: whether PyTorch refuses its last line. The recorder refuses a program that ends
            otherwise, so that a slip is never recorded as an expected error.
        strict: whether tinynet refuses indexed writes to leaves, as PyTorch does.
        dtype: the default dtype.
        composition: whether nodes, versions and views are compared.
    """

    family: str
    name: str
    run: Run
    fails: bool = False
    strict: bool = False
    dtype: str = "float32"
    composition: bool = True

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def group(self) -> str:
        """Return the id: each program has a test of its own."""
        return self.id

    def answer(self, T: Any) -> dict[str, Any]:
        """Run the program and describe what can be seen of its variables afterwards.

        A program that raises is described by its error and the locals that it had then.
        """
        raised = None
        with warnings.catch_warnings(record=True) as heard, self._modes(T):
            warnings.simplefilter("always")
            try:
                found = self.run(T)
            except Exception as caught:  # whatever comes is the answer
                raised, found = describe.error(caught), self._locals(caught.__traceback__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            describer = describe.Describer(T, composition=self.composition)
            answer: dict[str, Any] = {"sees": describer.describe_all(found)}
        if raised is not None:
            answer["ends"] = raised
        if heard:
            answer["warns"] = describe.warned(heard)
        return answer

    differences = staticmethod(answer_differences)

    def complaint(self, answer: dict[str, Any]) -> str | None:
        """Return what is wrong if the program does not end in PyTorch as it should."""
        if ("ends" in answer) == self.fails:
            return None
        return f"{self.id}: {answer.get('ends', 'should raise, but did not')}"

    @contextmanager
    def _modes(self, T: Any) -> Iterator[None]:
        set_strict = getattr(T.autograd, "set_strict_leaf_writes", lambda strict: None)
        set_strict(self.strict)
        T.set_default_dtype(getattr(T, self.dtype))
        try:
            yield
        finally:
            T.set_grad_enabled(True)  # a program may end in another mode
            T.set_default_dtype(T.float32)
            set_strict(False)

    def _locals(self, traceback: TracebackType | None) -> dict[str, Any]:
        """Return the program's variables at the moment of an error."""
        while traceback is not None:
            if traceback.tb_frame.f_code is self.run.__code__:
                return dict(traceback.tb_frame.f_locals)
            traceback = traceback.tb_next
        raise AssertionError(f"{self.id} did not even begin.")


class Family(Entries):
    """The programs of one file, in order, named after the file.

    It is a decorator. The function's name, which says what the program shows, is the program's.

    Args:
        module: ``__name__``.
        skip: why the programs cannot run here, if they cannot.
        options: those of ``Program``, for all of them.
    """

    def __init__(self, module: str, skip: str = "", **options: Any) -> None:
        super().__init__(module.rpartition(".")[2].removeprefix("programs_"), skip)
        self.options = options

    def __call__(self, run: Run) -> Run:
        return self.add(run.__name__, run)

    def fails(self, run: Run) -> Run:
        """Add a program whose last line raises in PyTorch."""
        return self.add(run.__name__, run, fails=True)

    def strict(self, run: Run) -> Run:
        """Add a program about indexed writes to leaves, as PyTorch has them today."""
        return self.add(run.__name__, run, strict=True)

    def add(self, name: str, run: Run, **options: bool) -> Run:
        """Add a program under a name of its own: for programs made in a loop."""
        self.put(Program(self.name, name, run, **self.options, **options))
        return run


def attempt(call: Callable[[], Any]) -> Exception | None:
    """Return the error that ``call`` raises; None if it raises none."""
    try:
        call()
    except Exception as error:  # whatever comes is the answer
        return error.with_traceback(None)
    return None


def function(T: Any, forward: Any, backward: Any = None, **more: Any) -> Any:
    """Return a class ``Custom`` derived from ``autograd.Function`` with these static methods."""
    methods = {"forward": forward, "backward": backward, **more}
    given = {name: staticmethod(method) for name, method in methods.items() if method}
    return type("Custom", (T.autograd.Function,), {"__module__": "program", **given})
