"""How layers are declared: their options as annotations of the class, and their docstrings.

A family is a private base class, such as ``_MaxPoolNd``. Its docstring has what the docstrings of
its layers have in common. Where these differ in ``rank``, the number of dimensions, it has the
fields ``rank``, ``last`` ("the last two dimensions") and ``sizes`` ("height, width").
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any, TypeVar, dataclass_transform

from tinynet.core.callsite import execute
from tinynet.nn.base.module import Module
from tinynet.nn.functional.checks import WORDS

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
        >>> from tinynet.nn.layers.declaration import options_repr, with_options
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


# ---- docstrings ---------------------------------------------------------------------------------
# Completed by those of their families.


_HEADINGS = ("Args", "Shape", "Attributes", "Raises", "Source", "Example")
_SECTION = re.compile(rf"^(?=(?:{'|'.join(_HEADINGS)}):)", re.M)
_ENTRY = re.compile(r"^(?=    \S)", re.M)  # of a section such as Args


def complete(module: str) -> None:
    """Complete the docstrings of the public layers of a module, at its end.

    Their families add the paragraphs after their own first line, the sections that are missing, and
    the arguments that ``__init__`` takes.
    """
    namespace = vars(sys.modules[module])
    for layer in (namespace[name] for name in namespace["__all__"]):
        families = [base for base in layer.__mro__[1:] if base.__name__[0] == "_" and base.__doc__]
        if families and layer.__doc__:
            found = dict(_sections(layer.__doc__))
            for family in families:
                _add(found, _sections(family.__doc__), layer)
            ordered = [found[heading] for heading in ("", *_HEADINGS) if heading in found]
            layer.__doc__ = _of_rank("\n\n".join(ordered) + "\n", layer)


@functools.cache
def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by their headings; the prose has the heading ``""``."""
    if sys.version_info < (3, 13):  # later compilers remove the indentation
        doc = doc.replace("\n    ", "\n")
    prose, *sections = _SECTION.split(doc)
    return {"": prose.rstrip()} | {s.partition(":")[0]: s.rstrip() for s in sections}


def _of_rank(doc: str, layer: Any) -> str:
    """Fill in the words for the number of dimensions."""
    if "{" not in doc:
        return doc
    last, sizes = WORDS[layer.rank]
    doc = doc.replace("{rank}", str(layer.rank))
    return doc.replace("{last}", last).replace("{sizes}", sizes)


def _add(found: dict[str, str], family: dict[str, str], layer: Any) -> None:
    """Add the missing sections, and the missing arguments in the order of ``__init__``."""
    own = _ENTRY.split(found.get("Args", ""))[1:]
    known = {name for entry in own for name in _names(entry)}
    code = layer.__init__.__code__
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    theirs = _ENTRY.split(family.get("Args", ""))[1:]
    added = [e for e in theirs if {*_names(e)} <= {*taken} - known]
    if added:
        entries = sorted(own + added, key=lambda entry: taken.index(_names(entry)[0]))
        found["Args"] = "\n".join(["Args:", *(entry.rstrip() for entry in entries)])
    paragraphs = family[""].partition("\n\n")[1:]
    found[""] += "".join(paragraphs)
    for heading, text in family.items():
        if heading != "Args":
            found.setdefault(heading, text)


def _names(entry: str) -> list[str]:
    """Return the names that an entry such as ``lower, upper: the bounds`` describes."""
    return re.findall(r"\w+", entry.partition(":")[0])
