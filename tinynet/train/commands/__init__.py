"""The commands of ``tinynet``; those that are read together share a file.

Each declares its name, help, arguments, and the function (``train_command`` for ``train``), whose
docstring is the description. To add a command, add its name and its file to `COMMANDS`. A file
loads when a command of it runs: most need only a part of the package.
"""

import sys
from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach
from tinynet.train.commands.options import Command

if TYPE_CHECKING:
    from tinynet.train.commands import export as export
    from tinynet.train.commands import finders as finders
    from tinynet.train.commands import inspection as inspection
    from tinynet.train.commands import predict as predict
    from tinynet.train.commands import reference as reference
    from tinynet.train.commands import rehearsal as rehearsal
    from tinynet.train.commands import runs as runs
    from tinynet.train.commands import studies as studies
    from tinynet.train.commands import training as training
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

COMMANDS = {
    "new": "training",
    "train": "training",
    "resume": "runs",
    "eval": "training",
    "predict": "predict",
    "generate": "predict",
    "check": "inspection",
    "test-run": "rehearsal",
    "show": "reference",
    "profile": "inspection",
    "graph": "inspection",
    "find-lr": "finders",
    "find-batch-size": "finders",
    "sweep": "studies",
    "search": "studies",
    "cross-validate": "studies",
    "report": "runs",
    "board": "runs",
    "export": "export",
    "list": "reference",
    "explain": "reference",
}
"""The file of each command, in the order of the help."""


def find(name: str) -> Command:
    """Return a command; its file is loaded for that."""
    file = getattr(sys.modules[__name__], COMMANDS[name])
    found: Command = getattr(file, f"{name.replace('-', '_')}_command")
    return found
