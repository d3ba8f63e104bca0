"""Where tinynet answers otherwise on purpose: program -> (reason, dotted path -> its answer)."""

from __future__ import annotations

from typing import Any

DEPARTURES: dict[str, tuple[str, dict[str, Any]]] = {}
