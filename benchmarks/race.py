"""The race: two libraries, each in its own process, run alternately on the same machine."""

import os
import pickle
import subprocess
import sys
import time
from importlib import util
from statistics import median
from typing import Any

import numpy as np

from benchmarks.floor import FLOORS
from benchmarks.tables import Table
from benchmarks.workloads import BATCHES, BY_NAME, ROWS, Workload

SLICE = 0.06  # seconds per turn, if a step is not longer
REST = 0.04  # seconds between turns with several threads: pools spin for a while before they sleep
FASTER, WITH_NUMBA = "times as fast as PyTorch", "with numba"
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

    def __init__(self, library: str, threads: int):
        pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", library, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | dict.fromkeys(pools, str(threads)) | {"XLA_FLAGS": _xla(threads)},
        )

    def __call__(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker, and wait."""
        assert self.process.stdin and self.process.stdout
        pickle.dump((method, *arguments), self.process.stdin)
        self.process.stdin.flush()
        answer = pickle.load(self.process.stdout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def _xla(threads: int) -> str:
    return f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}"


def agree(ours: Side, theirs: Side, row: Workload) -> None:
    """Start both from the same weights; raise if they do not compute the same losses."""
    ours("make", row.name)
    weights = theirs("make", row.name)
    a, b = ours("losses", weights, STEPS), theirs("losses", weights, STEPS)
    if not np.allclose(a, b, rtol=1e-4):
        raise RuntimeError(f"{row.name}: losses differ: {a} and {b}")


def calibrate(side: Side) -> int:
    """Return how many steps fill a slice."""
    side("turn", BATCHES)
    once = side("turn", 3)
    return max(1, round(SLICE / once))


def race(
    ours: Side, theirs: Side, row: Workload, rounds: int, rest: float, answers: bool = False
) -> tuple[float, ...]:
    """Return seconds per step of both (medians), and the median ratio of adjacent turns.

    With ``answers``, measure inference instead of training steps.
    """
    agree(ours, theirs, row)
    if answers:
        ours("answer")
        theirs("answer")
    sides = [(ours, calibrate(ours)), (theirs, calibrate(theirs))]
    pairs = []
    for i in range(rounds):
        spent = {}
        for which in (i % 2, 1 - i % 2):
            time.sleep(rest)
            side, count = sides[which]
            spent[which] = side("turn", count)
        pairs.append((spent[0], spent[1]))
    quick, slow = (median(times) for times in zip(*pairs, strict=True))
    return quick, slow, median(b / a for a, b in pairs)


def rest(threads: int) -> float:
    """Return the seconds between turns."""
    return REST if threads > 1 else 0.0


def report(threads: int, rounds: int, only: list[str]) -> Table:
    """Measure training steps of the workloads against PyTorch.

    Includes numba's kernels and JAX where they are installed.
    """
    heads = [
        "model",
        "optimizer",
        "B",
        "tinynet µs",
        "PyTorch µs",
        "JAX jit µs",
        FASTER,
        WITH_NUMBA,
    ]
    table = Table(titled("Training steps", threads), ["workload", *heads, "aim"])
    ours, theirs = Side("tinynet", threads), Side("torch", threads)
    jax, numba = (optional(name, threads) for name in ("jax", "numba"))
    for row in ROWS:
        if only and row.name not in only:
            continue
        quick, slow, ratio = race(ours, theirs, row, rounds, rest(threads))
        jit = None
        if jax and row.name in WITH_JAX:
            jit = 1e6 * race(ours, jax, row, max(3, rounds // 4), rest(threads))[1]
        compiled = race(numba, theirs, row, rounds, rest(threads))[2] if numba else None
        table.add(
            row.name, row.shown, row.optimizer[0], row.batch, quick * 1e6, slow * 1e6, jit,
            ratio, compiled, row.aim,
        )  # fmt: skip
    for side in filter(None, (ours, theirs, jax, numba)):
        side.close()
    return table


def optional(library: str, threads: int) -> Side | None:
    """Return the side of an optional library, if it is installed."""
    return Side(library, threads) if util.find_spec(library) else None


def titled(title: str, threads: int) -> str:
    """Return a title that names the number of threads, unless it is one."""
    return title if threads == 1 else f"{title}, {threads} threads"


def report_floor(threads: int, rounds: int) -> Table:
    """Measure how far tinynet is from steps written by hand."""
    floor, ours = Side("floor", threads), Side("tinynet", threads)
    heads = ["workload", "by hand µs", "tinynet µs", "tinynet / by hand"]
    table = Table("Steps written by hand in numpy", heads)
    for name in FLOORS:
        bare, full, ratio = race(floor, ours, BY_NAME[name], rounds, rest(threads))
        table.add(name, bare * 1e6, full * 1e6, ratio)
    floor.close()
    ours.close()
    return table
