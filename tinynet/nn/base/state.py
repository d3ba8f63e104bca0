"""``state_dict`` and ``load_state_dict``: saving and loading the values of a module.

Functions with a ``self`` are methods of ``Module``, grouped here by topic.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tinynet.core.callsite import warn
from tinynet.core.graph.inplace import wrote
from tinynet.core.graph.node import RemovableHandle
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Writer
from tinynet.nn.base.hooks import register, table
from tinynet.nn.base.registry import BUFFERS, MODULES, PARAMETERS, members
from tinynet.nn.parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module

EXTRA_STATE = "_extra_state"
POSITIONAL = (
    "Positional args are being deprecated, use kwargs instead. Refer to "
    "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
    "details."
)


class _IncompatibleKeys(NamedTuple):
    """The keys that ``load_state_dict`` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class StateHooks:
    """The save and load hooks of one module: number -> function.

    The last two hold the numbers of hooks registered with ``register_...``. Those registered with
    ``_register_...`` differ: a post-hook on saving may return a new dictionary, a pre-hook on
    loading gets no module.
    """

    __slots__ = (
        *("after_load", "after_save", "before_load", "before_save"),
        *("after_save_in_place", "before_load_with_module"),
    )
    after_load: dict[int, Callable[..., Any]]
    after_save: dict[int, Callable[..., Any]]
    before_load: dict[int, Callable[..., Any]]
    before_save: dict[int, Callable[..., Any]]
    after_save_in_place: dict[int, bool]
    before_load_with_module: dict[int, bool]

    def __init__(self) -> None:
        for stage in StateHooks.__slots__:
            setattr(self, stage, OrderedDict())


# ---- saving -------------------------------------------------------------------------------------


def state_dict(
    self: Module, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
) -> Any:
    """Return all parameters and persistent buffers by path.

    Args:
        args: destination, prefix and keep_vars as positional arguments (deprecated).
        destination: the dictionary to fill; a new one unless given.
        prefix: the prefix of all paths.
        keep_vars: return the tensors themselves instead of detached ones that share their memory.

    Example:
        >>> list(nn.Sequential(nn.Linear(2, 1)).state_dict())
        ['0.weight', '0.bias']
    """
    if args:
        warn(POSITIONAL, FutureWarning)
        given = (*args, *(destination, prefix, keep_vars)[len(args) :])
        destination, prefix, keep_vars = given
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()  # the format version of each module
    local = {"version": self._version}
    metadata = getattr(destination, "_metadata", None)  # missing in plain dicts
    if metadata is not None:
        metadata[prefix[:-1]] = local
    hooks = self._state_hooks
    for hook in [] if hooks is None else [*hooks.before_save.values()]:
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in members(self, MODULES):
        child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    if hooks is None:
        return destination
    for number, hook in [*hooks.after_save.items()]:
        new = hook(self, destination, prefix, local)
        if new is not None:
            if number in hooks.after_save_in_place:
                raise RuntimeError("state_dict post-hook must return None")
            destination = new
    return destination


def save_to_state_dict(self: Module, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Add this module's own parameters and buffers; modules with a custom format override this."""
    for name, value in _saved(self):
        destination[prefix + name] = value if keep_vars else value.detach()
    if _extra_state_of(self, "get"):
        destination[prefix + EXTRA_STATE] = self.get_extra_state()


def _saved(module: Module) -> Iterator[tuple[str, Tensor]]:
    """Yield the module's own entries of ``state_dict``."""
    yield from members(module, PARAMETERS)
    for name, value in members(module, BUFFERS):
        if name not in module._non_persistent_buffers_set:
            yield name, value


def _extra_state_of(module: Module, which: str) -> bool:
    """Return whether the module's class defines ``get_extra_state`` (or ``set_extra_state``)."""
    method = getattr(type(module), f"{which}_extra_state")
    return method not in (get_extra_state, set_extra_state)


def get_extra_state(self: Module) -> Any:
    """Return extra state for the ``state_dict``; override it together with ``set_extra_state``."""
    raise RuntimeError(f"{type(self).__name__} has no extra state: it does not override this.")


def set_extra_state(self: Module, state: Any) -> None:
    """Restore the state from ``get_extra_state``; override both together."""
    raise RuntimeError(f"{type(self).__name__} has no extra state: it does not override this.")


# ---- loading ------------------------------------------------------------------------------------


class _Report:
    """The findings of one load in all modules."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []


def load_state_dict(
    self: Module, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
) -> _IncompatibleKeys:
    """Copy the values of a ``state_dict`` into the parameters and buffers of this module.

    The copies are in-place writes: a backward that needs the old values raises an error.

    Args:
        state_dict: path -> tensor.
        strict: raise if keys are missing or unexpected.
        assign: adopt the given tensors, with their dtype, instead of copying.

    Returns:
        The missing keys and the unexpected keys.

    Raises:
        TypeError: ``state_dict`` is not a mapping.
        RuntimeError: keys or shapes do not match; the message lists all of them. Matching values
            are loaded.

    Example:
        >>> a, b = nn.Linear(2, 1), nn.Linear(2, 1)
        >>> a.load_state_dict(b.state_dict())
        <All keys matched successfully>
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", {})  # missing in plain dicts
    report = _Report()
    _load(self, OrderedDict(state_dict), metadata, "", assign, report)
    errors = report.errors
    if strict:
        for what, keys in (("Unexpected", report.unexpected), ("Missing", report.missing)):
            if keys:
                listed = ", ".join(f'"{key}"' for key in keys)
                errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
    return _IncompatibleKeys(report.missing, report.unexpected)


def _load(
    module: Module, given: Any, metadata: Any, prefix: str, assign: bool, report: _Report
) -> None:
    local = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(
        given, prefix, local, True, report.missing, report.unexpected, report.errors
    )
    for name, child in members(module, MODULES):
        inside = f"{prefix}{name}."
        part = {key: value for key, value in given.items() if key.startswith(inside)}
        _load(child, part, metadata, inside, assign, report)
    hooks = module._state_hooks
    keys = _IncompatibleKeys(report.missing, report.unexpected)
    for hook in [] if hooks is None else [*hooks.after_load.values()]:
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace."
            )


def load_from_state_dict(
    self: Module,
    state_dict: dict[str, Any],
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Load this module's own values; modules that read older formats override this."""
    hooks = self._state_hooks
    if hooks is not None:
        given = (state_dict, prefix, local_metadata, strict)
        for number, hook in [*hooks.before_load.items()]:
            who = (self,) if number in hooks.before_load_with_module else ()
            hook(*who, *given, missing_keys, unexpected_keys, error_msgs)
    assign = local_metadata.get("assign_to_params_buffers", False)
    own = dict(_saved(self))
    for name, value in own.items():
        key = prefix + name
        if key in state_dict:
            error_msgs += _load_one(self, name, key, value, state_dict[key], assign)
        elif strict:
            missing_keys.append(key)
    extra = prefix + EXTRA_STATE
    if _extra_state_of(self, "set"):
        if extra in state_dict:
            self.set_extra_state(state_dict.pop(extra))
        elif strict:
            missing_keys.append(extra)
    if strict:
        unexpected_keys += _unexpected(self, own, state_dict, prefix)


def _load_one(
    module: Module, name: str, key: str, value: Tensor, given: Any, assign: bool
) -> Iterator[str]:
    """Load one parameter or buffer; yield its errors."""
    if not isinstance(given, Tensor):
        yield (
            f'While copying the parameter named "{key}", expected tinynet.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}"
        )
        return
    if is_lazy(value) and is_lazy(given):
        return
    if value.ndim == 0 and given.shape == (1,):
        given = given.detach()[0]
    if given.shape != value.shape:
        yield (
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
            f"the shape in current model is {value.shape}."
        )
    elif assign:
        if isinstance(value, Parameter):
            if not isinstance(given, Parameter):
                given = Parameter(given, requires_grad=value.requires_grad)
            given.requires_grad_(value.requires_grad)
        setattr(module, name, given)
    else:
        try:
            refuse_overlap(value._array)
        except RuntimeError as error:
            yield (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{value.shape} and whose dimensions in the checkpoint are {given.shape}, an "
                f"exception occurred : {error.args}."
            )
            return
        value._array[...] = given._array
        wrote(value, _LOAD)


_LOAD = Writer(
    "load_state_dict",
    "load before the forward whose backward you need, or run the forward again",
)


def _unexpected(
    module: Module, own: dict[str, Any], given: dict[str, Any], prefix: str
) -> Iterator[str]:
    """Yield the keys that match no value or submodule of ``module``."""
    for key in given:
        if key.startswith(prefix):
            name, dot, _ = key[len(prefix) :].partition(".")
            if not (name in module._modules if dot else name in own):
                yield key


# ---- hooks --------------------------------------------------------------------------------------


def _own(module: Module) -> StateHooks:
    if module._state_hooks is None:
        module._state_hooks = StateHooks()
    return module._state_hooks


_state_dict_pre_hooks = table(_own, "before_save")
_state_dict_hooks = table(_own, "after_save")
_load_state_dict_pre_hooks = table(_own, "before_load")
_load_state_dict_post_hooks = table(_own, "after_load")


def register_state_dict_pre_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` collects this module."""
    return register(_own(self), "before_save", hook)


def register_state_dict_post_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict``.

    The hook changes the dictionary in place and must return None.
    """
    return register(_own(self), "after_save", hook, after_save_in_place=True)


def _register_state_dict_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call the hook as ``register_state_dict_post_hook`` does; it may return a new dictionary.

    A returned dictionary only takes effect for the module on which ``state_dict`` was called.
    """
    return register(_own(self), "after_save", hook)


def register_load_state_dict_pre_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call the hook before this module loads.

    The hook gets ``(module, state_dict, prefix, local_metadata, strict, missing_keys,
    unexpected_keys, error_msgs)`` and may change the dictionary and the lists.
    """
    return register(_own(self), "before_load", hook, before_load_with_module=True)


def _register_load_state_dict_pre_hook(
    self: Module, hook: Callable[..., Any], with_module: bool = False
) -> RemovableHandle:
    """Call the hook before this module loads; without ``with_module`` it gets no module."""
    return register(_own(self), "before_load", hook, before_load_with_module=with_module)


def register_load_state_dict_post_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, incompatible_keys)`` after this module has loaded."""
    return register(_own(self), "after_load", hook)
