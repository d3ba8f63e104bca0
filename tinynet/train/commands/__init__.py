"""The commands of ``tinynet``, one file each.

Each file declares its command: name, help, arguments, and the function ``run_command``, whose
docstring is the description. To add a command, add a file, and its name to `COMMANDS`. A file loads
when its command runs: most need only a part of the package.
"""

import sys
from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach
from tinynet.train.commands.options import Command

if TYPE_CHECKING:
    from tinynet.train.commands import board as board
    from tinynet.train.commands import check as check
    from tinynet.train.commands import cross_validate as cross_validate
    from tinynet.train.commands import evaluate as evaluate
    from tinynet.train.commands import explain as explain
    from tinynet.train.commands import export as export
    from tinynet.train.commands import find_batch_size as find_batch_size
    from tinynet.train.commands import find_lr as find_lr
    from tinynet.train.commands import generate as generate
    from tinynet.train.commands import graph as graph
    from tinynet.train.commands import listing as listing
    from tinynet.train.commands import new as new
    from tinynet.train.commands import predict as predict
    from tinynet.train.commands import profile as profile
    from tinynet.train.commands import report as report
    from tinynet.train.commands import resume as resume
    from tinynet.train.commands import search as search
    from tinynet.train.commands import show as show
    from tinynet.train.commands import sweep as sweep
    from tinynet.train.commands import test_run as test_run
    from tinynet.train.commands import train as train
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

COMMANDS = {
    "new": "new",
    "train": "train",
    "resume": "resume",
    "eval": "evaluate",
    "predict": "predict",
    "generate": "generate",
    "check": "check",
    "test-run": "test_run",
    "show": "show",
    "profile": "profile",
    "graph": "graph",
    "find-lr": "find_lr",
    "find-batch-size": "find_batch_size",
    "sweep": "sweep",
    "search": "search",
    "cross-validate": "cross_validate",
    "report": "report",
    "board": "board",
    "export": "export",
    "list": "listing",
    "explain": "explain",
}
"""The file of each command, in the order of the help."""


def find(name: str) -> Command:
    """Return a command; its file is loaded for that."""
    found: Command = getattr(sys.modules[__name__], COMMANDS[name]).run_command
    return found
