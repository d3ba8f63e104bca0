"""State by the names of parameters, as ``torch.distributed.checkpoint.state_dict`` has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed import broadcast_object_list, get_rank, is_initialized
from tinynet.nn.base.module import Module
from tinynet.nn.parallel import DistributedDataParallel
from tinynet.ops.creation.like import zeros_like
from tinynet.optim.optimizer import Optimizer

StateDict = dict[str, Any]
Optimizers = Optimizer | Iterable[Optimizer]


@dataclass
class StateDictOptions:
    """Options of the functions below.

    Each process has the whole model, so a state is always a full one, on the CPU.

    Attributes:
        full_state_dict, cpu_offload: with both, only process 0 gets a state; others get none.
        ignore_frozen_params: leave out parameters that do not require grad.
        keep_submodule_prefixes: keep the names of ``submodules`` in the names of their parameters.
        strict: raise an error for names that are missing or unexpected.
        broadcast_from_rank0: load the state that process 0 passes in all processes.
        flatten_optimizer_state_dict: one level of keys: ``state.NAME.step``,
            ``param_groups.NAME.lr``.
        dsd_fqn_modifiers: accepted, without effect.

    Raises:
        ValueError: ``broadcast_from_rank0`` without ``full_state_dict``, when used.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import StateDictOptions
        >>> StateDictOptions(strict=False).strict
        False
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"

    def _passes_nothing(self) -> bool:
        """Return whether this process gets no state."""
        return self.full_state_dict and self.cpu_offload and is_initialized() and get_rank() != 0


def _checked(options: StateDictOptions | None) -> StateDictOptions:
    options = options or StateDictOptions()
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return options


def _listed(optimizers: Optimizers) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else [*optimizers]


def _required(optimizers: Optimizers) -> list[Optimizer]:
    found = _listed(optimizers)
    if not found:
        raise RuntimeError("Optimizers are not passed in but optim_only is set to True.")
    return found


def _unwrapped(model: Module, name: str) -> str:
    """Return the name of an entry without those of wrappers."""
    current: Any = model
    kept = []
    for part in name.split("."):
        wrapped = part == "module" and isinstance(current, DistributedDataParallel)
        if not wrapped and part != "_orig_mod":
            kept.append(part)
        current = current._modules.get(part) if isinstance(current, Module) else None
    return ".".join(kept)


# ---- models -------------------------------------------------------------------------------------


def get_model_state_dict(
    model: Module,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> StateDict:
    """Return the state of a model, under names without those of wrappers.

    Args:
        model: the model, or a ``DistributedDataParallel`` of it.
        submodules: keep the entries of these modules only.
        options: see ``StateDictOptions``.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import get_model_state_dict
        >>> list(get_model_state_dict(nn.Linear(2, 3)))
        ['weight', 'bias']
    """
    options = _checked(options)
    if options._passes_nothing():
        return {}
    found = {_unwrapped(model, name): x for name, x in model.state_dict().items()}
    if options.ignore_frozen_params:
        for name, p in model.named_parameters():
            if not p.requires_grad:
                del found[_unwrapped(model, name)]
    if submodules:
        begins = [f"{_unwrapped(model, n)}." for n, m in model.named_modules() if m in submodules]
        cut = 0 if options.keep_submodule_prefixes else 1
        found = {
            name[cut * len(b) :]: x
            for name, x in found.items()
            for b in begins
            if name.startswith(b)
        }
    return found


def set_model_state_dict(
    model: Module, model_state_dict: StateDict, *, options: StateDictOptions | None = None
) -> Any:
    """Load what ``get_model_state_dict`` returned.

    Args:
        model: the model, or a ``DistributedDataParallel`` of it.
        model_state_dict: the state.
        options: see ``StateDictOptions``.

    Returns:
        The names that are missing and unexpected, as ``Module.load_state_dict`` does.

    Raises:
        RuntimeError: the names or shapes do not match.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import set_model_state_dict
        >>> set_model_state_dict(nn.Linear(2, 3), nn.Linear(2, 3).state_dict())
        <All keys matched successfully>
    """
    options = _checked(options)
    given = _from_first(model_state_dict, options)
    names = {_unwrapped(model, name): name for name in model.state_dict()}
    renamed = {names.get(name, name): x for name, x in given.items()}
    return model.load_state_dict(renamed, strict=options.strict)


def _from_first(state: StateDict, options: StateDictOptions) -> StateDict:
    """Return the state that process 0 passes, or this process's own."""
    if options.broadcast_from_rank0 and is_initialized():
        box = [state]
        broadcast_object_list(box, 0)
        return box[0]
    return state


# ---- optimizers ---------------------------------------------------------------------------------


def _start(optimizer: Optimizer) -> None:
    """Create the state of an optimizer that has taken no step, by a step that moves nothing."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in params):
        return
    rates = [group.get("lr") for group in optimizer.param_groups]
    for p in params:
        if p.requires_grad:
            p.grad = zeros_like(p.detach())
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = zeros_like(rate) if isinstance(rate, Tensor) else 0.0
    try:
        optimizer.step()
    finally:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            if rate is not None:
                group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)


def _names(model: Module, optimizer: Optimizer) -> list[list[str]]:
    """Return the names of the parameters of each group.

    Raises:
        KeyError: a parameter is not the model's.
    """
    known = {p: _unwrapped(model, name) for name, p in model.named_parameters()}
    for i, p in enumerate(p for group in optimizer.param_groups for p in group["params"]):
        if p not in known:
            raise KeyError(i)
    return [[known[p] for p in group["params"]] for group in optimizer.param_groups]


@no_grad()
def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> StateDict:
    """Return the state of optimizers, by the names of the parameters in place of their numbers.

    An optimizer that has taken no step gets its first state.

    Args:
        model: the model whose parameters the optimizers have.
        optimizers: one optimizer, or several, which share one state.
        submodules: accepted, without effect.
        options: see ``StateDictOptions``.

    Raises:
        RuntimeError: there is no optimizer.
        KeyError: a parameter is not the model's.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import get_optimizer_state_dict
        >>> model = nn.Linear(2, 3)
        >>> state = get_optimizer_state_dict(model, optim.Adam(model.parameters()))
        >>> list(state["state"]), state["param_groups"][0]["params"]
        (['weight', 'bias'], ['weight', 'bias'])
    """
    options = _checked(options)
    found: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _required(optimizers):
        _start(optimizer)
        own, groups = optimizer.state_dict(), _names(model, optimizer)
        flat = [name for group in groups for name in group]
        found["state"].update((flat[i], held) for i, held in own["state"].items())
        for group, names in zip(own["param_groups"], groups, strict=True):
            found["param_groups"].append({**group, "params": names})
    if options._passes_nothing():
        return {}
    return _flattened(found) if options.flatten_optimizer_state_dict else found


def _flattened(found: StateDict) -> StateDict:
    """Return a state with one level of keys."""
    flat = {f"state.{n}.{key}": x for n, held in found["state"].items() for key, x in held.items()}
    for group in found["param_groups"]:
        for name in group["params"]:
            options = {k: v for k, v in group.items() if k != "params"}
            flat.update((f"param_groups.{name}.{k}", v) for k, v in options.items())
    return flat


def _nested(flat: StateDict, groups: list[list[str]]) -> StateDict:
    """Return the state that ``_flattened`` had, for parameters in groups."""
    held = {name: _behind(flat, f"state.{name}.") for group in groups for name in group}
    options = [_behind(flat, f"param_groups.{group[0]}.") if group else {} for group in groups]
    return {
        "state": {name: found for name, found in held.items() if found},
        "param_groups": [{**o, "params": g} for o, g in zip(options, groups, strict=True)],
    }


def _behind(flat: StateDict, begin: str) -> StateDict:
    return {key.removeprefix(begin): x for key, x in flat.items() if key.startswith(begin)}


@no_grad()
def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizers,
    optim_state_dict: StateDict,
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load what ``get_optimizer_state_dict`` returned.

    Args:
        model: the model whose parameters the optimizers have.
        optimizers: one optimizer, or several; each takes the entries of its own parameters.
        optim_state_dict: the state.
        options: see ``StateDictOptions``.

    Raises:
        RuntimeError: there is no optimizer, or no state, or one of a parameter is missing.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import (
        ...     get_optimizer_state_dict, set_optimizer_state_dict)
        >>> model = nn.Linear(2, 3)
        >>> old, new = (optim.SGD(model.parameters(), lr=lr) for lr in (0.5, 0.25))
        >>> set_optimizer_state_dict(model, new, get_optimizer_state_dict(model, old))
        >>> new.param_groups[0]["lr"]
        0.5
    """
    options = _checked(options)
    given = _from_first(optim_state_dict, options)
    chosen = _required(optimizers)
    if not given:
        raise RuntimeError(
            "The option indicates that model state_dict is required to save, or load but optim "
            f"state_dict is empty. {given}"
        )
    for optimizer in chosen:
        _start(optimizer)
        names = _names(model, optimizer)
        state = given if "state" in given else _nested(given, names)
        if not all(isinstance(key, int) for key in state["state"]):
            state = _numbered(optimizer, names, state, options.strict)
        optimizer.load_state_dict(state)


def _numbered(
    optimizer: Optimizer, names: list[list[str]], saved: StateDict, strict: bool
) -> StateDict:
    """Return the part of a state that an optimizer loads, by the numbers of its parameters."""
    state: dict[int, Any] = {}
    groups: list[StateDict] = []
    count = 0
    for group, own in zip(optimizer.param_groups, names, strict=True):
        fitting = [
            g for g in saved["param_groups"] if {*own} & {*g["params"]} or g["params"] == own
        ]
        found = fitting[0] if fitting else group
        numbers = [*range(count, count + len(own))]
        groups.append({**found, "params": numbers})
        count += len(own)
        for number, name, p in zip(numbers, own, group["params"], strict=True):
            if name in saved["state"]:
                state[number] = saved["state"][name]
            elif strict and p.requires_grad and optimizer.state.get(p):
                raise RuntimeError(
                    f"Missing optimizer state for parameter '{name}' in checkpoint. The parameter "
                    "requires gradients but has no saved optimizer state. To load anyway, use "
                    "StateDictOptions(strict=False)."
                )
    return {"state": state, "param_groups": groups}


# ---- both ---------------------------------------------------------------------------------------


def get_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[StateDict, StateDict]:
    """Return the state of a model, and the state of its optimizers.

    Args:
        model: the model.
        optimizers: one optimizer, or any number of them; without any, their state is empty.
        submodules: see ``get_model_state_dict``.
        options: see ``StateDictOptions``.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import get_state_dict
        >>> state, of_optimizer = get_state_dict(nn.Linear(2, 3), [])
        >>> list(state), of_optimizer
        (['weight', 'bias'], {})
    """
    chosen = _listed(optimizers)
    given: Any = {"submodules": submodules, "options": options}
    held = get_optimizer_state_dict(model, chosen, **given) if chosen else {}
    return get_model_state_dict(model, **given), held


def set_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    model_state_dict: StateDict,
    optim_state_dict: StateDict,
    options: StateDictOptions | None = None,
) -> Any:
    """Load what ``get_state_dict`` returned.

    Args:
        model: the model.
        optimizers: one optimizer, or any number of them.
        model_state_dict, optim_state_dict: the states.
        options: see ``StateDictOptions``.

    Returns:
        The names of the model that are missing and unexpected.

    Raises:
        RuntimeError: a state does not match.

    Example:
        >>> from tinynet.compat.parallel.state_dicts import get_state_dict, set_state_dict
        >>> model = nn.Linear(2, 3)
        >>> optimizer = optim.Adam(model.parameters())
        >>> state, held = get_state_dict(model, optimizer)
        >>> set_state_dict(model, optimizer, model_state_dict=state, optim_state_dict=held)
        <All keys matched successfully>
    """
    chosen = _listed(optimizers)
    if chosen:
        set_optimizer_state_dict(model, chosen, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
