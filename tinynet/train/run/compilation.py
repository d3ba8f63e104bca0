"""What a run compiles: its training steps, and the forward pass of its evaluations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from tinynet import capture, distributed, nn
from tinynet.train.step.method import Method, Supervised


class Compilation:
    """The compiled functions of a run.

    Evaluations run by numpy's programs.

    Args:
        compile: the key ``run.compile``.
        native_from: the first native replays; empty: as soon as each program is compiled.
    """

    def __init__(
        self, compile: bool | Literal["llvm"] = True, native_from: Sequence[int] = ()
    ) -> None:
        self._steps: list[capture.Continued] = []  # by LLVM
        self._functions: list[capture.Compiled] = []
        self._states: list[Mapping[str, Any]] = []
        self._model: nn.Module | None = None
        self._is_native = compile == "llvm"
        self._native_from = [n or None for n in native_from]

    def function(self, function: Callable[..., Any]) -> capture.Compiled:
        """Return a compiled function, of which all that it changes is in its closure."""
        compiled: capture.Compiled = (
            self._native(function) if self._is_native else capture.compile(function)
        )
        self._functions.append(compiled)
        return compiled

    def _native(self, function: Callable[..., Any]) -> capture.Continued:
        # Other processes would not all become native at the same step.
        wait = self._native_from or distributed.is_initialized()
        roots = [cell.cell_contents for cell in function.__closure__ or ()]
        compiled = capture.Continued(function, roots, backend="llvm", wait=wait)
        if len(self._steps) < len(self._states):
            compiled.load_state_dict(self._states[len(self._steps)])
        self._steps.append(compiled)
        return compiled

    def state_dict(self) -> list[Mapping[str, Any]] | None:
        """Return what a resumed run needs, to run the same steps natively."""
        return [step.state_dict() for step in self._steps] or None

    def load_state_dict(self, state: list[Mapping[str, Any]]) -> None:
        """Go on where the run stopped."""
        self._states = state

    def to_evaluate(self, model: nn.Module, method: Method) -> nn.Module:
        """Return the model to evaluate.

        It is compiled if the training steps are, and if the method's evaluation only calls it.
        """
        if type(method).measure is not Supervised.measure:
            return model
        if not any(function.programs() for function in self._functions):
            return model
        if self._model is None:
            self._model = capture.compile(model)
            self._functions.append(self._model.__dict__["forward"])
        return self._model

    def summary(self) -> dict[str, Any] | None:
        """Return the numbers of programs and calls, and the reasons to run eagerly."""
        functions = self._functions
        if not functions:
            return None
        calls = [function.calls() for function in functions]
        problems = (problem for function in functions for problem in function.problems)
        return {
            "programs": sum(len(function.programs()) for function in functions),
            **{name: sum(getattr(one, name) for one in calls) for name in capture.Calls._fields},
            "eager_because": [problem.reason for problem in problems],
            **({"native_from": self._first_native_replays()} if self._is_native else {}),
        }

    def _first_native_replays(self) -> list[int]:
        """Return the key ``run.native_from`` of a run with the same results."""
        return [n or 0 for step in self._steps for n in step.first_native_replays()]
