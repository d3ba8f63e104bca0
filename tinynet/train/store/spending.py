"""What a run has cost: its time, that of the processors, and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from tinynet.train.base.memory import peak


class Spending:
    """The cost of a run since this object was made, added to that before the run was resumed."""

    def __init__(self) -> None:
        self._seconds, self._cpu = time.monotonic(), _cpu_seconds()

    def added_to(self, before: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return ``seconds``, ``cpu_seconds`` (worker processes that have ended included), and
        ``peak_bytes`` of this process, if it is known.

        Args:
            before: what this returned before the run was resumed.
        """
        before = before or {}
        found: dict[str, Any] = {
            "seconds": round(before.get("seconds", 0) + time.monotonic() - self._seconds, 3),
            "cpu_seconds": round(before.get("cpu_seconds", 0) + _cpu_seconds() - self._cpu, 3),
        }
        largest = max(peak() or 0, before.get("peak_bytes", 0))
        return found | ({"peak_bytes": largest} if largest else {})


def _cpu_seconds() -> float:
    return sum(os.times()[:4])
