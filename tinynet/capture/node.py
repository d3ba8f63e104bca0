"""What programs call: the backward pass of a compiled function as one node, effects and views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.callsite import here, locate
from tinynet.core.graph.node import UNREACHED, Edge, Freed, Node, count_nodes, unmodified
from tinynet.core.messages import freed_error
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap

# ---- effects ------------------------------------------------------------------------------------
# Functions that only programs call: for effects and views that operations do not have.


def bump(t: Tensor, what: str) -> None:
    """Count a write to ``t``."""
    counter_of(t).bump(here(), what)


def bump_gradient(t: Tensor, what: str) -> None:
    """Count a write to the gradient of ``t``."""
    bump(t._grad, what)  # type: ignore[arg-type]


def gradient(t: Tensor) -> Any:
    """Return the array of ``t.grad``."""
    return t._grad._array  # type: ignore[union-attr]


def view_of(base: Any, offset: int, shape: Any, dtype: Any, strides: Any) -> Any:
    """Return a view of an array by its offset in bytes and its strides."""
    return np.ndarray(shape, dtype, base, offset, strides)


# ---- node ---------------------------------------------------------------------------------------
# The backward pass of a compiled function: one node for all that it computed.


CHANGED = (
    "{} when the function was compiled; its backward pass reads that, and it has changed since.\n"
    "  to fix it: change it after the backward pass, keep the value in ctx, or call the function "
    "without tn.compile"
)


class Passes:
    """The backward passes of outputs that one node stands for.

    Args:
        functions: for sets of outputs that get a gradient, the function that maps the saved
            values and these gradients to the edges' gradients, and the saved values that it uses.
            One set is that of all outputs.
        frees: for each output, the outputs that cannot be differentiated after it was.
        places: for each saved value, the tensor (by number) that its memory belongs to, if any, and
            whether the value follows what replaces the data of that.
        again: returns the gradients of an eager call, with a graph or for other sets.
        changed: returns what the user's code would read otherwise now, in words, if anything.
    """

    def __init__(
        self,
        functions: dict[tuple[int, ...], tuple[Callable[..., tuple[Any, ...]], list[int]]],
        frees: list[set[int]],
        places: list[list[tuple[int, bool]]],
        again: Callable[..., tuple[Any, ...]],
        changed: Callable[[], str | None],
    ):
        self.frees, self.again, self.changed = frees, again, changed
        self.functions = {
            key: (function, sorted({place for value in used for place in places[value]}))
            for key, (function, used) in functions.items()
        }


class CompiledOutputBackward(Node):
    """The node of one output, if the function has several: its hooks run only if it is reached.

    Args:
        function: the node of all of them.
        number: the output's.
    """

    __slots__ = ()
    gives_fresh = True

    def __init__(self, function: CompiledFunctionBackward, number: int):
        self.edges = ((function, number),)
        self.sequence = count_nodes()
        self.hooks = None
        self.site = function.site
        self.scope = function.scope
        self.shape, self.dtype = function.shape[number], function.dtype[number]

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Return the gradient."""
        return (g,)

    backward_recorded = backward


class CompiledFunctionBackward(Node):
    """The node of the outputs of a compiled function.

    Args:
        passes: its backward passes; None if the function has freed what they need.
        saved: the values that they need.
        edges: where the gradients go.
        tensors: visible tensors that share memory with saved values; they must not change before
            the backward pass.
        like: shapes and dtypes of the outputs.
        call: the tensors that were passed, and the position of the generator before the call.
    """

    __slots__ = ("call", "freed", "passes", "saved", "versions")
    multiple = True
    gives_fresh = True

    def __init__(
        self,
        passes: Passes | None,
        saved: tuple[Any, ...],
        edges: Sequence[Edge | None],
        tensors: Sequence[Tensor],
        like: tuple[tuple[Any, ...], tuple[Any, ...]],
        call: tuple[tuple[Tensor, ...], Any],
    ):
        self.call = call
        self.edges = tuple(edges)
        self.sequence = count_nodes()
        self.hooks = None
        self.site = here()
        self.scope = mode.scope
        self.shape, self.dtype = like
        self.passes, self.saved = passes, saved
        self.freed: dict[int, Freed] = {}  # by output
        self.versions = [(t._array, v := counter_of(t), v.n) for t in tensors]

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Compute all gradients."""
        started = tuple([i for i, x in enumerate(g) if x is not None])
        passes = self.passes
        if passes is None:
            raise freed_error(self.site, self.site, locate(here()))
        for i in started:
            if i in self.freed:
                raise freed_error(self.site, self.freed[i].site, locate(here()))
        changed = passes.changed()
        if changed is not None:
            raise RuntimeError(CHANGED.format(changed))
        has_program = started in passes.functions
        results = self._by_program(passes, started, g) if has_program else self._eagerly(passes, g)
        if freed is not None:
            for i in started:
                self.freed.update(dict.fromkeys(passes.frees[i], freed))
            if len(self.freed) == len(self.shape):
                self.saved, self.call = (), ((), None)
        return results

    def _by_program(self, passes: Passes, started: tuple[int, ...], g: Any) -> tuple[Any, ...]:
        """Compute the gradients of a set of outputs."""
        function, places = passes.functions[started]
        saved: tuple[Any, ...] = self.saved
        for place, follows in places:
            array, version, at = self.versions[place]
            current = unmodified(self, array, version, at, None, is_output=False)
            if current is not array and follows:
                saved = tuple([current if value is array else value for value in saved])
        return function(*saved, *[x for x in g if x is not None])

    def _eagerly(self, passes: Passes, g: Any) -> tuple[Any, ...]:
        """Compute the gradients of a set of outputs that has no program."""
        zeros = map(np.zeros, self.shape, self.dtype)
        every = [zero if x is None else x for x, zero in zip(g, zeros, strict=True)]
        expected = self._by_program(passes, tuple(range(len(every))), every)
        given = [None if x is None else wrap(x) for x in g]
        found = passes.again(*self.call, given, expected, create_graph=False)
        return tuple([x._array if isinstance(x, Tensor) else x for x in found])

    def __call__(self, *grads: Any) -> Any:
        """Return the gradients of the edges, without any hooks."""
        results = super().__call__(*grads)
        if isinstance(results, tuple):
            return tuple([None if x is UNREACHED else x for x in results])
        return None if results is UNREACHED else results

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Compute all gradients with the graph of an eager call."""
        call = self.call
        arrays = [None if x is None else np.asarray(x._array) for x in g]
        expected = self.backward(arrays, freed, wanted)
        assert self.passes is not None  # or there was an error
        return self.passes.again(*call, g, expected, create_graph=True)
