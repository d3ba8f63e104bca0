"""Einstein summation.

An equation is parsed to one list of labels per operand and one for the result (letters; tuples for
the dimensions of an ellipsis). The operands are then contracted in pairs. The steps depend on the
equation and the shapes only, so they are planned once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from operator import mul
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


def _sizes(shapes: Sequence[tuple[int, ...]], inputs: list[Labels]) -> dict[Label, int]:
    """Return the size of each label's dimension; size 1 broadcasts."""
    sizes: dict[Label, int] = {}
    for i, (shape, labels) in enumerate(zip(shapes, inputs, strict=True)):
        own: dict[Label, int] = {}
        for label, n in zip(labels, shape, strict=True):
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


# ---- the plan -----------------------------------------------------------------------------------


_Step = tuple[Callable[..., Tensor], tuple[int, ...], tuple[Any, ...]]


class _Steps(list[_Step]):
    """The steps of a plan, and the number of operands in front of their results."""

    def __init__(self, operands: int):
        super().__init__()
        self.operands = operands


class _Planned:
    """An operand or intermediate result: its number, shape and labels, one per dimension.

    Methods append to ``steps``: a function, the numbers of its operands, and its other arguments.
    The result of step k has number k after the operands.
    """

    def __init__(self, steps: _Steps, number: int, shape: tuple[int, ...], labels: Labels):
        self.steps, self.number, self.shape, self.labels = steps, number, shape, labels

    def _then(self, shape: tuple[int, ...], labels: Labels, function: Any, *args: Any) -> _Planned:
        return _joined((self,), shape, labels, function, *args)

    def own(self, sizes: dict[Label, int]) -> _Planned:
        """Reduce to one dimension per label (diagonals), without broadcast dimensions."""
        x = self
        for label in dict.fromkeys(x.labels):
            while x.labels.count(label) > 1:
                first = x.labels.index(label)
                second = x.labels.index(label, first + 1)
                labels = [y for i, y in enumerate(x.labels) if i not in (first, second)] + [label]
                shape = tuple(n for i, n in enumerate(x.shape) if i not in (first, second))
                shape += (x.shape[first],)
                x = x._then(shape, labels, diagonal, 0, first, second)
        for label in [y for n, y in zip(x.shape, x.labels, strict=True) if n != sizes[y]]:
            i = x.labels.index(label)
            left = x.labels[:i] + x.labels[i + 1 :]
            x = x._then(x.shape[:i] + x.shape[i + 1 :], left, select.function, i, 0)
        return x

    def summed(self, kept: Iterable[Label]) -> _Planned:
        """Sum over the labels that are no longer needed."""
        gone = tuple(i for i, y in enumerate(self.labels) if y not in kept)
        if not gone:
            return self
        shape = tuple(n for i, n in enumerate(self.shape) if i not in gone)
        left = [y for y in self.labels if y in kept]
        return self._then(shape, left, sum_dims.function, gone)

    def permuted(self, order: Labels) -> _Planned:
        places = tuple(self.labels.index(y) for y in order)
        shape = tuple(self.shape[i] for i in places)
        return self._then(shape, order, permute_dims.function, places)

    def arranged(self, order: Labels, shape: tuple[int, ...]) -> _Planned:
        """Permute and reshape."""
        x = self if self.labels == order else self.permuted(order)
        return x if x.shape == shape else x._then(shape, order, reshape, shape)


def _joined(
    inputs: tuple[_Planned, ...],
    shape: tuple[int, ...],
    labels: Labels,
    function: Any,
    *args: Any,
) -> _Planned:
    """Append a step of one or two operands; return its result."""
    steps = inputs[0].steps
    steps.append((function, tuple(x.number for x in inputs), args))
    return _Planned(steps, steps.operands + len(steps) - 1, shape, labels)


def _contracted(a: _Planned, b: _Planned, kept: set[Label], sizes: dict[Label, int]) -> _Planned:
    """Multiply two operands and sum over the labels that no other operand needs."""
    a, b = a.summed(kept.union(b.labels)), b.summed(kept.union(a.labels))
    shared = [x for x in a.labels if x in b.labels]
    batch, inner = [x for x in shared if x in kept], [x for x in shared if x not in kept]
    rows = [x for x in a.labels if x not in shared]
    columns = [x for x in b.labels if x not in shared]
    labels = [*batch, *rows, *columns]
    lengths = [tuple(sizes[x] for x in part) for part in (batch, rows, columns)]
    whole = lengths[0] + lengths[1] + lengths[2]
    if not inner:
        ones = [(1,) * len(part) for part in lengths]
        a = a.arranged([*batch, *rows], lengths[0] + lengths[1] + ones[2])
        b = b.arranged([*batch, *columns], lengths[0] + ones[1] + lengths[2])
        return _joined((a, b), whole, labels, mul)
    n, m, p = (math.prod(part) for part in lengths)
    k = math.prod(sizes[x] for x in inner)
    stack = (n,) if batch or 0 in (*a.shape, *b.shape) else ()
    a = a.arranged([*batch, *rows, *inner], (*stack, m, k))
    b = b.arranged([*batch, *inner, *columns], (*stack, k, p))
    product = _joined((a, b), (*stack, m, p), labels, _product)
    return product.arranged(labels, whole)


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Return the product of matrices or of stacks of them."""
    differ = a._array.dtype != b._array.dtype and mode.autocast is None
    empty = 0 in (*a._array.shape, *b._array.shape)
    if not empty and (differ or a._array.dtype.kind == "b"):
        raise refused("bmm", a._array, b._array)
    return (mm if a._array.ndim == 2 else bmm).function(a, b)


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


@functools.lru_cache(maxsize=1024)
def _plan(equation: str, shapes: tuple[tuple[int, ...], ...]) -> _Steps:
    """Return the steps of an equation on operands of given shapes."""
    given, wanted = _parsed(equation, len(shapes))
    inputs = [
        _spelled_out(labels, len(shape), i)
        for i, (labels, shape) in enumerate(zip(given, shapes, strict=True))
    ]
    output = _output(wanted, inputs)
    sizes = _sizes(shapes, inputs)
    steps = _Steps(len(shapes))
    terms = [
        _Planned(steps, i, shape, labels).own(sizes)
        for i, (shape, labels) in enumerate(zip(shapes, inputs, strict=True))
    ]
    while len(terms) > 1:
        inputs = [x.labels for x in terms]
        pair = (0, 1) if len(terms) == 2 else _cheapest(inputs, output, sizes)
        kept = _needed(inputs, pair, output)
        b, a = terms.pop(pair[1]), terms.pop(pair[0])
        terms.append(_contracted(a, b, kept, sizes))
    result = terms[0].summed(output)
    if steps:
        result.arranged(output, tuple(sizes[x] for x in output))
    else:  # a view, not the operand itself
        result.permuted(output)
    return steps


def _evaluated(equation: str, operands: list[Tensor]) -> Tensor:
    values: list[Any] = operands
    for function, inputs, args in _plan(equation, tuple([t._array.shape for t in operands])):
        values.append(function(*[values[i] for i in inputs], *args))
        for i in inputs:
            values[i] = None  # used once: frees its memory
    return values[-1]
