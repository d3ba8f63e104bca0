"""Training steps of large models: their time in turns, and their memory in fresh processes."""

import time

import numpy as np

from benchmarks import processes
from benchmarks.large import LARGE
from benchmarks.race import REST, Race
from benchmarks.tables import Table
from benchmarks.workloads import Workload

SIDES = {
    "tinynet": "tinynet",
    "llvm": "with LLVM",
    "compiled": "compiled",
    "compiled-llvm": "compiled by LLVM",
    "torch": "PyTorch",
}
FIT = {"gpt2": ("tinynet", "compiled", "torch")}  # those that fit into 16 GB of memory at once
STEPS = 2  # whose losses are compared: two are captured


def report(threads: int, rounds: int) -> list[Table]:
    """Measure the seconds and the peak memory of training steps."""
    heads = ["workload", *(f"{s} s" for s in SIDES.values())]
    heads += [f"{s} / PyTorch" for s in [*SIDES.values()][:-1]]
    speed = Table("Large models: processor seconds of a training step", heads)
    for row in LARGE:
        seconds = _seconds(row, threads, rounds)
        found = [seconds.get(side) for side in SIDES]
        speed.add(row.name, *found, *(s and s / seconds["torch"] for s in found[:-1]))
    memory = "Large models: peak memory of training steps"
    verified = "Large models: peak memory, with a step that is verified"
    return [
        speed,
        processes.report_memory(threads, LARGE, memory, steps=4),
        processes.report_memory(threads, LARGE, verified, steps=5),
    ]


def _seconds(row: Workload, threads: int, rounds: int) -> dict[str, float]:
    """Return the least seconds per step of each side, whose first losses must agree."""
    with Race(FIT.get(row.name, SIDES), threads) as race:
        weights = losses = None
        for name, side in race.sides.items():
            own = side("make", row.name)
            weights = own if weights is None else weights
            found = side("losses", weights, STEPS)
            losses = found if losses is None else losses
            if not np.allclose(found, losses, rtol=1e-3):  # a ReLU near 0 may differ
                raise RuntimeError(f"{row.name}, {name}: losses are {found} instead of {losses}")
        seconds: dict[str, list[float]] = {name: [] for name in race.sides}
        for _ in range(rounds):
            for name, side in race.sides.items():
                time.sleep(REST)
                seconds[name].append(side("turn", 1))
    return {name: min(found) for name, found in seconds.items()}
