"""Errors of float32 results and gradients relative to float64, compared with PyTorch's.

An error is the root mean square of the differences from float64, divided by the root mean square of
the float64 numbers, in units of float32's rounding, 2**-24 = 6e-8.
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import tinynet
from benchmarks.accuracy import layers, reductions
from benchmarks.accuracy.spec import Array, Case
from benchmarks.tables import Table

CASES = [*reductions.CASES, *layers.CASES]
ROUNDING = 2.0**-24
RECORDED = Path(__file__).parents[2] / "docs/accuracy/results.json"
TITLE = "Errors, in units of 6e-8"
STEPS = 4  # units: of functions of one number and of sums of parts, in whatever order


def inputs_of(case: Case) -> list[Array]:
    """Return a case's arrays, the same at each call: float32 and int64."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    return [a.astype("f4") if a.dtype.kind == "f" else a for a in case.inputs(rng)]


def results(library: Any, case: Case, kind: str) -> list[Array]:
    """Return the output and the gradients of the inputs, computed in a dtype, as float64."""
    tensors = []
    for array in inputs_of(case):
        wide = array.astype(kind) if array.dtype.kind == "f" else array
        tensors.append(library.from_numpy(np.array(wide)))
        tensors[-1].requires_grad_(array.dtype.kind == "f")
    output = case.run(library, *tensors)
    found = [output]
    if output.requires_grad:
        slope = np.random.default_rng(1).standard_normal(tuple(output.shape)) + 0.5
        output.backward(library.from_numpy(np.asarray(slope, "f4").astype(kind)))
        found += [t.grad for t in tensors if t.grad is not None]
    return [np.asarray(t.detach().numpy(), np.float64) for t in found]


def error(found: Array, exact: Array) -> float:
    """Return the error, in units of float32's rounding."""
    away = math.sqrt(np.mean(np.square(found - exact)))
    size = math.sqrt(np.mean(np.square(exact)))
    return away / size / ROUNDING if away else 0.0


def errors(found: list[Array], exact: list[Array]) -> tuple[float, float]:
    """Return the error of the output, and the largest one of the gradients."""
    each = [error(a, b) for a, b in zip(found, exact, strict=True)]
    return each[0], max(each[1:], default=0.0)


def excess(case: Case, exact: list[Array], theirs: tuple[float, float]) -> tuple[float, float]:
    """Return by how many units the errors of result and gradients exceed their bounds; 0 if not.

    Bounds are twice PyTorch's errors plus the roundings: `STEPS`, and sqrt(n / 6) where n numbers
    of random sign are added sequentially, the worst order: each partial sum is rounded, by
    1/sqrt(3) units in the root mean square. Gradients propagate the roundings of a saved result.
    """
    ours = errors(results(tinynet, case, "f4"), exact)
    over = [
        max(mine - (2 * other + STEPS + math.sqrt(n / 6)), 0.0)
        for mine, other, n in zip(ours, theirs, case.terms, strict=True)
    ]
    if over[1]:
        over[1] = max(over[1] - STEPS * carried(case, exact), 0.0)
    return over[0], over[1]


def carried(case: Case, exact: list[Array]) -> float:
    """Return the error of the gradients if each result that they use is off by one unit.

    Computed in float64, so that it depends on the formula of the gradient, not on the processor.
    """
    rng = np.random.default_rng(2)

    def off(saved: Any) -> Any:
        if saved.requires_grad or not saved.is_floating_point():  # an input has no rounding
            return saved
        array = saved.numpy()
        return tinynet.from_numpy(array * (1 + ROUNDING * rng.choice([-1.0, 1.0], array.shape)))

    with tinynet.autograd.graph.saved_tensors_hooks(lambda saved: saved, off):
        return errors(results(tinynet, case, "f8"), exact)[1]


def recorded() -> dict[str, tuple[float, float]]:
    """Return PyTorch's errors of result and gradients, by case name."""
    (table,) = json.loads(RECORDED.read_text(encoding="utf-8"))["tables"]
    return {name: (result, slope) for name, _, result, _, slope in table["rows"]}


def report(threads: int) -> Table:
    """Measure tinynet and PyTorch."""
    import torch

    torch.set_num_threads(threads)
    columns = ["of float32", "result", "PyTorch's", "gradients", "PyTorch's"]
    table = Table(TITLE, columns)
    for case in CASES:
        exact = results(tinynet, case, "f8")
        ours, theirs = (errors(results(x, case, "f4"), exact) for x in (tinynet, torch))
        table.add(case.name, ours[0], theirs[0], ours[1], theirs[1])
    return table
