"""Where tinynet answers otherwise on purpose: program -> (reason, dotted path -> its answer)."""

from __future__ import annotations

from typing import Any

DEPARTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "containers/parameter_dicts": (
        "PyTorch misspells the class in this text.",
        {
            "sees.texts.3.says": "ParameterDict.update should be called with an iterable of "
            "key/value pairs, but got int"
        },
    ),
}
