"""Dispatch of kernels to batching rules, active only while a batch is alive."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.seams import Recorded
from tinynet.core.trace import observable
from tinynet.kernels.threads import fork_safe_lock
from tinynet.ops.batching.array import BatchedArray, UnbatchableError, is_batched
from tinynet.ops.batching.families import BORDER, rule_of
from tinynet.ops.batching.rules import Call, NoRuleError

_lock = fork_safe_lock()


class _State:
    alive = 0  # levels
    warns = False  # see set_vmap_fallback_warning


_state = _State()


def begin(meets_batches: Callable[[list[Any]], bool]) -> None:
    """Replace the plain kernels by batching ones, for the first level."""
    with _lock:
        _state.alive += 1
        if _state.alive == 1:
            Recorded.batched = meets_batches
            observable.wrap_kernels(_batching)


def end() -> None:
    """Restore the plain kernels, after the last level."""
    with _lock:
        _state.alive -= 1
        if _state.alive == 0:
            Recorded.batched = None
            observable.wrap_kernels(None)


def set_fallback_warning(enabled: bool) -> None:
    """Enable or disable warnings for operations that run example by example."""
    _state.warns = bool(enabled)


def warns_of_fallback() -> bool:
    """Return whether a warning names operations that run example by example."""
    return _state.warns


def _batching(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that accepts batched arrays, too."""

    def run(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            kind = type(a)
            if kind is BatchedArray:
                break
            if kind is tuple or kind is list:
                if any(type(x) is BatchedArray for x in a):
                    break
        else:
            return kernel(*args, **kwargs)
        return _run(op, kernel, args, kwargs)

    return op.kernel if op.name in BORDER else run


def _run(op: Any, kernel: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    call = Call(op, kernel, args, kwargs)
    rule = rule_of(op)
    if rule is not None:
        try:
            return call.wrapped(rule(call))
        except NoRuleError:
            pass
        except Exception:  # its message describes the whole batch; that of the loop, one example
            return _loop(call)
    if _state.warns:
        warnings.warn(
            f"There is a performance drop because we have not yet implemented the batching rule "
            f"for aten::{op.title}. Please file us an issue on GitHub so that we can prioritize "
            "its implementation.",
            UserWarning,
            stacklevel=4,
        )
    return _loop(call)


def _loop(call: Call) -> Any:
    """Return the kernel's results for each example, stacked."""
    found = [_flat(a, call) for a in call.args]
    rows = [
        call.kernel(*(_example(x, batched, i) for x, batched in found), **call.kwargs)
        for i in range(call.examples)
    ]
    if call.several:
        columns = zip(*rows, strict=True)
        return call.wrapped([_stacked(column, call.batch) for column in columns])
    return call.wrapped(_stacked(rows, call.batch))


def _flat(x: Any, call: Call) -> tuple[Any, Any]:
    """Return an argument with one dimension for all levels, and whether it is batched."""
    if is_batched(x):
        return call.full(x).reshape(call.examples, *x.shape), True
    if isinstance(x, (tuple, list)) and any(map(is_batched, x)):
        return [_flat(part, call) for part in x], None
    return x, False


def _example(x: Any, batched: bool | None, i: int) -> Any:
    if batched is None:
        return [_example(part, b, i) for part, b in x]
    return x[i, ...] if batched else x


def _stacked(parts: Sequence[Any], batch: tuple[int, ...]) -> Any:
    if parts[0] is None:
        return None
    arrays = [np.asarray(p) for p in parts]
    if any(p is None or a.shape != arrays[0].shape for p, a in zip(parts, arrays, strict=True)):
        raise UnbatchableError("vmap: the results of the examples differ in shape")
    return np.stack(arrays).reshape(*batch, *arrays[0].shape)
