"""What a run depends on besides its config: the command, versions, and the git commit."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import numba_kernels, onednn, threads
from tinynet.invocation import typed
from tinynet.numba_kernels import compiler

_TIMEOUT = 10.0  # seconds, for git in a huge repository

_MOST = 100  # untracked files to record


def surroundings() -> dict[str, Any]:
    """Return the command line, its folder and time, the versions, and the platform."""
    return {
        "command": sys.argv,
        "typed": typed(),
        "working_directory": os.getcwd(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {
            "tinynet": version(),
            "numpy": np.__version__,
            "python": platform.python_version(),
            **(
                {"numba": compiler.version(), "oneDNN": onednn.library.version()}
                if numba_kernels.on
                else {}
            ),
        },
        "platform": platform.platform(),
        "threads": threads.get_count(),
        "processors": threads.processors.usable(),
    }


def repository(folder: Path) -> dict[str, Any] | None:
    """Return the state of the git repository around a folder.

    Returns:
        ``{"commit": ..., "dirty": ..., "untracked": [...]}``: dirty means that tracked files have
        changed. None if there is no repository, no commit or no git.
    """
    status = _git(folder, "status", "--porcelain=v2", "--branch", "-z")
    if status is None:
        return None
    lines = status.split("\0")
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), None)
    if commit is None or commit == "(initial)":
        return None
    untracked = [line[2:] for line in lines if line.startswith("? ")]
    dirty = any(line.startswith(("1 ", "2 ", "u ")) for line in lines)
    return {"commit": commit, "dirty": dirty, "untracked": untracked[:_MOST]}


def uncommitted(folder: Path) -> str:
    """Return the changes to tracked files since the commit, as a patch."""
    return _git(folder, "diff", "HEAD") or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


@functools.cache
def version() -> str:
    """Return the installed version of tinynet, or ``"unknown"``."""
    try:
        return metadata.version("tinynet-numpy")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"
