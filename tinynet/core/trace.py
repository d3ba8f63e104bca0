"""Who hears of what runs: channels of events, the tracer, observers, the running modules.

A listener hears what happened. A tracer (``tn.compile``) captures computations in order to repeat
them: it is handed each function with its arguments, and runs it.

Compiled operations call their kernels through one shared namespace. Observing replaces the kernels
in that namespace by reporting ones, so calls need no check.

``nn.Module.__call__`` enters and leaves scopes; recorders and error messages read ``mode.scope``.
The scopes are in core because ``nn`` and ``board`` may not import each other.
"""

from __future__ import annotations

import contextlib
import functools
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import CodeType, FunctionType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from tinynet.core import layouts
from tinynet.core.modes import mode
from tinynet.dtypes import Array
from tinynet.kernels.threads import Tally, fork_safe_lock, in_child

Listener = TypeVar("Listener")


class Channel(Generic[Listener]):
    """Events of one kind. A listener receives the events of the thread that registered it.

    Args:
        changed: called after the first listener is added and after the last is removed.

    Attributes:
        listeners: those of all threads; the fast path checks only whether there are any.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None):
        self.listeners: list[tuple[int, Listener]] = []
        self._changed = changed
        self._lock = fork_safe_lock()
        in_child(self._keep_own)

    def here(self) -> list[Listener]:
        """Return the listeners of this thread."""
        return [listener for thread, listener in [*self.listeners] if thread == mode.thread]

    def add(self, listener: Listener) -> Callable[[], None]:
        """Send the events of this thread to ``listener``; return a function that ends this."""
        entry = (mode.thread, listener)
        with self._lock:
            self.listeners.append(entry)
            if len(self.listeners) == 1:
                self._changed()

        def remove() -> None:
            with self._lock:
                self.listeners[:] = [e for e in self.listeners if e is not entry]
                if not self.listeners:
                    self._changed()

        return remove

    def _keep_own(self) -> None:
        self.listeners[:] = [e for e in self.listeners if e[0] == mode.thread]
        self._changed()

    @contextlib.contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Send the events of this thread to ``listener`` until the block ends."""
        remove = self.add(listener)
        try:
            yield
        finally:
            remove()


class Tracer:
    """Base class of what captures the computations of a thread, as ``mode.tracer``.

    Functions that run inside another one belong to it: a tracer hears of the outermost only.
    """

    def compute(
        self, function: Any, args: tuple[Any, ...], kwargs: Any, op: Any, writes: bool
    ) -> Any:
        """Run a function of arrays, which a replay repeats on other arrays.

        Args:
            function: returns new arrays or views of its arguments.
            args, kwargs: arrays and constants.
            op: the operation, if the function is its kernel.
            writes: the function changes its first argument.
        """
        raise NotImplementedError

    def perform(self, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Run a function that changes Python objects, such as the step of an optimizer.

        A replay calls it with the same objects, on the tensors that it finds in them.
        """
        raise NotImplementedError

    def cannot_capture(self, reason: str, remedy: str) -> None:
        """Handle code that a replay could not repeat.

        Args:
            reason: what the code does.
            remedy: what the user can do.
        """

    def wrote(self, t: Any, what: str) -> None:
        """Handle a write that was counted on the version of ``t``."""

    def read_gradient(self, t: Any) -> None:
        """Handle that the program reads ``t.grad``, and so whether there is one."""


F = TypeVar("F", bound=Callable[..., Any])


def tracing(function: Any, op: Any = None, writes: bool = False) -> Any:
    """Return a function of arrays that hands its calls to the tracer of the thread, if any."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        tracer = mode.tracer
        if tracer is None:
            return function(*args, **kwargs)
        return tracer.compute(function, args, kwargs, op, writes)

    run.untraced = function  # type: ignore[attr-defined]
    return run


def run_traced(function: Any, *args: Any, op: Any = None, writes: bool = False) -> Any:
    """Run a function of arrays, and hand the call to the tracer of the thread, if it has one."""
    tracer = mode.tracer
    return function(*args) if tracer is None else tracer.compute(function, args, {}, op, writes)


# ---- marks: declared functions that a tracer hears of -------------------------------------------


class _Marks:
    """The marked functions; while no thread has a tracer, marks cost nothing.

    A mark leaves a function as it is. While a thread has a tracer, the function has other code,
    which asks for the tracer first.
    """

    def __init__(self) -> None:
        self.on = False
        self._functions: list[tuple[FunctionType, CodeType]] = []
        self._plain: dict[FunctionType, CodeType] = {}

    def add(self, function: Any, run: Callable[[Any], Any]) -> Any:
        """Mark a function; ``run`` makes the one that asks for the tracer."""
        if not isinstance(function, FunctionType) or function.__closure__:
            return run(function)
        code, values = function.__code__, function.__defaults__
        plain = FunctionType(code, function.__globals__, function.__name__, values)
        plain.__kwdefaults__ = function.__kwdefaults__
        plain.__module__, plain.__qualname__ = function.__module__, function.__qualname__
        function.untraced = plain  # type: ignore[attr-defined]
        constants = _stub.__code__.co_consts
        asking = tuple(run(plain) if c == _RUN else c for c in constants)
        code = _stub.__code__.replace(co_consts=asking, co_name=function.__name__)
        self._functions.append((function, code))
        if self.on:
            self._switch(function, code)
        return function

    def _switch(self, function: FunctionType, code: CodeType) -> None:
        self._plain[function] = function.__code__
        function.__code__ = code

    def switch(self, on: bool) -> None:
        """Start or stop asking for tracers."""
        if on == self.on:
            return
        self.on = on
        if on:
            for function, code in self._functions:
                self._switch(function, code)
        else:
            for function, plain in self._plain.items():
                function.__code__ = plain
            self._plain.clear()


_RUN = "the function that asks for the tracer"


def _stub(*args, **kwargs):  # type: ignore[no-untyped-def]
    run = "the function that asks for the tracer"  # replaced in each copy of the code
    return run(*args, **kwargs)  # type: ignore[operator]


marks = _Marks()


def traced(function: F) -> F:
    """Mark a function of arrays, which a program repeats on other arrays."""
    return marks.add(function, tracing)  # type: ignore[no-any-return]


def traced_write(function: F) -> F:
    """Mark a function that changes the array that is its first argument."""
    return marks.add(  # type: ignore[no-any-return]
        function, lambda plain: tracing(plain, writes=True)
    )


def repeated(function: F) -> F:
    """Mark a function that changes Python objects, such as the step of an optimizer."""

    def asking(plain: Any) -> Any:
        @functools.wraps(plain)
        def run(*args: Any, **kwargs: Any) -> Any:
            tracer = mode.tracer
            return plain(*args, **kwargs) if tracer is None else tracer.perform(plain, args, kwargs)

        return run

    return marks.add(function, asking)  # type: ignore[no-any-return]


class Repeating:
    """Base class of what only repeated functions read and change: guards do not look at it."""


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
            self.functions.update(functions)  # some stand for what is there
            self._kept.clear()
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
            kernels = self._kept.setdefault((self._before, self.tracers > 0, bool(observers)), {})
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


# (outer scope or None, weak reference to the module): weak, because a module may keep a tensor
# of its own graph (a hidden state), whose nodes would keep the module.
Scope = tuple[Any, "weakref.ref[Any]"]


class Follower(Protocol):
    """An observer of the module calls of its thread."""

    def entered(self, module: Any) -> None:
        """Handle the start of a call, before the module's hooks."""

    def left(self, module: Any) -> None:
        """Handle the end of a call, with a result or an exception."""


calls: Channel[Follower] = Channel()
following = calls.heard_by


def modules_of(scope: Scope | None) -> list[Any]:
    """Return the modules of a scope that still exist, outermost first."""
    found = []
    while scope is not None:
        module = scope[1]()
        if module is not None:
            found.append(module)
        scope = scope[0]
    return found[::-1]


def path_of(scope: Scope | None) -> str:
    """Return ``Net.layers.0.act``: the class of the outermost module, then attribute names."""
    modules = modules_of(scope)
    if not modules:
        return ""
    names = [type(modules[0]).__name__]
    for outer, inner in zip(modules, modules[1:], strict=False):
        found = (name for name, module in outer.named_modules() if module is inner)
        names.append(next(found, type(inner).__name__))
    return ".".join(names)


def name_of(owner: Any, scope: Scope | None) -> str:
    """Return ``Net.fc1.weight`` for a parameter of the outermost module of a scope, or "".

    Args:
        owner: the parameter, or the version counter of a parameter or buffer.
        scope: the modules that were running.
    """
    for module in modules_of(scope)[:1]:
        for name, other in (*module.named_parameters(), *module.named_buffers()):
            if other is owner or other._counter is owner:
                return f"{type(module).__name__}.{name}"
    return ""
