"""The graph of a model, recorded from one forward that really runs.

There is no tracer: core reports each operation as it runs, and this file notes it under the module
call that it belongs to. So control flow shows the branch that was taken, and any Python is allowed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tinynet.board.graph import (
    Graph,
    GraphBuilder,
    Names,
    Operation,
    Result,
    Source,
    clean,
    show,
)
from tinynet.board.scopes import CallScopes
from tinynet.board.snapshot import preserved
from tinynet.core.modes import no_grad
from tinynet.core.observe import observing
from tinynet.core.tensor import Tensor


class Arguments:
    """The arguments of a model, where a single value or a tuple cannot say it: keyword arguments.

    Example:
        >>> from tinynet.board import Arguments
        >>> Arguments(1, mask=2)
        Arguments(1, mask=2)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        parts = [*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwargs.items())]
        return f"Arguments({', '.join(parts)})"

    @staticmethod
    def of(value: Any) -> Arguments:
        """What a model is called with, by PyTorch's rule: a tuple or list holds the arguments."""
        if isinstance(value, Arguments):
            return value
        if value is None:
            return Arguments()
        return Arguments(*value) if isinstance(value, (tuple, list)) else Arguments(value)


def record_forward(model: Any, arguments: Arguments) -> Graph:
    """The graph of one forward of `model`, which it runs under `no_grad` and leaves no trace of.

    Nodes are named by scope (class name of the model, then attribute path of the module) and
    operation; parameters and buffers stand in the scope of their module, inputs and outputs under
    `input` and `output`. What the forward raises is raised, with a note; the state is put back
    then too.

    Args:
        model: a Module.
        arguments: what to call it with.
    """
    names = Names()
    calls = CallScopes(model, names)
    operations: list[Operation] = []

    def saw(op: Any, inputs: Any, outputs: Any, attributes: Mapping[str, object]) -> None:
        arrays = tuple(inputs), tuple(outputs)
        operations.append(Operation(op.title, *arrays, calls.current(), attributes, op.writes))

    leaves = [leaf for _, leaf in _inputs(arguments)]
    with preserved(calls.modules.values(), leaves), calls.tracking(), no_grad(), observing(saw):
        sources = [*_input_sources(arguments), *_parameter_sources(calls)]
        try:
            output = model(*arguments.args, **arguments.kwargs)
        except Exception as error:
            error.add_note(f"This was raised when add_graph ran {calls.root} to record its graph.")
            raise
        results = [Result(name, _array(leaf)) for name, leaf in flatten(output, "output")]
    builder = GraphBuilder(names)
    for source in sources:
        builder.source(source)
    for operation in operations:
        builder.operation(operation)
    for result in results:
        builder.result(result)
    return builder.graph


# ---- what goes in and what comes out ---------------------------------------------------------


def flatten(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The leaves of nested dicts, lists, tuples and dataclasses, each with its path as a name.

    Example:
        >>> from tinynet.board.recorder import flatten
        >>> list(flatten({"a": [1, None], "b": "x"}, "input"))
        [('input/a/0', 1), ('input/a/1', None), ('input/b', 'x')]
    """
    members: list[tuple[Any, Any]]
    if isinstance(value, Mapping):
        members = list(value.items())
    elif isinstance(value, (list, tuple)):
        keys = getattr(value, "_fields", range(len(value)))  # a named tuple has names
        members = list(zip(keys, value, strict=True))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = [(entry.name, getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    else:
        yield name, value
        return
    for key, member in members:
        yield from flatten(member, f"{name}/{clean(str(key))}")


def _inputs(arguments: Arguments) -> Iterator[tuple[str, Any]]:
    if len(arguments.args) == 1 and not arguments.kwargs:
        yield from flatten(arguments.args[0], "input")
    else:
        yield from flatten({**dict(enumerate(arguments.args)), **arguments.kwargs}, "input")


def _input_sources(arguments: Arguments) -> Iterator[Source]:
    for name, leaf in _inputs(arguments):
        array = _array(leaf)
        if isinstance(array, np.ndarray):
            yield Source(name, "Input", array)
        else:
            yield Source(name, "Input", None, {"value": show(leaf)})


def _parameter_sources(calls: CallScopes) -> list[Source]:
    """Parameters and buffers under their first name; further names (tied) are an attribute."""
    found: dict[int, Source] = {}
    for path, module in calls.paths():
        kinds = {"Parameter": module.named_parameters, "Buffer": module.named_buffers}
        for op, named in kinds.items():
            for name, tensor in named(recurse=False):
                full = f"{calls.of_path(path)}/{clean(name)}"
                array = _array(tensor)
                known = found.get(id(array))
                if known is None:
                    attributes = {"trainable": str(tensor.requires_grad).lower()}
                    found[id(array)] = Source(full, op, array, attributes)
                elif known.name != full:
                    others = known.attributes.get("shared_with")
                    shared = f"{others}, {full}" if others else full
                    attributes = {**known.attributes, "shared_with": shared}
                    found[id(array)] = dataclasses.replace(known, attributes=attributes)
    return list(found.values())


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value
