"""Docstrings of layers, completed by those of their families.

A family is a private base class, such as ``_MaxPoolNd``. Its docstring has what the docstrings of
its layers have in common. Where these differ in ``rank``, the number of dimensions, it has the
fields ``rank``, ``last`` ("the last two dimensions") and ``sizes`` ("height, width").
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any

from tinynet.nn.functional.checks import WORDS

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
