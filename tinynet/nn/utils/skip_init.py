"""Construction of modules without initialising their parameters."""

from __future__ import annotations

import inspect
from typing import Any

from tinynet.nn import init
from tinynet.nn.base.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Any:
    """Return ``module_cls(*args, **kwargs)`` with uninitialised parameters.

    Skipping initialisation is faster and does not advance the random generator. Use it if
    parameters are loaded or initialised afterwards.

    Args:
        module_cls: the class; it must accept ``device`` and use ``nn.init``.
        args, kwargs: the arguments of the class.

    Raises:
        RuntimeError: the class is not a Module, or does not accept ``device``.

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
