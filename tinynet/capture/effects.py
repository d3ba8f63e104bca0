"""Functions that only programs call: for effects and views that operations do not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.callsite import here
from tinynet.core.tensors.tensor import Tensor, counter_of


def bump(t: Tensor, what: str) -> None:
    """Count a write to ``t``."""
    counter_of(t).bump(here(), what)


def bump_gradient(t: Tensor, what: str) -> None:
    """Count a write to the gradient of ``t``."""
    bump(t._grad, what)  # type: ignore[arg-type]


def gradient(t: Tensor) -> Any:
    """Return the array of ``t.grad``."""
    return t._grad._array  # type: ignore[union-attr]


def view_of(base: Any, offset: int, shape: Any, dtype: Any, strides: Any) -> Any:
    """Return a view of an array by its offset in bytes and its strides."""
    return np.ndarray(shape, dtype, base, offset, strides)
