"""Anomaly mode: reports the first nan of a backward pass, with its forward line."""

from __future__ import annotations

import collections
import contextlib
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import Site, here, locate, warn
from tinynet.core.graph.engine import BackwardObserver, passes
from tinynet.core.graph.node import Node, count_nodes
from tinynet.core.messages import row
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import path_of
from tinynet.dtypes import Array
from tinynet.errors import AutogradError

SLOW = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
    "enabled for debugging."
)
INCOMING = "the incoming gradient"


def _array(x: Any) -> Array | None:
    """Return a tensor, number or array as an array; None for anything else."""
    if isinstance(x, Tensor):
        return x._array
    return np.asarray(x) if isinstance(x, (np.ndarray, np.generic, float)) else None


class Call(NamedTuple):
    """What a warning shows of a node; it keeps no saved values."""

    name: str
    site: Site | None
    sequence: int


class Watcher(BackwardObserver):
    """Checks each node of a backward pass while anomaly mode is on."""

    def __init__(self, check_nan: bool):
        self.check_nan = check_nan
        self.saved: dict[str, Any] = {}  # values saved by the current node; backward frees them

    def visit(self, backward_pass: Any, node: Node, go: Callable[[Node], None]) -> None:
        """Visit a node; warn of errors with the lines of the node and of those around it."""
        before, self.saved = self.saved, _saved(node)
        first = count_nodes()
        try:
            go(node)
        except Exception as error:
            _warn_of_error(node)
            if not isinstance(error, AutogradError):  # which names its lines
                lines = row("forward", locate(node.site), f"for {node.name()}{_module(node)}")
                error.add_note("\n".join([f"Error detected in {node.name()}.", *lines]))
            raise
        finally:
            self.saved = before
            if backward_pass.create_graph:
                made = range(first + 1, count_nodes())
                _state.parents.append((made, Call(node.name(), node.site, node.sequence)))

    def computed(self, node: Node, g: Any, results: tuple[Any, ...]) -> None:
        """Check the gradients that a node computed for nan.

        Raises:
            AutogradError: a gradient has nan.
        """
        if not self.check_nan:
            return
        for i, result in enumerate(results):
            array = _array(result)
            if array is not None and dtypes.is_inexact(array.dtype) and np.isnan(array).any():
                raise self._problem(node, g, i, array)

    def _problem(self, node: Node, g: Any, number: int, result: Array) -> AutogradError:
        """Return the error for nan in ``result``, with the values that produced the first one."""
        bad = np.isnan(result)
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        names = node.inputs
        of = f" of '{names[number]}'" if number < len(names) else ""
        sources = self._sources(g)
        values = values_at(sources, result.shape, place)
        lines = row("forward", locate(node.site), f"for {node.name()}{_module(node)}")
        origin = _origin(node, self.saved)
        if origin is not node:
            lines += row("made", locate(origin.site), f"nan, by {origin.name()}{_module(origin)}")
        lines += row("needed", needed := locate(here()), "")
        lines.append(
            f"  nan      {int(bad.sum())} of {bad.size} in the gradient{of}; the first at "
            f"{list(place)}" + (f", from {_listed(values)}" if values else "")
        )
        return AutogradError(
            f"Function '{node.name()}' returned nan values in its {number}th output.",
            lines=lines,
            saved_at=locate(node.site),
            needed_at=needed,
            hint=hint_of(sources, values),
            topic="nan-gradient",
        )

    def _sources(self, g: Any) -> dict[str, Array]:
        """Return the arrays that the gradient was computed from."""
        incoming = g[0] if isinstance(g, list) and len(g) == 1 else g
        arrays = {name: _array(x) for name, x in {INCOMING: incoming, **self.saved}.items()}
        return {name: array for name, array in arrays.items() if array is not None}


def values_at(
    sources: dict[str, Array], shape: tuple[int, ...], place: tuple[int, ...]
) -> dict[str, float]:
    """Return the values at ``place`` of the arrays that broadcast to ``shape``."""
    found = {}
    for name, array in sources.items():
        with contextlib.suppress(ValueError):
            found[name] = float(np.broadcast_to(array, shape)[place])
    return found


def _saved(node: Node) -> dict[str, Any]:
    return {name: getattr(node, f"saved_{name}", None) for name in node.saved}


def _origin(node: Node, saved: dict[str, Any]) -> Node:
    """Return the first node that produced nan in the forward, as far as saved values show."""
    while True:
        for name, edge in zip(node.inputs, node.edges, strict=False):
            array = _array(saved.get(name))
            made_by = None if edge is None else edge[0]
            if array is not None and isinstance(made_by, Node) and np.isnan(array).any():
                node, saved = made_by, _saved(made_by)
                break
        else:
            return node


def _module(node: Node) -> str:
    path = path_of(getattr(node, "scope", None))
    return f"   module {path}" if path else ""


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in values.items())


def hint_of(sources: dict[str, Array], values: dict[str, float]) -> str:
    """Return advice about nan that a backward computed from these arrays."""
    if any(np.isnan(x).any() for name, x in sources.items() if name != INCOMING):
        return "the forward produced nan already: check the inputs of that line, `x.isnan().any()`"
    if INCOMING in sources and not np.isfinite(sources[INCOMING]).all():
        return "the gradient was not finite when it arrived here: look at the lines after this one"
    if not sources.keys() - {INCOMING}:
        return "look at the backward of this function"
    if values.get(INCOMING) == 0:
        return (
            "0 times an infinite slope: a later line (a mask, a `where`) discards the value, "
            "but not its slope. Make the input safe first: `f(where(mask, x, 1))`"
        )
    return (
        "keep the input away from the point where the slope is undefined: `x.clamp(min=eps)`, or "
        "add a small number to it"
    )


# ---- warnings of errors -------------------------------------------------------------------------


def _warn_of_error(node: Node) -> None:
    """Warn that a node's backward failed, and of the nodes whose backward made it."""
    text = f"Error detected in {node.name()}. "
    if node.sequence < _state.started:
        text += (
            "No forward pass information available. Enable detect anomaly during forward pass "
            "for more information."
        )
    else:
        text += f"Traceback of forward call that caused the error:\n{_traceback(node.site)}"
    _warn(text)
    parent = _parent(node.sequence)
    while parent is not None:
        _warn(
            f"\n\nPrevious calculation was induced by {parent.name}. Traceback of forward call "
            f"that induced the previous calculation:\n{_traceback(parent.site)}"
        )
        parent = _parent(parent.sequence)


def _warn(text: str) -> None:
    try:
        warn(text)
    except UserWarning:  # the error itself goes on
        print(text, file=sys.stderr)


def _traceback(site: Site | None) -> str:
    where = locate(site)
    if where is None:
        return ""
    return f'  File "{where.filename}", line {where.line}, in {where.function}\n    {where.text}\n'


def _parent(sequence: int) -> Call | None:
    """Return the node whose recorded backward made the node of that number."""
    return next((call for made, call in _state.parents if sequence in made), None)


# ---- the user's side ----------------------------------------------------------------------------


class _State(threading.local):
    enabled = False
    check_nan = True
    stop: Callable[[], None] | None = None  # removes the watcher
    started = 0  # the number of nodes before anomaly mode

    def __init__(self) -> None:
        # The numbers of the nodes that the recorded backward of a node made, inner nodes first.
        self.parents: collections.deque[tuple[range, Call]] = collections.deque(maxlen=100_000)


_state = _State()


def _set(enabled: bool, check_nan: bool) -> None:
    if bool(enabled) != _state.enabled:
        _state.parents.clear()
        _state.started = count_nodes()
    _state.enabled, _state.check_nan = bool(enabled), bool(check_nan)
    if _state.stop is not None:
        _state.stop()
    _state.stop = passes.add(Watcher(_state.check_nan)) if enabled else None


def is_anomaly_enabled() -> bool:
    """Return True in anomaly mode.

    Example:
        >>> tn.autograd.is_anomaly_enabled()
        False
    """
    return _state.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Return True if anomaly mode checks (or would check) for nan.

    Example:
        >>> tn.autograd.is_anomaly_check_nan_enabled()
        True
    """
    return _state.check_nan


class detect_anomaly(contextlib.ContextDecorator):
    """Raise an error for the first nan in a backward pass, with its forward line.

    A context manager or decorator. Unlike in PyTorch, the forward does not have to run in the
    block. A warning names the forward line of other errors in backward, too. Checking each gradient
    for nan adds 7 % (large arrays) to 50 % to the time of a backward pass.

    Args:
        check_nan: check for nan.

    Raises:
        RuntimeError: (in backward) a gradient is nan.

    Example:
        >>> x = tn.tensor([0.0, 4.0], requires_grad=True)
        >>> y = tn.where(x > 1, x.sqrt(), x)
        >>> with tn.autograd.set_detect_anomaly(True):
        ...     y.sum().backward()
        Traceback (most recent call last):
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output...
    """

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        self._before: list[tuple[bool, bool]] = []
        warnings.warn(SLOW, UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        self._before.append((_state.enabled, _state.check_nan))
        _set(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        _set(*self._before.pop())


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once as a call, or for a block with ``with``.

    Args:
        mode: on or off.
        check_nan: check for nan.

    Raises:
        RuntimeError: (in backward) a gradient is nan, if ``mode`` and ``check_nan`` are True.

    Example:
        >>> with tn.autograd.set_detect_anomaly(True):
        ...     tn.autograd.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self._before = _state.enabled, _state.check_nan
        _set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _set(*self._before)
