"""Batches per second of the data loaders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tinynet
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
