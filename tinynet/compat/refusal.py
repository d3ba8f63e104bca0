"""Functions that raise for features of PyTorch that tinynet lacks, and name an alternative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def refusal(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that raises NotImplementedError.

    Args:
        name: PyTorch's name, after ``torch.``.
        instead: the reason, and what to do instead.
    """

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"tinynet has no {name}: {instead}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Refuse: {instead}.\n\nRaises:\n    NotImplementedError: always."
    return refuse
