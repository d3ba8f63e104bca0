"""Formatting values as TOML that `tomllib` reads back unchanged."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str | None:
    """Return the TOML text of a value on one line, or None if TOML cannot express it.

    Example:
        >>> toml_value({"sizes": [64, 10], "act": "relu"})
        '{sizes = [64, 10], act = "relu"}'
        >>> toml_value(float("inf"))
        'inf'
        >>> toml_value(None) is None
        True
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float_text(float(value))
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return _joined("[", [toml_value(item) for item in value], "]")
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        texts = {toml_key(key): toml_value(item) for key, item in value.items()}
        return _joined("{", [t and f"{key} = {t}" for key, t in texts.items()], "}")
    return None


def toml_key(key: str) -> str:
    """Quote a key if necessary.

    Example:
        >>> toml_key("lr"), toml_key("learning rate")
        ('lr', '"learning rate"')
    """
    return key if _BARE.fullmatch(key) else toml_string(key)


def dotted(path: Iterable[str | int]) -> str:
    """Join a path as a dotted TOML key, with list positions as numbers.

    Example:
        >>> dotted(["model", "layers", 0, "a b"])
        'model.layers.0."a b"'
    """
    return ".".join(str(part) if isinstance(part, int) else toml_key(part) for part in path)


def toml_string(text: str) -> str:
    r"""Return a text as a TOML basic string.

    Example:
        >>> print(toml_string('a "b"\n'))
        "a \"b\"\n"
    """
    # All of JSON's escapes are valid in TOML, but TOML forbids a raw DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return repr(value)  # "inf", "-inf", "0.1", "1e-05": the shortest text that reads back exactly


def _joined(opening: str, texts: list[str | None], closing: str) -> str | None:
    known = [text for text in texts if text is not None]
    return opening + ", ".join(known) + closing if len(known) == len(texts) else None
