"""One library in its own process: answers requests from a pipe, and sleeps in between."""

import functools
import importlib
import pickle
import sys
import warnings
from time import perf_counter, process_time
from typing import Any

from benchmarks import large, scaling  # noqa: F401  # they add their workloads to BY_NAME
from benchmarks.floor import Floor
from benchmarks.workloads import BY_NAME, Training

LIBRARIES = {  # the name of a side -> its library, and the backend of its compiler
    "tinynet": ("tinynet", None),
    "llvm": ("tinynet", None),
    "floor": ("tinynet", None),
    "jax": ("tinynet", None),
    "compiled": ("tinynet", "numpy"),
    "compiled-llvm": ("tinynet", "llvm"),
    "torch": ("torch", None),
    "inductor": ("torch", "inductor"),
}


class Worker:
    """The requests that the other end of the pipe can make.

    Single-thread times are processor times, which exclude other processes on the core.
    """

    def __init__(self) -> None:
        self.training: Any = None

    def open(self, name: str, threads: int) -> None:
        """Import the library of a side; raise if it cannot run here."""
        library, backend = LIBRARIES[name]
        self.lib = lib = importlib.import_module(library)
        self.clock = process_time if threads == 1 else perf_counter
        self.kind: Any = functools.partial(Training, backend=backend)
        lib.set_num_threads(threads)
        if name == "llvm":
            lib.backends.llvm.enabled = True
        elif name == "floor":
            self.kind = Floor
        elif name == "jax":
            self.kind = importlib.import_module("benchmarks.jax_steps").JaxTraining
        if backend:
            lib.compile(lambda x: x + 1, backend=backend)(lib.ones(1))
            if library == "tinynet":  # what runs eagerly must not pass for compiled
                warnings.simplefilter("error", lib.compiler.CompileWarning)

    def make(self, name: str) -> dict[str, Any]:
        """Create a workload; return its weights."""
        self.training = self.kind(self.lib, BY_NAME[name])
        return self.training.initial

    def losses(self, weights: dict[str, Any], count: int) -> list[float]:
        """Return the losses of the first steps from these weights."""
        self.training.start(weights)
        return [self.training.step().item() for _ in range(count)]

    def answer(self) -> None:
        """Switch turns to inference on one example at a time, without a graph."""
        lib, model = self.lib, self.training.compiled(self.training.model.eval())
        x = self.training.batches[0][0]
        one = x[:1] if x.ndim else x

        def run() -> Any:
            with lib.no_grad():
                return model(one)

        self.training.step = run

    def turn(self, count: int) -> float:
        """Return the seconds per step of ``count`` training steps, after a warm-up step."""
        step, steps, clock = self.training.step, range(count), self.clock
        step()
        start = clock()
        for _ in steps:
            step()
        return (clock() - start) / count


def main() -> None:
    """Answer requests until the pipe closes."""
    worker, asks, answers = Worker(), sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while True:
        try:
            method, *arguments = pickle.load(asks)
        except EOFError:
            return
        try:
            answer = getattr(worker, method)(*arguments)
        except Exception as error:  # the other end raises it
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
