"""Starting TensorBoard as a separate program, without importing it.

Every running TensorBoard writes an info file to a shared folder (`.tensorboard-info` in the folder
for temporary files): a JSON object with its process id, port, folder and arguments.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from tinynet.invocation import python
from tinynet.startup import raise_on_ctrl_c

_PATIENCE = 60.0  # seconds for a started TensorBoard to write its info file
_started: list[subprocess.Popen[bytes]] = []  # kept in order to reap the processes


@dataclass(frozen=True)
class Running:
    """A running TensorBoard; `started` is in seconds since the epoch."""

    pid: int
    port: int
    logdir: str
    started: float
    path: str  # a prefix of all URLs, usually empty
    arguments: tuple[str, ...]
    working_directory: str


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


def program() -> list[str]:
    """Return the command that starts TensorBoard; raise ImportError if there is none."""
    if util.find_spec("tensorboard") is None:
        raise ImportError(
            f"TensorBoard is not installed: {python('-m', 'pip', 'install', 'tensorboard')}",
            name="tensorboard",
        )
    return [sys.executable, "-m", "tensorboard.main"]


# ---- in the background -----------------------------------------------------------------------


def start(arguments: Sequence[str]) -> tuple[Running, bool]:
    """Return a TensorBoard with these arguments, and whether it was already running."""
    command = program()
    for known in running():
        if (known.arguments, known.working_directory) == (tuple(arguments), os.getcwd()):
            return known, True
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        _started.append(process)
        end = time.monotonic() + _PATIENCE
        while process.poll() is None and time.monotonic() < end:
            note = _read(_notes() / f"pid-{process.pid}.info")
            if note is not None:
                return note, False
            time.sleep(0.1)
        late = process.poll() is None
        process.kill()
        said.seek(0)
        output = said.read().decode(errors="replace").strip()
    reason = f"it did not answer within {_PATIENCE:.0f} seconds" if late else "it ended at once"
    raise RuntimeError(f"TensorBoard did not start: {reason}. It said:\n{output}")


def running() -> list[Running]:
    """Return all TensorBoards running on this machine, oldest first."""
    found = [_read(path) for path in _notes().glob("pid-*.info")]
    return sorted((one for one in found if one and _alive(one.pid)), key=lambda one: one.started)


def _notes() -> Path:
    return Path(tempfile.gettempdir(), ".tensorboard-info")


def _read(path: Path) -> Running | None:
    """Read an info file; None if it is missing or invalid."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        key = json.loads(base64.b64decode(note["cache_key"]))
        return Running(
            *(note["pid"], note["port"], note["logdir"], note["start_time"]),
            *(note["path_prefix"], tuple(key["arguments"]), key["working_directory"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _alive(pid: int) -> bool:
    """Whether a process runs: killed ones leave their info files behind."""
    for process in _started:
        if process.pid == pid:
            return process.poll() is None
    if os.name != "posix":  # elsewhere, the check itself would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
