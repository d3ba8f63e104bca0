"""The modules whose ``forward`` is running in this thread, outermost first.

``nn.Module.__call__`` pushes and pops; recorders and error messages read. It stands in core because
``nn`` and ``board`` may not import each other.
"""

from __future__ import annotations

from typing import Any

stack: list[Any] = []
