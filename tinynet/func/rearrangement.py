"""``rearrange``: reshaping and transposing by a pattern of names.

Source: A. Rogozhnikov, "Einops: clear and reliable tensor manipulations with Einstein-like
notation", ICLR 2022.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.ops import stack

_ELLIPSIS = "..."
_TOKEN = re.compile(r"\.\.\.|[()]|[^\s()]+")

Group = list[str]
_SPREAD: Group = [_ELLIPSIS]  # an ellipsis outside of parentheses: dimensions, not one made of them


def _side(text: str) -> list[Group]:
    """Return the groups of axes of one side; a plain axis is a group of one, ``1`` is empty."""
    if "." in text.replace(_ELLIPSIS, "") or text.count(_ELLIPSIS) > 1:
        raise ValueError("Expression may contain dots only inside ellipsis (...)")
    groups: list[Group] = []
    inside = False
    for token in _TOKEN.findall(text):
        if token == "(":
            if inside:
                raise ValueError(
                    "Axis composition is one-level (brackets inside brackets not allowed)"
                )
            inside = True
            groups.append([])
        elif token == ")":
            if not inside:
                raise ValueError("Brackets are not balanced")
            inside = False
        else:
            names = _names(token)
            if inside:
                groups[-1] += names
            else:
                groups.append(_SPREAD if token == _ELLIPSIS else names)
    if inside:
        raise ValueError(f"Imbalanced parentheses in expression: {text!r}")
    return groups


def _names(token: str) -> Group:
    if token == _ELLIPSIS:
        return [token]
    if token.isdecimal():
        if token != "1":
            raise ValueError("rearrange only supports unnamed axes of size 1")
        return []
    if not token.isidentifier() or token[0] == "_" or token[-1] == "_":
        raise ValueError(f"Invalid axis identifier: {token}")
    return [token]


def _check(left: list[Group], right: list[Group], pattern: str, sizes: dict[str, int]) -> None:
    """Refuse names that recur, or stand on one side only."""
    for groups in (left, right):
        names = [name for group in groups for name in group]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"Indexing expression contains duplicate dimension {name!r}")
    if any(_ELLIPSIS in group and group is not _SPREAD for group in left):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    here, there = ({name for group in groups for name in group} for groups in (left, right))
    if _ELLIPSIS in there - here:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if here != there:
        raise ValueError(
            "Identifiers only on one side of rearrange expression (should be on both): "
            f"{here ^ there}"
        )
    if sizes.keys() - here:
        raise ValueError(f"Identifiers not found in rearrange expression: {sizes.keys() - here}")
    for length in sizes.values():
        if not isinstance(length, int):
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")


def _lengths(group: Group, n: int, sizes: dict[str, int]) -> dict[str, int]:
    """Return the lengths of the axes that a dimension of ``n`` elements is made of."""
    given = {name: sizes[name] for name in group if name in sizes}
    unknown = [name for name in group if name not in sizes]
    rest, left_over = divmod(n, max(math.prod(given.values()), 1))
    if len(unknown) > 1:
        raise ValueError(
            f"cannot infer the sizes of two dimensions at once {unknown[0]} and {unknown[1]}"
        )
    if left_over or (not unknown and rest != 1):
        raise ValueError(f"The lengths {given} do not fit a dimension of {n} elements.")
    return {name: given.get(name, rest) for name in group}


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """Rearrange the dimensions of a tensor by a pattern such as ``"b (h w) c -> b c h w"``.

    Both sides of ``->`` name the dimensions. Names in parentheses are one dimension, made of
    several; ``1`` and ``()`` are dimensions of one element; ``...`` stands for any number of them.
    The result is a view where it can be one (Rogozhnikov 2022).

    Args:
        tensor: the tensor; of a list of them, the first name is the place in the list.
        pattern: names of the dimensions before and after.
        **axes_lengths: the lengths of named parts; of each dimension, one can be left out.

    Raises:
        ValueError: a pattern that cannot be read, does not fit the tensor, or has names on one side
            only; lengths that do not fit.
        TypeError: a length that is not an integer.

    Example:
        >>> image = tn.zeros(2, 3, 4, 6)
        >>> tn.func.rearrange(image, "b c (h p) (w q) -> b (h w) (c p q)", p=2, q=2).shape
        tinynet.Size([2, 6, 12])
    """
    x = tensor if isinstance(tensor, Tensor) else stack(tensor)
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = map(_side, sides)
    _check(left, right, pattern, axes_lengths)
    free = x.ndim - sum(group is not _SPREAD for group in left)
    if free < 0 or (free and _SPREAD not in left):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of "
            f"dimensions in the tensor ({x.ndim})"
        )
    spread = [f"{_ELLIPSIS}{i}" for i in range(free)]  # the dimensions that ... stands for
    dims = [[n] for n in spread]
    left = [g for group in left for g in (dims if group is _SPREAD else [group])]
    sizes: dict[str, int] = {}
    for group, n in zip(left, x.shape, strict=True):
        sizes |= _lengths(group, n, axes_lengths)
    order = list(sizes)
    x = x.reshape([sizes[name] for name in order])
    right = [g for group in right for g in (dims if group is _SPREAD else [group])]
    right = [[m for name in g for m in (spread if name == _ELLIPSIS else [name])] for g in right]
    x = x.permute([order.index(name) for group in right for name in group])
    return x.reshape([math.prod(sizes[name] for name in group) for group in right])
