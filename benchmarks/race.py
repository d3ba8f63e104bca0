"""The race: both libraries alive, each in its own process, taking turns on the same machine."""

import os
import pickle
import subprocess
import sys
import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.floor import FLOORS
from benchmarks.workloads import BATCHES, BY_NAME, ROWS, Workload

SLICE = 0.06  # seconds per turn, if a step is not longer
REST = 0.04  # seconds between turns with several threads: pools spin for a while before they sleep
STEPS = 6  # whose losses are compared before the race


class Side:
    """A process with one library; calls of methods go to its ``Worker``."""

    def __init__(self, library: str, threads: int):
        pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", library, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | dict.fromkeys(pools, str(threads)),
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


def race(ours: Side, theirs: Side, row: Workload, rounds: int, rest: float) -> tuple[float, ...]:
    """Return seconds per step of both (medians), and the median ratio of neighbouring turns."""
    agree(ours, theirs, row)
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


def report(threads: int, rounds: int, only: list[str]) -> None:
    """Print one row per workload."""
    ours, theirs = Side("tinynet", threads), Side("torch", threads)
    print("| workload | model | optimizer | B | tinynet µs | PyTorch µs | times as fast | aim | |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    for row in ROWS:
        if only and row.name not in only:
            continue
        quick, slow, ratio = race(ours, theirs, row, rounds, rest(threads))
        reached = "reached" if ratio >= row.aim else f"{ratio / row.aim:.0%} of the aim"
        print(
            f"| {row.name} | {row.shown} | {row.optimizer[0]} | {row.batch} | {quick * 1e6:.0f} "
            f"| {slow * 1e6:.0f} | {ratio:.2f} | {row.aim} | {reached} |",
            flush=True,
        )
    ours.close()
    theirs.close()


def report_floor(threads: int, rounds: int) -> None:
    """Print how far tinynet is from steps written by hand."""
    floor, ours = Side("floor", threads), Side("tinynet", threads)
    print("\n| workload | by hand µs | tinynet µs | tinynet / by hand |")
    print("|---|---:|---:|---:|")
    for name in FLOORS:
        bare, full, ratio = race(floor, ours, BY_NAME[name], rounds, rest(threads))
        print(f"| {name} | {bare * 1e6:.0f} | {full * 1e6:.0f} | {ratio:.2f} |", flush=True)
    floor.close()
    ours.close()
