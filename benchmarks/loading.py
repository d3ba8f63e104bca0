"""Batches per second of the data loaders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tinynet
from benchmarks import processes
from benchmarks.tables import Table
from benchmarks.turns import compare

EXAMPLES, BATCH = 4096, 64


def tensors(lib: Any) -> Any:
    """Return a dataset whose examples are rows of two tensors."""
    draw = np.random.default_rng(0)
    x = lib.from_numpy(draw.standard_normal((EXAMPLES, 784), dtype=np.float32))
    y = lib.from_numpy(draw.integers(0, 10, EXAMPLES))
    return lib.utils.data.TensorDataset(x, y)


def one_by_one(lib: Any) -> Any:
    """Return a user-defined dataset that creates its examples one by one."""
    whole = tensors(lib).tensors

    class Own(lib.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return EXAMPLES

        def __getitem__(self, i: int) -> Any:
            return whole[0][i] * 2.0, int(whole[1][i])

    return Own()


def epoch(lib: Any, examples: Any, workers: int) -> Callable[[], object]:
    """Return a function that iterates over all batches once, in a new order."""
    loader = lib.utils.data.DataLoader(
        examples, batch_size=BATCH, shuffle=True,
        num_workers=workers, persistent_workers=workers > 0,
    )  # fmt: skip

    def run() -> None:
        for _ in loader:
            pass

    return run


def report(rounds: int) -> Table:
    """Measure epochs of the loaders."""
    heads = ["data set", "workers", "tinynet examples/s", "PyTorch examples/s", "times as fast"]
    table = Table("Data loaders", heads)
    for name, make in (("TensorDataset", tensors), ("one by one", one_by_one)):
        for workers in (0, 2):
            both = [epoch(lib, make(lib), workers) for lib in (tinynet, torch)]
            ours, theirs, ratio = compare(both[0], both[1], rounds)
            table.add(name, workers, EXAMPLES / ours, EXAMPLES / theirs, 1 / ratio)
    return table


MILLIONS, FEATURES, LARGE_BATCH, COUNTED = 10, 8, 1024, 400
# An epoch begins with the order of its rows, which takes memory, and goes on in equal batches.
_EPOCH = """
import importlib
import numpy as np
from time import process_time
lib = importlib.import_module({library!r})
lib.set_num_threads(1)
n = {rows}
x = lib.from_numpy(np.zeros((n, {features}), np.float32) + 1)
y = lib.from_numpy(np.zeros(n, np.int64) + 1)
examples = lib.utils.data.TensorDataset(x, y)
loader = lib.utils.data.DataLoader(examples, batch_size={batch}, shuffle={shuffle})
(before,) = memory("VmRSS")
start = process_time()
batches = iter(loader)
next(batches)
first = process_time() - start
for _ in range({counted}):
    next(batches)
each = (process_time() - start - first) / {counted}
print(first + each * (len(loader) - 1), before, *memory("VmHWM"))
"""


def report_rows(rounds: int, rows: int = MILLIONS * 10**6) -> Table:
    """Measure an epoch over many rows in fresh processes, extrapolated from its first batches."""
    heads = ["order", "tinynet s", "PyTorch s", "times as fast", "tinynet MB", "PyTorch MB"]
    table = Table(f"An epoch over {rows:,} rows of {FEATURES} numbers", heads)
    for shuffle in (False, True):
        found: dict[str, list[list[float]]] = {"tinynet": [], "torch": []}
        for _ in range(rounds):
            for library, answers in found.items():
                program = _EPOCH.format(
                    library=library, rows=rows, features=FEATURES, batch=LARGE_BATCH,
                    shuffle=shuffle, counted=COUNTED,
                )  # fmt: skip
                answers.append(processes.run(program))
        seconds = [min(answer[0] for answer in found[lib]) for lib in found]
        added = [min(peak - before for _, before, peak in found[lib]) / 1024 for lib in found]
        order = "shuffled" if shuffle else "in order"
        table.add(order, *seconds, seconds[1] / seconds[0], *added)
    return table
