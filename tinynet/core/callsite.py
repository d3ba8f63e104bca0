"""Call sites in the user's code: cheap to store, decoded only for a message.

A site is the ``(code object, instruction offset)`` of the nearest frame outside tinynet. Storing
the frame itself would keep its function's locals, and so whole graphs, alive.
"""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import warnings
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tinynet.core import seams

Site = tuple[CodeType, int]
COMPILED = "<tinynet operations>"
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# File name -> whether it is the user's, filled by ``is_outside``. Compiled operations read it, and
# a plain dict is faster than a defaultdict.
OUTSIDE: dict[str, bool] = {}
# The warning registries for lines of files, such as configs; Python keeps one for each module.
_warned: dict[str, dict[str | tuple[str, type[Warning], int], int]] = {}


def is_outside(filename: str) -> bool:
    """Return whether a file is the user's, cached per file name."""
    found = OUTSIDE.get(filename)
    if found is None:
        # Frozen code starts programs (``python -m``) and imports modules.
        found = OUTSIDE[filename] = not filename.startswith((_ROOT, COMPILED, "<frozen "))
    return found


def here() -> Site | None:
    """Return the site of the nearest frame outside tinynet, or None."""
    return outward(sys._getframe(1))


def outward(frame: FrameType | None) -> Site | None:
    """Return the site of the nearest frame outside tinynet, starting at ``frame``."""
    known = OUTSIDE
    while frame is not None:
        code = frame.f_code
        found = known.get(code.co_filename)
        if found or found is None and is_outside(code.co_filename):
            return code, frame.f_lasti
        frame = frame.f_back
    return seams.fallback[0]() if seams.fallback else None


def execute(filename: str, source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Execute source that was written at run time; return what it defines.

    Tracebacks show the source, which belongs to tinynet if the name starts with ``COMPILED``.
    """
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    found: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), namespace, found)
    return found


def warn(text: str, category: type[Warning] = UserWarning, site: Site | None = None) -> None:
    """Issue a warning that names the line of ``site``, or else the nearest outside tinynet."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and not is_outside(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    if site is None and not is_outside(frame.f_code.co_filename):
        site = outward(frame)
    where = locate(site)
    if where is None:
        return warnings.warn(text, category, stacklevel=level)
    registry = _warned.setdefault(where.filename, {})
    warnings.warn_explicit(text, category, where.filename, where.line, registry=registry)


class Location(NamedTuple):
    """A decoded site: a span of source text.

    Attributes:
        filename: the file as Python knows it.
        line: line number, from 1.
        function: name of the function.
        text: the source line without indentation ("" if the source is not available).
        start, end: columns of the expression in ``text``, from 0.
    """

    filename: str
    line: int
    function: str
    text: str
    start: int
    end: int

    @property
    def place(self) -> str:
        """``train.py:41 in forward``; in a notebook ``In[3]:41 in forward``."""
        inside = "" if self.function == "<module>" else f" in {self.function}"
        return f"{shown_name(self.filename)}:{self.line}{inside}"

    @property
    def expression(self) -> str:
        """The part of ``text`` that ran."""
        return self.text[self.start : self.end]


def shown_name(filename: str) -> str:
    """Return the name of a file for messages, In[3] for the third cell of a notebook."""
    # Cells are temporary files with meaningless names.
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    compiler = getattr(get_shell(), "compile", None)
    cell = getattr(compiler, "format_code_name", lambda name: None)(filename)
    return os.path.basename(filename) if cell is None else str(cell[1])


def locate(site: Site | None) -> Location | None:
    """Decode a site; None stays None."""
    if site is None:
        return None
    code, offset = site
    span = next(itertools.islice(code.co_positions(), offset // 2, None), None)
    line, end_line, start, end = span or (None, None, None, None)
    line = line or code.co_firstlineno
    raw = linecache.getline(code.co_filename, line).rstrip("\n")
    text = raw.lstrip()
    indent = len(raw) - len(text)
    if start is None or end is None:
        return Location(code.co_filename, line, code.co_name, text, 0, len(text))
    # Positions count UTF-8 bytes; the text is shown in characters.
    data = raw.encode()
    start = len(data[:start].decode(errors="replace"))
    end = len(data[:end].decode(errors="replace")) if end_line == line else len(raw)
    return Location(
        code.co_filename, line, code.co_name, text, max(start - indent, 0), max(end - indent, 0)
    )
