"""Inference on one example at a time, without a graph."""

from benchmarks.race import FASTER, WITH_NUMBA, Side, optional, race, rest, titled
from benchmarks.tables import Table
from benchmarks.workloads import ROWS


def report(threads: int, rounds: int) -> Table:
    """Measure the inference time of each model."""
    heads = ["workload", "tinynet µs", "PyTorch µs", FASTER, WITH_NUMBA]
    table = Table(titled("One answer under no_grad, B 1", threads), heads)
    ours, theirs = Side("tinynet", threads), Side("torch", threads)
    numba, pause = optional("numba", threads), rest(threads)
    for row in ROWS:
        quick, slow, ratio = race(ours, theirs, row, rounds, pause, answers=True)
        compiled = race(numba, theirs, row, rounds, pause, answers=True)[2] if numba else None
        table.add(row.name, quick * 1e6, slow * 1e6, ratio, compiled)
    for side in filter(None, (ours, theirs, numba)):
        side.close()
    return table
