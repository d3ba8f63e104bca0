"""The classes and functions that files may name, besides plain data classes.

Names are import paths. PyTorch's names refer to tinynet's own classes, if they exist.
"""

from __future__ import annotations

import contextlib
import functools
import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from tinynet import data, dtypes, nn, ops, optim
from tinynet.base import lazy
from tinynet.core.devices import device
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.exchange.model import own_state
from tinynet.exchange.opcodes import Function, Reader, RefusedError, RefusedNameError
from tinynet.exchange.pickle_names import BUILDERS, FUNCTIONS, KINDS, VALUES
from tinynet.kernels.threads import fork_safe_lock
from tinynet.nn import functional, init, parallel
from tinynet.nn.base.registry import Table
from tinynet.nn.layers import attention
from tinynet.nn.parameter import Buffer, Parameter
from tinynet.optim import lr_scheduler

Global = Any
"""A class or function; or a pair of one and its full name in files."""

# PyTorch's import paths -> modules of tinynet with the same names; the first match wins.
_HOMES: tuple[tuple[str, ModuleType], ...] = (
    ("torch.optim.lr_scheduler", lr_scheduler),
    ("torch.optim", optim),
    ("torch.nn.functional", functional),
    ("torch.nn.init", init),
    ("torch.nn", nn),
    ("torch.nn.parallel", parallel),
    ("torch.nn.modules.linear", attention),
    ("torch.utils.data", data),
    ("torch._C._nn", functional),
    ("torch", ops),
)
_lock = fork_safe_lock()
_allowed: list[Global] = []


def add_safe_globals(safe_globals: Sequence[Global]) -> None:
    """Allow files to name classes and functions even with ``weights_only=True``, from now on.

    A file can then create objects of these classes and call these functions.

    Args:
        safe_globals: classes and functions; or pairs of one and its full name in files.

    Raises:
        TypeError: an element is neither.

    Example:
        >>> import io
        >>> tn.save(nn.Identity(), file := io.BytesIO())
        >>> tn.serialization.add_safe_globals([nn.Identity])
        >>> tn.load(file)
        Identity()
        >>> tn.serialization.clear_safe_globals()
    """
    for item in safe_globals:
        value, name = item if isinstance(item, tuple) and len(item) == 2 else (item, "")
        if not callable(value) or not isinstance(name, str):
            raise TypeError(
                "The 'safe_globals' parameter must have classes and functions, or pairs of one and "
                f"its full name. Got {item!r} instead."
            )
    with _lock:
        _allowed.extend(item for item in safe_globals if item not in _allowed)


def get_safe_globals() -> list[Global]:
    """Return the list passed to ``add_safe_globals``.

    Example:
        >>> tn.serialization.get_safe_globals()
        []
    """
    return list(_allowed)


def clear_safe_globals() -> None:
    """Clear the list of ``add_safe_globals``.

    Example:
        >>> tn.serialization.clear_safe_globals()
    """
    _allowed.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: Sequence[Global]) -> Iterator[None]:
    """Allow files to name classes and functions with ``weights_only=True``, in a ``with`` block.

    Args:
        safe_globals: as in ``add_safe_globals``.

    Example:
        >>> import io
        >>> tn.save(nn.Flatten(), file := io.BytesIO())
        >>> with tn.serialization.safe_globals([nn.Flatten]):
        ...     tn.load(file)
        Flatten(start_dim=1, end_dim=-1)
    """
    before = get_safe_globals()
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        with _lock:
            _allowed[:] = before


# ---- names --------------------------------------------------------------------------------------


def full_name(value: Any) -> str:
    """Return the name of a class or function in files: PyTorch's, if it has one."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    last = name.rpartition(".")[2]
    if id(value) in _NAMES:
        return _NAMES[id(value)]
    if str(module).partition(".")[0] == "tinynet":
        for path, home in _HOMES:
            if lazy.find(home, last) is value:
                return f"{path}.{last}"
    return f"{module}.{name}"


def own(name: str) -> Any:
    """Return tinynet's object for a full name of PyTorch; None if there is none."""
    if name in _TYPES:
        return _TYPES[name]
    last = name.rpartition(".")[2]
    for path, home in _HOMES:
        if name.startswith(f"{path}."):
            found = lazy.find(home, last)
            if found is not None and not isinstance(found, ModuleType):
                return found
    return None


class Allowed:
    """The names a file may use if only the user's list is trusted."""

    def __init__(self) -> None:
        self._named: dict[str, Any] = {}
        for item in get_safe_globals():
            value, name = item if isinstance(item, tuple) else (item, full_name(item))
            self._named[name] = value

    def __call__(self, module: str, name: str) -> Any:
        """Return a class or function from the list.

        Raises:
            RefusedError: it is not on the list.
        """
        full = f"{module}.{name}"
        found = own(full) if module.startswith("torch") else None
        if full in self._named:
            return self._named[full]
        if found is None and module.partition(".")[0] == "torch":
            raise _absent(full)
        if found is None or not any(found is value for value in self._named.values()):
            raise RefusedNameError(full)
        return found

    def lists(self, module: str, name: str) -> bool:
        """Return whether a file may use a name."""
        if f"{module}.{name}" in VALUES or f"{module}.{name}" in FUNCTIONS:
            return True
        try:
            self(module, name)
        except RefusedError:
            return False
        return True


def imported(module: str, name: str) -> Any:
    """Return any object by its import path, as ``pickle`` does; PyTorch's become tinynet's.

    Raises:
        ImportError, AttributeError: there is no such object.
        RefusedError: it is PyTorch's, and tinynet does not have it.
    """
    full = f"{module}.{name}"
    if module.partition(".")[0] == "torch":
        found = VALUES.get(full, own(full)) or FUNCTIONS.get(full)
        if found is None:
            raise _absent(full)
        return found
    first, *rest = name.split(".")
    return functools.reduce(getattr, rest, _FINDER.find_class(module, first))


def _absent(name: str) -> RefusedError:
    return RefusedError(f"the name {name[:200]}, which tinynet does not have")


_FINDER = pickle.Unpickler(io.BytesIO())
_TYPES: dict[str, Any] = {
    "torch._tensor.Tensor": Tensor,
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.parameter.Buffer": Buffer,
    "torch.Size": Size,
    "torch.dtype": dtypes.dtype,
    "torch.device": device,
    "torch._C._VariableFunctionsClass": ops,  # torch.relu is an attribute of it
}
_NAMES = {id(value): name for name, value in _TYPES.items()}


# ---- reading objects ----


class ObjectReader(Reader):
    """Reads a pickle that may create and call everything that ``find`` returns.

    Args:
        persistent: returns the object for a persistent id.
        find: module and name -> the class or function; raises RefusedError if not permitted.
        trusted: whether everything is permitted, as with ``pickle``. Otherwise, data classes are
            looked up first, and the result may contain only those and what ``find`` returned.
    """

    def __init__(
        self,
        persistent: Callable[[Any], Any],
        find: Callable[[str, str], Any],
        trusted: bool = False,
    ):
        super().__init__(FUNCTIONS, VALUES, persistent, (*KINDS, Table), BUILDERS)
        self._find = find
        self._trusted = trusted
        self._found: dict[int, Any] = {}

    def _name(self, module: str, name: str) -> None:
        if not self._trusted and self._is_listed(f"{module}.{name}"):
            super()._name(module, name)
            return
        found = self._find(module, name)
        self._found[id(found)] = found
        self._stack.append(found)

    def _allows(self, value: Any) -> bool:
        return self._trusted or id(value) in self._found

    def _hashed(self, keys: list[Any]) -> None:
        if not self._trusted:
            super()._hashed(keys)

    def _called(self, function: Any, arguments: Any) -> Any:
        if isinstance(function, Function) or not self._allows(function):
            return super()._called(function, arguments)
        return function(*arguments)

    def _made(self, kind: Any, arguments: Any, named: Any) -> Any:
        if not isinstance(kind, type) or not self._allows(kind):
            return super()._made(kind, arguments, named)
        return kind.__new__(kind, *arguments, **named)

    def _target(self, *kinds: type) -> Any:
        target = self._stack[-1]
        return target if self._allows(type(target)) else super()._target(*kinds)

    def _build(self, _: Any) -> None:
        target = self._stack[-2]
        if not self._allows(type(target)):
            super()._build(_)
            return
        set_state(target, own_state(target, self._stack.pop()))

    def _plain(self, data: Any) -> Any:
        if self._trusted:
            return data
        return super()._plain(data)

    def _is_plain(self, item: Any) -> bool:
        return super()._is_plain(item) or id(type(item)) in self._found

    def _is_named(self, item: Any) -> bool:
        return id(item) in self._found


def set_state(target: Any, state: Any) -> None:
    """Set the state of a new object, as ``pickle`` does."""
    own = getattr(target, "__setstate__", None)
    if own is not None:
        own(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes:
        target.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(target, name, value)
