"""Strides of results, for inputs that lie in memory in other orders; needs no PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .columns import Column
from .outcomes import AbsentError, is_tensor, tensors

EMPTY = "numpy has no strides for arrays without elements"
LONE = "the stride of a dimension of length 1, which moves no element"
# Patterns of an operation and a variant.
KNOWN: dict[str, str] = {
    r"stack channels last": "images of one row and one channel, whose order is ambiguous",
    r"linalg\.(ldl_solve|lu_factor) (first )?expanded": "singular; PyTorch does not see it",
    r"(as_strided_scatter|cholesky|linalg\.(cond|pinv\.hermitian)) empty": (
        "refused, as for other sizes"
    ),
}
COLUMN = Column("strides", KNOWN)


def _reversed(t: Any) -> Any:
    order = tuple(reversed(range(t.ndim)))
    return t.permute(order).contiguous().permute(order)


def _swapped(t: Any) -> Any:
    return t.transpose(-1, -2).contiguous().transpose(-1, -2) if t.ndim > 1 else t


def _channels_last(t: Any) -> Any:
    """Return a tensor whose second dimension is the fastest."""
    if t.ndim < 3:
        return t
    back = (0, t.ndim - 1, *range(1, t.ndim - 1))
    return t.permute(0, *range(2, t.ndim), 1).contiguous().permute(back)


def _expanded(t: Any) -> Any:
    return t[:1].expand(tuple(t.shape)) if t.ndim and t.shape[0] else t


def _sliced(t: Any) -> Any:
    """Return a tensor that skips every second element of its memory."""
    if not t.ndim:
        return t
    wide = t.new_zeros((*tuple(t.shape)[:-1], 2 * t.shape[-1]))
    wide[..., ::2] = t
    return wide[..., ::2]


def _empty(t: Any) -> Any:
    return t[:0] if t.ndim else t


def _itself(t: Any) -> Any:
    return t


# What becomes of the first tensor of a call, and of the others.
VARIANTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "given": (_itself, _itself),
    "reversed": (_reversed, _reversed),
    "first reversed": (_reversed, _itself),
    "others reversed": (_itself, _reversed),
    "swapped": (_swapped, _swapped),
    "channels last": (_channels_last, _channels_last),
    "first channels last": (_channels_last, _itself),
    "expanded": (_expanded, _expanded),
    "first expanded": (_expanded, _itself),
    "sliced": (_sliced, _sliced),
    "empty": (_empty, _empty),
}
Strides = list[tuple[list[int], list[int]]]


def laid_out(value: Any, variant: str, memo: dict[int, Any]) -> Any:
    """Return arguments with their tensors in another order in memory, without history."""
    if is_tensor(value):
        if id(value) not in memo:
            change = VARIANTS[variant][len(memo) > 0]
            usual = "strided" in str(getattr(value, "layout", "strided"))
            memo[id(value)] = change(value.detach()) if usual else value
        return memo[id(value)]
    if type(value) in (tuple, list):
        return type(value)(laid_out(v, variant, memo) for v in value)
    if isinstance(value, dict):
        return {k: laid_out(v, variant, memo) for k, v in value.items()}
    return value


def strides(function: Callable[..., Any], args: Any, kwargs: Any, variant: str) -> Strides | None:
    """Return shape and strides of each tensor of a result; None where the call raises."""
    memo: dict[int, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*laid_out(args, variant, memo), **laid_out(kwargs, variant, memo))
            found = [t for t in tensors(result) if "strided" in str(getattr(t, "layout", ""))]
            return [(list(t.shape), list(t.stride())) for t in found]
        except AbsentError:
            raise
        except Exception:
            return None


def essential(found: Strides) -> list[Any]:
    """Return the strides that move to another element: see ``EMPTY`` and ``LONE``."""
    return [
        [None if n == 1 else step for n, step in zip(shape, steps, strict=True)]
        if 0 not in shape
        else None
        for shape, steps in found
    ]


def difference(theirs: Strides, ours: Strides | None) -> str | None:
    """Return in what the strides of results differ from PyTorch's; None where they do not."""
    if ours is None:
        return f"raises, instead of {theirs}"
    pairs = [[(tuple(s), tuple(t)) for s, t in found] for found in (theirs, ours)]
    if [s for s, _ in pairs[0]] != [s for s, _ in pairs[1]]:
        return None  # other shapes, such as those of random results, are compared elsewhere
    return None if essential(theirs) == essential(ours) else f"{ours}, not {theirs}"
