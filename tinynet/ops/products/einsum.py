"""Einstein summation.

An equation is parsed to one list of labels per operand and one for the result (letters; tuples for
the dimensions of an ellipsis). The operands are then contracted in pairs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from tinynet.core.declaration.operation import composite
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.arguments import refuse_other_elements
from tinynet.ops.products.matmul import bmm, mm, refused
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.diagonals import diagonal
from tinynet.ops.shaping.views import permute_dims, reshape, select

Label = Any  # a letter, or ("...", n): the n-th dimension of an ellipsis, counted from the last
Labels = list[Label]
# The letters of the sublist format, in order.
SUBSCRIPTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# ---- the equation -------------------------------------------------------------------------------


def _labels(part: str, offset: int, operand: int | None) -> Labels:
    """Return the labels of one operand, or of the output (``operand`` None); ``...`` is one."""
    labels: Labels = []
    i = 0
    where = "output" if operand is None else f"operand {operand}"
    while i < len(part):
        letter = part[i]
        if letter == ".":
            if "..." in labels:
                seen = (
                    "but an ellipsis (...) was" if operand is None else "for which an ellipsis was"
                )
                raise RuntimeError(f"einsum(): found '.' for {where} {seen} already found")
            if part[i : i + 3] != "...":
                what = "ellipsis (...)" if operand is None else "ellipsis"
                raise RuntimeError(
                    f"einsum(): found '.' for {where} that is not part of any {what}"
                )
            labels.append("...")
            i += 2
        elif letter in SUBSCRIPTS:
            labels.append(letter)
        elif letter != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {offset + i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        i += 1
    return labels


@functools.lru_cache(maxsize=1024)
def _parsed(equation: str, count: int) -> tuple[list[Labels], Labels | None]:
    """Return the labels of each operand, and of the output if the equation has an arrow."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != count:
        word = "fewer" if len(parts) > count else "more"
        raise RuntimeError(
            f"einsum(): {word} operands were provided than specified in the equation"
        )
    inputs, offset = [], 0
    for operand, part in enumerate(parts):
        inputs.append(_labels(part, offset, operand))
        offset += len(part) + 1
    return inputs, _labels(right, len(left) + 2, None) if arrow else None


def _spelled_out(labels: Labels, ndim: int, operand: int) -> Labels:
    """Return one label per dimension, with the ellipsis replaced by its dimensions."""
    named = len(labels) - ("..." in labels)
    if "..." not in labels and named != ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the "
            f"number of dimensions ({ndim}) for operand {operand} and no ellipsis was given"
        )
    if named > ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) is more than the "
            f"number of dimensions ({ndim}) for operand {operand}"
        )
    covered = [("...", n) for n in range(ndim - named, 0, -1)]
    return [x for label in labels for x in (covered if label == "..." else [label])]


def _output(wanted: Labels | None, inputs: list[Labels]) -> Labels:
    """Return the labels of the output, one per dimension."""
    every = [label for labels in inputs for label in labels]
    covered = sorted({x for x in every if isinstance(x, tuple)}, reverse=True)
    letters = [x for x in every if isinstance(x, str)]
    if wanted is None:
        return [*covered, *(x for x in sorted(set(letters)) if letters.count(x) == 1)]
    for i, label in enumerate(wanted):
        if label in wanted[:i]:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        if label != "..." and label not in letters:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any "
                "input operand"
            )
    return [x for label in wanted for x in (covered if label == "..." else [label])]


def _sizes(operands: Sequence[Tensor], inputs: list[Labels]) -> dict[Label, int]:
    """Return the size of each label's dimension; size 1 broadcasts."""
    sizes: dict[Label, int] = {}
    for i, (t, labels) in enumerate(zip(operands, inputs, strict=True)):
        own: dict[Label, int] = {}
        for label, n in zip(labels, t._array.shape, strict=True):
            if own.setdefault(label, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {i} but the sizes "
                    f"don't match, {n} != {own[label]}"
                )
            seen = sizes.get(label, 1)
            if 1 not in (seen, n) and seen != n:
                raise _misfit(label, i, n, seen, inputs)
            sizes[label] = n if seen == 1 else seen
    return sizes


def _misfit(label: Label, operand: int, n: int, seen: int, inputs: list[Labels]) -> Exception:
    if isinstance(label, str):
        return RuntimeError(
            f"einsum(): subscript {label} has size {n} for operand {operand} which does not "
            f"broadcast with previously seen size {seen}"
        )
    covered = max(x[1] for labels in inputs for x in labels if isinstance(x, tuple))
    return RuntimeError(
        f"einsum(): dimension {covered - label[1]} covered by ellipsis in operand {operand}"
        f"has size {n} which does not broadcast with previously seen ellipsis with size {seen} "
        "for the respective dimension"
    )


# ---- one operand --------------------------------------------------------------------------------


def _own(t: Tensor, labels: Labels, sizes: dict[Label, int]) -> tuple[Tensor, Labels]:
    """Reduce an operand to one dimension per label (diagonals), without broadcast dimensions."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            t = diagonal(t, 0, first, second)
            labels = [x for i, x in enumerate(labels) if i not in (first, second)] + [label]
    for label in [x for i, x in enumerate(labels) if t._array.shape[i] != sizes[x]]:
        t = select.function(t, labels.index(label), 0)
        labels.remove(label)
    return t, labels


def _summed(t: Tensor, labels: Labels, kept: Iterable[Label]) -> tuple[Tensor, Labels]:
    """Sum over the labels that are no longer needed."""
    gone = tuple(i for i, x in enumerate(labels) if x not in kept)
    if not gone:
        return t, labels
    return sum_dims.function(t, gone), [x for x in labels if x in kept]


def _arranged(t: Tensor, labels: Labels, order: Labels, shape: tuple[int, ...]) -> Tensor:
    """Permute and reshape an operand."""
    if labels != order:
        t = permute_dims.function(t, tuple(labels.index(x) for x in order))
    return t if t._array.shape == shape else reshape(t, shape)


# ---- two operands -------------------------------------------------------------------------------


def _contracted(
    a: Tensor, left: Labels, b: Tensor, right: Labels, kept: set[Label], sizes: dict[Label, int]
) -> tuple[Tensor, Labels]:
    """Multiply two operands and sum over the labels that no other operand needs."""
    a, left = _summed(a, left, kept.union(right))
    b, right = _summed(b, right, kept.union(left))
    shared = [x for x in left if x in right]
    batch, inner = [x for x in shared if x in kept], [x for x in shared if x not in kept]
    rows = [x for x in left if x not in shared]
    columns = [x for x in right if x not in shared]
    labels = [*batch, *rows, *columns]
    lengths = [tuple(sizes[x] for x in part) for part in (batch, rows, columns)]
    if not inner:
        ones = [(1,) * len(part) for part in lengths]
        a = _arranged(a, left, [*batch, *rows], lengths[0] + lengths[1] + ones[2])
        b = _arranged(b, right, [*batch, *columns], lengths[0] + ones[1] + lengths[2])
        return a * b, labels
    empty = 0 in (*a._array.shape, *b._array.shape)
    differ = a._array.dtype != b._array.dtype and mode.autocast is None
    if not empty and (differ or a._array.dtype.kind == "b"):
        raise refused("bmm", a._array, b._array)
    n, m, p = (math.prod(part) for part in lengths)
    k = math.prod(sizes[x] for x in inner)
    stack = (n,) if batch or empty else ()
    a = _arranged(a, left, [*batch, *rows, *inner], (*stack, m, k))
    b = _arranged(b, right, [*batch, *inner, *columns], (*stack, k, p))
    product = bmm.function(a, b) if stack else mm.function(a, b)
    whole = lengths[0] + lengths[1] + lengths[2]
    return product if product._array.shape == whole else reshape(product, whole), labels


def _cheapest(inputs: list[Labels], output: Labels, sizes: dict[Label, int]) -> tuple[int, int]:
    """Return the pair of operands whose product grows the least, or shrinks the most."""

    def growth(pair: tuple[int, int]) -> int:
        one, two = (inputs[i] for i in pair)
        kept = _needed(inputs, pair, output)
        made = math.prod(sizes[x] for x in {*one, *two} & kept)
        return made - math.prod(sizes[x] for x in one) - math.prod(sizes[x] for x in two)

    return min(combinations(range(len(inputs)), 2), key=growth)


def _needed(inputs: list[Labels], pair: tuple[int, int], output: Labels) -> set[Label]:
    """Return the labels of the output and of all operands but two."""
    return set(output).union(*(x for i, x in enumerate(inputs) if i not in pair))


# ---- public function ----------------------------------------------------------------------------


def _from_sublists(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """Convert the sublist format ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` to equation and
    operands.
    """
    parts = [_subscripts(x) for x in args[1::2]]
    equation = ",".join(parts)
    if len(args) % 2:
        equation += "->" + _subscripts(args[-1])
    return equation, list(args[: len(args) // 2 * 2 : 2])


def _subscripts(given: Any) -> str:
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"einsum(): a list of subscripts must follow each operand, not {type(given).__name__}"
        )
    for x in given:
        if x is not Ellipsis and not (isinstance(x, int) and 0 <= x < 52):
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52)"
            )
    return "".join("..." if x is Ellipsis else SUBSCRIPTS[x] for x in given)


@composite(method=False)
def einsum(*args: Any) -> Tensor:
    """Return sums of products of tensors by Einstein's summation convention.

    ``"ij,jk->ik"``: ``result[i, k] = sum over j of x[i, j] * y[j, k]``.

    Dimensions with the same label are multiplied elementwise; labels that the output lacks are
    summed over. A label that repeats in one operand takes a diagonal; ``...`` stands for any number
    of broadcast dimensions. Without an arrow, the output has the dimensions of the ellipsis, then
    the labels that appear once, in alphabetical order (capitals first).

    More than two operands are multiplied in pairs, always choosing the pair whose product grows the
    least.

    Args:
        args: the equation, then the operands (or one list of them); or each operand followed by a
            list of numbers in [0, 52) and ``...`` as labels, and last the list of the output.

    Raises:
        RuntimeError: the equation is invalid or does not fit the operands.

    Example:
        >>> x, w = tn.ones(5, 2, 3), tn.ones(4, 3)
        >>> tn.einsum("...i,oi->...o", x, w).shape
        tinynet.Size([5, 2, 4])
        >>> tn.einsum(w, [0, 1], w, [2, 1], [0, 2]).shape
        tinynet.Size([4, 4])
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if isinstance(args[0], str):
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
    else:
        equation, operands = _from_sublists(args)
    refuse_other_elements(1, operands)
    return _evaluated(equation, operands)


def _evaluated(equation: str, operands: list[Tensor]) -> Tensor:
    given, wanted = _parsed(equation, len(operands))
    inputs = [
        _spelled_out(labels, t._array.ndim, i)
        for i, (labels, t) in enumerate(zip(given, operands, strict=True))
    ]
    output = _output(wanted, inputs)
    sizes = _sizes(operands, inputs)
    only = operands[0]
    for i, t in enumerate(operands):
        operands[i], inputs[i] = _own(t, inputs[i], sizes)
    while len(operands) > 1:
        pair = (0, 1) if len(operands) == 2 else _cheapest(inputs, output, sizes)
        kept = _needed(inputs, pair, output)
        b, a = operands.pop(pair[1]), operands.pop(pair[0])
        right, left = inputs.pop(pair[1]), inputs.pop(pair[0])
        made, labels = _contracted(a, left, b, right, kept, sizes)
        operands.append(made)
        inputs.append(labels)
    result, labels = _summed(operands[0], inputs[0], output)
    if result is only:  # a view, not the operand itself
        return permute_dims.function(result, tuple(labels.index(x) for x in output))
    return _arranged(result, labels, output, tuple(sizes[x] for x in output))
