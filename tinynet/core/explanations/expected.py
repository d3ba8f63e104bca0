"""The shapes that a layer expects, beside the one that it got: what differs, and the fix.

A layer states its shapes as patterns of its options, such as ``"[N, {in_channels}, {sizes}]"``.
Two names are not options: ``{sizes}`` is ``H, W`` for a layer of two dimensions, and ``{order}`` is
``L, N``, or ``N, L`` for a layer with ``batch_first``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor

_SIZES = {1: "L", 2: "H, W", 3: "D, H, W"}


def expected(layer: Any, value: Any) -> tuple[str, str]:
    """Return what a layer expects in place of ``value``, and the fix; "" for what is not known.

    Example:
        >>> from tinynet.core.explanations.expected import expected
        >>> expected(nn.Conv2d(1, 8, 3), tn.zeros(5, 28, 28))
        ('float32 [N, 1, H, W] or [1, H, W]', '`x.unsqueeze(1)` adds the missing dimension')
        >>> expected(nn.Linear(784, 10), tn.zeros(5, 1, 28, 28))
        ('float32 [..., 784]', 'flatten it first: `x.flatten(1)`, or nn.Flatten()')
        >>> expected(nn.Linear(16, 10), tn.zeros(8, 32))[1]
        'make the layer with `in_features=32`, or the last dimension of its input 16'
    """
    patterns = [_Pattern(text, layer) for text in layer._expected_shapes]
    if not patterns or not isinstance(value, Tensor):
        return "", ""
    text = f"{_dtype_of(layer)} {' or '.join(pattern.text for pattern in patterns)}".strip()
    shape = [*value.shape]
    if any(pattern.fits(shape) for pattern in patterns):
        same = _dtype_of(layer) in ("", str(value.dtype).rpartition(".")[2])
        return "" if same else text, ""
    fixes = (fix(pattern, shape) for fix in _FIXES for pattern in patterns)
    return text, next(filter(None, fixes), "")


def _dtype_of(layer: Any) -> str:
    kinds = (str(p.dtype).rpartition(".")[2] for p in layer.parameters() if p.is_floating_point())
    return getattr(layer, "_expected_dtype", None) or next(kinds, "")


class _Pattern:
    """A shape that a layer expects.

    Attributes:
        text: the shape, with the values of the layer's options.
        dims: the length of each dimension, or None for any.
        options: the name of the option that each length is.
        before, after: whether other dimensions may come before these, or after them.
    """

    def __init__(self, text: str, layer: Any):
        parts: list[tuple[str, str]] = []  # the text of a dimension, and the option that it is
        for part in text[1:-1].split(", "):
            name = part.strip("{}")
            value = _option(layer, name) if part != name else part
            parts += [(dim, name) for dim in value.split(", ")]
        self.text = f"[{', '.join(dim for dim, _ in parts)}]"
        self.before, self.after = parts[0][0] == "...", parts[-1][0] == "..."
        parts = [(dim, name) for dim, name in parts if dim != "..."]
        self.dims = [int(dim) if dim.isdecimal() else None for dim, _ in parts]
        self.options = [name for _, name in parts]

    def fits(self, shape: Sequence[int]) -> bool:
        """Return whether a shape is as expected."""
        more = len(shape) - len(self.dims)
        if more < 0 or more and not (self.before or self.after):
            return False
        return all(d in (None, n) for d, n in zip(self.dims, self.part(shape), strict=True))

    def part(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the dimensions of a shape that the pattern is about."""
        count = len(self.dims)
        return shape[len(shape) - count :] if self.before else shape[:count]


def _option(layer: Any, name: str) -> str:
    if name == "sizes":
        return _SIZES[layer.rank]
    if name == "order":
        return "N, L" if layer.batch_first else "L, N"
    value = getattr(layer, name)
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


# ---- fixes: each returns "" where it does not lead to the shape ---------------------------------


def _add_dimension(pattern: _Pattern, shape: list[int]) -> str:
    if len(shape) + 1 == len(pattern.dims):
        ones = [d for d, length in enumerate(pattern.dims) if length == 1]
        for d in [*ones, *range(len(shape) + 1)]:
            if pattern.fits([*shape[:d], 1, *shape[d:]]):
                return f"`x.unsqueeze({d})` adds the missing dimension"
    return ""


def _flatten(pattern: _Pattern, shape: list[int]) -> str:
    if pattern.before and len(pattern.dims) == 1:
        for d in range(1, len(shape) - 1):
            if pattern.fits([math.prod(shape[d:])]):
                return f"flatten it first: `x.flatten({d})`" + ", or nn.Flatten()" * (d == 1)
    return ""


def _move_dimension(pattern: _Pattern, shape: list[int]) -> str:
    """Move one dimension, but not the first, which is the batch."""
    count = len(shape)
    for source in range(count - 1, 0, -1):
        for target in range(1, count):
            order = [d for d in range(count) if d != source]
            order.insert(target, source)
            if source != target and pattern.fits([shape[d] for d in order]):
                if abs(source - target) == 1:
                    return f"`x.transpose({min(source, target)}, {max(source, target)})` first"
                return f"`x.permute({', '.join(map(str, order))})` first"
    return ""


def _change_option(pattern: _Pattern, shape: list[int]) -> str:
    """Change the one option that differs."""
    more = len(shape) - len(pattern.dims)
    if more < 0 or more and not (pattern.before or pattern.after):
        return ""
    wrong = [
        (d, n, name, position)
        for position, (d, n, name) in enumerate(
            zip(pattern.dims, pattern.part(shape), pattern.options, strict=True)
        )
        if d not in (None, n)
    ]
    if len(wrong) != 1:
        return ""
    wanted, found, name, position = wrong[0]
    last = pattern.before and position == len(pattern.dims) - 1
    where = "the last dimension" if last else f"dimension {position + pattern.before * more}"
    return f"make the layer with `{name}={found}`, or {where} of its input {wanted}"


_FIXES = (_add_dimension, _flatten, _move_dimension, _change_option)
