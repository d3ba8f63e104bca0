"""LLVM's code for the vectors of ``streams``: its functions say what it computes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tinynet.numba_kernels.llvm.vectors import LANES, many_registers

ROWS, PLACES = 8, 2 * LANES  # of a tile
LEFT, RIGHT, BLOCK = 4, 6, 32  # of a block of dot products; its numbers, 24 and 8 zeros
_NAMES = {"float": "f32", "i8": "i8"}  # of types, in those of LLVM's own functions


class Code:
    """What an emitter writes to: pointers are given in float32 numbers."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any):
        from llvmlite import ir
        from numba.core import cgutils, types

        self.ir, self.builder, self.tools = ir, builder, cgutils
        self.vector = ir.VectorType(ir.FloatType(), LANES)
        self.index, self.word = ir.IntType(64), ir.IntType(32)
        self.flags = ir.VectorType(ir.IntType(1), LANES)
        self.bytes = ir.VectorType(ir.IntType(8), LANES)
        self.arguments: list[Any] = []
        self.sizes: list[Any] = []
        for kind, value in zip(signature.args, arguments, strict=True):
            array = isinstance(kind, types.Array)
            made = context.make_array(kind)(context, builder, value) if array else None
            self.arguments.append(value if made is None else made.data)
            self.sizes.append(made and cgutils.unpack_tuple(builder, made.shape)[0])

    def at(self, pointer: Any, *steps: Any) -> Any:
        """Return a pointer so many numbers further on."""
        for step in steps:
            pointer = self.builder.gep(pointer, [self.number(step)])
        return pointer

    def number(self, n: Any) -> Any:
        """Return a value for an integer; values are returned as they are."""
        return self.ir.Constant(self.index, n) if isinstance(n, int) else n

    def times(self, n: Any, factor: int) -> Any:
        """Return the product of a value and an integer."""
        return self.builder.mul(n, self.number(factor))

    def whole(self, pointer: Any) -> Any:
        """Return the pointer, to a vector."""
        return self.builder.bitcast(pointer, self.vector.as_pointer())

    def load(self, pointer: Any) -> Any:
        """Return the vector that is found there."""
        return self.builder.load(self.whole(pointer), align=4)

    def store(self, vector: Any, pointer: Any) -> None:
        """Write a vector there."""
        self.builder.store(vector, self.whole(pointer), align=4)

    def constant(self, n: float | np.floating[Any]) -> Any:
        """Return a vector of equal numbers."""
        return self.ir.Constant(self.vector, [float(n)] * LANES)

    def spread(self, one: Any) -> Any:
        """Return a vector of equal numbers, each a value."""
        word = self.word
        kind = self.ir.VectorType(one.type, LANES)
        nothing = self.ir.Constant(kind, self.ir.Undefined)
        vector = self.builder.insert_element(nothing, one, self.ir.Constant(word, 0))
        zeros = self.ir.Constant(self.ir.VectorType(word, LANES), [0] * LANES)
        return self.builder.shuffle_vector(vector, nothing, zeros)

    def shuffled(self, one: Any, other: Any, lanes: Sequence[int]) -> Any:
        """Return the numbers at some places of two vectors, those of the second from 16 on."""
        kind = self.ir.VectorType(self.word, LANES)
        return self.builder.shuffle_vector(one, other, self.ir.Constant(kind, [*lanes]))

    def plus_product(self, total: Any, one: Any, other: Any) -> Any:
        """Return ``total + one * other``, rounded once."""
        product = self.builder.fmul(one, other, flags=("contract",))
        return self.builder.fadd(total, product, flags=("contract",))

    def totals(self, rows: int, columns: int) -> list[list[Any]]:
        """Return places for vectors, zeros, that LLVM puts into registers."""
        made = [
            [self.tools.alloca_once(self.builder, self.vector) for _ in range(columns)]
            for _ in range(rows)
        ]
        for place in sum(made, []):
            self.builder.store(self.constant(0), place)
        return made

    def add(self, place: Any, one: Any, other: Any) -> None:
        """Add a product to what is kept at a place."""
        total = self.plus_product(self.builder.load(place), one, other)
        self.builder.store(total, place)

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return one of LLVM's own functions."""
        kind = self.ir.FunctionType(result, arguments)
        return self.tools.get_or_insert_function(self.builder.module, kind, name)

    def mask(self, first: Any, width: Any) -> Any:
        """Return which places of a vector are less than a width; it begins at the first."""
        lanes = self.ir.Constant(self.ir.VectorType(self.word, LANES), [*range(LANES)])
        left = self.builder.trunc(self.builder.sub(width, first), self.word)
        return self.builder.icmp_signed("<", lanes, self.spread(left))

    @contextlib.contextmanager
    def vectors(self, width: Any) -> Iterator[Any]:
        """Write a loop over a row, vector by vector; give where each begins."""
        with self.tools.for_range(self.builder, self.vectors_of(width)) as loop:
            yield self.times(loop.index, LANES)

    @contextlib.contextmanager
    def vectors_from(self, first: Any, width: Any) -> Iterator[Any]:
        """Write such a loop that begins with another vector than the first."""
        bounds = first, self.vectors_of(width), self.number(1)
        with self.tools.for_range_slice(self.builder, *bounds, intp=self.index) as (vector, _):
            yield self.times(vector, LANES)

    def vectors_of(self, width: Any) -> Any:
        """Return how many vectors hold a row."""
        last = self.builder.add(width, self.number(LANES - 1))
        return self.builder.udiv(last, self.number(LANES))

    def masked_load(self, pointer: Any, mask: Any) -> Any:
        """Return the vector that is found there, zeros where it is not wanted."""
        kind = self.vector_of(pointer)
        align, zeros = self.ir.Constant(self.word, 1), self.ir.Constant(kind, [0] * LANES)
        arguments = self.builder.bitcast(pointer, kind.as_pointer()), align, mask, zeros
        name = f"llvm.masked.load.v16{_NAMES[str(kind.element)]}.p0"
        load = self.function(name, kind, *(a.type for a in arguments))
        return self.builder.call(load, arguments)

    def masked_store(self, vector: Any, pointer: Any, mask: Any) -> None:
        """Write the numbers of a vector that are wanted."""
        place = self.builder.bitcast(pointer, vector.type.as_pointer())
        arguments = vector, place, self.ir.Constant(self.word, 1), mask
        name = f"llvm.masked.store.v16{_NAMES[str(vector.type.element)]}.p0"
        store = self.function(name, self.ir.VoidType(), *(a.type for a in arguments))
        self.builder.call(store, arguments)

    def vector_of(self, pointer: Any) -> Any:
        """Return the type of a vector of what a pointer points to."""
        return self.ir.VectorType(pointer.type.pointee, LANES)


def _tile_block(code: Code, row: int, rows: int, column: int, vectors: int) -> None:
    weights, first, x, start, offsets, out, at, step = code.arguments
    totals = code.totals(rows, vectors)
    with code.tools.for_range(code.builder, code.sizes[4]) as loop:
        k = loop.index
        offset = code.builder.load(code.at(offsets, k))
        seen = code.at(x, start, offset, column)
        places = [code.load(code.at(seen, v * LANES)) for v in range(vectors)]
        of_k = code.at(weights, first, code.times(k, ROWS), row)
        for r in range(rows):
            weight = code.spread(code.builder.load(code.at(of_k, r)))
            for total, place in zip(totals[r], places, strict=True):
                code.add(total, weight, place)
    for r in range(rows):
        target = code.at(out, at, code.times(step, row + r), column)
        for v in range(vectors):
            code.store(code.builder.load(totals[r][v]), code.at(target, v * LANES))


def tile_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``streams.tile``."""
    code = Code(context, builder, signature, arguments)
    rows, vectors = (ROWS, 2) if many_registers() else (ROWS // 2, 1)
    for row in range(0, ROWS, rows):
        for column in range(0, PLACES, vectors * LANES):
            _tile_block(code, row, rows, column, vectors)
    return context.get_dummy_value()


def _dots_block(code: Code, left: range, right: range, totals: list[list[Any]]) -> None:
    y, y_start, y_step, x, start, offsets, first, length, _, _ = code.arguments
    ys = [code.at(y, y_start, code.times(y_step, i)) for i in left]
    places = [code.builder.load(code.at(offsets, first, j)) for j in right]
    xs = [code.at(x, start, place) for place in places]
    count = code.builder.udiv(length, code.number(LANES))
    with code.tools.for_range(code.builder, count) as loop:
        place = code.times(loop.index, LANES)
        of_y = [code.load(code.at(pointer, place)) for pointer in ys]
        for j, pointer in zip(right, xs, strict=True):
            of_x = code.load(code.at(pointer, place))
            for i, one in zip(left, of_y, strict=True):
                code.add(totals[i][j], one, of_x)


def _summed(code: Code, vectors: list[Any]) -> Any:
    """Return the vector of the sums of up to 16 vectors.

    Two vectors become one, with sums of half as many places of each, until one is left.
    """
    vectors = vectors + [code.constant(0)] * (LANES - len(vectors))
    half = LANES // 2
    while half:
        low = [i & ~half | (LANES if i & half else 0) for i in range(LANES)]
        high = [i + half for i in low]
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [
            code.builder.fadd(*(code.shuffled(one, other, lanes) for lanes in (low, high)))
            for one, other in pairs
        ]
        half //= 2
    return vectors[0]


def dots_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``streams.dots``."""
    code = Code(context, builder, signature, arguments)
    *_, out, at = code.arguments
    part = 1 if many_registers() else 2
    left, right, totals = LEFT // part, RIGHT // part, code.totals(LEFT, RIGHT)
    for i in range(0, LEFT, left):
        for j in range(0, RIGHT, right):
            _dots_block(code, range(i, i + left), range(j, j + right), totals)
    flat = [builder.load(total) for row in totals for total in row]
    for first in range(0, len(flat), LANES):
        target = code.at(out, at, first)
        sums = _summed(code, flat[first : first + LANES])
        code.store(builder.fadd(code.load(target), sums), target)
    return context.get_dummy_value()


def _combined(code: Code, factors: Sequence[float], rows: Sequence[Any], total: Any) -> Any:
    """Return the total plus the sum of vectors times numbers."""
    for factor, row in zip(factors, rows, strict=True):
        if factor == 1:
            total = code.builder.fadd(total, row)
        elif factor:
            total = code.plus_product(total, code.constant(factor), row)
    return total


def combine_code(matrix: Sequence[Sequence[float]]) -> Callable[..., Any]:
    """Return an emitter of the code of ``streams``' functions that multiply rows by a matrix."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Code(context, builder, signature, arguments)
        x, start, step, low, high, width, offset, out, at, out_step, count = code.arguments
        nothing = code.ir.Constant(code.flags, [0] * LANES)
        with code.vectors(width) as first:
            mask, rows = code.mask(first, width), []
            for r in range(len(matrix[0])):
                there = builder.and_(
                    builder.icmp_signed("<=", low, code.number(r)),
                    builder.icmp_signed("<", code.number(r), high),
                )
                chosen = builder.select(there, mask, nothing)
                place = code.at(x, start, code.times(step, r), first)
                rows.append(code.masked_load(place, chosen))
            for j, factors in enumerate(matrix):
                made = _combined(code, factors, rows, code.spread(offset))
                wanted = builder.icmp_signed("<", code.number(j), count)
                chosen = builder.select(wanted, mask, nothing)
                place = code.at(out, at, code.times(out_step, j), first)
                code.masked_store(made, place, chosen)
        return context.get_dummy_value()

    return emit


def _pairs(code: Code, pointer: Any, first: Any, width: Any) -> tuple[Any, Any]:
    """Return the even and the odd ones of 32 numbers from twice the first, zeros from the width."""
    twice = code.times(first, 2)
    low, high = (
        code.masked_load(
            code.at(pointer, twice, i),
            code.mask(code.builder.add(twice, code.number(i)), width),
        )
        for i in (0, LANES)
    )
    even, odd = (code.shuffled(low, high, range(i, 2 * LANES, 2)) for i in (0, 1))
    return even, odd


def halved_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``streams.halved``."""
    code = Code(context, builder, signature, arguments)
    x, start, width, out, at = code.arguments
    seen = builder.sub(code.times(width, 2), code.number(1))
    with code.vectors(width) as first:
        even, _ = _pairs(code, code.at(x, start), first, seen)
        code.masked_store(even, code.at(out, at, first), code.mask(first, width))
    return context.get_dummy_value()


def doubled_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``streams.doubled``."""
    code = Code(context, builder, signature, arguments)
    x, start, width, offset, out, at = code.arguments
    even = code.ir.Constant(code.flags, [1, 0] * (LANES // 2))
    with code.vectors(width) as first:
        found = code.masked_load(code.at(x, start, first), code.mask(first, width))
        found = builder.fadd(found, code.spread(offset))
        for half in (0, LANES):
            lanes = [half // 2 + i // 2 for i in range(LANES)]
            place = builder.add(code.times(first, 2), code.number(half))
            wanted = builder.and_(even, code.mask(place, code.times(width, 2)))
            code.masked_store(code.shuffled(found, found, lanes), code.at(out, at, place), wanted)
    return context.get_dummy_value()


def peaks_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``pooling.peaks_of_rows``."""
    code = Code(context, builder, signature, arguments)
    x, start, step, width, best, offsets, at = code.arguments
    with code.vectors(width) as first:
        rows = code.at(x, start), code.at(x, start, step)
        seen = code.times(width, 2)
        found = [part for row in rows for part in _pairs(code, row, first, seen)]
        most, place = found[0], code.ir.Constant(code.bytes, [0] * LANES)
        for offset, one in enumerate(found[1:], 1):
            more = builder.fcmp_ordered(">", one, most)
            wins = builder.or_(more, builder.fcmp_unordered("uno", one, one))
            most = builder.select(wins, one, most)
            number = code.ir.Constant(code.bytes, [offset] * LANES)
            place = builder.select(wins, number, place)
        mask = code.mask(first, width)
        code.masked_store(most, code.at(best, at, first), mask)
        code.masked_store(place, code.at(offsets, at, first), mask)
    return context.get_dummy_value()


def spread_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``pooling.spread_to_rows``."""
    code = Code(context, builder, signature, arguments)
    g, offsets, at, width, out, start, step = code.arguments
    with code.vectors(width) as first:
        mask, twice = code.mask(first, width), code.times(first, 2)
        numbers = code.masked_load(code.at(g, at, first), mask)
        places = code.masked_load(code.at(offsets, at, first), mask)
        parts = []
        for offset in range(4):
            here = builder.icmp_signed("==", places, code.ir.Constant(code.bytes, [offset] * LANES))
            parts.append(builder.select(here, numbers, code.constant(0)))
        for row in range(2):
            target = code.at(out, start, code.times(step, row), twice)
            for half in (0, LANES):
                lanes = [half // 2 + i // 2 + LANES * (i % 2) for i in range(LANES)]
                made = code.shuffled(parts[2 * row], parts[2 * row + 1], lanes)
                wanted = code.mask(builder.add(twice, code.number(half)), code.times(width, 2))
                code.masked_store(made, code.at(target, half), wanted)
    return context.get_dummy_value()
