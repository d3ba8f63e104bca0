"""The classes and functions that files may name, besides plain data classes.

Names are import paths. PyTorch's names refer to tinynet's own classes, if they exist.
"""

from __future__ import annotations

import contextlib
import functools
import io
import pickle
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from tinynet import data, dtypes, nn, ops, optim
from tinynet.base import lazy
from tinynet.core.devices import device
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.exchange.costs import RefusedError, RefusedNameError
from tinynet.exchange.pytorch_names import FUNCTIONS, VALUES
from tinynet.kernels.threads import fork_safe_lock
from tinynet.nn import functional, init, parallel
from tinynet.nn.layers.attention import multihead
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
    ("torch.nn.modules.linear", multihead),
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
