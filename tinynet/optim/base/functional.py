"""Steps of optimizers as functions of lists: parameters, gradients, and each entry of the state."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.optim.optimizer import Optimizer

Tensors = list[Tensor]


def take_step(
    optimizer: type[Optimizer],
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    state: Mapping[str, list[Any]],
    given: Mapping[str, Any],
    **options: Any,
) -> None:
    """Take a step of an optimizer that has this state, and change parameters and state in place.

    Args:
        optimizer: the class.
        params, grads: the parameters and their gradients.
        state: a list with the entry of each parameter by name; an empty list for an unused one.
            An entry that is None is replaced by the one that the step creates.
        given: the arguments of the function, with options of the class among them.
        options: others, which come first.

    Raises:
        AssertionError: the arguments are those of a scaled loss.
        RuntimeError: the step counts are numbers, and those of the class are tensors.
    """
    if optimizer.numbers and not all(isinstance(step, Tensor) for step in state["step"]):
        raise RuntimeError(
            "API has changed, `state_steps` argument must contain a list of singleton tensors"
        )
    if given.get("grad_scale") is not None or given.get("found_inf") is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")
    named = inspect.signature(optimizer).parameters.keys() & given.keys() - {"params"}
    options = {name: given[name] for name in named} | options
    leaves = [p.detach().requires_grad_() for p in params]  # with gradients of their own
    stepping = optimizer(leaves, **options)
    for i, (leaf, grad) in enumerate(zip(leaves, grads, strict=True)):
        leaf.grad = grad
        held = {name: entries[i] for name, entries in state.items() if entries}
        stepping.state[leaf].update((k, v) for k, v in held.items() if v is not None)
    stepping.step()
    for name, entries in state.items():
        for i, leaf in enumerate(leaves[: len(entries)]):
            entries[i] = stepping.state[leaf].get(name, entries[i])


def init_group(
    optimizer: Any, group: dict[str, Any], params: Tensors, grads: Tensors, *entries: list[Any]
) -> tuple[bool, bool]:
    """Fill lists with what a step of a group needs, and create missing state.

    Args:
        optimizer: an elementwise optimizer.
        group: one of its groups.
        params, grads: empty; they get the parameters that have a gradient, and these.
        entries: empty lists in the order of PyTorch's ``_init_group``, which get the state.

    Returns:
        Whether a gradient is sparse, and whether a parameter is complex.
    """
    names = optimizer.buffers(group)
    used = {*names, *optimizer.numbers}
    for p in group["params"]:
        if p.grad is None:
            continue
        params.append(p)
        grads.append(p.grad)
        if optimizer.numbers:
            optimizer._slot(p, group, names)
        for name, entry in zip(optimizer.listed, entries, strict=False):
            if name in used:
                entry.append(optimizer.state[p].get(name))
    return any(g.is_sparse for g in grads), any(p.is_complex() for p in params)
