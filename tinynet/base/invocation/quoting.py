"""Words and commands in the form of the user's shell: a POSIX shell, cmd or PowerShell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Literal

Shell = Literal["posix", "cmd", "powershell"]
_SAFE = {"cmd": re.compile(r"[\w+=:./\\,@~-]+"), "powershell": re.compile(r"[\w+=:./\\~-]+")}


def shell() -> Shell:
    """Return the kind of the shell from which this process was started.

    On Windows, shells such as Git's set SHELL, and only cmd sets PROMPT.
    """
    platform = sys.platform  # read at each call, so that tests can set it
    if platform != "win32" or "SHELL" in os.environ:
        return "posix"
    return "cmd" if "PROMPT" in os.environ else "powershell"


def quoted(word: str, kind: Shell | None = None) -> str:
    """Return a word as the user can type it among the arguments of a command.

    Args:
        word: the word.
        kind: the kind of the shell; by default the one of this process.

    Example:
        >>> from tinynet.base.invocation.quoting import quoted
        >>> for kind in ("posix", "cmd", "powershell"):
        ...     print(quoted("my runs", kind), quoted("lr=0.1", kind), quoted("it's", kind))
        'my runs' lr=0.1 'it'"'"'s'
        "my runs" lr=0.1 "it's"
        'my runs' lr=0.1 'it''s'
    """
    kind = kind or shell()
    if kind == "posix":
        return shlex.quote(word)
    if _SAFE[kind].fullmatch(word) and not word.startswith("@"):
        return word
    if kind == "powershell":
        return "'" + word.replace("'", "''") + "'"
    escaped = subprocess.list2cmdline([word])  # quotes and the backslashes before them
    return escaped if escaped.startswith('"') else f'"{escaped}"'


def quoted_command(words: Sequence[str], kind: Shell | None = None) -> str:
    """Return a command as the user can type it.

    Args:
        words: the program and its arguments.
        kind: the kind of the shell; by default the one of this process.

    Example:
        >>> from tinynet.base.invocation.quoting import quoted_command
        >>> print(quoted_command(["C:\\\\my env\\\\python.exe", "-m", "tinynet"], "powershell"))
        & 'C:\\my env\\python.exe' -m tinynet
    """
    kind = kind or shell()
    text = " ".join(quoted(word, kind) for word in words)
    # PowerShell takes a quoted word for a text, unless told to call it.
    return f"& {text}" if kind == "powershell" and text.startswith("'") else text
