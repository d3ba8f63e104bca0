"""Answers to one example at a time, without a graph."""

from benchmarks.race import Side, race, rest
from benchmarks.tables import Table
from benchmarks.workloads import ROWS


def report(threads: int, rounds: int) -> Table:
    """Measure the time of one answer of each model."""
    table = Table(
        "One answer under no_grad, B 1", ["workload", "tinynet µs", "PyTorch µs", "times as fast"]
    )
    ours, theirs = Side("tinynet", threads), Side("torch", threads)
    for row in ROWS:
        quick, slow, ratio = race(ours, theirs, row, rounds, rest(threads), answers=True)
        table.add(row.name, quick * 1e6, slow * 1e6, ratio)
    ours.close()
    theirs.close()
    return table
