"""Recording: run a function eagerly, and write down what it did as a program."""

from __future__ import annotations

import types
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np

from tinynet.capture.guard.facts import Facts, form_of, gradient_form, hooks
from tinynet.capture.guard.handlers import Handlers, fails_by_shape
from tinynet.capture.guard.holdings import is_a, is_simple_kind, module_of
from tinynet.capture.guard.returned import Path
from tinynet.capture.guard.scheduling import Scheduling
from tinynet.capture.node import bump, bump_gradient, gradient, view_of
from tinynet.capture.program import (
    Call,
    CaptureError,
    Handle,
    Program,
    Value,
    as_array,
    rebuilt,
    root,
)
from tinynet.capture.record.alive import Memories, WhileAlive
from tinynet.capture.record.outside import Outside, require_alone
from tinynet.capture.record.value_shapes import sized_by_values
from tinynet.core import arrays
from tinynet.core.callsite import here
from tinynet.core.graph.engine import BackwardObserver, observing_backward
from tinynet.core.graph.node import count_nodes
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import Tracer, observable
from tinynet.kernels import low_precision
from tinynet.kernels.threads import count_of_users
from tinynet.ops.batching.array import BatchedArray
from tinynet.random import Generator, default_generator


class _Probe:
    """What a backward pass may do that runs for the recording only.

    Args:
        memory: the number of the newest memory that existed before.
    """

    def __init__(self, memory: int):
        self._memory = memory
        self._positions: dict[int, tuple[Generator, Any, Any]] = {}
        self.draws(default_generator)

    def draws(self, generator: Generator) -> None:
        """Note the position of a generator that the pass may draw from."""
        if id(generator) not in self._positions:
            stream = generator._stream
            made = stream.numpy
            state = None if made is None else made.bit_generator.state
            self._positions[id(generator)] = generator, stream, (stream.seed, made, state)

    def check(self, call: Call, outside: bool) -> None:
        """Raise CaptureError if a call writes to memory that existed before."""
        target = call.args[0]
        if outside or not is_a(target, Value) or target.memory <= self._memory:
            raise self.effect(call.title)

    @staticmethod
    def effect(title: str) -> CaptureError:
        """Return the error for a pass that changes more than gradients."""
        reason = f"code of its backward pass changes something: {title}"
        remedy = "compile the whole step, with its backward pass"
        return CaptureError(reason, remedy, passing=False)

    def restore(self) -> None:
        """Put the generators back to where they were."""
        for generator, stream, (seed, made, state) in self._positions.values():
            if (stream.seed, stream.numpy) != (seed, made):
                stream.seed, stream.numpy = seed, made
            if made is not None:
                made.bit_generator.state = state
            if generator._stream is not stream:
                generator._stream = stream


class Recorder(Tracer, BackwardObserver):
    """Records the computations of its thread between ``start`` and ``stop``.

    Args:
        arguments: the tensors that the function gets.
        boundary: the code that calls the function.

    Attributes:
        program: what was recorded so far.
        problem: why the function cannot be captured; recording stops at the first one.
        outside: the tensors that exist before the call.
        keeps: the function lets others keep what is saved for backward, as checkpointing does.
    """

    def __init__(self, arguments: list[Tensor], boundary: types.CodeType):
        self.program = Program()
        self.problem: CaptureError | None = None
        self._values: WhileAlive[Value] = WhileAlive()
        self._memories = Memories()
        self._held: list[Any] = []  # keeps tensors alive, so that ids stay unique
        self._handles: dict[int, Handle] = {}
        self._count = 0
        self.outside = Outside()
        self._gradients = self.outside.gradients()
        self._probe: _Probe | None = None
        self._passed: dict[int, Any] = {}  # arrays of the user's, by the ids of their memory
        self.readings: list[tuple[Path, Tensor, str]] = []  # that the function returns
        self._constants: list[tuple[Any, Any]] = []  # those that the program uses, and copies
        self._written: WhileAlive[bool] = WhileAlive()  # memory whose last write was not counted
        self.spent: set[Any] = set()  # nodes whose saved values a backward pass has freed
        self._visited: Any = None  # the node of a backward pass
        self._started, self.keeps = count_nodes(), False
        self._observing = observing_backward(self)
        self.handlers, self.scheduling = Handlers(boundary), Scheduling()
        self.watch: Callable[[bool], None] = lambda on: None  # Python's events: set by the watcher
        self._arguments = arguments
        for place, t in enumerate(arguments):
            self.program.arguments.append(self._values.get(t._array) or self.define(t._array))
            self._handles[id(t)] = Handle(self._next_handle(), None, place=place)
        self.facts = Facts([*self.arguments()])

    def start(self) -> None:
        """Begin to record."""
        observable.tracing.begin()
        self._observing.__enter__()
        mode.tracer = self

    def stop(self) -> None:
        """Stop recording."""
        mode.tracer = None
        self._observing.__exit__(None, None, None)
        observable.tracing.end()

    def began(self, backward_pass: Any) -> None:
        """Note which nodes a backward pass frees."""
        if mode.tracer is not self:
            return
        if backward_pass.freed is not None:
            self.spent |= {n for n in backward_pass.order if backward_pass.goes_on(n)}
        if backward_pass.inputs is not None:  # leaves that gradients are stored in run theirs anew
            for leaf in backward_pass.leaves.values():
                self.facts.asked(leaf.tensor, hooks, self.outside_form(leaf.tensor))
        earlier = (n for n in backward_pass.order if -1 < n.sequence < self._started)
        if any(backward_pass.goes_on(node) for node in earlier):
            self.refuse(
                CaptureError(
                    "backward() reaches operations from before the call",
                    "run the whole forward pass in the function, or detach its inputs",
                )
            )

    def visit(self, backward_pass: Any, node: Any, go: Any) -> None:
        """Note which node a backward pass visits."""
        before, self._visited = self._visited, node
        try:
            go(node)
        finally:
            self._visited = before

    def check_outside(self, reached: Container[int]) -> None:
        """Refuse the program if a tensor from outside was changed by more than it recorded.

        Args:
            reached: ids of the tensors that the function may know.
        """
        if any(array.tobytes() != kept.tobytes() for array, kept in self._constants):
            reason = "the function changes an array that it has passed to an operation"
            self.refuse(CaptureError(reason, "pass a copy, or use tensors"))
        alone, passed = count_of_users() == 1, {id(t) for t in self._arguments}
        ours = passed | {id(t) for t, _ in self.program.states}
        problems = [
            problem
            for t, problem in self.outside.problems(passed)
            if alone or id(t) in ours or id(t) in reached  # others change their own tensors
        ]
        if problems:
            first = next((p for p in problems if not p.stores), problems[0])
            first.stores = first.stores and [store for p in problems for store in p.stores]
            first.disturbed = True
            self.refuse(first)

    def refuse(self, problem: CaptureError) -> None:
        """Note why the function cannot be captured."""
        if self.problem is None:
            self.problem = problem
            problem.site = problem.site or here()
        problem.__traceback__ = problem.__context__ = None  # they hold all frames of the capture
        mode.tracer = None

    # ---- what the tracer hears --------------------------------------------------------------

    def cannot_capture(self, reason: str, remedy: str) -> None:
        """Refuse the program."""
        self.refuse(CaptureError(reason, remedy))

    def compute(self, function: Any, args: Any, kwargs: Any, op: Any, writes: bool) -> Any:
        """Record a function of arrays."""
        self.watch(False)
        try:
            return self._compute(function, args, kwargs, op, writes)
        finally:
            self.watch(True)

    def _compute(self, function: Any, args: Any, kwargs: Any, op: Any, writes: bool) -> Any:
        try:
            call = self._call("write" if writes else "compute", function, args, kwargs, op)
        except CaptureError as problem:
            self.refuse(problem)
            return function(*args, **kwargs)
        call.op = op
        if sized_by_values(call, args):
            reason = f"the shape of what {call.title} returns depends on the values of a tensor"
            remedy = "use tn.where or a product with the mask, which keep the shape"
            self.refuse(CaptureError(reason, remedy))
            return function(*args, **kwargs)
        if writes and self._probe is not None:
            self._probe.check(call, self.outside.has_memory(args[0]))
        if writes and self.is_passed(args[0]):
            reason = f"{call.title} changes an array of numpy"
            self.refuse(CaptureError(reason, "copy it: `tn.tensor(array)`"))
        if writes:
            self._written[root(args[0])] = True
        return self._run(call, function, args, kwargs)

    def perform(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Record a function that changes Python objects."""
        args = tuple([*a] if is_a(a, types.GeneratorType) else a for a in args)
        self.watch(False)
        try:
            return self._perform(function, args, kwargs)
        finally:
            self.watch(True)

    def _perform(self, function: Any, args: Any, kwargs: Any) -> Any:
        try:
            call = self._call("perform", function, args, kwargs)
            if isinstance(args[0], Tensor):  # stores the others, as set_grad does
                for t in args[1:]:
                    if isinstance(t, Tensor) and t not in self.outside:
                        require_alone(t)
        except CaptureError as problem:
            self.refuse(problem)
            return function(*args, **kwargs)
        if self._probe is not None and not is_a(args[0], Generator):
            raise _Probe.effect(call.title)
        self.scheduling.performed(args[0] if args else None)
        before = self.outside.writes()
        result = self._run(call, function, args, kwargs)
        self.outside.record_writes(before)
        self._find_gradients(args)
        return result

    def wrote(self, t: Tensor, what: str) -> None:
        """Record that a write was counted, if the tensor is from outside."""
        memory = root(t._array)
        viewed = t not in self.outside and t._array in self._values  # as by squeeze_
        if memory not in self._written and not viewed and what != "increment_version":
            self.refuse(
                CaptureError(
                    f"{what} changes a tensor by something that is not an operation",
                    "change it by operations, or outside of the function",
                )
            )
        self._written.discard(memory)
        owner, leaf = self.outside.record_write(t, id(memory)), self._gradients.get(id(t._array))
        if leaf is not None and leaf._grad is t:
            self._bump(bump_gradient, leaf, what)
        elif owner is not None:
            passed = [a for a in self._arguments if a._counter is owner._counter]
            passed = [a for a in passed if a is t] or passed or [owner]
            self._bump(bump, passed[0], what)

    def _bump(self, function: Any, t: Tensor, what: str) -> None:
        call = Call("perform", function, (self.constant(t), what), {}, here())
        self.program.calls.append(call)

    def reads_to_return(self, t: Tensor, method: str, paths: list[Path]) -> None:
        """Note that the function reads a tensor, and where it returns what it gets."""
        copy = wrap(self._compute(arrays.copied, (t._array,), {}, None, False))
        self.readings += [(path, copy, method) for path in paths]

    def read_gradient(self, t: Tensor) -> None:
        """Note that the function reads a gradient."""
        holder = self.outside_form(t)
        if isinstance(holder, Handle):
            self.facts.note(holder, gradient_form, form_of(self.outside.gradient_before(t)))
        else:
            self.outside.read_gradient(t)

    def arguments(self) -> Iterator[tuple[Handle, Tensor]]:
        """Yield what stands for each argument, and the tensor."""
        for t in self._arguments:
            yield self._handles[id(t)], t

    def outside_form(self, t: Tensor) -> Any:
        """Return what stands for a tensor from outside; None if the function made it."""
        handle = self._handles.get(id(t))
        if handle is not None and handle.place >= 0:
            return handle
        return t if t in self.outside else None

    def begin_probe(self) -> None:
        """Begin a backward pass that the user did not ask for: it must leave no trace."""
        self._probe = _Probe(self._memories.last)

    def end_probe(self) -> None:
        """Undo what it left."""
        assert self._probe is not None
        self._probe.restore()
        self._probe = None

    def reads(self, t: Tensor) -> bool:
        """Return whether the program knows the memory of a tensor, if by another tensor's name."""
        return self._memories.knows(t._array)

    def known(self) -> int:
        """Return the number of values so far."""
        return self._count

    def forget_after(self, known: int) -> None:
        """Forget later values: other programs do not compute them."""
        self._values.forget(lambda value: value.number >= known)

    # ---- arguments and results --------------------------------------------------------------

    def _call(self, kind: str, function: Any, args: Any, kwargs: Any, op: Any = None) -> Call:
        site = here()
        given, named = (rebuilt(a, self.constant) for a in (args, kwargs))
        call = Call(kind, low_precision.narrowest(function, args, kwargs), given, named, site)
        if not fails_by_shape(op):
            self.handlers.check(self.program)
        visited = self._visited
        call.scope = mode.scope if visited is None else getattr(visited, "scope", None)
        call.node = "" if visited is None else visited.name()
        return call

    def _run(self, call: Call, function: Any, args: Any, kwargs: Any) -> Any:
        mode.tracer = None
        try:
            result = function(*args, **kwargs)
        except BaseException:
            reason = f"{call.title} fails"
            self.refuse(CaptureError(reason, "handle the error outside of the function"))
            raise
        mode.tracer = self
        result = rebuilt(result, as_array)
        try:
            call.result = rebuilt(result, lambda leaf: self._result(call, leaf))
        except CaptureError as problem:
            self.refuse(problem)
        self.program.calls.append(call)
        return result

    def constant(self, leaf: Any) -> Any:
        """Return what stands in a program for a part of an argument."""
        kind = type(leaf)
        if is_simple_kind(kind):
            return leaf
        if is_a(leaf, Tensor):
            return self._handle(leaf)
        if is_a(leaf, (np.ndarray, BatchedArray)) or leaf in self._values:
            frozen = is_a(leaf, np.ndarray) and not leaf.flags.writeable
            if frozen and leaf.base is None and leaf not in self._values:
                return leaf  # nobody can write to it
            return self.value(leaf)
        if is_a(leaf, Generator):
            self.handlers.random = None  # it may draw from it
            if self._probe is not None:
                self._probe.draws(leaf)
        if is_a(leaf, (np.dtype, np.generic, type, Generator)) or callable(leaf):
            return leaf
        if module_of(kind).startswith("tinynet."):
            held = list(getattr(leaf, "__dict__", {}).values())
            held += [getattr(leaf, s, None) for s in getattr(kind, "__slots__", ())]
            if not any(isinstance(h, np.ndarray) for h in held):
                return leaf
        raise CaptureError(
            f"an operation got an object of type {kind.__name__}, which a program cannot hold",
            "keep this part outside of the compiled function",
        )

    def _handle(self, t: Tensor) -> Any:
        handle = self._handles.get(id(t))
        if handle is not None:
            return handle
        if t in self.outside:
            return t
        if t._edge is not None:
            raise CaptureError(
                "a tensor with a history is handed to a function that changes Python objects",
                "call backward without create_graph=True, or detach the tensor",
            )
        handle = Handle(self._next_handle(), self.value(t._array), requires_grad(t))
        self._handles[id(t)] = handle
        self._held.append(t)
        return handle

    def _next_handle(self) -> int:
        self.program.tensors += 1
        return self.program.tensors - 1

    def define(self, held: Any) -> Value:
        value = self._values[held] = Value(self._count, held, self._memories.number_of(held))
        self._count += 1
        return value

    def _result(self, call: Call, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            call.tensor = True
            if leaf._edge is not None or leaf._requires_grad:
                raise CaptureError(
                    f"{call.title} returned a tensor with a history",
                    "keep it outside of the compiled function",
                )
            return self.define(leaf._array)
        if leaf is None:
            return None
        if is_simple_kind(type(leaf)):
            if call.kind == "perform":
                return None
            raise CaptureError(
                f"{call.title} returned the Python value {leaf!r}, which may depend on the data",
                "keep it outside of the compiled function",
            )
        return self.define(leaf)

    def value(self, array: Any) -> Value:
        """Return the value of an array."""
        owner = self._gradients.get(id(array))
        if owner is not None and owner._grad is not None and owner._grad._array is array:
            return self._read_gradient(owner, array)
        found = self._values.get(array)
        if found is not None:
            return found
        t = self.outside.owner(array)
        if t is not None:
            value = self.define(array)
            self.program.states.append((t, value))
            return value
        base = array.base if isinstance(array, np.ndarray) else None
        while isinstance(base, np.ndarray):
            if base in self._values or self.outside.owner(base) is not None:
                return self._view(array, base)
            base = base.base
        if self.is_passed(array) and array.copy(order="K").strides == array.strides:
            return self._constant(array)
        raise CaptureError(
            "an operation got an array that no recorded operation computed",
            "compute it from tensors, or outside of the compiled function",
        )

    def passes(self, array: Any) -> None:
        """Note an array that the user's code passes to a function of tinynet.

        It depends on no tensor: a capture refuses to read the values of one.
        """
        self._passed[id(root(array))] = array

    def is_passed(self, array: Any) -> bool:
        """Return whether the user has the memory of an array, and no tensor from outside has it."""
        passed = isinstance(array, np.ndarray) and id(root(array)) in self._passed
        return passed and not self.outside.has_memory(array)

    def _constant(self, array: Any) -> Value:
        """Record an array of the user's; a replay makes a copy of what it is now."""
        kept = array.copy(order="K")
        kept.flags.writeable = False
        self._constants.append((array, kept))
        call = Call("compute", np.array, (kept,), {}, here())
        call.result = self.define(array)
        self.program.calls.append(call)
        return call.result

    def _view(self, array: Any, base: Any) -> Value:
        """Record a view that was made outside of operations."""
        offset = array.ctypes.data - base.ctypes.data
        args = self.value(base), offset, array.shape, array.dtype, array.strides
        call = Call("compute", view_of, args, {}, here())
        try:
            view_of(base, *args[1:])
        except (TypeError, ValueError):
            raise CaptureError(
                "an operation got a view of an unusual tensor", "use a copy"
            ) from None
        call.result = self.define(array)
        self.program.calls.append(call)
        return call.result

    def _read_gradient(self, owner: Tensor, array: Any) -> Value:
        call = Call("read", gradient, (self._handle(owner),), {}, here())
        call.result = self.define(array)
        self.program.calls.append(call)
        return call.result

    def _find_gradients(self, args: tuple[Any, ...]) -> None:
        """Note the gradient that a call may have stored in a tensor."""
        for t in args:
            if isinstance(t, Tensor) and isinstance(t._grad, Tensor):
                self._gradients[id(t._grad._array)] = t
                self._held.append(t._grad._array)
