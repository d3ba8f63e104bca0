"""How many threads are used, and other settings of PyTorch's runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tinynet import threads

T = TypeVar("T")


def set_num_threads(count: int) -> None:
    """Let matrix products and large kernels (convolutions, attention, GELU) use so many threads.

    For matrix products it takes effect where numpy brings OpenBLAS along, as numpy's wheels do;
    elsewhere the environment variables of the BLAS decide. On a busy machine, 1 makes small
    networks faster.

    Raises:
        RuntimeError: the count is not positive.

    Example:
        >>> tn.set_num_threads(tn.get_num_threads())
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    threads.set_count(count)


def get_num_threads() -> int:
    """Return how many threads are used.

    Unless set, as many as BLAS uses: one per processor, or what the environment says (1 where that
    cannot be found out).

    Example:
        >>> tn.get_num_threads() >= 1
        True
    """
    return threads.get_count()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: tinynet's algorithms are deterministic.

    Args:
        mode: ignored: also False leaves them deterministic.
        warn_only: ignored.

    Example:
        >>> tn.use_deterministic_algorithms(True)
    """


def are_deterministic_algorithms_enabled() -> bool:
    """Return True.

    Example:
        >>> tn.are_deterministic_algorithms_enabled()
        True
    """
    return True


def compile(model: T | None = None, **options: Any) -> T | Callable[[T], T]:
    """Return the model, or function, as it is: there is nothing to compile it to.

    Args:
        model: a module or function; None returns a decorator.
        **options: accepted for compatibility, and ignored.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> tn.compile(layer) is layer
        True
    """
    return (lambda function: function) if model is None else model


class _Warnings:
    always = False


def set_warn_always(b: bool) -> None:
    """Remember the setting for ``is_warn_always_enabled``.

    tinynet always gives its warnings; Python's filters decide how often each one shows.

    Raises:
        RuntimeError: ``b`` is no bool.

    Example:
        >>> tn.set_warn_always(True)
        >>> tn.is_warn_always_enabled()
        True
        >>> tn.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _Warnings.always = b


def is_warn_always_enabled() -> bool:
    """Return what ``set_warn_always`` was called with; False at first.

    Example:
        >>> tn.is_warn_always_enabled()
        False
    """
    return _Warnings.always
