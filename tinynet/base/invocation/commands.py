"""The command that started this process: as the user can type it, and its Ctrl-C.

Messages name commands such as ``python -m tinynet explain leaf-view``.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tinynet.base.startup import command_words, end, is_command, is_module

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
        >>> from tinynet.base.invocation.commands import quoted
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
        >>> from tinynet.base.invocation.commands import quoted_command
        >>> print(quoted_command(["C:\\\\my env\\\\python.exe", "-m", "tinynet"], "powershell"))
        & 'C:\\my env\\python.exe' -m tinynet
    """
    kind = kind or shell()
    text = " ".join(quoted(word, kind) for word in words)
    # PowerShell takes a quoted word for a text, unless told to call it.
    return f"& {text}" if kind == "powershell" and text.startswith("'") else text


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


PACKAGES: dict[str, tuple[str, ...]] = {
    "bfloat16": ("ml_dtypes",),
    "images": ("pillow",),
    "mlflow": ("mlflow-skinny", "sqlalchemy", "alembic"),
    "mpi": ("mpi4py",),
    "llvm": ("llvmlite",),
    "onnx": ("onnx",),
    "parquet": ("pyarrow",),
    "report": ("matplotlib",),
    "search": ("optuna",),
    "tensorboard": ("tensorboard",),
    "wandb": ("wandb",),
}
"""The packages of each extra in pyproject.toml that a message names.

Messages name packages, not extras: the registry may have another project under tinynet's name.
"""


def installation(extra: str, *more: str) -> str:
    """Return the command that installs the packages of an extra for the running Python.

    Args:
        extra: the name of the extra.
        more: further packages.

    Example:
        >>> from tinynet.base.invocation.commands import installation
        >>> installation("mpi", "mpich")
        '...python... -m pip install mpi4py mpich'
    """
    return python("-m", "pip", "install", *PACKAGES[extra], *more)


def end_on_ctrl_c() -> None:
    """Make Ctrl-C end the process with one line."""
    if signal.getsignal(signal.SIGINT) is _raise:
        signal.signal(signal.SIGINT, end)


def raise_on_ctrl_c() -> None:
    """Make the next Ctrl-C raise KeyboardInterrupt, and one after that end the process."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, _raise)


def _raise(number: int, frame: object) -> None:
    signal.signal(signal.SIGINT, end)
    raise KeyboardInterrupt
