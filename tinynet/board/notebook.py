"""Starting TensorBoard: as a separate program, without importing it, and in notebooks.

In notebooks, TensorBoard's own module ``tensorboard.notebook`` starts and shows it, imported at the
first call.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Any

from tinynet.base.invocation import installation
from tinynet.base.invocation.commands import raise_on_ctrl_c


def launch(
    folder: str | os.PathLike[str] = "runs",
    port: int | None = None,
    host: str | None = None,
    extra: Sequence[str] = (),
) -> int:
    """Run TensorBoard on a folder of runs until it ends or is interrupted; return its exit code.

    Args:
        folder: the folder of the runs, at any depth.
        port: the port; 0 takes a free one; by default 6006, or the next free one.
        host: the address to listen at; by default only this machine.
        extra: additional arguments of TensorBoard.

    Raises:
        FileNotFoundError: there is no such folder.
        ImportError: TensorBoard is not installed; the message has instructions.

    Example:
        >>> tn.board.launch("no/such/folder")
        Traceback (most recent call last):
        FileNotFoundError: There is no folder 'no/such/folder'.
    """
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {os.fspath(folder)!r}.")
    # A run that was resumed or that lost its disk has several growing event files.
    arguments = ["--logdir", os.fspath(folder), "--reload_multifile", "true"]
    arguments += [] if port is None else ["--port", str(port)]
    arguments += [] if host is None else ["--host", host]
    # Ctrl-C reaches both processes; this one handles it, even while the other is importing.
    raise_on_ctrl_c()
    deaf = _ignore_ctrl_c if os.name == "posix" else None
    process = subprocess.Popen([*program(), *arguments, *extra], preexec_fn=deaf)
    try:
        return process.wait()
    except KeyboardInterrupt:  # the usual way to stop it
        process.terminate()
        process.wait()
        return 0


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def program() -> Sequence[str]:
    """Return the command that starts TensorBoard; raise ImportError if there is none."""
    if util.find_spec("tensorboard") is None:
        raise ImportError(
            f"TensorBoard is not installed: {installation('tensorboard')}",
            name="tensorboard",
        )
    return [sys.executable, "-m", "tensorboard.main"]


def start(args_string: str) -> None:
    """Start TensorBoard, or reuse one started with the same arguments, and display it.

    A notebook shows it in a frame; otherwise its address is printed. It keeps running when the
    notebook ends; `list` shows its process id. If it does not start, its output is printed.

    Args:
        args_string: the arguments of TensorBoard as on the command line: `"--logdir runs"`.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
    """
    _notebook().start(args_string)


def list() -> None:
    """Print all TensorBoards running on this machine, with their ports, folders and process ids.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
    """
    _notebook().list()


def display(port: int | None = None, height: int | None = None) -> None:
    """Display a running TensorBoard.

    Args:
        port: its port; by default the one of the TensorBoard started last.
        height: the height of the frame in pixels; 800 by default.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
        ValueError: no TensorBoard is running.
    """
    _notebook().display(port, height)


def _notebook() -> Any:
    """Return TensorBoard's module, set up for this Python's TensorBoard and without dead ones."""
    program()
    from tensorboard import notebook

    script = Path(sys.executable).with_name("tensorboard")
    if script.exists():  # otherwise it starts the first one in PATH
        os.environ.setdefault("TENSORBOARD_BINARY", str(script))
    for info in Path(tempfile.gettempdir(), ".tensorboard-info").glob("pid-*.info"):
        number = info.stem.removeprefix("pid-")
        if number.isdecimal() and not _alive(int(number)):
            info.unlink(missing_ok=True)  # a killed one leaves its file, and would be reused
    return notebook


def _alive(pid: int) -> bool:
    """Return whether a process runs."""
    if os.name != "posix":  # elsewhere, the check itself would end the process
        return True
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)  # reaps a child that has ended
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
