"""The source lines of operations in models and losses that ship with tinynet.

Under a command, no program of the user's is on the stack. Messages then name the line of the config
that selects the model or the loss, or a line of the model's file in tinynet.
"""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

from tinynet.core import callsite, seams
from tinynet.core.callsite import Site
from tinynet.core.modes import mode
from tinynet.train import models
from tinynet.train.config.sections import Config


def point_to(config: Config, loss: Any) -> None:
    """Make operations without a line of the user's program name a line of the config.

    Args:
        config: the config.
        loss: the object of ``[loss]``; all other modules are parts of ``[model]``.
    """
    of_model, of_loss = _site(config, "model"), _site(config, "loss")

    def site() -> Site | None:
        scope = mode.scope
        if scope is None:  # an optimizer
            return None
        while scope[0] is not None:
            scope = scope[0]
        return of_loss if type(scope[1]()) is type(loss) else of_model

    seams.fallback[:] = [site]
    for file in Path(models.__file__).parent.glob("*.py"):
        callsite.OUTSIDE[str(file)] = True


def _site(config: Config, section: str) -> Site | None:
    """Return a site that decodes to the line of a section's type; None if it is in no file."""
    origin = config.origin(f"{section}.type")
    if origin.kind != "file" or not origin.line:
        return None
    text = linecache.getline(origin.file, origin.line).rstrip() or "_"
    # A name as long as the line, at its place.
    code = compile("\n" * (origin.line - 1) + "_" * len(text), origin.file, "exec")
    lines = [position[0] for position in code.co_positions()]
    return code, 2 * lines.index(origin.line)
