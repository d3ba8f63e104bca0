"""Loading operations when one of their functions or methods is first used.

``base/lazy/operations.py`` says which module declares which names. Until it is loaded, a ``Later``
stands on Tensor for each of its methods.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tinynet.base import lazy
from tinynet.core.declaration.operation import REGISTRY
from tinynet.core.tensors.tensor import ALIASES, FUNCTIONS, METHODS, Tensor
from tinynet.kernels.threads.sharing import fork_safe_lock
from tinynet.ops.arguments import keywords, reordered
from tinynet.ops.special_functions import SPECIAL

_named = functools.cache(keywords)  # most functions are methods, too, and some have several names
_lock = fork_safe_lock()


def function(name: str) -> Any:
    """Return the public function of a name, whose module is loaded."""
    return _finished(name, FUNCTIONS[_first(name)], is_method=False)


def special(name: str) -> Any:
    """Return the function of ``tinynet.special`` of a name, whose module is loaded."""
    return _named(SPECIAL[name])


def _first(name: str) -> str:
    """Return the name under which a function or method is declared; ``name`` may be an alias."""
    plain = name.removesuffix("_")
    return ALIASES.get(plain, plain) + name[len(plain) :]


def _finished(name: str, declared: Any, is_method: bool) -> Any:
    op = REGISTRY.get(name.removesuffix("_") if is_method else name)
    if op is not None and op.numbers_first:
        declared = reordered(name, declared, is_method)
    return _named(declared)


def _finish(module: str) -> None:
    """Put the methods that a module has declared on Tensor."""
    with _lock:
        waiting = [later for later in _LATER[module] if later.found is None]
        declared = [METHODS.get(_first(later.name)) for later in waiting]
        for later, method in zip(waiting, declared, strict=True):
            if method is None:  # the module is still running, and uses a method of its own
                continue
            if inspect.isfunction(method) and not hasattr(method, "is_hot"):
                method = _finished(later.name, method, is_method=True)
            later.found = METHODS[later.name] = method
            if vars(Tensor).get(later.name) is later:  # a program may have put another there
                setattr(Tensor, later.name, method)


def load_methods() -> None:
    """Load all methods of Tensor."""
    for waiting in _LATER.values():
        for later in waiting:
            later.load()


_LATER = lazy.later(_finish)
for _each in _LATER.values():
    for _later in _each:
        setattr(Tensor, _later.name, _later)
