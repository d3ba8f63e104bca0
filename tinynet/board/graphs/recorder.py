"""Recording the graph of a model from one actual forward pass, on a copy of its state.

There is no tracer: core reports each operation as it runs. The graph therefore shows the branch
taken, and the model may use any Python code.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.graphs.assemble import Assembly
from tinynet.board.graphs.build import Arguments
from tinynet.board.graphs.graph import Graph, clean
from tinynet.board.graphs.watch import Watch
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.random import Generator, default_generator

_SLOTS = ("_array", "_edge", "_grad", "_requires_grad", "_view")
Restore = Callable[[], None]


@contextlib.contextmanager
def preserved(modules: Iterable[Any], values: Iterable[object]) -> Iterator[None]:
    """Return a context that restores the modules, the values and all random generators at its end.

    This covers attributes, registries, parameters, buffers, gradients and version counters of the
    modules; the contents of the tensors and arrays in `values`; and the states of tinynet's default
    generator, of the modules' generators, of numpy's and of Python's.
    """
    found = _Found()
    for module in modules:
        found.module(module)
    for value in values:
        found.value(value)
    restore = [
        *found.restore,
        _state(default_generator.get_state, default_generator.set_state),
        _state(np.random.get_state, np.random.set_state),
        _state(random.getstate, random.setstate),
    ]
    try:
        yield
    finally:
        for put_back in reversed(restore):
            put_back()


class _Found:
    """Collects how to restore each object, once."""

    def __init__(self) -> None:
        self.restore: list[Restore] = []
        self._seen: dict[int, object] = {}  # keeps objects alive: ids must not be reused

    def module(self, module: Any) -> None:
        """Add the attributes of a module, and the contents of its registries, lists and sets."""
        attributes = dict(vars(module))

        def put_back() -> None:
            if not _same(vars(module), attributes):
                module.__dict__ = attributes

        self.restore.append(put_back)
        for value in attributes.values():
            if isinstance(value, (dict, list, set)):
                self._container(value)
                members = value.values() if isinstance(value, dict) else value
                for member in list(members):
                    self.value(member)
            else:
                self.value(value)

    def value(self, value: object) -> None:
        """Add a tensor with its gradient, an array, or a generator; ignore other objects."""
        if isinstance(value, Tensor):
            self._tensor(value)
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, Generator) and self._new(value):
            self.restore.append(_state(value.get_state, value.set_state))

    def _new(self, thing: object) -> bool:
        if id(thing) in self._seen:
            return False
        self._seen[id(thing)] = thing
        return True

    def _container(self, container: Any) -> None:
        if self._new(container):
            self.restore.append(_container_restorer(container))

    def _array(self, array: Any) -> None:
        if self._new(array) and array.flags.writeable and not array.dtype.hasobject:
            before = array.copy()
            self.restore.append(lambda: np.copyto(array, before))

    def _tensor(self, tensor: Any) -> None:
        if not self._new(tensor):
            return
        slots = {name: getattr(tensor, name) for name in _SLOTS}
        counted = not tensor.is_inference()
        version = tensor._version if counted else 0
        writes = list(tensor._counter.writes) if version else []

        def put_back() -> None:
            for name, value in slots.items():
                setattr(tensor, name, value)
            if counted and tensor._version != version:
                tensor._counter.n, tensor._counter.writes = version, writes

        self.restore.append(put_back)
        self.value(tensor._array)  # may be Rows, the array of a sparse gradient, which is replaced
        self.value(tensor._grad)


def _container_restorer(container: Any) -> Restore:
    before = container.copy()

    def put_back() -> None:
        if _same(container, before):
            return
        container.clear()
        if isinstance(container, list):
            container.extend(before)
        else:
            container.update(before)

    return put_back


def _same(one: Any, other: Any) -> bool:
    """Return whether two containers hold identical objects (tensors have no usable `==`)."""
    if isinstance(one, dict):
        one, other = [*one, *one.values()], [*other, *other.values()]
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _state(get: Callable[[], Any], put: Callable[[Any], Any]) -> Restore:
    before = get()

    def put_back() -> None:
        put(before)

    return put_back


# ---- recording ----


def record_forward(model: Any, arguments: Arguments, strict: bool = False) -> Graph:
    """Return the graph of one forward pass of `model`, in evaluation mode and under `no_grad`.

    Nodes are named by scope (class name of the model, then class and attribute of each module) and
    operation; parameters and buffers are in the scope of their module, inputs and outputs under
    `input` and `output`. Exceptions of the forward pass are raised with a note; the state is
    restored in any case.

    Args:
        model: a Module.
        arguments: its arguments.
        strict: refuse a dict in the output.

    Raises:
        RuntimeError: the output contains a dict, with ``strict``.
    """
    watch = Watch({type(model).__name__: model})
    modules = watch.calls.roots[0].modules.values()
    leaves = [leaf for _, leaf in arguments.leaves(model)]
    with preserved(modules, leaves):
        try:
            model.train(False)
            with watch.started(), no_grad():
                output = model(*arguments.args, **arguments.kwargs)
        except Exception as error:
            name = clean(type(model).__name__)
            error.add_note(f"This was raised when add_graph ran {name} to record its graph.")
            raise
        if strict and _has_dict(output):
            raise RuntimeError(
                "Encountering a dict at the output of the tracer might cause the trace to be "
                "incorrect, this is only valid if the container structure does not change based on "
                "the module's inputs. Pass use_strict_trace=False to write the graph all the same."
            )
        return Assembly(watch).graph  # before the state is restored, while arrays are unchanged


def _has_dict(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_dict, value))
    return isinstance(value, Mapping)


def graph(
    model: Any, args: Any = None, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[Any, Any]:
    """Return the GraphDef of a model's forward pass, and an empty message for its times.

    Args:
        model: a Module.
        args: its input, or a tuple of inputs.
        verbose: also print the graph.
        use_strict_trace: refuse a dict in the output.

    Raises:
        RuntimeError: the output contains a dict, with ``use_strict_trace``.
    """
    recorded = record_forward(model, Arguments.of(args), use_strict_trace)
    if verbose:
        print(recorded.text())
    times = tensorboardx.load().Summary()  # an empty message has the bytes of an empty RunMetadata
    return tensorboardx.graph_message(recorded), times
