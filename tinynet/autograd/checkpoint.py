"""Activation checkpointing: saves memory between forward and backward by a second forward."""

from __future__ import annotations

import contextlib
import enum
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tinynet.autograd.recomputation import WHERE, Forgetting, Region
from tinynet.autograd.recomputation import CheckpointError as CheckpointError
from tinynet.autograd.recomputation import CheckpointFunction as CheckpointFunction
from tinynet.core.graph.saved_hooks import keeping
from tinynet.core.modes import mode

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

CHECKS = ("default", "none")
NOT_CHOSEN = (
    "{}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
    "recommended; the default is use_reentrant=True."
)


class _Early:
    stop: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Set early stopping for the checkpointed functions called inside the block.

    Args:
        enable: stop as soon as all values are recomputed, like ``early_stop=True``.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> with tn.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     y = tn.utils.checkpoint.checkpoint(tn.exp, x, use_reentrant=False)
        >>> y.sum().backward()
    """
    before, _Early.stop = _Early.stop, enable
    try:
        yield
    finally:
        _Early.stop = before


def noop_context_fn() -> Contexts:
    """Return two contexts that do nothing.

    Example:
        >>> forward, recomputation = tn.utils.checkpoint.noop_context_fn()
        >>> with forward:
        ...     pass
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


class CheckpointPolicy(enum.Enum):
    """What a policy answers: whether to keep the result of an operation, or to recompute it.

    Example:
        >>> tn.utils.checkpoint.CheckpointPolicy.MUST_SAVE.value
        0
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> Contexts:
    """Return two contexts for ``context_fn`` that recompute all operations.

    PyTorch keeps the results for which a policy asks, which saves time. Results and gradients are
    the same, so the policy is not asked.

    Args:
        policy_fn_or_list: a function that returns policies, or the operations to keep.
        allow_cache_entry_mutation: accepted; there are no such entries.

    Raises:
        TypeError: the policy is something else.

    Example:
        >>> from functools import partial
        >>> contexts = tn.utils.checkpoint.create_selective_checkpoint_contexts
        >>> x = tn.ones(2, requires_grad=True)
        >>> context_fn = partial(contexts, [])
        >>> y = tn.utils.checkpoint.checkpoint(
        ...     tn.exp, x, use_reentrant=False, context_fn=context_fn
        ... )
    """
    if not (callable(policy_fn_or_list) or isinstance(policy_fn_or_list, list)):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return noop_context_fn()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Return ``function(*args, **kwargs)`` without keeping the arrays it saves for backward.

    Backward runs the function again to recompute them. The gradients are bit-identical.

    Args:
        function: the function; it must behave the same in the second run.
        args, kwargs: its arguments.
        use_reentrant: False is recommended. True runs the function unrecorded and backward inside
            of backward, so it works only for tensors in ``args`` and only for ``backward()``.
        context_fn: returns two contexts, for the first and the second run.
        determinism_check: ``"default"`` compares shapes and dtypes of the two runs, ``"none"``
            does not.
        debug: accepted; messages always name the lines where the runs differ.
        early_stop: end the second run as soon as all values are recomputed.
        preserve_rng_state: draw the same numbers from the default generator in both runs.

    Raises:
        CheckpointError: in backward: the second run behaved differently.
        RuntimeError: in backward: a tensor argument or a parameter has changed.
        ValueError: arguments that cannot be combined.

    Source: Chen et al. 2016, "Training deep nets with sublinear memory cost".

    Example:
        >>> layer = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.5))
        >>> x = tn.ones(2, 4, requires_grad=True)
        >>> y = tn.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad.shape
        tinynet.Size([2, 4])
    """
    if use_reentrant is None:
        warnings.warn(NOT_CHOSEN.format(WHERE), UserWarning, stacklevel=2)
        use_reentrant = True
    _check(use_reentrant, context_fn is not noop_context_fn, determinism_check, debug, kwargs)
    if use_reentrant:
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    first, second = context_fn()
    if not mode.grad:
        return function(*args, **kwargs)
    stop = early_stop if _Early.stop is None else _Early.stop
    region = Region(
        function,
        args,
        kwargs,
        second,
        preserve_rng_state=preserve_rng_state,
        compare=determinism_check == "default",
        early_stop=stop,
    )
    with keeping(Forgetting(region)), first:
        result = function(*args, **kwargs)
        region.completed = True
    if not region.completed:
        raise RuntimeError(
            f"{WHERE}: the forward context provided by context_fn suppressed an exception raised "
            "during the checkpointed forward. This is not supported because checkpoint cannot "
            "return a value for a failed forward."
        )
    return result


def _check(
    use_reentrant: bool, contexts: bool, determinism_check: str, debug: bool, kwargs: dict[str, Any]
) -> None:
    """Raise ValueError for arguments that cannot be combined."""
    if use_reentrant and kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant and (contexts or debug):
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    if debug and contexts:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if not use_reentrant and determinism_check not in CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}"
        )


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply functions in sequence, in checkpointed segments.

    All segments except the last are checkpointed.

    Args:
        functions: an ``nn.Sequential``, or a list of functions of one argument.
        segments: number of segments.
        input: argument of the first function.
        use_reentrant, preserve_rng_state: as in ``checkpoint``.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU())
        >>> x = tn.ones(2, 4)
        >>> y = tn.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False)
        >>> y.shape
        tinynet.Size([2, 4])
    """
    if use_reentrant is None:
        where = f"{WHERE}.checkpoint_sequential"
        warnings.warn(NOT_CHOSEN.format(where), UserWarning, stacklevel=2)
        use_reentrant = True
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(steps) // segments
    end = length * (segments - 1)
    for start in range(0, end, length):
        part = _chained(steps[start : start + length])
        input = checkpoint(
            part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    return _chained(steps[end:])(input)


def _chained(steps: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Return the devices of tensors and their generator states: empty, as all are on the CPU.

    Args:
        *args: tensors and other values.

    Example:
        >>> from tinynet.utils.checkpoint import get_device_states
        >>> get_device_states(tn.ones(2))
        ([], [])
    """
    return [], []


def set_device_states(devices: Any, states: Any) -> None:
    """Restore the generator states of devices other than the CPU: do nothing.

    Args:
        devices, states: the results of ``get_device_states``.

    Example:
        >>> from tinynet.utils.checkpoint import set_device_states
        >>> set_device_states([], [])
    """
