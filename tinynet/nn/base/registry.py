"""The members of a module: its parameters, buffers and submodules, by name and in order.

They stand in the tables ``_parameters``, ``_buffers`` and ``_modules``, in order of registration,
and ``module.__dict__`` shows the other attributes only, as in PyTorch. There, ``__getattr__`` looks
members up in the tables; written in Python, that took a third of the time of a small layer. So the
dictionary that Python reads, ``attributes(module)``, has the members too. A table writes to the
dictionaries of all modules that hold it.

``Module.__getattr__`` serves what this leaves out: a member with the name of a class attribute, and
all members of a class with a base before ``Module`` that brings a ``__dict__`` of its own.

Functions with a ``self`` are methods of ``Module``, grouped here by topic.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tinynet import errors
from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module


# ---- the tables ---------------------------------------------------------------------------------


PARAMETERS, BUFFERS, MODULES = TABLES = ("_parameters", "_buffers", "_modules")

# The dictionary that Python reads: the attributes of a module, members included.
attributes: Callable[[Module], dict[str, Any]] = vars(ChecksArguments)["__dict__"].__get__
_ABSENT = object()


class _Written(dict[str, Any]):
    """A dictionary that passes on what is written to it, in whatever way."""

    __slots__ = ()

    def update(self, *given: Any, **named: Any) -> None:
        """Set names from a mapping or pairs, and from keyword arguments."""
        for name, value in dict(*given, **named).items():
            self[name] = value

    def __ior__(self, given: Any) -> _Written:  # type: ignore[misc, override]
        self.update(given)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return a value, setting it first if it is missing."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """Remove and return a value, or return the default."""
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
        """Remove everything."""
        for name in [*self]:
            del self[name]

    def __reduce__(self) -> Any:
        """Copy and pickle as a plain dictionary, detached from the module."""
        return dict, (dict(self),)


class Table(_Written):
    """The members of one kind: name -> value, in order.

    The references to the modules that hold it are weak: a cycle would leave freeing them to the
    garbage collector.
    """

    __slots__ = ("_holders",)

    def __init__(self, *holders: weakref.ref[Module]):
        self._holders = holders

    def join(self, module: Module) -> None:
        """Make a module one of the holders."""
        self._holders = (*(r for r in self._holders if r() is not None), weakref.ref(module))
        for name, value in self.items():
            _show(module, name, value)

    def leave(self, module: Module) -> None:
        """Let a module hold the table no longer."""
        self._holders = tuple(r for r in self._holders if r() is not module)
        for name, value in self.items():
            _hide(module, name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        for reference in self._holders:
            if (module := reference()) is not None:
                _show(module, name, value)

    def __delitem__(self, name: str) -> None:
        value = self[name]
        super().__delitem__(name)
        for reference in self._holders:
            if (module := reference()) is not None:
                _hide(module, name, value)


def _show(module: Module, name: str, value: Any) -> None:
    """Set a member in the dictionary that Python reads, unless the class has something else."""
    namespace = None
    for base in type(module).__mro__:
        own = vars(base)
        if name in own:
            return
        namespace = namespace or own.get("__dict__")
    if namespace is NAMESPACE:
        attributes(module)[name] = value


def _hide(module: Module, name: str, value: Any) -> None:
    own = attributes(module)
    if own.get(name, _ABSENT) is value:
        del own[name]


class Attributes(_Written):
    """The attributes of a module but for its members, when it is made; it writes to the module."""

    __slots__ = ("_module",)

    def __init__(self, module: Module):
        self._module = module
        own = attributes(module)
        members = {n: value for t in TABLES for n, value in own.get(t, {}).items()}
        super().__init__({n: v for n, v in own.items() if members.get(n, _ABSENT) is not v})

    def __missing__(self, name: str) -> Any:
        if name[-6:] == "_hooks" and isinstance(found := getattr(self._module, name, None), dict):
            return found
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name in TABLES:
            value = set_table(self._module, name, value)
        else:
            attributes(self._module)[name] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        own = attributes(self._module)
        if name in TABLES:
            own[name].leave(self._module)
        del own[name]
        table = table_of(self._module, name)
        if table is not None:
            _show(self._module, name, own[table][name])


def _replace(module: Module, given: dict[str, Any]) -> None:
    shown, given = Attributes(module), {**given}
    shown.clear()
    shown.update(given)


NAMESPACE = property(Attributes, _replace)


def set_table(module: Module, name: str, values: Any) -> Table:
    """Set a table of a module; one that another module holds is shared."""
    own = attributes(module)
    if isinstance(old := own.get(name), Table):
        old.leave(module)
    table = own[name] = values if isinstance(values, Table) else Table()
    table.join(module)
    if table is not values:
        table.update(values or {})
    return table


def table_of(module: Module, name: str) -> str | None:
    """Return the table that holds a name, if any."""
    own = attributes(module)
    for table in TABLES:
        if name in own.get(table, ()):
            return table
    return None


if TYPE_CHECKING:
    from tinynet.nn.base.module import Module


# ---- a new module -------------------------------------------------------------------------------


UNSAVED = "_non_persistent_buffers_set"  # names of the buffers that ``state_dict`` omits

# Hooks on the registration of members: table -> number -> hook; see nn/modules/module.py.
announced: dict[str, dict[int, Callable[..., Any]]] = {table: {} for table in TABLES}

alive: weakref.WeakValueDictionary[int, Module] = weakref.WeakValueDictionary()  # by id


def set_up(module: Module) -> None:
    """Create the tables of a module."""
    own, holder = attributes(module), weakref.ref(module)
    own["training"] = True
    for table in TABLES:
        if table in own:  # it is set up again
            own[table].leave(module)
        own[table] = Table(holder)
    own[UNSAVED] = set()
    alive[id(module)] = module


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
    if PARAMETERS not in attributes(module):
        raise not_set_up(module, f"cannot assign {what} before Module.__init__() call")


def _is_unsaved(module: Module, name: str) -> bool:
    return name in attributes(module).get(UNSAVED, ())


def _not_assignable(value: Any, what: str, name: str, expected: str) -> TypeError:
    return TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' ({expected} expected)")


def join(module: Module, name: str, value: Any, table: str) -> None:
    """Register a value as a member, after running the registration hooks."""
    for hook in [*announced[table].values()]:
        new = hook(module, name, value)
        value = value if new is None else new
    attributes(module)[table][name] = value


def forget(module: Module, name: str) -> None:
    """Delete an attribute, whether or not it is a member."""
    own, held = attributes(module), table_of(module, name)
    if held is not None:
        del own[held][name]
    own.pop(name, None)
    own.get(UNSAVED, set()).discard(name)


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
    if hasattr(module, name) and name not in attributes(module)[table]:
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


def _named_members(
    self: Module,
    get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
    prefix: str = "",
    recurse: bool = True,
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Any]]:
    """Yield the members that a function returns for each module, with their paths."""
    seen: set[int] = set()
    parts = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
    for path, part in parts:
        for name, value in get_members_fn(part):
            if value is None or id(value) in seen:
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
    return self._named_members(
        lambda module: members(module, PARAMETERS), prefix, recurse, remove_duplicate
    )


def named_buffers(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """Yield all buffers with their paths; the arguments are those of ``named_parameters``."""
    return self._named_members(
        lambda module: members(module, BUFFERS), prefix, recurse, remove_duplicate
    )


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


# ---- errors -------------------------------------------------------------------------------------
# What modules do not accept as members, and what their classes lack.


def typename(value: Any) -> str:
    """Return the type name of a value for messages: ``tinynet.FloatTensor``, ``int``."""
    if type(value) in (Tensor, Buffer):
        return f"tinynet.{value.dtype.tensor_name}"
    kind = value if isinstance(value, (type, FunctionType)) else type(value)
    inside = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return inside + kind.__qualname__


def not_a_module(value: Any) -> TypeError:
    """Return the error for something else in the place of a module."""
    sentence = f"{typename(value)} is not a Module subclass"
    if isinstance(value, type) and hasattr(value, "named_modules"):
        fix = f"that is the class: make a layer with `{value.__name__}(...)`"
    elif isinstance(value, (list, tuple)):
        fix = "pass the layers one by one: `nn.Sequential(*layers)`"
    elif callable(value):
        fix = "a function is not a layer: use its class, such as nn.ReLU() for F.relu, or a Module"
    else:
        return TypeError(sentence)
    return TypeError(errors.with_fix(sentence, fix))


def not_set_up(module: Module, sentence: str) -> AttributeError:
    """Return the error for a module whose ``__init__`` does not call that of ``Module``."""
    kind = type(module).__name__
    fix = f"call `super().__init__()` first in `{kind}.__init__`"
    return AttributeError(errors.with_fix(sentence, fix))


def no_forward(module: Module) -> NotImplementedError:
    """Return the error for a module whose class does not define ``forward``."""
    name = type(module).__name__
    sentence = f'Module [{name}] is missing the required "forward" function'
    fix = f"define `def forward(self, x):` in the class {name}, indented like `__init__`"
    return NotImplementedError(errors.with_fix(sentence, fix))


def look_up(module: Module, name: str) -> Any:
    """Return an attribute that Python did not find.

    Raises:
        AttributeError: there is none; if the module is not set up, the error names the remedy.
    """
    try:
        return object.__getattribute__(module, name)
    except AttributeError as error:
        if error.obj is not module or error.name != name:  # raised by a property
            raise
        text = str(error)
    if PARAMETERS in attributes(module):
        raise AttributeError(text, name=name, obj=module)
    raise not_set_up(module, text)
