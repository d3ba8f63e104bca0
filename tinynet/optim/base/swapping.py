"""Temporarily replacing an optimizer's parameters and state."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.optim.base.groups import Group
from tinynet.optim.optimizer import Optimizer

_SELF = "swap_in_optimizer_params_and_state"


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer,
    swapin_parameters: Mapping[str, Tensor],
    swapin_optim_state: dict[str, Any],
) -> Iterator[None]:
    """Replace an optimizer's parameters, options and state inside a ``with`` block.

    Steps inside update the given parameters and the given state in place. New state entries and
    changed options are discarded at the end, as are groups added or removed.

    Args:
        optimizer: an optimizer that has made at least one step.
        swapin_parameters: the parameters by name, in the optimizer's order.
        swapin_optim_state: options and state in the format of ``optimizer.state_dict()``.

    Raises:
        RuntimeError: the parameters or the state do not match the optimizer.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.SGD([x], lr=0.5, momentum=0.9)
        >>> x.grad = tn.ones(1)
        >>> optimizer.step()
        >>> y = tn.zeros(1)
        >>> y.grad = tn.ones(1)
        >>> state = optimizer.state_dict()
        >>> with optim.swap_in_optimizer_params_and_state(optimizer, {"y": y}, state):
        ...     optimizer.step()
        >>> x.item(), y.item(), optimizer.param_groups[0]["params"][0] is x
        (3.5, -0.949999988079071, True)
    """
    if not optimizer.state:
        raise RuntimeError(f"{_SELF} requires initialized optimizer state.")
    state, groups = _checked(optimizer, swapin_optim_state)
    params = _shared_out(groups, list(swapin_parameters.values()))
    before = optimizer.state, [(group, dict(group)) for group in optimizer.param_groups]
    try:
        swapped: defaultdict[Any, Any] = defaultdict(dict)
        for live, new, own in zip(optimizer.param_groups, groups, params, strict=True):
            live.update(new, params=own)
            for p, number in zip(own, new["params"], strict=True):
                swapped[p] = dict(state.get(number, {}))
        optimizer.state = swapped
        yield
    finally:
        optimizer.state, options = before
        optimizer.param_groups[:] = [live for live, _ in options]
        for live, old in options:
            live.clear()
            live.update(old)


def _checked(optimizer: Optimizer, given: Any) -> tuple[dict[Any, Any], list[Group]]:
    """Return the state and groups in ``given``, after checking them."""
    if not isinstance(given, dict):
        raise RuntimeError(f"{_SELF} requires a DCP-style optimizer state_dict.")
    state, groups = given.get("state"), given.get("param_groups")
    if not isinstance(state, dict):
        raise RuntimeError(
            f"{_SELF} requires swapin_optim_state['state'] to be a dict mapping packed parameter "
            f"ids to per-param state dicts, got {type(state).__name__}."
        )
    if any(isinstance(key, Tensor) for key in state):
        raise RuntimeError(
            f"{_SELF} requires optimizer.state_dict()-style state keyed by packed parameter ids."
        )
    if not all(isinstance(held, dict) for key, held in state.items() if isinstance(key, int)):
        raise RuntimeError(
            f"{_SELF} requires per-parameter optimizer state entries to be dictionaries."
        )
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{_SELF} requires swapin_optim_state['param_groups'] to be a list of param-group "
            f"dicts, got {type(groups).__name__}."
        )
    if len(groups) != len(optimizer.param_groups):
        raise RuntimeError(
            "swapin_optim_state has a different number of parameter groups than the live optimizer."
        )
    for i, (live, new) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        _check_group(i, live, new)
    extra = [key for key in state if not any(key in group["params"] for group in groups)]
    if extra:
        raise RuntimeError(
            f"{_SELF} requires swapin_optim_state['state'] to be keyed only by packed parameter "
            f"ids from param_groups[*]['params']; got extra keys {extra!r}."
        )
    return state, groups


def _check_group(i: int, live: Group, new: Any) -> None:
    if not isinstance(new, dict):
        raise RuntimeError(f"{_SELF} requires each optimizer param group to be a dictionary.")
    numbers = new.get("params")
    if not isinstance(numbers, list) or not all(isinstance(n, int) for n in numbers):
        raise RuntimeError(
            f"{_SELF} requires optimizer.state_dict()-style param_groups[*]['params'] entries "
            "keyed by packed parameter ids."
        )
    if len(numbers) != len(live["params"]):
        raise RuntimeError(
            f"swapin_optim_state param group {i} has a different number of params than the live "
            "optimizer param group."
        )
    theirs, ours = [k for k in new if k not in live], [k for k in live if k not in new]
    if theirs or ours:
        raise RuntimeError(
            f"{_SELF} requires optimizer.state_dict()-style param group keys to exactly match the "
            f"live optimizer group keys for group {i}. Keys only in swap-in: {theirs}. Keys only "
            f"in live: {ours}."
        )


def _shared_out(groups: list[Group], params: list[Tensor]) -> list[list[Tensor]]:
    """Return the parameters of each group."""
    if sum(len(group["params"]) for group in groups) > len(params):
        raise RuntimeError(
            f"{_SELF} requires the explicit parameter state to match optimizer.param_groups "
            "ordering."
        )
    rest = iter(params)
    return [[next(rest) for _ in group["params"]] for group in groups]
