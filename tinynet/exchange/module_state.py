"""Conversion of module state between tinynet's and PyTorch's form, in files."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

from tinynet.core.graph.node import RemovableHandle
from tinynet.exchange.costs import RefusedError
from tinynet.nn.base.hooks import ModuleHooks
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import TABLES
from tinynet.nn.layers.convolution.conv import both_sides
from tinynet.nn.layers.recurrent.base import RNNBase

# Hooks in PyTorch's state: tinynet reads and writes the first group, and refuses the second.
_HOOKS = (
    *("_backward_pre_hooks", "_backward_hooks", "_forward_pre_hooks", "_forward_hooks"),
    *("_forward_hooks_with_kwargs", "_forward_hooks_always_called"),
    "_forward_pre_hooks_with_kwargs",
)
_REFUSED = (
    *("_state_dict_hooks", "_state_dict_pre_hooks"),
    *("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"),
)
# Entries of PyTorch's modules that are optional on loading, and unused in tinynet's.
_UNUSED = (
    *("_is_full_backward_hook", "_compiled_call_impl", "_flat_weight_refs"),
    *("_flat_weights", "_flat_weights_names", "_all_weights", "_reversed_padding_repeated_twice"),
)


def pytorch_state(target: Any, state: Any) -> Any:
    """Return an object's state in PyTorch's form, if it is a module."""
    if not _is_state(target, state):
        return state
    made: dict[str, Any] = {"training": state.get("training", True)}
    hooks = _with_hooks(state.get("_hooks"))
    made |= {name: getattr(hooks, name) for name in _HOOKS}
    made |= {name: OrderedDict() for name in _REFUSED}
    made["_is_full_backward_hook"] = True if hooks._backward_hooks else None
    made |= {name: value for name, value in state.items() if name != "_hooks"}
    made |= {name: dict(state[name]) for name in TABLES}
    if hasattr(target, "padding_mode"):
        made["_reversed_padding_repeated_twice"] = tuple(both_sides(target))
    if isinstance(target, RNNBase):
        names = target._names()
        flat = [name for layer in names for name in layer]
        made |= {"_all_weights": names, "_flat_weights_names": flat}
        made["_flat_weights"] = [state["_parameters"][name] for name in flat]
    return made


def _is_state(target: Any, state: Any) -> bool:
    return isinstance(target, Module) and isinstance(state, dict) and set(TABLES) <= set(state)


def _with_hooks(hooks: ModuleHooks | None) -> Module:
    """Return a module with hooks only."""
    module = Module()
    if hooks is not None:
        module._hooks = hooks
    return module


def own_state(target: Any, state: Any) -> Any:
    """Return an object's PyTorch state in tinynet's form, if it is a module.

    Raises:
        RefusedError: it has hooks of a kind that cannot be registered again.
    """
    if not _is_state(target, state):
        return state
    made = {name: value for name, value in state.items() if name not in _UNUSED}
    wrong = [name for name in _REFUSED if made.pop(name, None)]
    if state.get("_backward_hooks") and state.get("_is_full_backward_hook") is False:
        wrong.append("_backward_hooks of the older kind")
    if wrong:
        raise RefusedError(f"a {type(target).__name__} with hooks: {', '.join(wrong)}")
    tables = {name: made.pop(name, None) for name in _HOOKS}
    if any(tables.values()):
        module = _with_hooks(None)
        fresh: dict[int, int] = defaultdict(RemovableHandle._next)  # unused hook numbers
        for name, table in tables.items():
            renumbered = {fresh[number]: value for number, value in (table or {}).items()}
            setattr(module, name, OrderedDict(renumbered))
        made["_hooks"] = module._hooks
    return made
