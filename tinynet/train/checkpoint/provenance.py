"""What a run depends on besides its config, recorded so that it can be repeated."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import numba_kernels
from tinynet.numba_kernels import compiler

_PATIENCE = 10.0  # seconds that git may take in a huge repository; training does not wait for more

_MOST = 100  # untracked files that are named


def surroundings() -> dict[str, Any]:
    """The command line, where and when it was given, the versions and the platform."""
    return {
        "command": sys.argv,
        "working_directory": os.getcwd(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {
            "tinynet": version(),
            "numpy": np.__version__,
            "python": platform.python_version(),
            **({"numba": compiler.version()} if numba_kernels.on else {}),
        },
        "platform": platform.platform(),
    }


def repository(folder: Path) -> dict[str, Any] | None:
    """The git commit that a folder is at, and whether it holds anything else.

    Returns:
        ``{"commit": ..., "dirty": ..., "untracked": [...]}``: dirty means that tracked files have
        changed. None if there is no repository, no commit or no git.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    changed = _git(folder, "status", "--porcelain", "-z")
    if commit is None or changed is None:
        return None
    entries = [entry for entry in changed.split("\0") if entry]
    untracked = [entry[3:] for entry in entries if entry.startswith("??")]
    dirty = len(untracked) < len(entries)
    return {"commit": commit.strip(), "dirty": dirty, "untracked": untracked[:_MOST]}


def uncommitted(folder: Path) -> str:
    """What differs from the commit in tracked files, as a patch."""
    return _git(folder, "diff", "HEAD") or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def version() -> str:
    """The version of tinynet, as far as it is installed."""
    try:
        return metadata.version("tinynet")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"
