"""The modules of a model with their outputs, parameters and costs, as a table."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet import board, nn, ops
from tinynet.board.graphs.costs import OperationCost, Total, totals
from tinynet.board.graphs.recorder import preserved
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import get_default_dtype, int64
from tinynet.nn.parameter import is_lazy
from tinynet.train.base.terminal import aligned
from tinynet.train.step.task import shape_of

_MOST_ROWS = 60
_MOST_SIZES = 4  # inputs whose dtypes are tried


@dataclass(frozen=True)
class ModuleRow:
    """A module of the model."""

    name: str
    """Its path in the model; empty for the model itself."""

    kind: str
    """The name of its class."""

    output: str
    """The shape of its output; empty if it was not called."""

    parameters: int
    """The number of its own parameters, without its submodules'."""

    trainable: int
    """The number of these that require grad."""

    owns: bool
    """Whether it has parameters of its own."""

    multiply_adds: int
    """Multiplications with an addition in its own products, per batch and forward pass."""

    memory: int
    """The bytes of the results of its own operations, per batch and forward pass."""


@dataclass(frozen=True, repr=False)
class Summary:
    """What `summary` found out about a model; ``str`` and ``repr`` show it as a table."""

    modules: list[ModuleRow]
    """The modules in the order of registration; a shared one occurs once, with all of its costs."""

    inputs: str
    """The shapes of the inputs; empty if the model was not run."""

    parameters: int
    """The number of parameters; shared ones count once."""

    trainable: int
    """The number of parameters that require grad."""

    weight_bytes: int
    """The bytes of the parameters and buffers."""

    @property
    def multiply_adds(self) -> int:
        """Multiplications with an addition in the products of a forward pass."""
        return sum(row.multiply_adds for row in self.modules)

    @property
    def memory(self) -> int:
        """The bytes of the results of all operations of a forward pass."""
        return sum(row.memory for row in self.modules)

    def __str__(self) -> str:
        lines = [*module_table(self.modules), "", counted(self.parameters, self.trainable)]
        if self.inputs:
            lines += [f"inputs: {self.inputs}", forward_cost(self.modules)]
        return "\n".join([*lines, f"memory: weights {size_text(self.weight_bytes)}"])

    __repr__ = __str__


def summary(
    model: nn.Module,
    input_size: Any = None,
    *,
    input_data: Any = None,
    dtypes: Sequence[Any] | None = None,
) -> Summary:
    """Return the layers of a model with their output shapes, parameters and costs.

    The model runs once, in eval mode and without a graph. Its parameters, buffers, gradients and
    modes, and all random generators, are restored. Print the result to see it as a table.

    Args:
        model: a module.
        input_size: the shape of the input, with the batch: ``(32, 784)``; or a list of shapes for
            several inputs. An example in its place serves as `input_data`. Without either, the
            model does not run, and the table has the parameters only.
        input_data: an example of the input: a tensor, a list or tuple of several arguments, or a
            dict of keyword arguments.
        dtypes: the dtype of each input of `input_size`. By default, the model is tried with
            floating-point numbers, then with integers.

    Raises:
        TypeError: if the model is not a module, or there are both a shape and an example.
        Exception: whatever the model raises for such inputs.

    Example:
        >>> net = nn.Sequential(nn.Embedding(100, 8), nn.Flatten(), nn.Linear(40, 2))
        >>> found = tn.summary(net, (4, 5))
        >>> print(found)
        module       type        output                     parameters  multiply-adds  memory
        (the model)  Sequential  [4, 2] tinynet.float32
        0            Embedding   [4, 5, 8] tinynet.float32         800                  640 B
        1            Flatten     [4, 40] tinynet.float32
        2            Linear      [4, 2] tinynet.float32             82            320    32 B
        <BLANKLINE>
        parameters: 882 (882 trainable)
        inputs: [4, 5] tinynet.int64
        forward pass of a batch: 320 multiply-adds, 672 B of results
        memory: weights 3.53 kB
        >>> found.parameters, found.modules[3].multiply_adds
        (882, 320)
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"summary() takes a module. Got {type(model).__name__} instead.")
    if input_size is not None and input_data is not None:
        raise TypeError("summary() takes input_size or input_data, not both")
    error: Exception | None = None
    for example in _examples(input_size, input_data, dtypes):
        try:
            return _run(model, example)
        except Exception as problem:
            problem.add_note(
                f"This was raised when summary() ran {type(model).__name__} with "
                f"{_shapes(example)}. An example of its input can be passed instead of a shape."
            )
            error = error or problem
    if error is not None:
        raise error
    return _summary(model, module_rows(model, list), "")


def _summary(model: nn.Module, rows: list[ModuleRow], inputs: str) -> Summary:
    parameters = [*model.parameters()]
    return Summary(
        rows,
        inputs,
        sum(p.numel() for p in parameters),
        sum(p.numel() for p in parameters if p.requires_grad),
        weight_bytes(model),
    )


def _examples(size: Any, data: Any, dtypes: Sequence[Any] | None) -> Iterator[board.Arguments]:
    """Yield the inputs to try."""
    if size is None and data is None:
        return
    if data is not None or not _is_size(size) and not _are_sizes(size):
        given = size if data is None else data
        keywords = isinstance(given, Mapping)
        yield board.Arguments(**given) if keywords else board.Arguments.of(given)
        return
    sizes: list[Sequence[int]] = [size] if _is_size(size) else [*size]
    kinds = [(get_default_dtype(), int64)] * min(len(sizes), _MOST_SIZES)
    for tried in [dtypes] if dtypes else itertools.product(*kinds):
        rest = [get_default_dtype()] * (len(sizes) - len(tried))
        pairs = zip(sizes, [*tried, *rest], strict=True)
        yield board.Arguments(*(ops.ones(shape).to(dtype) for shape, dtype in pairs))


def _shapes(example: board.Arguments) -> str:
    """Return the shapes of inputs for messages."""
    named = [f"{name}={shape_of(value)}" for name, value in example.kwargs.items()]
    return ", ".join([*map(shape_of, example.args), *named])


def _are_sizes(value: Any) -> bool:
    return isinstance(value, tuple | list) and bool(value) and all(map(_is_size, value))


def _is_size(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(n, int) for n in value)


def _run(model: nn.Module, example: board.Arguments) -> Summary:
    """Run a model on an example, and return its summary; nothing of either changes."""
    held = model.modules()
    if any(map(is_lazy, model.parameters())):  # the first run makes parameters
        model, held = copy.deepcopy(model), iter(())
    recording = board.record(model)

    def forward() -> list[OperationCost]:
        with recording:
            model(*example.args, **example.kwargs)
        return recording.costs

    with preserved(held, [leaf for _, leaf in example.leaves(model)]), no_grad():
        model.eval()
        rows = module_rows(model, forward)
    return _summary(model, rows, _shapes(example))


def module_rows(model: nn.Module, run: Callable[[], Iterable[OperationCost]]) -> list[ModuleRow]:
    """Return the modules of a model in the order of registration.

    Args:
        model: the model.
        run: runs the model, and returns the costs of its operations.
    """
    outputs: dict[nn.Module, list[str]] = {}

    def record_shape(module: nn.Module, _inputs: Any, output: Any) -> None:
        shapes = outputs.setdefault(module, [])
        if (shape := shape_of(output)) not in shapes:  # a shared module is called several times
            shapes.append(shape)

    handles = [module.register_forward_hook(record_shape) for module in model.modules()]
    try:
        costs = run()
    finally:
        for handle in handles:
            handle.remove()
    names = {module: name for name, module in model.named_modules()}
    # A shared module has several paths.
    paths = {path: names[m] for path, m in model.named_modules(remove_duplicate=False)}
    own = totals(costs, lambda cost: paths.get(cost.module, cost.module))
    return [
        _row(name, module, " and ".join(outputs.get(module, ())), own.get(name, Total()))
        for module, name in names.items()
    ]


def _row(name: str, module: nn.Module, output: str, cost: Total) -> ModuleRow:
    own = [*module.parameters(recurse=False)]
    return ModuleRow(
        name,
        type(module).__name__,
        output,
        sum(p.numel() for p in own),
        sum(p.numel() for p in own if p.requires_grad),
        bool(own),
        cost.flops // 2,
        cost.memory,
    )


# ---- text ----


def module_table(modules: Sequence[ModuleRow]) -> list[str]:
    """Return the lines of a table of modules; the trainable parameters only if some are not."""
    frozen = any(row.trainable < row.parameters for row in modules)
    header = ("module", "type", "output", "parameters", "trainable", "multiply-adds", "memory")
    rows = [header, *map(_cells, modules[:_MOST_ROWS])]
    left = len(modules) - _MOST_ROWS
    return [
        *aligned(rows if frozen else [(*row[:4], *row[5:]) for row in rows]),
        *([f"... and {left} more"] if left > 0 else []),
    ]


def _cells(row: ModuleRow) -> tuple[str, ...]:
    """Return the cells of a module: empty ones where it has or computes nothing itself."""
    name = row.name or "(the model)"
    counts = f"{row.parameters:,}" * row.owns, f"{row.trainable:,}" * row.owns
    multiply_adds = f"{row.multiply_adds:,}" if row.multiply_adds else ""
    memory = size_text(row.memory) if row.memory else ""
    return name, row.kind, row.output, *counts, multiply_adds, memory


def counted(parameters: int, trainable: int) -> str:
    """Return the line with the numbers of parameters."""
    return f"parameters: {parameters:,} ({trainable:,} trainable)"


def forward_cost(modules: Iterable[ModuleRow]) -> str:
    """Return the line with the cost of a forward pass."""
    products, memory = zip(*((row.multiply_adds, row.memory) for row in modules), strict=True)
    return (
        f"forward pass of a batch: {sum(products):,} multiply-adds, "
        f"{size_text(sum(memory))} of results"
    )


def size_text(count: int) -> str:
    """Format a number of bytes for people.

    Example:
        >>> from tinynet.train.observe.summary import size_text
        >>> size_text(999), size_text(1_500), size_text(2_000_000_000)
        ('999 B', '1.5 kB', '2 GB')
    """
    power = min(int(math.log(max(count, 1), 1000)), 4)
    return f"{count / 1000**power:.3g} {['B', 'kB', 'MB', 'GB', 'TB'][power]}"


def weight_bytes(model: nn.Module) -> int:
    """Return the bytes of the parameters and buffers of a model; shared ones count once."""
    return bytes_of([*model.parameters(), *model.buffers()])


def bytes_of(content: Any) -> int:
    """Return the bytes of all tensors and arrays in nested dicts and lists."""
    if isinstance(content, Tensor):
        content = content._values() if content.is_sparse else content
        return int(content.detach().numpy().nbytes)
    if isinstance(content, np.ndarray):
        return int(content.nbytes)
    if isinstance(content, Mapping):
        return sum(map(bytes_of, content.values()))
    return sum(map(bytes_of, content)) if isinstance(content, list | tuple) else 0
