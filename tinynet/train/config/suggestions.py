"""Suggestions for unknown keys, which may stand in the wrong section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tinynet.core.explanations.aliases import aliased
from tinynet.train.base.problems import did_you_mean
from tinynet.train.config.sections import SECTIONS, settings


def hint_for(key: str, known: Iterable[str], tree: Mapping[str, Any], where: str = "") -> str:
    """Return a suggestion for an unknown key, or ``""``.

    Args:
        key: the key.
        known: the keys that could stand in its place.
        tree: the config.
        where: the section that has the key; empty for none.

    Example:
        >>> hint_for("epochs", ["lr", "eps"], {}, "optimizer")
        "; did you mean 'run.epochs'?"
        >>> hint_for("learning_rate", ["lr", "eps"], {}, "optimizer")
        "; did you mean 'lr'?"
    """
    elsewhere: dict[str, set[str]] = {}
    for name, section in SECTIONS.items():
        table = tree.get(name)
        if name != where:
            elsewhere[name] = {*settings(section), *(table if isinstance(table, dict) else ())}
    exact = [f"{name}.{key}" for name, keys in elsewhere.items() if key in keys]
    near = "" if exact else did_you_mean(key, known)
    places = exact or [f"{n}.{one}" for n, keys in elsewhere.items() for one in aliased(key, keys)]
    listed = " or ".join(map(repr, places))
    return near or (f"; did you mean {listed}?" if places else "")
