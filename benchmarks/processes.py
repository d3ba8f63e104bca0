"""Measurements in fresh processes: the time of an import, and the memory of a training step."""

import os
import subprocess
import sys
from collections.abc import Iterable
from statistics import median

from benchmarks.tables import Table
from benchmarks.workloads import ROWS, Workload

_USED = """
import tinynet
from tinynet.nn import CrossEntropyLoss, Linear, ReLU, Sequential
from tinynet.optim import SGD, Adam
"""
IMPORTS = {
    "numpy": "import numpy",
    "tinynet": "import tinynet",
    "tinynet, with layers and optimizers": _USED,
    "torch": "import torch",
}
# In kB; Linux counts the peak (VmHWM) of each program anew.
_MEMORY = """
def memory(kind):
    return [int(x.split()[1]) for x in open("/proc/self/status") if x.startswith(kind)]
"""
_TIMED = """
from time import perf_counter
start = perf_counter()
{program}
spent = perf_counter() - start
print(spent, *memory("VmHWM"))
"""
# What lies in memory before the first step is counted apart from what steps add at their peak.
_PEAK = """
import importlib
from benchmarks import large
from benchmarks.workloads import BY_NAME, Training
lib = importlib.import_module({library!r})
{threads}
training = Training(lib, BY_NAME[{name!r}], {backend!r})
(before,) = memory("VmRSS")
for _ in range({steps}):
    training.step()
print(before, *memory("VmHWM"))
"""


def run(program: str, threads: int = 1) -> list[float]:
    """Run a program in its own process; return the numbers that it prints."""
    pools = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    # An empty PYTHONDONTWRITEBYTECODE is none: users' imports find compiled files.
    pools["PYTHONDONTWRITEBYTECODE"] = ""
    answer = subprocess.run(
        [sys.executable, "-c", _MEMORY + program],
        env=os.environ | pools, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(number) for number in answer.stdout.split()]


def report_imports(rounds: int) -> Table:
    """Measure imports alternately, ignoring the first of each, which compiles."""
    table = Table("Import", ["package", "seconds", "times numpy's", "memory MB"])
    found: dict[str, list[list[float]]] = {name: [] for name in IMPORTS}
    for program in IMPORTS.values():
        run(_TIMED.format(program=program))
    for _ in range(rounds):
        for name, program in IMPORTS.items():
            found[name].append(run(_TIMED.format(program=program)))
    base = median(seconds for seconds, _ in found["numpy"])
    for name, pairs in found.items():
        seconds = median(pair[0] for pair in pairs)
        table.add(name, seconds, seconds / base, median(pair[1] for pair in pairs) / 1024)
    return table


def report_memory(
    threads: int,
    rows: Iterable[Workload] = ROWS,
    title: str = "Peak memory of training steps",
    steps: int = 5,
) -> Table:
    """Measure the memory that training steps add to the model, and the whole process.

    The first two steps of the compiled side are captured. From five steps on, one is verified: it
    runs both ways.
    """
    sides = {
        "tinynet": ("tinynet", None),
        "compiled": ("tinynet", "numpy"),
        "PyTorch": ("torch", None),
    }
    heads = ["workload", *(f"{s} MB" for s in sides), *(f"{s} in all MB" for s in sides)]
    table = Table(title, heads)
    for row in rows:
        added, whole = [], []
        for library, backend in sides.values():
            set_threads = f"lib.set_num_threads({threads})"
            program = _PEAK.format(
                library=library,
                name=row.name,
                backend=backend,
                threads=set_threads,
                steps=steps,
            )
            before, peak = run(program, threads)
            added.append((peak - before) / 1024)
            whole.append(peak / 1024)
        table.add(row.name, *added, *whole)
    return table
