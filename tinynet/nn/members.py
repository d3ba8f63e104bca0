"""What a module is made of: its parameters, buffers and submodules, by name and in order.

The values are plain attributes of the module. ``module._registry`` only says, in order, which of
the attributes are members and of which kind: so reading an attribute is as fast as Python makes
it, and a misspelt one raises Python's own AttributeError.

Functions with a ``self`` are methods of ``Module`` that stand here by subject.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tinynet.core.tensor import Tensor
from tinynet.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from tinynet.nn.module import Module

PARAMETER, BUFFER, TRANSIENT, MODULE = "parameter", "buffer", "buffer (not saved)", "module"
BUFFERS = frozenset({BUFFER, TRANSIENT})

# Hooks on the registration of members: kind -> number -> hook; global_hooks.py registers them.
announced: dict[str, dict[int, Callable[..., Any]]] = {PARAMETER: {}, BUFFER: {}, MODULE: {}}


def typename(value: Any) -> str:
    """Return what messages call the type of a value: ``tinynet.FloatTensor``, ``int``."""
    if type(value) in (Tensor, Buffer):
        return f"tinynet.{value.dtype.tensor_name}"
    kind = type(value)
    inside = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return inside + kind.__qualname__


# ---- joining and leaving ------------------------------------------------------------------------


def assign(module: Module, name: str, value: Any, kind: str | None) -> None:
    """Set an attribute that is a member, or that is to become one.

    Args:
        kind: the kind of member that ``value`` is made for; None for any other value.
    """
    registry: dict[str, str] = module.__dict__.get("_registry", {})
    held = registry.get(name)
    if kind == PARAMETER:
        if "_registry" not in module.__dict__:
            raise AttributeError("cannot assign parameters before Module.__init__() call")
        if held != PARAMETER:
            forget(module, name)
        register_parameter(module, name, value)
    elif held == PARAMETER:
        if value is not None:
            raise _not_assignable(value, "parameter", name, "tinynet.nn.Parameter or None")
        module.__dict__[name] = None
    elif kind == MODULE:
        if "_registry" not in module.__dict__:
            raise AttributeError("cannot assign module before Module.__init__() call")
        if held != MODULE:
            forget(module, name)
        join(module, name, value, MODULE)
    elif held == MODULE:
        if value is not None:
            raise _not_assignable(value, "child module", name, "tinynet.nn.Module or None")
        join(module, name, None, MODULE)
    else:
        if value is not None and not isinstance(value, Tensor):
            expected = "tinynet.nn.Buffer, tinynet.Tensor or None"
            raise _not_assignable(value, "buffer", name, expected)
        # A subclass may override it without `persistent`.
        transient = {} if (kind or held) == BUFFER else {"persistent": False}
        module.register_buffer(name, value, **transient)


def _not_assignable(value: Any, what: str, name: str, expected: str) -> TypeError:
    return TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' ({expected} expected)")


def join(module: Module, name: str, value: Any, kind: str) -> None:
    """Make a value a member, after the hooks on registration have seen it."""
    hooks = announced[BUFFER if kind == TRANSIENT else kind]
    for hook in [*hooks.values()]:
        new = hook(module, name, value)
        value = value if new is None else new
    module._registry[name] = kind
    module.__dict__[name] = value


def forget(module: Module, name: str) -> None:
    """Drop an attribute, member or not."""
    module._registry.pop(name, None)
    module.__dict__.pop(name, None)


def check_name(module: Module, what: str, name: str, kinds: Collection[str]) -> None:
    """Refuse a name that is no attribute name, or that something else has.

    Raises:
        TypeError, KeyError: as PyTorch.
    """
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if "." in name:
        got = f", got: {name}" if what == "module" else ""
        raise KeyError(f'{what} name can\'t contain "."{got}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if hasattr(module, name) and module._registry.get(name) not in kinds:
        raise KeyError(f"attribute '{name}' already exists")


def register_parameter(self: Module, name: str, param: Parameter | None) -> None:
    """Add a parameter; None keeps the name for one that may come later.

    Raises:
        KeyError: the name is empty, has a dot, or belongs to another attribute.
        TypeError: ``param`` is neither a Parameter nor None.
        ValueError: ``param`` was computed from other tensors.

    Example:
        >>> module = nn.Module()
        >>> module.register_parameter("scale", nn.Parameter(tn.ones(1)))
        >>> module.scale
        Parameter containing:
        tensor([1.], requires_grad=True)
    """
    if "_registry" not in self.__dict__:
        raise AttributeError("cannot assign parameter before Module.__init__() call")
    check_name(self, "parameter", name, {PARAMETER})
    if param is not None and not isinstance(param, Parameter):
        raise TypeError(
            f"cannot assign '{typename(param)}' object to parameter '{name}' "
            "(tinynet.nn.Parameter or None required)"
        )
    if param is not None and param._edge is not None:
        raise ValueError(
            f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
            f"created explicitly. To express '{name}' as a function of another Tensor, compute the "
            "value in the forward() method."
        )
    if param is None:
        self._registry[name] = PARAMETER
        self.__dict__[name] = None
    else:
        join(self, name, param, PARAMETER)


def register_buffer(
    self: Module, name: str, tensor: Tensor | None, persistent: bool = True
) -> None:
    """Add a buffer: a tensor that belongs to the module but is not trained.

    Args:
        name: the attribute under which the module has it.
        tensor: the buffer; None keeps the name for one that may come later.
        persistent: whether it is part of ``state_dict``.

    Raises:
        KeyError: the name is empty, has a dot, or belongs to another attribute.
        TypeError: ``tensor`` is neither a Tensor nor None.

    Example:
        >>> module = nn.Module()
        >>> module.register_buffer("mean", tn.zeros(2))
        >>> module.mean
        tensor([0., 0.])
    """
    if "_registry" not in self.__dict__:
        raise AttributeError("cannot assign buffer before Module.__init__() call")
    check_name(self, "buffer", name, BUFFERS)
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(
            f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
            "(tinynet Tensor or None required)"
        )
    join(self, name, tensor, BUFFER if persistent else TRANSIENT)


# ---- walking ------------------------------------------------------------------------------------


def named_modules(
    self: Module,
    memo: set[Module] | None = None,
    prefix: str = "",
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Module]]:
    """Yield this module and all modules inside it, each with its path.

    Args:
        memo: modules to leave out; those that are yielded join it.
        prefix: comes before all paths.
        remove_duplicate: yield a shared module only once.

    Example:
        >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        >>> [path for path, _ in net.named_modules()]
        ['', '0', '1']
    """
    memo = set() if memo is None else memo
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    yield prefix, self
    for name, child in members(self, {MODULE}):
        yield from child.named_modules(memo, _join(prefix, name), remove_duplicate)


def members(module: Module, kinds: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield the module's own members of some kinds, but for those that are None."""
    for name, kind in module._registry.items():
        if kind in kinds:
            value = module.__dict__[name]
            if value is not None:
                yield name, value


def table(self: Module, kinds: Collection[str]) -> Mapping[str, Any]:
    """Return the module's own members of some kinds, None included, as a table to read."""
    own = {n: self.__dict__[n] for n, kind in self._registry.items() if kind in kinds}
    return MappingProxyType(own)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _named(
    module: Module, kinds: Collection[str], prefix: str, recurse: bool, remove_duplicate: bool
) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    parts = module.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, module)]
    for path, part in parts:
        for name, value in members(part, kinds):
            if id(value) in seen:
                continue
            if remove_duplicate:
                seen.add(id(value))
            yield _join(path, name), value


def named_parameters(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Parameter]]:
    """Yield all parameters, each with its path.

    Args:
        prefix: comes before all paths.
        recurse: also those of the modules inside.
        remove_duplicate: yield a shared parameter only once.

    Example:
        >>> [path for path, _ in nn.Sequential(nn.Linear(2, 1)).named_parameters()]
        ['0.weight', '0.bias']
    """
    return _named(self, {PARAMETER}, prefix, recurse, remove_duplicate)


def named_buffers(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """Yield all buffers, each with its path; the arguments are those of ``named_parameters``."""
    return _named(self, BUFFERS, prefix, recurse, remove_duplicate)


def named_children(self: Module) -> Iterator[tuple[str, Module]]:
    """Yield the modules directly inside this one, each with its name; a shared one only once."""
    seen = set()
    for name, child in members(self, {MODULE}):
        if child not in seen:
            seen.add(child)
            yield name, child


# ---- finding by path ----------------------------------------------------------------------------


def find(module: Module, name: str) -> Any:
    """Return an attribute; AttributeError in PyTorch's words if there is none."""
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)


def get_parameter(self: Module, target: str) -> Parameter:
    """Return the parameter at a path such as ``"encoder.0.weight"``.

    Raises:
        AttributeError: there is no such attribute, or it is not a parameter.
    """
    path, _, name = target.rpartition(".")
    found = find(self.get_submodule(path), name)
    if not isinstance(found, Parameter):
        raise AttributeError(f"`{name}` is not an nn.Parameter")
    return found


def get_buffer(self: Module, target: str) -> Tensor:
    """Return the buffer at a path such as ``"encoder.norm.running_mean"``.

    Raises:
        AttributeError: there is no such attribute, or it is not a buffer.
    """
    path, _, name = target.rpartition(".")
    module = self.get_submodule(path)
    found = find(module, name)
    if module._registry.get(name) not in BUFFERS:
        raise AttributeError(f"`{name}` is not a buffer")
    return found
