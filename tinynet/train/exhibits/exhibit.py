"""The base class of exhibits."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tinynet.train.loop.callback import Callback, Moment


def require_positive(owner: str, **values: int) -> None:
    """Check the arguments of an exhibit.

    Raises:
        ValueError: if a value is less than 1.
    """
    for name, value in values.items():
        if value < 1:
            raise ValueError(
                f"The '{name}' parameter of {owner} must be >= 1. Got {value} instead."
            )


class Exhibit(Callback, ABC):
    """The base class of exhibits: callbacks that show something after each evaluation.

    A user's class with a method `show` need not derive from it. Random numbers are the same at each
    evaluation, so an exhibit can draw points or latent vectors again instead of storing them.
    """

    @abstractmethod
    def show(self, at: Moment) -> None:
        """Write something with ``at.writer``.

        Raises:
            ValueError: if the model or the data do not suit the exhibit; the message says what they
                should be. The trial before training calls `show` once.
        """

    def on_evaluation_end(self, at: Moment) -> None:
        """Show it."""
        self.show(at)
