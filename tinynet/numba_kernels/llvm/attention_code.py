"""LLVM's code for ``attention``.

Functions are given whole matrices and places in them: numba counts the users of each slice of an
array, which takes as long as a tenth of a tile.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from tinynet.numba_kernels.elementary import LOG2_E, LOWEST
from tinynet.numba_kernels.llvm.gate_code import Gates
from tinynet.numba_kernels.llvm.stream_code import Code
from tinynet.numba_kernels.llvm.vectors import LANES, ROWS, Matrix, many_registers


def tile_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of ``attention.times``: 8 rows of a product."""
    code = Code(context, builder, signature, args)
    a, b, out = (Matrix(context, builder, signature.args[i], args[i]) for i in range(3))
    top, count, width = code.arguments[3:]
    height = ROWS if many_registers() else ROWS // 2
    with code.vectors(width) as column:
        for first in range(0, ROWS, height):
            rows = [builder.add(top, code.number(first + r)) for r in range(height)]
            totals = code.totals(height, 1)
            with code.tools.for_range(builder, count) as loop:
                seen = code.load(b.at(loop.index, column))
                for row, (total,) in zip(rows, totals, strict=True):
                    one = builder.load(a.at(row, loop.index))
                    code.add(total, code.spread(one), seen)
            for row, (total,) in zip(rows, totals, strict=True):
                code.store(builder.load(total), out.at(row, column))
    return context.get_dummy_value()


def copy_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of a copy times a factor: by vectors, of which some places are not there."""
    code = Code(context, builder, signature, args)
    x, out = (Matrix(context, builder, signature.args[i], args[i]) for i in (0, 2))
    factor = code.spread(args[1])
    less = functools.partial(builder.icmp_signed, "<")
    rows = builder.select(less(x.rows, out.rows), x.rows, out.rows)
    columns = builder.select(less(x.columns, out.columns), x.columns, out.columns)
    whole = builder.udiv(columns, code.number(LANES))
    with code.tools.for_range(builder, rows) as row:
        with code.tools.for_range(builder, whole) as vector:
            column = code.times(vector.index, LANES)
            found = code.load(x.at(row.index, column))
            code.store(builder.fmul(found, factor), out.at(row.index, column))
        with code.vectors_from(whole, out.columns) as column:
            found = code.masked_load(x.at(row.index, column), code.mask(column, x.columns))
            made = builder.fmul(found, factor)
            code.masked_store(made, out.at(row.index, column), code.mask(column, out.columns))
    return context.get_dummy_value()


class _Row:
    """A row of numbers that ends somewhere."""

    def __init__(self, code: Code, start: Any, end: Any):
        self.code, self.start, self.end = code, start, end

    def whole(self, column: Any) -> Any:
        """Return 16 numbers that are there."""
        return self.code.load(self.code.at(self.start, column))

    def put(self, x: Any, column: Any) -> None:
        """Write 16 numbers that have a place."""
        self.code.store(x, self.code.at(self.start, column))

    def part(self, column: Any) -> Any:
        """Return 16 numbers, zeros where the row has ended."""
        mask = self.code.mask(column, self.end)
        return self.code.masked_load(self.code.at(self.start, column), mask)

    def put_part(self, x: Any, column: Any) -> None:
        """Write those of 16 numbers that have a place."""
        mask = self.code.mask(column, self.end)
        self.code.masked_store(x, self.code.at(self.start, column), mask)

    def clear(self, first: Any) -> None:
        """Write zeros to the vectors from one on."""
        with self.code.vectors_from(first, self.end) as column:
            self.put_part(self.code.constant(0), column)


def _rows(code: Code, matrix: Matrix, places: Sequence[Any]) -> list[_Row]:
    """Return rows of a matrix."""
    zero = code.number(0)
    return [_Row(code, matrix.at(place, zero), matrix.columns) for place in places]


class _Scores(Gates):
    """Writes code for rows of scores, 16 at a time."""

    def variable(self, value: float) -> Any:
        """Return a place for a vector that changes in a loop."""
        return self.tools.alloca_once_value(self.builder, self.constant(value))

    def larger(self, one: Any, other: Any) -> Any:
        """Return the larger numbers; the others where one is NaN."""
        above = self.builder.fcmp_ordered(">", one, other)
        return self.builder.select(above, one, other)

    def folded(self, x: Any, join: Callable[[Any, Any], Any]) -> Any:
        """Return what comes of joining all 16 numbers, in each place."""
        for step in (8, 4, 2, 1):
            x = join(x, self.shuffled(x, x, [i ^ step for i in range(LANES)]))
        return x

    def falling(self, x: Any) -> Any:
        """Return the exponential of numbers that are not above 0; 0 of very small ones."""
        lowest, zero = self.constant(LOWEST), self.constant(0)
        low = self.builder.fcmp_ordered("<", x, lowest)
        inside = self.builder.select(low, lowest, x)
        (power,), (more,) = self.powers([inside], [float(LOG2_E)])
        return self.builder.select(low, zero, self.fused(more, power, power))

    def places(self, top: Any, bottom: Any) -> list[Any]:
        """Return the numbers of 8 rows, for those behind the bottom that of the last."""
        last = self.builder.sub(bottom, self.number(1))
        rows = [self.builder.add(top, self.number(r)) for r in range(ROWS)]
        inside = [self.builder.icmp_signed("<", row, bottom) for row in rows]
        return [self.builder.select(i, row, last) for i, row in zip(inside, rows, strict=True)]

    def shifts(self, rows: list[_Row], kept: list[_Row], end: Any) -> list[Any]:
        """Return the largest score of each row, 0 where there is none."""
        lowest, zero = self.constant(-math.inf), self.constant(0)
        tops = [self.variable(-math.inf) for _ in rows]
        with self.vectors(end) as column:
            for top, row, keep in zip(tops, rows, kept, strict=True):
                score = self.builder.select(self.met(keep, column), row.whole(column), lowest)
                self.builder.store(self.larger(score, self.builder.load(top)), top)
        found = [self.folded(self.builder.load(top), self.larger) for top in tops]
        none = [self.builder.fcmp_ordered("==", top, lowest) for top in found]
        return [self.builder.select(n, zero, top) for n, top in zip(none, found, strict=True)]

    def factors(self, rows: list[_Row], kept: list[_Row], end: Any, shifts: list[Any]) -> list[Any]:
        """Write exponentials in the place of scores; return what makes the sum of a row 1."""
        zero, totals = self.constant(0), [self.variable(0) for _ in rows]
        with self.vectors(end) as column:
            powers = []
            for row, keep, shift in zip(rows, kept, shifts, strict=True):
                power = self.falling(self.builder.fsub(row.whole(column), shift))
                powers.append(self.builder.select(self.met(keep, column), power, zero))
            for row, total, power in zip(rows, totals, powers, strict=True):
                row.put(power, column)
                self.builder.store(self.builder.fadd(self.builder.load(total), power), total)
        sums = [self.folded(self.builder.load(total), self.builder.fadd) for total in totals]
        ones = [self.builder.fdiv(self.constant(1), total) for total in sums]
        none = [self.builder.fcmp_ordered("==", total, zero) for total in sums]
        return [self.builder.select(n, zero, one) for n, one in zip(none, ones, strict=True)]

    def met(self, kept: _Row, column: Any) -> Any:
        """Return which keys a row meets."""
        return self.builder.fcmp_unordered("!=", kept.part(column), self.constant(0))


def weigh_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of ``attention.weigh``: 8 rows, which need not wait for each other."""
    code = _Scores(context, builder, signature, args)
    top, bottom, _, first, step, end, _ = code.arguments[1:]
    scores, keep, weights = (
        Matrix(context, builder, signature.args[i], args[i]) for i in (0, 3, 7)
    )
    places = code.places(top, bottom)
    masks = [builder.add(first, builder.mul(place, step)) for place in places]
    rows = _rows(code, scores, places)
    kept = [_Row(code, row.start, end) for row in _rows(code, keep, masks)]
    shifts = code.shifts(rows, kept, end)
    factors = code.factors(rows, kept, end, shifts)
    targets = _rows(code, weights, places)
    with code.vectors(end) as column:
        made = [
            builder.fmul(row.whole(column), factor)
            for row, factor in zip(rows, factors, strict=True)
        ]
        for row, target, weight in zip(rows, targets, made, strict=True):
            row.put(weight, column)
            target.put_part(weight, column)
    for target in targets:
        target.clear(code.vectors_of(end))
    return context.get_dummy_value()
