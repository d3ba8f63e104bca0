"""The settings of the user, with those that a finder suggests."""

from __future__ import annotations

from collections.abc import Sequence


def merged(given: Sequence[str], suggested: Sequence[str]) -> list[str]:
    """Return the given settings, except those of the suggested keys, and the suggested ones.

    Example:
        >>> merged(["run.seed=1", "optimizer.lr=1"], ["optimizer.lr=0.01"])
        ['run.seed=1', 'optimizer.lr=0.01']
    """
    keys = {setting.partition("=")[0] for setting in suggested}
    return [*(one for one in given if one.partition("=")[0] not in keys), *suggested]
