"""The state of modules in files: as PyTorch has it, so that each library reads the other's.

PyTorch keeps the parameters, buffers and modules of a module in dictionaries of their own;
tinynet's are plain attributes, and ``_registry`` names them.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from tinynet.exchange.costs import RefusedError
from tinynet.nn.members import BUFFER, BUFFERS, MODULE, PARAMETER, TRANSIENT
from tinynet.nn.module import Module
from tinynet.nn.rnn_base import RNNBase

_REGISTRY = "_registry"
_TABLES = {"_parameters": {PARAMETER}, "_buffers": BUFFERS, "_modules": {MODULE}}
_TRANSIENT = "_non_persistent_buffers_set"
# Hooks in PyTorch's state; those that a function of tinynet can register again.
_REGISTERED = {
    "_forward_pre_hooks": Module.register_forward_pre_hook,
    "_forward_hooks": Module.register_forward_hook,
}
_HOOKS = (
    *("_backward_pre_hooks", "_backward_hooks", *_REGISTERED),
    *("_forward_hooks_with_kwargs", "_forward_hooks_always_called"),
    *("_forward_pre_hooks_with_kwargs", "_state_dict_hooks", "_state_dict_pre_hooks"),
    *("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"),
)
# What PyTorch's modules can do without when they are loaded, and tinynet's have no use for.
_UNUSED = (
    *("_is_full_backward_hook", "_compiled_call_impl", "_flat_weight_refs"),
    *("_flat_weights", "_flat_weights_names", "_all_weights", "_reversed_padding_repeated_twice"),
)


def pytorch_state(target: Any, state: Any) -> Any:
    """Return the state of an object as PyTorch has it, if it is a module."""
    if not isinstance(target, Module) or not isinstance(state, dict) or _REGISTRY not in state:
        return state
    rest = dict(state)
    registry: dict[str, str] = rest.pop(_REGISTRY)
    members = {name: rest.pop(name) for name in registry}
    made: dict[str, Any] = {"training": rest.pop("training", True)}
    for table, kinds in _TABLES.items():
        made[table] = {name: members[name] for name, kind in registry.items() if kind in kinds}
    made[_TRANSIENT] = {name for name, kind in registry.items() if kind == TRANSIENT}
    made |= {name: OrderedDict() for name in _HOOKS}
    if hasattr(target, "padding_mode"):
        rest["_reversed_padding_repeated_twice"] = _both_sides(target)
    if isinstance(target, RNNBase):
        names = target._names()
        flat = [name for layer in names for name in layer]
        rest |= {"_all_weights": names, "_flat_weights_names": flat}
        rest["_flat_weights"] = [members[name] for name in flat]
    return made | {"_is_full_backward_hook": None} | rest


def _both_sides(convolution: Any) -> tuple[int, ...]:
    """Return the padding before and after each dimension, the last dimension first."""
    padding = convolution.padding
    if isinstance(padding, str):
        reach = zip(convolution.dilation, convolution.kernel_size, strict=True)
        total = [d * (k - 1) if padding == "same" else 0 for d, k in reach]
        sides = [(n // 2, n - n // 2) for n in total]
    else:
        sides = [(n, n) for n in padding]
    return tuple(n for pair in reversed(sides) for n in pair)


def own_state(target: Any, state: Any) -> Any:
    """Return PyTorch's state of an object as tinynet has it, if it is a module.

    Raises:
        RefusedError: it has hooks of a kind that cannot be registered again.
    """
    if not isinstance(target, Module) or not isinstance(state, dict) or "_parameters" not in state:
        return state
    rest = {name: value for name, value in state.items() if name not in _UNUSED}
    transient = rest.pop(_TRANSIENT, ())
    registry: dict[str, str] = {}
    members: dict[str, Any] = {}
    for table, kind in (("_parameters", PARAMETER), ("_buffers", BUFFER), ("_modules", MODULE)):
        for name, value in rest.pop(table, {}).items():
            registry[name] = TRANSIENT if kind == BUFFER and name in transient else kind
            members[name] = value
    hooks = {name: rest.pop(name, None) for name in _HOOKS}
    wrong = [name for name, found in hooks.items() if found and name not in _REGISTERED]
    if wrong:
        raise RefusedError(f"a {type(target).__name__} with hooks: {', '.join(wrong)}")
    made = Module.__new__(Module)
    made.__dict__[_REGISTRY] = {}
    for name, register in _REGISTERED.items():
        for hook in (hooks[name] or {}).values():
            register(made, hook)
    return rest | members | {_REGISTRY: registry} | {k: v for k, v in vars(made).items() if v}
