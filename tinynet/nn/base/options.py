"""Options of modules, declared as annotations of the class."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from tinynet.core.callsite import execute
from tinynet.nn.base.module import Module

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module


# ---- spatial ------------------------------------------------------------------------------------
# The base class of layers over one, two or three dimensions.


class Spatial(Module):
    """A layer that computes the same over one, two or three dimensions.

    What its class says is in the instance, too: as in PyTorch, ``forward`` reads attributes of the
    instance only, and works on any object that has them.
    """

    rank: int  # the number of spatial dimensions
    _of_class: tuple[str, ...] = ("rank",)

    def __init__(self) -> None:
        super().__init__()
        for name in self._of_class:
            if hasattr(self, name):  # users' classes may do without
                setattr(self, name, getattr(self, name))


# ---- options ------------------------------------------------------------------------------------


C = TypeVar("C", bound="type[Module]")


@dataclass_transform(eq_default=False)
def with_options(cls: C) -> C:
    """Write the ``__init__`` of a module class from its annotations, as ``dataclass`` does.

    The class annotates all options, inherited ones too. Those that the ``__init__`` of the base
    class takes are passed to it; the others become attributes. ``options_repr`` shows them.

    Example:
        >>> from tinynet.nn.base.options import options_repr, with_options
        >>> @with_options
        ... class Scale(nn.Module):
        ...     factor: float = 2.0
        ...     extra_repr = options_repr
        ...     def forward(self, input):
        ...         return input * self.factor
        >>> Scale(3.0)
        Scale(factor=3.0)
    """
    annotations = cls.__dict__["__annotations__"]
    defaults = [cls.__dict__[name] for name in annotations if name in cls.__dict__]
    init = _compile(cls, [*annotations], len(annotations) - len(defaults))
    init.__defaults__ = tuple(defaults)
    init.__annotations__ = annotations
    for name in [*annotations][len(annotations) - len(defaults) :]:
        delattr(cls, name)  # an instance without it raises AttributeError
    cls.__init__ = init  # type: ignore[method-assign]
    if "_options" not in cls.__dict__:
        cls._options = tuple(annotations)  # type: ignore[attr-defined]
    return cls


def _compile(cls: type, names: list[str], required: int) -> Any:
    """Compile ``__init__``; its source stays in ``linecache``, so tracebacks show it."""
    code = cls.__init__.__code__  # type: ignore[misc]
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    passed = [name for name in names if name in taken]
    stored = [name for name in names if name not in passed]
    parameters = [name if i < required else f"{name}=None" for i, name in enumerate(names)]
    lines = [
        "def declare(__class__):",
        f"    def __init__(self, {', '.join(parameters)}):",
        f"        super().__init__({', '.join(f'{name}={name}' for name in passed)})",
        *(f"        self.{name} = {name}" for name in stored),
        "    return __init__",
    ]
    source = "\n".join(lines) + "\n"
    module = sys.modules[cls.__module__]
    filename = f"{getattr(module, '__file__', module.__name__)}: {cls.__qualname__}.__init__"
    init = execute(filename, source, vars(module))["declare"](cls)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def options_repr(self: Any) -> str:
    """Return ``name=value`` for each option; serves as ``extra_repr`` of a module."""
    return ", ".join(f"{name}={_shown(getattr(self, name))}" for name in self._options)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
