"""What a run compiles: its training steps, and the forward pass of its evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet import capture, nn
from tinynet.train.step.method import Method, Supervised


class Compilation:
    """The compiled functions of a run."""

    def __init__(self) -> None:
        self._functions: list[capture.Compiled] = []
        self._model: nn.Module | None = None

    def function(self, function: Callable[..., Any]) -> capture.Compiled:
        """Return a compiled function."""
        compiled: capture.Compiled = capture.compile(function)
        self._functions.append(compiled)
        return compiled

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
        }
