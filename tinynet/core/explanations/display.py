"""What users see of an uncaught error: in a terminal, from a thread, in a notebook.

Python and IPython show errors by hooks. These add the lines below an error's first sentence, fold
its traceback, and leave the rest to the hooks that were there before.
"""

from __future__ import annotations

import functools
import re
import sys
import textwrap
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tinynet.core.explanations.failures import explain

WIDTH = 80  # columns; a notebook breaks longer lines anywhere, also inside words

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def install() -> None:
    """Show the uncaught errors of this process without tinynet's frames."""
    sys.excepthook = _explaining(sys.excepthook)
    threading.excepthook = _explaining_threads(threading.excepthook)
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    shell = get_shell()
    if shell is not None and not shell.custom_exceptions:  # the user may have set a handler
        shell.set_custom_exc((Exception,), show_in_shell)


def _explain_all(error: BaseException) -> None:
    """Explain an error, and those that it is shown with: its causes, and what it interrupted."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, Exception):
            explain(found, is_last=True)
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def _explaining(show: Hook) -> Hook:
    @functools.wraps(show)
    def excepthook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> Any:
        if error is not None and error.__traceback__ is traceback:
            _explain_all(error)
            traceback = error.__traceback__
        return show(kind, error, traceback)

    return excepthook


def _explaining_threads(show: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(show)
    def excepthook(args: Any, /) -> Any:
        error = args.exc_value
        if error is not None and error.__traceback__ is args.exc_traceback:
            _explain_all(error)
            found = (args.exc_type, error, error.__traceback__, args.thread)
            args = threading.ExceptHookArgs(found)
        return show(args)

    return excepthook


def show_in_shell(
    shell: Any, kind: Any, error: Any, traceback: Any, tb_offset: int | None = None
) -> None:
    """Show an error as IPython does; the lines of its message break between words."""
    _explain_all(error)
    found = kind, error, error.__traceback__
    wide = max(map(len, str(error).splitlines()), default=0) > WIDTH
    if wide and not hasattr(error, "_render_traceback_"):
        lines = shell.InteractiveTB.structured_traceback(*found, tb_offset=tb_offset)
        error._render_traceback_ = lambda: [*lines[:-1], wrapped(lines[-1])]
        shell.showtraceback(found, tb_offset=tb_offset, running_compiled_code=True)
        del error._render_traceback_
    else:
        shell.showtraceback(found, tb_offset=tb_offset, running_compiled_code=True)


def wrapped(message: str) -> str:
    """Return a message whose lines break between words; the carets below a broken line are gone.

    Example:
        >>> from tinynet.core.explanations.display import wrapped
        >>> print(wrapped("  fix      " + "change a copy " * 6))
          fix      change a copy change a copy change a copy change a copy change a copy
                   change a copy
    """
    lines: list[str] = []
    broken = False
    for line in message.splitlines():
        if broken and not line.strip("^ "):
            continue
        label = re.match(r"  (\w+ {2,})?", line)
        indent = " " * label.end() if label else ""
        width = WIDTH + sum(map(len, re.findall(r"\x1b\[[\d;]*m", line)))  # colours
        parts = textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        broken = len(parts) > 1
        lines += parts or [line]
    return "\n".join(lines)


install()
