"""The programs of a config's compiled training step, as graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet import capture
from tinynet.board.graphs.collection import Graphs
from tinynet.train.assemble.build import Parts
from tinynet.train.assemble.trial import rehearsal
from tinynet.train.base.problems import UsageError


def compiled_trial(parts: Parts) -> Graphs:
    """Capture the training step of a copy of the model; return the graphs of its programs.

    Raises:
        UsageError: if the step fails, or cannot be captured; the message has the reason.
    """
    config = parts.config
    calls: dict[str, tuple[Any, tuple[Any, ...]]] = {}

    def compiler(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = capture.compile(function, fullgraph=True)

        def run(function: Callable[..., Any], *args: Any) -> Any:
            calls[function.__name__] = compiled, (function, *args)
            return compiled(function, *args)

        return run

    with rehearsal(parts) as tried:
        task = tried.task(strict=True, compile=compiler)
        try:
            with tried.fitting(tried.batch):
                for _ in range(capture.CAPTURES):
                    parts.method.step(task)
        except capture.CompileError as error:
            raise UsageError(f"{config.origin('model.type')}: {error}") from None
        programs = {
            name: capture.program_graph(compiled, args, {}, [tried.model])
            for name, (compiled, args) in calls.items()
        }
    if not programs:
        place = config.origin("method.type")
        raise UsageError(f"{place}: nothing in a step of this method is compiled")
    graphs = Graphs()
    graphs.add(programs if len(programs) > 1 else {"program": [*programs.values()][0]})
    return graphs
