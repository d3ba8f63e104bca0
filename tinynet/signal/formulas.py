"""Formulas of windows, shared by `torch.signal.windows` and `torch.hann_window`.

A formula takes the positions of the elements, relative to the middle, and the distance between the
first and the last position of the symmetric window.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tinynet.dtypes import Array

Formula = Callable[[Array, float], Array]
Window = TypeVar("Window", bound=Callable[..., Any])


def with_options_of(shared: Callable[..., Any]) -> Callable[[Window], Window]:
    """Return a decorator that replaces ``**options`` by the keyword arguments of a function.

    The signature shows them; a call with other names raises Python's TypeError.
    """
    plain = getattr(shared, "untraced", shared)  # has its own code while another is captured
    options = [p for p in inspect.signature(plain).parameters.values() if p.kind is p.KEYWORD_ONLY]

    def decorate(window: Window) -> Window:
        own = inspect.signature(window)
        *parameters, _ = own.parameters.values()
        signature = own.replace(parameters=[*parameters, *options])

        @functools.wraps(window)
        def checked(*args: Any, **given: Any) -> Any:
            for name in given.keys() - signature.parameters.keys():
                raise TypeError(f"{window.__name__}() got an unexpected keyword argument {name!r}")
            return window(*args, **given)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def sampled(formula: Formula, M: int, sym: bool) -> Array:
    """Return a symmetric or periodic window of ``M`` elements in float64."""
    extent = M if not sym and M > 1 else M - 1
    return formula(np.arange(M) - extent / 2, extent)


def triangle(k: Array, extent: float) -> Array:
    """Fall linearly from 1 in the middle to 0 at both ends."""
    return 1 - abs(k) * 2 / max(extent, 1)


def cosines(a: list[float]) -> Formula:
    """Return the formula of a sum of cosines with weights ``a``, scaled from the middle."""

    def formula(k: Array, extent: float) -> Array:
        turns = np.multiply.outer(np.arange(len(a)), 2 * math.pi * k / max(extent, 1))
        values: Array = np.asarray(a, np.float64) @ np.cos(turns)
        return values if k.size > 1 else np.ones(k.shape)

    return formula


def bessel(beta: float) -> Formula:
    """Return the formula of the Kaiser window: the modified Bessel function of order 0."""

    def formula(k: Array, extent: float) -> Array:
        inside = 1 - (2 * k / max(extent, 1)) ** 2
        return np.i0(beta * np.sqrt(np.maximum(inside, 0))) / np.i0(beta)

    return formula
