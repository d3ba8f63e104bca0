"""The workloads: models, data, and the speeds to reach relative to PyTorch."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks import models

BATCHES = 8  # different batches that a workload goes through, again and again
LETTERS = 96


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Attributes:
        name: its name.
        shown: a description of the model.
        batch: examples per step.
        aims: for each way to run it, the target ratio of examples per second to PyTorch's.
        model: creates it with the given library.
        optimizer: name of its class, and options.
        data: creates the inputs and targets of one batch.
    """

    name: str
    shown: str
    batch: int
    aims: dict[str, float]
    model: Callable[[Any], Any]
    optimizer: tuple[str, dict[str, Any]]
    data: Callable[[np.random.Generator], tuple[Any, Any]]


def aims(tinynet: float, compiled: float, compiled_llvm: float) -> dict[str, float]:
    """Return the aims of eager steps, of compiled ones, and of those that LLVM compiles."""
    return {"tinynet": tinynet, "compiled": compiled, "compiled-llvm": compiled_llvm}


SGD = ("SGD", {"lr": 0.01})
MOMENTUM = ("SGD", {"lr": 0.01, "momentum": 0.9})
ADAM = ("Adam", {"lr": 1e-3})
ADAMW = ("AdamW", {"lr": 1e-3})


def vectors(batch: int, *shape: int, classes: int = 10) -> Any:
    """Return a function that creates batches of numbers, with classes as targets."""
    return lambda draw: (
        draw.standard_normal((batch, *shape), dtype=np.float32),
        draw.integers(0, classes, batch),
    )


def numbers(draw: np.random.Generator) -> tuple[Any, Any]:
    """Return a number and an unused target."""
    return np.array(draw.standard_normal(), np.float32), np.zeros((), np.float32)


def words(batch: int, length: int, rows: int, classes: int) -> Any:
    """Return a function that creates batches of words, with classes as targets."""
    return lambda draw: (draw.integers(0, rows, (batch, length)), draw.integers(0, classes, batch))


def text(batch: int, length: int, letters: int = LETTERS) -> Any:
    """Return a function that creates batches of letters, each predicted from those before."""

    def make(draw: np.random.Generator) -> tuple[Any, Any]:
        found = draw.integers(0, letters, (batch, length + 1))
        return found[:, :-1].copy(), found[:, 1:].copy()

    return make


def _lstm(width: int) -> Any:
    return lambda lib: models.lstm(lib, LETTERS, width)


ROWS = (
    Workload("chain200", "200 dependent scalar operations", 1, aims(1.2, 3, 50),
             lambda lib: models.chain(lib, 50), SGD, numbers),
    Workload("mlp_small", "MLP 64-64-10", 32, aims(3.5, 3.5, 10),
             lambda lib: models.mlp(lib, 64, 64, 10), MOMENTUM, vectors(32, 64)),
    Workload("mlp_small_adamw", "MLP 64-64-10", 32, aims(3.5, 4, 10),
             lambda lib: models.mlp(lib, 64, 64, 10), ADAMW, vectors(32, 64)),
    Workload("mlp_mnist", "MLP 784-128-10", 64, aims(2.5, 1.7, 2.5),
             lambda lib: models.mlp(lib, 784, 128, 10), MOMENTUM, vectors(64, 784)),
    Workload("mlp_wide_adamw", "MLP 784-512-256-10", 128, aims(2.5, 1.5, 2.5),
             lambda lib: models.mlp(lib, 784, 512, 256, 10), ADAMW, vectors(128, 784)),
    Workload("embed_maxnorm", "Embedding(10000, 64, max_norm=1), mean of 32", 64, aims(10, 8, 15),
             lambda lib: models.bag(lib, 10000, 64, 4), SGD, words(64, 32, 10000, 4)),
    Workload("lstm_small", "LSTM 64, T 32", 16, aims(1.5, 1.2, 3),
             _lstm(64), ADAM, text(16, 32)),
    Workload("lstm_medium", "LSTM 256, T 64", 32, aims(1.3, 0.9, 1.2),
             _lstm(256), ADAM, text(32, 64)),
    Workload("gpt_micro", "GPT, 3 blocks, d 48, 4 heads, T 32", 8, aims(2, 1.3, 2.5),
             lambda lib: models.gpt(lib, LETTERS, 32, 3, 48, 4), ADAMW, text(8, 32)),
    Workload("gpt_small", "GPT, 4 blocks, d 128, 4 heads, T 64", 16, aims(2, 1.0, 1.3),
             lambda lib: models.gpt(lib, LETTERS, 64, 4, 128, 4), ADAMW, text(16, 64)),
    Workload("lenet", "LeNet-5, 28x28", 64, aims(1.5, 1.2, 2),
             models.lenet, MOMENTUM, vectors(64, 1, 28, 28)),
    Workload("resnet_tiny", "ResNet, 3 blocks 32-64-128, 32x32", 32, aims(1.0, 0.8, 1.2),
             lambda lib: models.resnet(lib, (32, 64, 128)), MOMENTUM, vectors(32, 3, 32, 32)),
)  # fmt: skip
BY_NAME = {row.name: row for row in ROWS}


def answer_aim(row: Workload) -> float:
    """Return the aim of a compiled model that answers to one example at a time."""
    return 3 if row.name.startswith("mlp") else 1.5


class Training:
    """One workload in one library.

    Args:
        lib: the library.
        row: the workload.
        backend: that of ``lib.compile``; None runs eagerly.

    Attributes:
        step: runs the next training step and returns the loss.
    """

    def __init__(self, lib: Any, row: Workload, backend: str | None = None):
        self.lib, self.row, self.backend = lib, row, backend
        self.model = row.model(lib)
        draw = np.random.default_rng(0)
        data = [row.data(draw) for _ in range(BATCHES)]
        self.batches = [(lib.from_numpy(x), lib.from_numpy(y)) for x, y in data]
        self.initial = self.weights()
        self.start(self.initial)

    def weights(self) -> dict[str, Any]:
        """Return copies of the state of the model, as arrays."""
        return {name: t.numpy().copy() for name, t in self.model.state_dict().items()}

    def start(self, weights: dict[str, Any]) -> None:
        """Start over from these weights."""
        self.initial = weights
        with self.lib.no_grad():
            own = {name: self.lib.from_numpy(array) for name, array in weights.items()}
            self.model.load_state_dict(own)
        name, options = self.row.optimizer
        optimizer = getattr(self.lib.optim, name)(self.model.parameters(), **options)
        step, batches = self.compiled(self._step(optimizer)), cycle(self.batches)
        self.step = lambda: step(*next(batches))

    def compiled(self, function: Any) -> Any:
        """Return the compiled form of a function or model, or the same if the backend is None."""
        if self.backend is None:
            return function
        self.lib.compiler.reset()  # PyTorch compiles each line of code a few times at most
        return self.lib.compile(function, backend=self.backend)

    def _step(self, optimizer: Any) -> Callable[..., Any]:
        model, cross_entropy = self.model, self.lib.nn.functional.cross_entropy

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            out = model(x)
            if y.ndim > 1:
                out, y = out.flatten(0, 1), y.flatten()
            loss = cross_entropy(out, y) if y.ndim else out
            loss.backward()
            optimizer.step()
            return loss

        return step
