"""Checkpointing: recomputation of saved values, and the reentrant variant.

During the first run, a keeper (see ``core/graph/saved_hooks.py``) stores only the number of each
saved array. The first backward that needs an array runs the function again, with a second keeper
that collects the arrays by number. The reentrant variant is a Function: its backward runs the
function again, recorded, and then the backward of that.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tinynet import dtypes
from tinynet.autograd.derivatives import backward
from tinynet.autograd.function import Function
from tinynet.autograd.function_node import FunctionNode
from tinynet.core.callsite import Site, here, locate
from tinynet.core.devices import CPU
from tinynet.core.graph.node import Edge, Freed, Guard, Node, Saved, unmodified
from tinynet.core.graph.recorded_backward import tensor_at
from tinynet.core.graph.saved_hooks import Keeper, keeping
from tinynet.core.graph.views import edge_of
from tinynet.core.messages import row
from tinynet.core.modes import enable_grad, mode, no_grad
from tinynet.core.tensors.tensor import Size, Tensor, counter_of
from tinynet.core.tensors.version import Version
from tinynet.dtypes import Array
from tinynet.errors import explained
from tinynet.random import default_generator, fork_rng


@dataclass
class Conditions:
    """What a function runs under that the backward pass may not have: random numbers, autocast."""

    preserve_rng_state: bool

    def __post_init__(self) -> None:
        self.state = default_generator.position() if self.preserve_rng_state else None
        self.autocast = mode.autocast

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Restore the conditions for a block."""
        with fork_rng(enabled=self.state is not None):
            if self.state is not None:
                default_generator.go_to(self.state)
            before, mode.autocast = mode.autocast, self.autocast
            try:
                yield
            finally:
                mode.autocast = before


# ---- the reentrant variant ----------------------------------------------------------------------


class CheckpointFunction(Function):
    """Runs a function unrecorded, and again with recording in backward."""

    @staticmethod
    def forward(
        ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        """Run the function; save only its arguments."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        if not any(t.requires_grad for t in tensors):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning,
                stacklevel=4,  # forward, apply, checkpoint
            )
        ctx.run_function = run_function
        ctx.conditions = Conditions(preserve_rng_state)
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.is_tensor = [isinstance(a, Tensor) for a in args]
        ctx.save_for_backward(*tensors)
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Any, ...]:
        """Run the function again, then backward through it; this sets ``.grad`` of parameters."""
        tensors = iter(ctx.saved_tensors)
        args = []
        for other, is_tensor in zip(ctx.others, ctx.is_tensor, strict=True):
            if is_tensor:
                t = next(tensors)
                args.append(t.detach().requires_grad_(t.requires_grad))
            else:
                args.append(other)
        with ctx.conditions.again(), enable_grad():
            made = ctx.run_function(*args)
        outputs = made if isinstance(made, tuple) else (made,)
        if len(outputs) != len(grad_outputs):
            raise RuntimeError(
                f"checkpoint: the function returned {len(grad_outputs)} outputs in the forward "
                f"pass, but {len(outputs)} when the backward pass ran it again. It must return "
                "the same outputs both times."
            )
        pairs = [
            (o, g)
            for o, g in zip(outputs, grad_outputs, strict=True)
            if isinstance(o, Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


class CheckpointFunctionBackward(FunctionNode):
    """The node of a checkpointed call."""

    function = CheckpointFunction

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Run backward; raise for passes that compute the gradients of only some tensors."""
        self._check(wanted)
        return super().backward(g, freed, wanted)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Do the same for recorded passes."""
        self._check(wanted)
        return super().backward_recorded(g, freed, wanted)

    def _check(self, wanted: Any) -> None:
        if wanted is not None:
            raise RuntimeError(
                "When use_reentrant=True, tinynet.utils.checkpoint is incompatible with .grad() "
                "or passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )


CheckpointFunction._backward_cls = CheckpointFunctionBackward


Described = tuple[tuple[int, ...], Any, Site | None]


# ---- recomputation ------------------------------------------------------------------------------


WHERE = "tinynet.utils.checkpoint"


class CheckpointError(RuntimeError):
    """A difference between the first run of a checkpointed function and its recomputation."""

    def __init__(self, text: str):
        super().__init__(f"{text.rstrip()}\n{explained('checkpoint-mismatch')}")


class _Enough(BaseException):  # no error, and not to be caught as one
    """Signals that all values of a region are recomputed."""

    def __init__(self, region: Region):
        super().__init__("recomputation ends here")
        self.region = region


class Forgotten(Guard):
    """A placeholder for a saved array, which holds the array after the recomputation."""

    __slots__ = ("__weakref__", "array", "at", "edge", "is_output", "region", "version")

    def __init__(self, region: Region, version: Version, edge: Edge | None, is_output: bool):
        self.region = region
        self.version = version
        self.at = version.n
        self.edge = None if is_output else edge  # an output's edge would lead back to its node
        self.is_output = is_output
        self.array: Array | None = None

    def restore(self, node: Node, kept: Any) -> Array:
        """Return the array, once; raise if a write would have changed it."""
        if self.array is None:
            self.region.recompute()
        array, self.array = self.array, None
        if array is None:
            raise self.region.another_number()
        return unmodified(node, array, self.version, self.at, self.edge, self.is_output)


class Forgetting(Keeper):
    """The keeper of the first run."""

    def __init__(self, region: Region):
        self.region = region

    def guard(
        self, array: Array, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Keep nothing."""
        guard = Forgotten(self.region, version, edge, is_output)
        self.region.forgotten.append(weakref.ref(guard))
        self.region.described.append((array.shape, array.dtype, here()))
        return None, guard


class _Recomputing(Keeper):
    """The keeper of the second run."""

    def __init__(self, region: Region):
        self.region = region

    def guard(
        self, array: Array, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Hand the array over, and keep it: the function may run backward itself."""
        self.region.found(array)
        return array, _Present()


class _Present(Guard):
    """Returns what is kept."""

    __slots__ = ()

    def restore(self, node: Node, kept: Any) -> Array:
        """Return the array."""
        found: Array = kept
        return found


class _Call(Node):
    """Stands in messages for the call of ``checkpoint``, which saved the arguments."""

    __slots__ = ()

    def __init__(self) -> None:
        self.edges = ()
        self.hooks = None
        self.site = here()
        self.scope = mode.scope

    def name(self) -> str:
        """Return what messages call it."""
        return "checkpoint"


class Region:
    """One checkpointed call: the function with its arguments, and the placeholders.

    Attributes:
        forgotten: weak references to the placeholders of the saved arrays, in order; backward
            drops those it frees.
        described: shape, dtype and the user's line of each saved array.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        context: AbstractContextManager[Any],
        *,
        preserve_rng_state: bool,
        compare: bool,
        early_stop: bool,
    ):
        self.function = function
        self.call = _Call()
        self.args = [_saved(a) if isinstance(a, Tensor) else a for a in args]
        self.kwargs = kwargs
        self.context = context
        self.conditions = Conditions(preserve_rng_state)
        self.compare = compare
        self.early_stop = early_stop
        self.completed = False
        self.forgotten: list[weakref.ref[Forgotten]] = []
        self.described: list[Described] = []
        self.again: list[Described] = []  # the same of the second run

    def recompute(self) -> None:
        """Run the function again and fill the placeholders."""
        args = [self._argument(a) if isinstance(a, Saved) else a for a in self.args]
        self.again = []
        try:
            with (
                self.conditions.again(),
                keeping(_Recomputing(self)),
                enable_grad(),
                self.context,
            ):
                self.function(*args, **self.kwargs)
        except _Enough as enough:
            if enough.region is not self:
                raise
        self._compare()

    def found(self, array: Array) -> None:
        """Take the next array of the second run.

        Raises:
            CheckpointError: there is one more than in the first run.
            _Enough: it was the last.
        """
        number = len(self.again)
        self.again.append((array.shape, array.dtype, here()))
        if number >= len(self.forgotten):
            if self.completed:
                raise CheckpointError(
                    f"{WHERE}: trying to save more tensors during recomputation than during the "
                    "original forward pass.\n" + self._first_difference()
                )
            return  # the function runs backward: there was no more when it got there
        guard = self.forgotten[number]()
        if guard is not None:
            guard.array = array
        if self.early_stop and number + 1 == len(self.forgotten):
            raise _Enough(self)

    def another_number(self) -> CheckpointError:
        """Return the error for a second run that saved fewer arrays."""
        return CheckpointError(
            f"{WHERE}: A different number of tensors was saved during the original forward and "
            f"recomputation.\nNumber of tensors saved during forward: {len(self.forgotten)}\n"
            f"Number of tensors saved during recomputation: {len(self.again)}.\n"
            + self._first_difference()
        )

    def _argument(self, saved: Saved) -> Tensor:
        array, version = saved.array, saved.version
        if isinstance(version, Guard):
            return tensor_at(version.restore(self.call, array), None, saved.edge)
        assert isinstance(version, Version) and array is not None
        array = unmodified(self.call, array, version, saved.at, saved.edge, False)
        return tensor_at(array, version, saved.edge)

    def _compare(self) -> None:
        """Check that the second run saved the same arrays as the first."""
        if len(self.again) < len(self.forgotten):
            raise self.another_number()
        if not self.compare:
            return
        different = [
            f"tensor at position {i}:\nsaved metadata: {_metadata(a)}\n"
            f"recomputed metadata: {_metadata(b)}\n"
            for i, (a, b) in enumerate(zip(self.described, self.again, strict=False))
            if a[:2] != b[:2] and self.forgotten[i]() is not None
        ]
        if different:
            raise CheckpointError(
                f"{WHERE}: Recomputed values for the following tensors have different metadata "
                f"than during the forward pass.\n{''.join(different)}" + self._first_difference()
            )

    def _first_difference(self) -> str:
        """Name the lines where the second run diverged from the first."""
        lines = []
        for i, (a, b) in enumerate(itertools.zip_longest(self.described, self.again)):
            if a != b:
                lines += row("saved", locate(a[2]), f"tensor {i}, in the forward") if a else []
                lines += row("saved", locate(b[2]), f"tensor {i}, when run again") if b else []
                break
        hint = "the function must do the same each time: no globals, counters or other generators"
        return "\n".join([*lines, f"  fix      {hint}"])


def _saved(t: Tensor) -> Saved:
    """Save an argument as an operation would; an outer checkpoint may forget it."""
    saved = Saved(t._array, counter_of(t), edge_of(t))
    if isinstance(mode.on, Keeper):
        mode.on.keep_saved(saved, False)
    return saved


def _metadata(described: Described) -> dict[str, Any]:
    shape, kind, _site = described
    return {"shape": Size(shape), "dtype": dtypes.from_numpy(kind), "device": CPU}
