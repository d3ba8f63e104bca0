"""The race: libraries, each in its own process, take turns on the same machine."""

import contextlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.floor import FLOORS
from benchmarks.tables import Table
from benchmarks.workloads import BATCHES, BY_NAME, ROWS, Workload

SLICE = 0.06  # seconds per turn, if a step is not longer
REST = 0.25  # seconds between turns with several threads: pools spin for long before they sleep
PAUSE = 0.05  # seconds between turns with one thread
NEEDED = ("tinynet", "torch", "floor")  # other sides are left out where they do not run
TIMES = {  # the columns of a side's times
    "tinynet": "tinynet µs",
    "compiled": "compiled µs",
    "compiled-llvm": "compiled by LLVM µs",
    "torch": "PyTorch µs",
    "inductor": "torch.compile µs",
    "jax": "JAX jit µs",
}
FASTER = {  # the columns of its speed, relative to PyTorch's
    "tinynet": "times as fast as PyTorch",
    "llvm": "with LLVM",
    "compiled": "compiled",
    "compiled-llvm": "compiled by LLVM",
}
AIMS = {"tinynet": "aim", "compiled": "aim compiled", "compiled-llvm": "aim by LLVM"}
WITH_JAX = (
    "mlp_small",
    "mlp_small_adamw",
    "mlp_mnist",
    "mlp_wide_adamw",
    "gpt_micro",
    "gpt_small",
)  # those that benchmarks/jax_steps.py has
STEPS = 6  # whose losses are compared before the race


class Side:
    """A process with one library; method calls go to its ``Worker``."""

    def __init__(self, name: str, threads: int):
        pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | dict.fromkeys(pools, str(threads)) | {"XLA_FLAGS": _xla(threads)},
        )
        try:
            self("open", name, threads)
        except RuntimeError:
            self.close()
            raise

    def __call__(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker, and wait."""
        assert self.process.stdin and self.process.stdout
        try:
            pickle.dump((method, *arguments), self.process.stdin)
            self.process.stdin.flush()
            answer = pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError):
            raise RuntimeError("its process has ended") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()


def _xla(threads: int) -> str:
    return f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}"


@dataclass
class Times:
    """The seconds per step of each side in each round."""

    seconds: dict[str, list[float]]

    def us(self, name: str) -> float | None:
        """Return the median of a side in microseconds; None if it did not take part."""
        return 1e6 * median(self.seconds[name]) if name in self.seconds else None

    def faster(self, name: str, than: str = "torch") -> float | None:
        """Return the median ratio of adjacent turns."""
        if name not in self.seconds:
            return None
        pairs = zip(self.seconds[name], self.seconds[than], strict=True)
        return median(slow / quick for quick, slow in pairs)


class Race:
    """Sides that take turns. The first one needed defines the losses of a workload.

    Args:
        names: those of the sides.
        threads: the number of threads of each.

    Attributes:
        notes: which sides were left out, and why.
    """

    def __init__(self, names: Iterable[str], threads: int):
        self.sides: dict[str, Side] = {}
        self.notes: list[str] = []
        self.rest = REST if threads > 1 else PAUSE
        for name in names:
            try:
                self.sides[name] = Side(name, threads)
            except RuntimeError as error:
                self.leave_out(name, error)

    def __enter__(self) -> "Race":
        return self

    def __exit__(self, *exc: object) -> None:
        for side in self.sides.values():
            side.close()

    def leave_out(self, name: str, error: RuntimeError, where: str = "") -> None:
        """Note why a side does not take part; raise if it is needed."""
        if name in NEEDED:
            raise error
        (first, *_), column = str(error).splitlines(), TIMES.get(name) or FASTER[name]
        self.notes.append(f"{where}{column.removesuffix(' µs')} is left out: {first}")
        print(self.notes[-1], file=sys.stderr, flush=True)

    def columns(self, heads: dict[str, str]) -> dict[str, str]:
        """Return the columns of the sides that take part."""
        return {name: head for name, head in heads.items() if name in self.sides}

    def run(self, row: Workload, rounds: int, answers: bool = False) -> Times:
        """Measure training steps of a workload, or inference with ``answers``."""
        ready = self._ready(row, answers)
        names, seconds = [*ready], {name: [0.0] * rounds for name in ready}
        for i in range(rounds):
            for k in range(len(names)):
                name = names[(i + k) % len(names)]
                time.sleep(self.rest)
                seconds[name][i] = self.sides[name]("turn", ready[name])
        return Times(seconds)

    def _ready(self, row: Workload, answers: bool) -> dict[str, int]:
        """Start all sides from the same weights; return how many steps fill a turn of each."""
        ready: dict[str, int] = {}
        weights = losses = None
        for name, side in self.sides.items():
            if name == "jax" and row.name not in WITH_JAX:
                continue
            try:
                own = side("make", row.name)
                weights = own if weights is None else weights
                found = side("losses", weights, STEPS)
                losses = found if losses is None else losses
                exact = name == "compiled"
                if not (found == losses if exact else np.allclose(found, losses, rtol=1e-4)):
                    raise RuntimeError(f"its losses are {found} instead of {losses}")
                if answers:
                    side("answer")
                ready[name] = _steps_per_turn(side)
            except RuntimeError as error:
                self.leave_out(name, error, f"{row.name}: ")
        return ready


def _steps_per_turn(side: Side) -> int:
    side("turn", BATCHES)
    return max(1, round(SLICE / side("turn", 3)))


def report(threads: int, rounds: int, only: list[str]) -> Table:
    """Measure training steps of the workloads: eager, compiled, PyTorch's and JAX's."""
    with Race(("tinynet", "llvm", *list(TIMES)[1:]), threads) as race:
        times, faster, aims = map(race.columns, (TIMES, FASTER, AIMS))
        heads = ["workload", "model", "optimizer", "B"]
        heads += [*times.values(), *faster.values(), *aims.values()]
        table = Table(titled("Training steps", threads), heads, notes=race.notes)
        for row in ROWS:
            if only and row.name not in only:
                continue
            found = race.run(row, rounds)
            table.add(
                row.name, row.shown, row.optimizer[0], row.batch,
                *map(found.us, times), *map(found.faster, faster), *map(row.aims.get, aims),
            )  # fmt: skip
    return table


def titled(title: str, threads: int) -> str:
    """Return a title that names the number of threads, unless it is one."""
    return title if threads == 1 else f"{title}, {threads} threads"


def report_floor(threads: int, rounds: int) -> Table:
    """Measure how far tinynet is from steps written by hand."""
    heads = ["workload", "by hand µs", "tinynet µs", "tinynet / by hand"]
    table = Table("Steps written by hand in numpy", heads)
    with Race(("floor", "tinynet"), threads) as race:
        for name in FLOORS:
            found = race.run(BY_NAME[name], rounds)
            table.add(
                name, found.us("floor"), found.us("tinynet"), found.faster("floor", "tinynet")
            )
    return table
