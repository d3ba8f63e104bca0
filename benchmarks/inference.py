"""Inference on one example at a time, without a graph."""

from benchmarks.race import AIMS, FASTER, TIMES, Race, titled
from benchmarks.tables import Table
from benchmarks.workloads import ROWS, answer_aim


def report(threads: int, rounds: int) -> Table:
    """Measure the inference time of each model."""
    names = ("tinynet", "llvm", "compiled", "compiled-llvm", "torch", "inductor")
    with Race(names, threads) as race:
        times, faster = map(race.columns, (TIMES, FASTER))
        heads = ["workload", *times.values(), *faster.values(), AIMS["compiled-llvm"]]
        table = Table(titled("One answer under no_grad, B 1", threads), heads, notes=race.notes)
        for row in ROWS:
            found = race.run(row, rounds, answers=True)
            table.add(row.name, *map(found.us, times), *map(found.faster, faster), answer_aim(row))
    return table
