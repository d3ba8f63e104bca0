"""The exhibits of a run in its list of callbacks."""

from __future__ import annotations

import warnings
from typing import Any

from tinynet.train.base.problems import has_users_frames, in_users_code
from tinynet.train.config.signatures import Component
from tinynet.train.loop.callback import Entry


def shown(component: Component, exhibit: Any) -> Entry:
    """Return the entry of an exhibit, of which a failure only warns.

    Args:
        component: the exhibit in the config.
        exhibit: the object.
    """

    def warn(error: Exception) -> None:
        text = f"{component.path}: {refusal_to_show(component, error)}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)

    return Entry({"on_evaluation_end": exhibit.show}, component.path, warn)


def refusal_to_show(component: Component, error: Exception) -> str:
    """Return the error message of an exhibit, with the user's lines in its traceback."""
    if has_users_frames(error):
        return f"{component.type} failed\n{in_users_code(error)}"
    return f"{component.type} cannot be shown. {type(error).__name__}: {error}"
