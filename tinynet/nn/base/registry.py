"""The members of a module: its parameters, buffers and submodules, by name and in order.

The values are plain attributes of the module, so reading one is as fast as Python allows. The
tables ``_parameters``, ``_buffers`` and ``_modules`` also hold them, in order of registration;
writing to a table sets the attribute of the module. A member with the name of a class attribute
stands in its table only, so that reading the name gives the class attribute, as in PyTorch.

Functions with a ``self`` are methods of ``Module``, grouped here by topic.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.refusals import not_set_up, typename
from tinynet.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module

PARAMETERS, BUFFERS, MODULES = TABLES = ("_parameters", "_buffers", "_modules")
UNSAVED = "_non_persistent_buffers_set"  # names of the buffers that ``state_dict`` omits

# Hooks on the registration of members: table -> number -> hook; global_hooks.py registers them.
announced: dict[str, dict[int, Callable[..., Any]]] = {table: {} for table in TABLES}

alive: weakref.WeakValueDictionary[int, Module] = weakref.WeakValueDictionary()  # by id


class Table(dict[str, Any]):
    """The members of one kind of a module: name -> value, in order.

    Writing to it sets the attribute of the module, and deleting from it removes the attribute. The
    reference to the module is weak: a cycle would leave freeing it to the garbage collector.
    """

    __slots__ = ("_module",)

    def __init__(self, module: Module, values: Any = None):
        self._module = weakref.ref(module)
        if values:
            self.update(values)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        module = self._module()
        if module is not None and not any(name in vars(c) for c in type(module).__mro__):
            module.__dict__[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        module = self._module()
        if module is not None:
            module.__dict__.pop(name, None)

    def update(self, *given: Any, **named: Any) -> None:
        """Set members from a mapping or pairs, and from keyword arguments."""
        for name, value in dict(*given, **named).items():
            self[name] = value

    def __ior__(self, given: Any) -> Table:  # type: ignore[misc, override]
        self.update(given)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return a member, setting it first if it is missing."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """Remove and return a member, or return the default."""
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last (name, value) pair."""
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """Remove all members."""
        for name in [*self]:
            del self[name]

    def __reduce__(self) -> Any:
        """Copy and pickle as a plain dictionary, detached from the module."""
        return dict, (dict(self),)


def set_up(module: Module, state: Mapping[str, Any] | None = None) -> None:
    """Create the tables of a module.

    Args:
        state: the state from ``__getstate__``; empty tables unless given.
    """
    state = state or {}
    for table in TABLES:
        module.__dict__[table] = Table(module, state.get(table))
    module.__dict__[UNSAVED] = set(state.get(UNSAVED, ()))
    alive[id(module)] = module


def table_of(module: Module, name: str) -> str | None:
    """Return the table that holds a name, if any."""
    own = module.__dict__
    for table in TABLES:
        if name in own.get(table, ()):
            return table
    return None


# ---- joining and leaving ------------------------------------------------------------------------


def assign(module: Module, name: str, value: Any, table: str | None) -> None:
    """Set an attribute that is, or becomes, a member.

    Args:
        table: the member table for ``value``; None if it is not a member.
    """
    held = table_of(module, name)
    if table == PARAMETERS:
        _require_tables(module, "parameters")
        if held != PARAMETERS:
            forget(module, name)
        register_parameter(module, name, value)
    elif held == PARAMETERS:
        if value is not None:
            raise _not_assignable(value, "parameter", name, "tinynet.nn.Parameter or None")
        module._parameters[name] = None
    elif table == MODULES:
        _require_tables(module, "module")
        if held != MODULES:
            forget(module, name)
        join(module, name, value, MODULES)
    elif held == MODULES:
        if value is not None:
            raise _not_assignable(value, "child module", name, "tinynet.nn.Module or None")
        join(module, name, None, MODULES)
    else:
        if value is not None and not isinstance(value, Tensor):
            expected = "tinynet.nn.Buffer, tinynet.Tensor or None"
            raise _not_assignable(value, "buffer", name, expected)
        saved = value.persistent if isinstance(value, Buffer) else not _is_unsaved(module, name)
        # A subclass may override it without `persistent`.
        module.register_buffer(name, value, **({} if saved else {"persistent": False}))


def _require_tables(module: Module, what: str) -> None:
    if PARAMETERS not in module.__dict__:
        raise not_set_up(module, f"cannot assign {what} before Module.__init__() call")


def _is_unsaved(module: Module, name: str) -> bool:
    return name in module.__dict__.get(UNSAVED, ())


def _not_assignable(value: Any, what: str, name: str, expected: str) -> TypeError:
    return TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' ({expected} expected)")


def join(module: Module, name: str, value: Any, table: str) -> None:
    """Register a value as a member, after running the registration hooks."""
    for hook in [*announced[table].values()]:
        new = hook(module, name, value)
        value = value if new is None else new
    module.__dict__[table][name] = value


def forget(module: Module, name: str) -> None:
    """Delete an attribute, whether or not it is a member."""
    held = table_of(module, name)
    if held is not None:
        del module.__dict__[held][name]
    module.__dict__.pop(name, None)
    module.__dict__.get(UNSAVED, set()).discard(name)


def check_name(module: Module, what: str, name: str, table: str) -> None:
    """Raise if a name is invalid or already taken.

    Raises:
        TypeError, KeyError: as in PyTorch.
    """
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if "." in name:
        got = f", got: {name}" if what == "module" else ""
        raise KeyError(f'{what} name can\'t contain "."{got}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute '{name}' already exists")


def register_parameter(self: Module, name: str, param: Parameter | None) -> None:
    """Add a parameter; None reserves the name.

    Raises:
        KeyError: the name is empty, contains a dot, or is the name of another attribute.
        TypeError: ``param`` is neither a Parameter nor None.
        ValueError: ``param`` was computed from other tensors.

    Example:
        >>> module = nn.Module()
        >>> module.register_parameter("scale", nn.Parameter(tn.ones(1)))
        >>> module.scale
        Parameter containing:
        tensor([1.], requires_grad=True)
    """
    _require_tables(self, "parameter")
    check_name(self, "parameter", name, PARAMETERS)
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
        self._parameters[name] = None
    else:
        join(self, name, param, PARAMETERS)


def register_buffer(
    self: Module, name: str, tensor: Tensor | None, persistent: bool = True
) -> None:
    """Add a buffer: a tensor that belongs to the module but is not trained.

    Args:
        name: the attribute name.
        tensor: the buffer; None reserves the name.
        persistent: whether it is part of ``state_dict``.

    Raises:
        KeyError: the name is empty, contains a dot, or is the name of another attribute.
        TypeError: ``tensor`` is neither a Tensor nor None.

    Example:
        >>> module = nn.Module()
        >>> module.register_buffer("mean", tn.zeros(2))
        >>> module.mean
        tensor([0., 0.])
    """
    _require_tables(self, "buffer")
    check_name(self, "buffer", name, BUFFERS)
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(
            f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
            "(tinynet Tensor or None required)"
        )
    join(self, name, tensor, BUFFERS)
    unsaved = self._non_persistent_buffers_set
    unsaved.discard(name) if persistent else unsaved.add(name)


# ---- walking ------------------------------------------------------------------------------------


def named_modules(
    self: Module,
    memo: set[Module] | None = None,
    prefix: str = "",
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Module]]:
    """Yield this module and all submodules with their paths.

    Args:
        memo: a set of modules to skip; yielded modules are added to it.
        prefix: the prefix of all paths.
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
    for name, child in members(self, MODULES):
        yield from child.named_modules(memo, _join(prefix, name), remove_duplicate)


def members(module: Module, *tables: str) -> Iterator[tuple[str, Any]]:
    """Yield the module's own members from the given tables, skipping None."""
    for table in tables:
        for name, value in getattr(module, table).items():
            if value is not None:
                yield name, value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _named(
    module: Module, table: str, prefix: str, recurse: bool, remove_duplicate: bool
) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    parts = module.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, module)]
    for path, part in parts:
        for name, value in members(part, table):
            if id(value) in seen:
                continue
            if remove_duplicate:
                seen.add(id(value))
            yield _join(path, name), value


def named_parameters(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Parameter]]:
    """Yield all parameters with their paths.

    Args:
        prefix: the prefix of all paths.
        recurse: include the modules inside.
        remove_duplicate: yield a shared parameter only once.

    Example:
        >>> [path for path, _ in nn.Sequential(nn.Linear(2, 1)).named_parameters()]
        ['0.weight', '0.bias']
    """
    return _named(self, PARAMETERS, prefix, recurse, remove_duplicate)


def named_buffers(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """Yield all buffers with their paths; the arguments are those of ``named_parameters``."""
    return _named(self, BUFFERS, prefix, recurse, remove_duplicate)


def named_children(self: Module) -> Iterator[tuple[str, Module]]:
    """Yield the direct submodules with their names; a shared one only once."""
    seen = set()
    for name, child in members(self, MODULES):
        if child not in seen:
            seen.add(child)
            yield name, child


# ---- finding by path ----------------------------------------------------------------------------


def find(module: Module, name: str) -> Any:
    """Return an attribute; AttributeError with PyTorch's message if there is none."""
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
    if name not in module._buffers:
        raise AttributeError(f"`{name}` is not a buffer")
    return found
