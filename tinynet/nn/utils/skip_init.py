"""Making modules whose parameters are not drawn."""

from __future__ import annotations

import inspect
from typing import Any

from tinynet.nn import init
from tinynet.nn.base.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Any:
    """Return ``module_cls(*args, **kwargs)`` with parameters whose values are arbitrary.

    Nothing is drawn, which is faster and leaves the random numbers of the program as they are: for
    parameters that are loaded, or initialised in another way, afterwards.

    Args:
        module_cls: the class; it must have an argument ``device``, and use ``nn.init``.
        args, kwargs: its arguments.

    Raises:
        RuntimeError: it is not a Module, or has no argument ``device``.

    Example:
        >>> nn.utils.skip_init(nn.Linear, 5, 1).weight.shape
        tinynet.Size([1, 5])
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with init.skipped():
        return module_cls(*args, **kwargs)
