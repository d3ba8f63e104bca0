"""Commands as the user can type them: ``python -m tinynet explain leaf-view``."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
from pathlib import Path

from tinynet.base.invocation.quoting import quoted, quoted_command, shell
from tinynet.base.startup import command_words, is_command, is_module

VARIABLE = "TINYNET_COMMAND"
"""The environment variable that says what starts tinynet: ``run.py`` sets it, a wrapper may."""


def command(*words: object) -> str:
    """Return a command of tinynet as the user can type it in the current folder.

    Args:
        words: what follows the name of the program. A `Path` inside the current folder is written
            relative to it.

    Example:
        >>> from pathlib import Path
        >>> command("eval", Path("my runs", "digits"))
        "python -m tinynet eval 'my runs/digits'"
    """
    given = os.environ.get(VARIABLE, "")
    if given and shell() == "powershell":  # run.py quotes for cmd
        given = quoted_command([a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', given)])
    return " ".join([given or _started(), *map(_typed, words)])


def typed() -> str:
    """Return the command that started this process, as the user typed it."""
    if is_wrapped() or is_module() or is_command():
        return command(*sys.argv[1:])
    return " ".join([_python(), *map(_typed, sys.orig_argv[1:])])


def python(*words: object) -> str:
    """Return a command of the Python that runs this process, as the user can type it."""
    return " ".join([_python(), *map(_typed, words)])


def is_wrapped() -> bool:
    """Return whether another program, such as ``run.py``, started tinynet."""
    return VARIABLE in os.environ


def _typed(word: object) -> str:
    if isinstance(word, Path):
        word = shown(word)
        word = f"./{word}" if word.startswith("-") else word
    return quoted(str(word))


def shown(path: Path) -> str:
    """Return a path relative to the current folder if inside it, else an absolute one."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it is elsewhere, or relative; there is no current folder
        return str(path)


@functools.cache
def _started() -> str:
    """Return the command that starts tinynet, as typed by the user if known."""
    if is_module():
        typed, *rest = command_words()
        name = Path(typed).name  # pyenv's shims, for one, start Python by its whole path
        return quoted_command([name if _is_found(name, typed) else typed, *rest])
    if is_command():
        script = Path(sys.argv[0])
        name = script.stem if script.suffix.lower() == ".exe" else script.name
        return name if _is_found(name, str(script)) else quoted_command([shown(script)])
    return f"{_python()} -m tinynet"


@functools.cache
def _python() -> str:
    for name in ("python", "python3"):
        if _is_found(name, sys.executable):
            return name
    return quoted_command([shown(Path(sys.executable))])


def _is_found(name: str, path: str) -> bool:
    """Return whether typing a name starts the program at a path."""
    found = shutil.which(name)
    return found is not None and os.path.normcase(found) == os.path.normcase(path)
