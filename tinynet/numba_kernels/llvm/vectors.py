"""LLVM's code for the tiles of ``products``: small products of matrices in registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

LANES = 16  # numbers of a vector; where registers hold fewer, LLVM takes several
ROWS, COLUMNS = 8, 2 * LANES  # of a tile
MOST = 320  # rows of a panel: it takes 40 kB


def many_registers() -> bool:
    """Return whether this processor has 32 registers of 16 numbers."""
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx512f", False))


class Matrix:
    """A float32 matrix in the code that is written, with rows of numbers side by side."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any):
        from llvmlite import ir
        from numba.core import cgutils

        array = context.make_array(kind)(context, builder, value)
        self.builder, self.ir = builder, ir
        self.rows, self.columns = (cgutils.unpack_tuple(builder, array.shape) * 2)[:2]
        self.step = cgutils.unpack_tuple(builder, array.strides)[0]
        if kind.ndim == 1:  # a row that stands for each
            self.step = ir.Constant(self.step.type, 0)
        self.start = builder.bitcast(array.data, ir.IntType(8).as_pointer())

    def part(self, start: Any, step: Any, rows: Any = None) -> Matrix:
        """Return the matrix that begins at a pointer, with so many bytes from row to row."""
        made: Matrix = object.__new__(Matrix)
        made.builder, made.ir, made.step, made.rows = self.builder, self.ir, step, rows
        made.start = self.builder.bitcast(start, self.start.type)
        return made

    def at(self, row: Any, column: Any) -> Any:
        """Return a pointer to a number; row and column are values of LLVM."""
        row = self.builder.gep(self.start, [self.builder.mul(row, self.step)])
        numbers = self.builder.bitcast(row, self.ir.FloatType().as_pointer())
        return self.builder.gep(numbers, [column])


class _Block(NamedTuple):
    """A part of a tile, whose sums stay in registers."""

    first: int
    rows: int
    column: int
    vectors: int


def _blocks(rows: int) -> list[_Block]:
    """Cut a tile of so many rows into parts that the registers hold."""
    height, vectors = (8, 2) if many_registers() else (4, 1)
    return [
        _Block(first, min(height, rows - first), column, vectors)
        for first in range(0, rows, height)
        for column in range(0, COLUMNS, vectors * LANES)
    ]


def _fetch(builder: Any, place: Any, writes: int) -> None:
    """Write the code that asks for a line of memory, which arrives while others are used."""
    from llvmlite import ir
    from numba.core import cgutils

    word, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    near, data = 3, 1
    numbers = [ir.Constant(word, n) for n in (writes, near, data)]
    builder.call(fetch, [builder.bitcast(place, byte), *numbers])


def _fetch_next(builder: Any, a: Matrix, k: Any) -> None:
    """Ask for the rows of ``a`` behind the last: 8 numbers of each of 8 in 8 rounds of the loop."""
    row = builder.and_(k, k.type(ROWS - 1))
    _fetch(builder, a.at(builder.add(a.rows, row), builder.and_(k, k.type(-ROWS))), 0)


def _spread(builder: Any, number: Any) -> Any:
    """Return a vector of equal numbers."""
    from llvmlite import ir

    word = ir.IntType(32)
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    left = builder.insert_element(nothing, number, ir.Constant(word, 0))
    zeros = ir.Constant(ir.VectorType(word, LANES), [0] * LANES)
    return builder.shuffle_vector(left, nothing, zeros)


def _add_product(builder: Any, place: Any, one: Any, other: Any) -> None:
    """Add a product to what is kept at a place, rounded once."""
    product = builder.fmul(one, other, flags=("contract",))
    total = builder.fadd(builder.load(place), product, flags=("contract",))
    builder.store(total, place)


def _multiply(
    builder: Any, block: _Block, a: Matrix, b: Matrix, first: Matrix | None, out: Matrix,
    turned: bool = False, ahead: bool = False,
) -> None:  # fmt: skip
    """Write the code of a block: a vector of each row of ``b`` times a number of each of ``a``."""
    from llvmlite import ir
    from numba.core import cgutils

    vector, index = ir.VectorType(ir.FloatType(), LANES), b.rows.type
    rows = [ir.Constant(index, block.first + r) for r in range(block.rows)]
    columns = [ir.Constant(index, block.column + v * LANES) for v in range(block.vectors)]
    zero = ir.Constant(vector, [0.0] * LANES)
    sums = [[cgutils.alloca_once_value(builder, zero) for _ in columns] for _ in rows]
    targets = [
        [builder.bitcast(out.at(row, c), vector.as_pointer()) for c in columns] for row in rows
    ]
    for row, of_row in zip(rows, sums, strict=True):
        for one, c in zip(of_row, columns, strict=True):
            # Also zeros: the slots are the function's, and a tile may be in a loop.
            start = zero
            if first is not None:
                place = builder.bitcast(first.at(row, c), vector.as_pointer())
                start = builder.load(place, align=4)
            builder.store(start, one)
    for place in sum(targets, []) if ahead else []:
        _fetch(builder, place, 1)
    with cgutils.for_range(builder, b.rows) as loop:
        k = loop.index
        if ahead:
            _fetch_next(builder, a, k)
        right = [
            builder.load(builder.bitcast(b.at(k, c), vector.as_pointer()), align=4) for c in columns
        ]
        for row, of_row in zip(rows, sums, strict=True):
            left = _spread(builder, builder.load(a.at(k, row) if turned else a.at(row, k)))
            for one, factor in zip(of_row, right, strict=True):
                _add_product(builder, one, left, factor)
    for of_row, of_out in zip(sums, targets, strict=True):
        for one, target in zip(of_row, of_out, strict=True):
            builder.store(builder.load(one), target, align=4)


def tile_product(onto: bool = False, ahead: bool = False) -> Any:
    """Return what writes the code of ``out = a @ b`` for 1 to 8 rows of ``out``.

    Each count of rows has code of its own.

    Args:
        onto: the function takes another matrix, before ``out``, to which the product is added.
        ahead: memory is asked for before it is needed: ``out``, and the rows of ``a`` that follow.
    """

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = zip(signature.args, args, strict=True)
        a, b, *first, out = (Matrix(context, builder, kind, value) for kind, value in kinds)
        for count in range(1, ROWS + 1):
            with builder.if_then(builder.icmp_signed("==", out.rows, out.rows.type(count))):
                for block in _blocks(count):
                    _multiply(builder, block, a, b, first[0] if onto else None, out, ahead=ahead)
        return context.get_dummy_value()

    return write


def _tiles(builder: Any, rows: Any, tile: Callable[[Any, int], None]) -> None:
    """Write ``tile(first, count)`` for all rows: 8 at a time, then what is left."""
    from numba.core import cgutils

    index = rows.type
    whole = builder.udiv(rows, index(ROWS))
    with cgutils.for_range(builder, whole) as loop:
        tile(builder.mul(loop.index, index(ROWS)), ROWS)
    top = builder.mul(whole, index(ROWS))
    for count in range(1, ROWS):
        with builder.if_then(builder.icmp_signed("==", builder.sub(rows, top), index(count))):
            tile(top, count)


def turned_product(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of ``transposes.add``."""
    kinds = zip(signature.args, args, strict=True)
    a, b, out = (Matrix(context, builder, kind, value) for kind, value in kinds)
    zero = a.rows.type(0)

    def tile(top: Any, rows: int) -> None:
        target, left = out.part(out.at(top, zero), out.step), a.part(a.at(zero, top), a.step)
        for block in _blocks(rows):
            _multiply(builder, block, left, b, target, target, turned=True)

    _tiles(builder, out.rows, tile)
    return context.get_dummy_value()


def panels_product(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of ``products.multiply``.

    All in one, since numba counts the users of each slice of an array, which takes as long as a
    tenth of a tile.
    """
    from numba.core import cgutils

    kinds = signature.args
    a, bias, out = (Matrix(context, builder, kinds[i], args[i]) for i in (0, 2, 3))
    packed = context.make_array(kinds[1])(context, builder, args[1])
    count, inputs, _ = cgutils.unpack_tuple(builder, packed.shape)
    index = inputs.type
    zero, line = index(0), index(COLUMNS * 4)
    has_bias = builder.icmp_signed(">", bias.rows, zero)
    with cgutils.for_range(builder, count) as loop:
        left = builder.mul(loop.index, index(COLUMNS))
        panel = builder.gep(packed.data, [builder.mul(left, inputs)])
        right = a.part(panel, line, inputs)

        def tile(top: Any, rows: int) -> None:
            target = out.part(out.at(top, left), out.step)
            first = target.part(
                builder.select(has_bias, bias.part(bias.at(zero, left), zero).start, target.start),
                builder.select(has_bias, zero, out.step),
            )
            for block in _blocks(rows):
                _multiply(builder, block, a.part(a.at(top, zero), a.step), right, first, target)

        _tiles(builder, out.rows, tile)
    return context.get_dummy_value()


def block_transpose(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of ``out = a.T`` for blocks of 16 by 16: four rounds of exchanges."""
    from llvmlite import ir

    kinds = zip(signature.args, args, strict=True)
    a, out = (Matrix(context, builder, kind, value) for kind, value in kinds)
    vector, index = ir.VectorType(ir.FloatType(), LANES), a.rows.type
    words = ir.VectorType(ir.IntType(32), LANES)
    zero = ir.Constant(index, 0)

    def place(matrix: Matrix, row: int) -> Any:
        return builder.bitcast(matrix.at(ir.Constant(index, row), zero), vector.as_pointer())

    rows = [builder.load(place(a, r), align=4) for r in range(LANES)]
    for bit in (1, 2, 4, 8):
        low = [lane + (LANES - bit if lane & bit else 0) for lane in range(LANES)]
        high = [lane + (LANES if lane & bit else bit) for lane in range(LANES)]
        for r in range(LANES):
            if not r & bit:
                pair = rows[r], rows[r + bit]
                for which, lanes in ((r, low), (r + bit, high)):
                    rows[which] = builder.shuffle_vector(*pair, ir.Constant(words, lanes))
    for r in range(LANES):
        builder.store(rows[r], place(out, r), align=4)
    return context.get_dummy_value()


def widest_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write no code: tell LLVM to make vectors of 16 numbers of loops where the processor has them.

    By itself it takes those of 8 on processors that were slower for a while after the wide ones.
    """
    # llvmlite lets only names pass that it knows.
    set.add(builder.function.attributes, '"prefer-vector-width"="512"')
    return context.get_dummy_value()
