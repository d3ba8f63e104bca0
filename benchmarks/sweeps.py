"""Sweeps of single kernels over their sizes: the points where a choice of algorithm goes wrong.

A sweep is a function from a library to named functions to time, one per point and direction. Times
are processor times of one thread, in turns; a point is measured again while it looks slow.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator
from statistics import median
from time import process_time
from typing import Any

import tinynet
from benchmarks.kernel_cases import FAMILIES
from benchmarks.tables import Table

Timed = Callable[[], object]
Point = tuple[str, Callable[[Any], dict[str, Timed]]]  # name; library -> directions to time
LIMIT = 1.5  # a point above this ratio is measured again, and counted
_WORST = 10
_SLICE = 0.004  # seconds per turn
_WORK = 1 << 20, 1 << 29  # multiply-adds of the points measured
_CHANNELS = (1, 16), (3, 64), (16, 16), (32, 64), (64, 64), (128, 128), (256, 512), (512, 256)
_POINTS = 25  # per kind of convolution


def _ratio(ours: Timed, theirs: Timed, rounds: int) -> tuple[float, float, float]:
    """Return the shortest processor times per call in turns, and the ratio."""
    pair = [(ours, _calls(ours)), (theirs, _calls(theirs))]
    least = [math.inf, math.inf]
    for _ in range(rounds):
        for side, (function, count) in enumerate(pair):
            start = process_time()
            for _ in range(count):
                function()
            least[side] = min(least[side], (process_time() - start) / count)
    return least[0], least[1], least[0] / least[1]


def _calls(function: Timed) -> int:
    """Return the number of calls that fill a turn."""
    function()
    function()
    start = process_time()
    function()
    return max(1, min(4000, round(_SLICE / max(process_time() - start, 1e-7))))


def _convolution(kind: str, *sizes: Any) -> Point:
    """Return one convolution with its gradients, each timed alone."""
    inputs, outputs, kernel, size, batch, stride, dilation, groups = sizes
    name = (
        f"{kind}({inputs}, {outputs}, {kernel}"
        + (f", stride={stride}" if stride > 1 else "")
        + (f", dilation={dilation}" if dilation > 1 else "")
        + (f", groups={groups}" if groups > 1 else "")
        + f") on {size}, batch {batch}"
    )

    def build(tn: Any) -> dict[str, Timed]:
        dims = int(kind[-2])
        padding = dilation * (kernel // 2)
        layer = getattr(tn.nn, kind)(
            inputs, outputs, kernel, stride, padding, groups=groups, dilation=dilation
        )
        x = tn.ones(batch, inputs, *(size,) * dims).normal_().requires_grad_()
        y = layer(x)
        return _directions(tn, lambda: layer(x), y, {"input": x, "weight": layer.weight})

    return name, build


def _directions(tn: Any, run: Timed, y: Any, leaves: dict[str, Any]) -> dict[str, Timed]:
    """Return the forward pass without a graph, and the gradient of each leaf."""
    g = tn.ones_like(y).normal_()

    def grad(leaf: Any) -> Timed:
        return lambda: tn.autograd.grad(y, leaf, g, retain_graph=True)

    return {"forward": tn.no_grad()(run), **{f"of {n}": grad(x) for n, x in leaves.items()}}


def convolutions() -> Iterator[Point]:
    """Yield a sample of kernels, channels, groups, strides, dilations, sizes and batches."""
    draw = random.Random(0)
    for kind in ("Conv2d", "Conv1d", "ConvTranspose2d"):
        dims = int(kind[-2])
        sizes = (4, 8, 16, 32, 64) if dims == 2 else (16, 64, 256, 1024)
        plain = ((1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 0), (1, 1, 4), (2, 1, 0))
        grid = itertools.product((1, 2, 3, 5, 7, 9), _CHANNELS, sizes, (1, 8, 32, 128), plain)
        points = []
        for kernel, (inputs, outputs), size, batch, (stride, dilation, groups) in grid:
            groups = groups or inputs  # 0: depthwise
            if groups > 1 and (inputs % groups or outputs % groups or inputs < 16):
                continue
            if dilation * (kernel - 1) >= size or (kind == "ConvTranspose2d" and kernel < stride):
                continue
            results = batch * (size // stride) ** dims
            work = inputs * outputs // groups * kernel**dims * results
            if _WORK[0] <= work <= _WORK[1] and results * outputs <= 1 << 22:
                points.append((inputs, outputs, kernel, size, batch, stride, dilation, groups))
        yield from (_convolution(kind, *p) for p in draw.sample(points, _POINTS))
    yield _convolution("Conv2d", 512, 256, 7, 16, 1, 1, 1, 1)


def _measured(points: Iterator[Point], torch: Any, rounds: int) -> Iterator[tuple[Any, ...]]:
    for name, build in points:
        ours, theirs = build(tinynet), build(torch)
        for direction, function in ours.items():
            best = _ratio(function, theirs[direction], rounds)
            for _ in range(2):
                if best[2] > LIMIT:
                    best = min(best, _ratio(function, theirs[direction], rounds), key=_last)
            yield name, direction, *best


def _last(row: tuple[float, ...]) -> float:
    return row[-1]


def report(torch: Any, rounds: int, only: str) -> list[Table]:
    """Measure each family; return its ratios, and its slowest points."""
    torch.set_num_threads(1)
    heads = ["family", "points", "median", "largest", f"above {LIMIT}"]
    summary = Table("Sweeps of kernels", heads, quiet=True)
    heads = ["point", "direction", "tinynet ms", "PyTorch ms", "tinynet / PyTorch"]
    worst = Table(f"The {_WORST} slowest points of each sweep", heads)
    for family, points in {"convolution": convolutions, **FAMILIES}.items():
        if only not in family:
            continue
        found = sorted(_measured(points(), torch, rounds), key=_last)
        ratios = [row[-1] for row in found]
        above = sum(ratio > LIMIT for ratio in ratios)
        summary.add(family, len(ratios), median(ratios), ratios[-1], above)
        for name, direction, ours, theirs, ratio in reversed(found[-_WORST:]):
            worst.add(name, direction, ours * 1e3, theirs * 1e3, ratio)
    return [summary, worst]
