"""The exhibits of a run, as callbacks."""

from __future__ import annotations

import warnings
from typing import Any

from tinynet.train.base.problems import has_users_frames, in_users_code
from tinynet.train.config.signatures import Component
from tinynet.train.loop.callback import Callback, Moment


class Shown(Callback):
    """A callback that shows an exhibit; a failure only warns.

    Args:
        component: the exhibit in the config.
        exhibit: the object.
    """

    def __init__(self, component: Component, exhibit: Any) -> None:
        self.component = component
        self.exhibit = exhibit

    def on_evaluation_end(self, at: Moment) -> None:
        """Show the exhibit."""
        try:
            self.exhibit.show(at)
        except Exception as error:
            text = f"{self.component.path}: {refusal_to_show(self.component, error)}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def refusal_to_show(component: Component, error: Exception) -> str:
    """Return the error message of an exhibit, with the user's lines in its traceback."""
    if has_users_frames(error):
        return f"{component.type} failed\n{in_users_code(error)}"
    return f"{component.type} cannot be shown. {type(error).__name__}: {error}"
