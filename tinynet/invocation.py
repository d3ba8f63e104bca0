"""How this process was started, so that messages can name commands that the user can type."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType

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
    return " ".join([os.environ.get(VARIABLE) or _started(), *map(_typed, words)])


def python(*words: object) -> str:
    """Return a command of the Python that runs this process, as the user can type it."""
    return " ".join([_python(), *map(_typed, words)])


def is_wrapped() -> bool:
    """Return whether another program starts tinynet and says so, such as ``run.py``."""
    return VARIABLE in os.environ


def is_command() -> bool:
    """Return whether this process is the command ``tinynet``, and not a user's own program."""
    own = Path(sys.argv[0]) if sys.argv else Path()
    return _is_module() or (own.stem == "tinynet" and own.suffix in ("", ".exe"))


def _typed(word: object) -> str:
    if isinstance(word, Path):
        word = shown(word)
        word = f"./{word}" if word.startswith("-") else word
    return shlex.quote(str(word))


def shown(path: Path) -> str:
    """Return a path as it works from the current folder, relative if it is inside."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it is elsewhere, or relative; there is no current folder
        return str(path)


@functools.cache
def _started() -> str:
    """What starts tinynet: the words that the user typed, as far as they can be known."""
    if _is_module():
        return shlex.join(_before_arguments())
    if is_command():
        script = Path(sys.argv[0])
        is_on_path = shutil.which(script.name) == str(script)
        return script.name if is_on_path else _typed(script)
    return f"{_python()} -m tinynet"


@functools.cache
def _python() -> str:
    for name in ("python", "python3"):
        if shutil.which(name) == sys.executable:
            return name
    return _typed(Path(sys.executable))


def _before_arguments() -> list[str]:
    """``python -m tinynet`` of ``python -m tinynet train digits.toml``."""
    return sys.orig_argv[: len(sys.orig_argv) - len(sys.argv[1:])]


def _is_module() -> bool:
    return _before_arguments()[-2:] == ["-m", "tinynet"]


# ---- Ctrl-C ----


def end_on_ctrl_c() -> None:
    """Let Ctrl-C end the process with one line: while it starts, and once it has finished."""
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _raise):
        signal.signal(signal.SIGINT, _end)


def raise_on_ctrl_c() -> None:
    """Let the next Ctrl-C raise KeyboardInterrupt, and end the process if another one follows."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _raise)


def _raise(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"stopped by Ctrl-C\n")
    os._exit(128 + number)


if is_command():  # at once: this is the first module of tinynet, and importing the rest takes time
    end_on_ctrl_c()
