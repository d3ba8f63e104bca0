"""Docstrings of layers, completed by those of their families.

A family is a private base class, such as ``_MaxPoolNd``. Its docstring has what the docstrings of
its layers have in common, with ``{dimensions}`` and ``{sizes}`` for words that depend on ``rank``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

_HEADINGS = ("Args", "Shape", "Attributes", "Raises", "Source", "Example")
_SECTION = re.compile(rf"^(?=(?:{'|'.join(_HEADINGS)}):)", re.M)
_ARGUMENT = re.compile(r"^(?=    \S)", re.M)
_DIMENSIONS = "dimension", "two dimensions", "three dimensions"
_SIZES = "width", "height, width", "depth, height, width"


def complete(classes: Iterable[Any]) -> None:
    """Complete the docstrings of layers by the sections that only their families' have.

    ``Args`` lists the arguments of the layer and those of its families that its ``__init__`` takes.
    """
    for layer in classes:
        families = [base for base in layer.__mro__[1:] if base.__name__[0] == "_" and base.__doc__]
        if families and layer.__doc__:
            found = _sections(layer.__doc__)
            for family in families:
                _add(found, _sections(_of_rank(family.__doc__, layer)), layer)
            prose = found.pop("")
            ordered = [found[heading] for heading in _HEADINGS if heading in found]
            layer.__doc__ = "\n\n".join([prose, *ordered]) + "\n"


def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by their headings; the prose has the heading ``""``."""
    prose, *sections = _SECTION.split(inspect.cleandoc(doc))
    return {"": prose.rstrip()} | {s.partition(":")[0]: s.rstrip() for s in sections}


def _of_rank(doc: str, layer: Any) -> str:
    """Fill in the words for the number of dimensions."""
    rank = getattr(layer, "rank", 1)
    return doc.replace("{dimensions}", _DIMENSIONS[rank - 1]).replace("{sizes}", _SIZES[rank - 1])


def _add(found: dict[str, str], family: dict[str, str], layer: Any) -> None:
    """Add the sections and arguments that are missing."""
    own, theirs = found.get("Args", "Args:"), family.pop("Args", "Args:")
    taken = layer.__init__.__code__.co_varnames
    for entry in _ARGUMENT.split(theirs)[1:]:
        names = re.findall(r"\w+", entry.partition(":")[0])
        if not re.search(rf"^    .*\b{names[0]}\b.*:", own, re.M) and {*names} <= {*taken}:
            own = f"{own}\n{entry.rstrip()}"
    if own != "Args:":
        found["Args"] = own
    for heading, text in family.items():
        found.setdefault(heading, text)
