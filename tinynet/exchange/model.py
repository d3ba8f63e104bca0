"""Saving and loading modules with shared tensors in .safetensors files."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping
from typing import IO, Any

from tinynet.core.graph.node import RemovableHandle
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.exchange.files import StrPath
from tinynet.exchange.opcodes import RefusedError
from tinynet.exchange.safetensors import load_file, save_file, shared
from tinynet.exchange.structure import bounds
from tinynet.nn.base.hooks import ModuleHooks
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import TABLES
from tinynet.nn.layers.convolution import both_sides
from tinynet.nn.layers.rnn import RNNBase

# ---- module state -------------------------------------------------------------------------------
# Conversion of module state between tinynet's and PyTorch's form, in files.


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
        flat = target._flat_weights_names
        made |= {"_all_weights": target._all_weights, "_flat_weights_names": flat}
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


# ---- model --------------------------------------------------------------------------------------


def save_model(
    model: Module,
    filename: StrPath | IO[bytes],
    metadata: Mapping[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Write the ``state_dict`` of a module to a .safetensors file, storing shared tensors once.

    Of tensors that share memory, the one that covers all of it is stored, or the first by name if
    several do; the metadata maps the names of the others to it.

    Args:
        model: the module.
        filename: a path, or a file open for writing in binary mode.
        metadata: additional texts by name.
        force_contiguous: write all tensors in row-major order; otherwise refuse those that are
            not contiguous.

    Raises:
        RuntimeError: tensors share memory, and none of them covers all of it.
        ValueError: a tensor is not contiguous, and ``force_contiguous`` is False.

    Example:
        >>> path = getfixture("tmp_path") / "tied.safetensors"
        >>> def tied():
        ...     model = nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 3, bias=False))
        ...     model[1].weight = model[0].weight
        ...     return model
        >>> model = tied()
        >>> tn.exchange.save_model(model, path)
        >>> list(tn.exchange.load_file(path))
        ['0.weight']
        >>> tn.exchange.load_model(tied(), path)
        (set(), [])
    """
    state = dict(model.state_dict())
    texts = dict(metadata or {})
    for kept, others in _duplicates(state).items():
        for name in others:
            texts.setdefault(name, kept)
            del state[name]
    for name, t in state.items():
        if not force_contiguous and not t.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. "
                "Or use save_model(..., force_contiguous=True)."
            )
    save_file(state, filename, texts if metadata is not None or texts else None)


def load_model(
    model: Module,
    filename: StrPath | IO[bytes],
    strict: bool = True,
    device: str = "cpu",
) -> tuple[set[str], list[str]]:
    """Load the tensors of a .safetensors file into a module, including tied tensors.

    Args:
        model: the module.
        filename: a path, or a file open for reading in binary mode.
        strict: raise if names are missing or unexpected.
        device: only the cpu.

    Returns:
        The names missing from the file, and the unexpected names in the file.

    Raises:
        RuntimeError: names or shapes do not match.

    Example:
        >>> path = getfixture("tmp_path") / "model.safetensors"
        >>> model, other = nn.Linear(2, 2), nn.Linear(2, 2)
        >>> tn.exchange.save_model(model, path)
        >>> tn.exchange.load_model(other, path)
        (set(), [])
        >>> bool((model.weight == other.weight).all())
        True
    """
    given = load_file(filename, device)
    tied = _duplicates(dict(model.state_dict()), given)
    report = model.load_state_dict(given, strict=False)
    missing, unexpected = set(report.missing_keys), list(report.unexpected_keys)
    for name in (name for others in tied.values() for name in others):
        if name in missing:
            missing.remove(name)
        else:  # stored twice in the file, but shared in the module
            unexpected.append(name)
    if strict and (missing or unexpected):
        text = f"Error(s) in loading state_dict for {type(model).__name__}:"
        for what, names in (("Missing", missing), ("Unexpected", unexpected)):
            if names:
                listed = ", ".join(f'"{name}"' for name in sorted(names))
                text += f"\n    {what} key(s) in state_dict: {listed}"
        raise RuntimeError(text)
    return missing, unexpected


def _duplicates(
    state: Mapping[str, Tensor], preferred: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return the names to leave out because others share their memory: kept -> left out.

    Args:
        state: tensors by name.
        preferred: names to keep if possible.
    """
    arrays = {name: t._array for name, t in state.items()}
    found: dict[str, list[str]] = {}
    for names in shared(arrays):
        complete = sorted(name for name in names if _covers(arrays[name], names, arrays))
        if not complete:
            raise RuntimeError(
                "Error while trying to find names to remove to save state dict, but found no "
                f"suitable name to keep for saving amongst: {sorted(names)}. None is covering the "
                "entire storage."
            )
        kept = next((name for name in complete if name in preferred), complete[0])
        found[kept] = sorted(name for name in names if name != kept)
    return found


def _covers(array: Array, names: Collection[str], arrays: Mapping[str, Array]) -> bool:
    """Return whether an array has all elements of the memory that other arrays occupy."""
    low, high = bounds(array)
    ends = [bounds(arrays[name]) for name in names]
    whole = low == min(end[0] for end in ends) and high == max(end[1] for end in ends)
    return whole and high - low == array.nbytes
