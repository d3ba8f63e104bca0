"""The process of a try: a few training steps with a batch size, and the memory that they need.

It reads a request from stdin, as JSON, and writes its answer to stdout. In a process of its own,
the peak belongs to this batch size, and a lack of memory ends nothing else.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from tinynet.train.assemble.averages import MovingAverage
from tinynet.train.assemble.build import Parts, computing
from tinynet.train.assemble.trial import trial
from tinynet.train.base.memory import peak, resident
from tinynet.train.base.problems import TrainError
from tinynet.train.config.resolve import load_config
from tinynet.train.loop.fit import fit
from tinynet.train.run.processes import with_override
from tinynet.train.run.runner import prepare
from tinynet.train.step.method import Compilation

_STEPS, _SECONDS, _MOST_STEPS = 4, 0.2, 30
"""The steps of a try: with ``run.compile``, two are captured and two replayed. Of quick ones more,
for their times."""
_PAUSE = 0.1  # seconds between two looks at the parent


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a try has found.

    Args:
        request: the ``config``, its ``overrides``, and the ``batch_size``.

    Returns:
        The number of ``examples`` of the training set, the memory ``before`` the steps and at the
        ``peak``, and the ``seconds`` per example; ``{"fits": False}`` if an allocation failed; or
        the ``error`` of the config and its ``exit_code``.
    """
    try:
        return _found(request)
    except MemoryError:
        return {"fits": False}
    except TrainError as error:
        if any(isinstance(cause, MemoryError) for cause in _causes(error)):
            return {"fits": False}
        return {"error": str(error), "exit_code": error.exit_code}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _found(request: Mapping[str, Any]) -> dict[str, Any]:
    overrides = with_override(request["overrides"], "data.batch_size", request["batch_size"])
    config = load_config(request["config"], overrides)
    with computing(config.run):
        parts = prepare(config)
        before = resident()
        trial(parts)  # as before each training; it keeps more than a step does
        average = MovingAverage(parts.model, config.ema.decay) if config.ema else None
        seconds = [*_seconds(parts, average)]
    return {
        "fits": True,
        "examples": len(parts.train_set),
        "before": before,
        "peak": peak(),
        "seconds": min(seconds[1:]),  # the others were disturbed, or are captured
    }


def _seconds(parts: Parts, average: MovingAverage | None) -> Iterator[float]:
    """Take training steps, and yield the time of each per example."""
    config = parts.config
    began = before = time.perf_counter()
    for step in fit(
        *(parts.model, parts.loss, parts.updaters, parts.train_batches, itertools.count()),
        accumulate=config.optimizer.accumulate,
        method=parts.method,
        compile=config.run.compile and Compilation().function,
        hints=False,
    ):
        if average is not None:
            average.update()
        now = time.perf_counter()
        yield (now - before) / sum(batch.examples for batch in step.batches)
        count = step.number + 1
        if count == _MOST_STEPS or (count >= _STEPS and now - began > _SECONDS):
            return
        before = time.perf_counter()


def end_without(parent: int) -> None:
    """End this process when the one that watches its memory has gone."""
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    os._exit(1)


def main() -> None:
    """Answer the request on stdin; the argument is the number of the parent process."""
    threading.Thread(target=end_without, args=[int(sys.argv[1])], daemon=True).start()
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):  # what the user's code prints
        found = answer(request)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
