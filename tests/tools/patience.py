"""How long a test waits for a program, and how it waits for what one does."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 600
"""Seconds after which a program counts as hanging: on a machine that does other work, what takes
five seconds may take two minutes."""


def wait_for(program: subprocess.Popen[str], happened: Callable[[], Any]) -> Any:
    """Return what is found as soon as something happens that a running program brings about.

    In between, the processor is left to the program.
    """
    while not (found := happened()):
        assert program.poll() is None, program.communicate()
        time.sleep(0.005)
    return found
