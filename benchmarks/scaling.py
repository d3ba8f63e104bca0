"""How the cost of a training step grows: one axis grows 64-fold, the rest is fixed."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import models
from benchmarks.race import Race
from benchmarks.tables import Table
from benchmarks.workloads import ADAMW, BY_NAME, LETTERS, MOMENTUM, Workload, text, vectors


def _mlp(batch: int, width: int, layers: int) -> Workload:
    sizes = [width] * (layers + 1)
    return Workload(
        "", f"MLP {width}, {layers} hidden layers", batch, {},
        lambda lib: models.mlp(lib, *sizes, 10), MOMENTUM, vectors(batch, width),
    )  # fmt: skip


def _gpt(length: int) -> Workload:
    return Workload(
        "", f"GPT, 1 block, d 48, T {length}", 2, {},
        lambda lib: models.gpt(lib, LETTERS, length, 1, 48, 4), ADAMW, text(2, length),
    )  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """An axis: its name, its values, and the workload for each."""

    name: str
    values: tuple[int, ...]
    workload: Callable[[int], Workload]


AXES = (
    Axis("batch", (8, 32, 128, 512), lambda n: _mlp(n, 64, 1)),
    Axis("width", (16, 64, 256, 1024), lambda n: _mlp(32, n, 1)),
    Axis("depth", (1, 4, 16, 64), lambda n: _mlp(32, 64, n)),
    Axis("sequence", (8, 32, 128, 512), _gpt),
)
for _axis in AXES:
    for _n in _axis.values:
        _name = f"{_axis.name}={_n}"
        BY_NAME[_name] = replace(_axis.workload(_n), name=_name)


SIDES = {"tinynet": "tinynet", "torch": "PyTorch", "compiled": "compiled"}


def slope(sizes: Any, times: Any) -> float:
    """Return the exponent: the slope of a line through the logarithms, by least squares."""
    x, y = [math.log(n) for n in sizes], [math.log(t) for t in times]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return above / sum((a - mx) ** 2 for a in x)


def report(threads: int, rounds: int) -> list[Table]:
    """Measure all axes; return the times and the exponents."""
    heads = [*(f"{side} µs" for side in SIDES.values()), "times as fast", "compiled"]
    times = Table("Growth", ["axis", "size", *heads])
    growth = []
    with Race(SIDES, threads) as race:
        for axis in AXES:
            found = []
            for n in axis.values:
                measured = race.run(BY_NAME[f"{axis.name}={n}"], rounds)
                found.append([measured.us(side) for side in SIDES])
                faster = measured.faster("tinynet"), measured.faster("compiled")
                times.add(axis.name, n, *found[-1], *faster)
            growth.append((axis, found))
    exponents = Table("Exponent of the growth", ["axis", *SIDES.values()])
    for axis, found in growth:
        exponents.add(axis.name, *(slope(axis.values, side) for side in zip(*found, strict=True)))
    return [times, exponents]
