"""Observers of operations, free of cost when there are none.

Compiled operations call their kernels through one shared namespace. Observing replaces the kernels
in that namespace by reporting ones, so calls need no check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tinynet.core import layouts
from tinynet.core.modes import mode
from tinynet.core.trace import Channel, marks, tracing
from tinynet.dtypes import Array
from tinynet.kernels.threads import Tally, fork_safe_lock

Callback = Callable[..., None]


class Observable:
    """What can be observed.

    Attributes:
        namespace: the globals of all compiled functions.
        operations: the name of a kernel in the namespace -> its operation.
        functions: the name of another function of arrays, such as a formula -> the function.
        tracers: the number of threads whose computations are captured, counted by ``tracing``.
    """

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}
        self.operations: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.tracers = 0
        self.tracing = Tally(self._count_tracers, lambda: mode.thread)
        self._before: Callable[[Any, Any], Any] | None = None
        self._kept: dict[Any, dict[str, Any]] = {}  # kernels that `refresh` made
        self._lock = fork_safe_lock()  # a thread may load operations meanwhile

    def add(self, key: str, op: Any) -> None:
        """Add an operation whose kernel is called ``key`` in the namespace."""
        with self._lock:
            self.operations[key] = op
            self._kept.clear()
            self.namespace[key] = self._kernel(op)

    def add_functions(self, functions: dict[str, Any]) -> None:
        """Add other functions of arrays under their names in the namespace."""
        with self._lock:
            self.functions.update(functions)
            wrap = tracing if self.tracers else _itself
            self.namespace.update({key: wrap(f) for key, f in functions.items()})

    def _count_tracers(self, count: int) -> None:
        with self._lock:
            self.tracers = count
            self.refresh()
            marks.switch(count > 0)

    def wrap_kernels(self, make: Callable[[Any, Any], Any] | None) -> None:
        """Replace each kernel by ``make(op, kernel)``; None restores the kernels."""
        self._before = make
        self.refresh()

    def refresh(self) -> None:
        """Update the kernels in the namespace."""
        with self._lock:
            make = self._before
            kernels = self._kept.setdefault((make, self.tracers > 0, bool(observers)), {})
            if len(kernels) != len(self.operations) + len(self.functions):
                wrap = tracing if self.tracers else _itself
                kernels.update({key: self._kernel(op) for key, op in self.operations.items()})
                kernels.update({key: wrap(f) for key, f in self.functions.items()})
            self.namespace.update(kernels)
            # In-place functions have a path of their own that reports nothing.
            self.namespace["observers"] = observers or self.tracers

    def _kernel(self, op: Any) -> Callable[..., Any]:
        """Return what calls of an operation run at present."""
        wrap = tracing if self.tracers else _itself
        kernel: Callable[..., Any] = wrap(_reporting(op) if observers else op.kernel, op)
        if self._before is not None:
            kernel = self._before(op, kernel)
        return kernel


def _itself(function: Any, op: Any = None) -> Any:
    return function


observable = Observable()
_operations: Channel[Callback] = Channel(observable.refresh)
observers = _operations.listeners


class Write:
    """A write in place, which observers receive instead of an operation."""

    __slots__ = ("name", "title")
    writes = True

    def __init__(self, what: str):
        self.name = self.title = what


def report_write(
    what: str,
    array: Array,
    sources: Sequence[Array],
    attributes: dict[str, Any] | None = None,
    times: tuple[int, int] | None = None,
) -> None:
    """Report to the observers of this thread that ``sources`` were written to ``array``."""
    for callback in _operations.here():
        callback(Write(what), [array, *sources], [array], attributes or {}, times)


def _reporting(op: Any) -> Callable[..., Any]:
    kernel = op.kernel
    names = op.attributes
    order = layouts.ORDERS.get(op.order)

    def laid_out(array: Any, inputs: Any) -> Any:
        """Return the object that will be the Tensor's array."""
        array = np.asarray(array)
        return array if order is None else order(array, *inputs)

    def report(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter_ns()
        result = kernel(*args, **kwargs)
        times = began, time.perf_counter_ns()
        watching = _operations.here()
        if not watching:
            return result
        count = len(op.tensors)
        if op.multiple:
            result = tuple(laid_out(r, args[:count]) for r in result)
        elif op.hidden:
            result = (laid_out(result[0], args[:count]), *result[1:])
        else:
            result = laid_out(result, args[:count])
        inputs = [a for a in args[:count] if isinstance(a, np.ndarray)]
        for a in args[:count]:
            if isinstance(a, (list, tuple)):
                inputs += [x for x in a if isinstance(x, np.ndarray)]
        constants = {
            n: a
            for n, a in zip(op.tensors, args, strict=False)
            if isinstance(a, (bool, int, float))
        }
        attributes = {**constants, **dict(zip(names, args[count:], strict=False)), **kwargs}
        outputs = list(result) if op.multiple else [result[0] if op.hidden else result]
        for callback in watching:
            callback(op, inputs, outputs, attributes, times)
        return result

    return report


def _without_times(callback: Callback) -> Callback:
    def call(op: Any, ins: list[Array], outs: list[Array], attributes: Any, times: Any) -> None:
        callback(op, ins, outs, attributes)

    return call


def observing(callback: Callback, timed: bool = False) -> AbstractContextManager[None]:
    """Call ``callback(op, inputs, outputs, attributes)`` for each operation of this thread.

    Inputs and outputs are the numpy arrays that go into and come out of the kernel, so ``id()``
    links a producer to its consumers; attributes are the arguments that are not tensors. A write
    in place is reported as a ``Write`` whose first input and output are the array written to.

    Args:
        callback: what to call.
        timed: also pass the start and end of the kernel, in nanoseconds of
            ``time.perf_counter_ns``; None for most writes, which are reported afterwards.
    """
    return _operations.heard_by(callback if timed else _without_times(callback))
