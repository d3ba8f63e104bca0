"""LLVM's code for the gates of recurrent layers: exponentials in vectors of 16 numbers.

exp is ``2^n (1 + r Q(r))`` for ``x log2(e) = n + r``, with the whole number nearest to it. Q was
fitted such that ``r Q(r)`` is off by at most 2.1e-8 of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.numba_kernels.llvm.stream_code import Code
from tinynet.numba_kernels.llvm.vectors import LANES

_LOG2_E = 1.4426950408889634
_Q = (1.5403512356e-4, 1.3390735477e-3, 9.6182374950e-3, 5.5503574336e-2, 2.4022649795e-1,
      6.9314718793e-01)  # fmt: skip
_ROUNDING = 1.5 * 2**23  # what it is added to has no place for digits after the point
_BIAS, _MANTISSA = 127 << 23, 23  # of float32
_FACTOR = {"sigmoid": -_LOG2_E, "tanh": 2 * _LOG2_E}
_LARGEST = {"sigmoid": 87.0, "tanh": 10.0}  # beyond, nothing changes in float32 (below 2e-38)


class Gates(Code):
    """Writes code for numbers of a row, 16 at a time."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any):
        super().__init__(context, builder, signature, arguments)
        self.wide = "+avx512f" in context.codegen().magic_tuple()[2]
        self.words = self.ir.VectorType(self.word, LANES)

    def sum(self, one: Any, *others: Any) -> Any:
        """Return a sum of vectors."""
        for other in others:
            one = self.builder.fadd(one, other)
        return one

    def product(self, one: Any, *others: Any) -> Any:
        """Return a product of vectors."""
        for other in others:
            one = self.builder.fmul(one, other)
        return one

    def fused(self, one: Any, other: Any, more: Any) -> Any:
        """Return ``one * other + more``, rounded once where the processor can."""
        call = self.function("llvm.fmuladd.v16f32", self.vector, *[self.vector] * 3)
        return self.builder.call(call, (one, other, more))

    def less(self, one: Any, factor: Any, other: Any) -> Any:
        """Return ``one - factor * other``."""
        return self.fused(self.builder.fneg(factor), other, one)

    def slope(self, y: Any) -> Any:
        """Return the derivative of a sigmoid, ``y (1 - y)``."""
        return self.less(y, y, y)

    def rest(self, y: Any) -> Any:
        """Return the derivative of a hyperbolic tangent, ``1 - y y``."""
        return self.less(self.constant(1), y, y)

    def within(self, x: Any, largest: float) -> Any:
        """Return x between two bounds; NaN stays."""
        for sign, bound in (("<", -largest), (">", largest)):
            limit = self.constant(bound)
            x = self.builder.select(self.builder.fcmp_ordered(sign, x, limit), limit, x)
        return x

    def powers(self, xs: list[Any], factors: list[float]) -> tuple[list[Any], list[Any]]:
        """Return ``2^n`` and ``2^r - 1`` for ``n + r = x factor``, of each x with its factor."""
        rounding, scale = self.constant(_ROUNDING), [self.constant(f) for f in factors]
        moved = [self.fused(x, f, rounding) for x, f in zip(xs, scale, strict=True)]
        # The n that was added is read from the bits. A difference of floats would be lost: LLVM may
        # reorder sums, and without fused products it sees that rounding - (x f + rounding) = -x f.
        start = self.builder.bitcast(rounding, self.words)
        whole = [self.builder.sub(start, self.builder.bitcast(m, self.words)) for m in moved]
        negative = [self.builder.sitofp(n, self.vector) for n in whole]
        rest = [self.fused(*found) for found in zip(xs, scale, negative, strict=True)]
        totals = [self.constant(_Q[0])] * len(xs)
        for c in _Q[1:]:
            totals = [self.fused(q, r, self.constant(c)) for q, r in zip(totals, rest, strict=True)]
        shift, bias = (self.ir.Constant(self.words, [c] * LANES) for c in (_MANTISSA, _BIAS))
        words = [self.builder.shl(self.builder.bitcast(m, self.words), shift) for m in moved]
        words = [self.builder.add(w, bias) for w in words]
        return (
            [self.builder.bitcast(w, self.vector) for w in words],
            [self.product(q, r) for q, r in zip(totals, rest, strict=True)],
        )

    def quotients(self, fractions: list[tuple[Any, Any]]) -> list[Any]:
        """Return ``one / other`` of each pair, where that is not too small or large."""
        if not self.wide:
            return [self.builder.fdiv(*pair) for pair in fractions]
        kind = self.ir.IntType(16)
        name, kinds = "llvm.x86.avx512.rcp14.ps.512", (self.vector, self.vector, kind)
        inverse, rest = self.function(name, self.vector, *kinds), self.ir.Constant(kind, -1)
        near = [  # off by 2^-14 of itself
            self.builder.call(inverse, (other, self.constant(0), rest)) for _, other in fractions
        ]
        found = [self.product(one, n) for (one, _), n in zip(fractions, near, strict=True)]
        left = [self.less(one, f, other) for (one, other), f in zip(fractions, found, strict=True)]
        return [self.fused(*parts) for parts in zip(left, near, found, strict=True)]

    def activated(self, sums: list[Any], kinds: Sequence[str]) -> list[Any]:
        """Return a sigmoid or a hyperbolic tangent of each vector.

        ``1 / (1 + exp(-x))``; ``m / (m + 2)`` with ``m = exp(2 x) - 1``. Vectors go side by side:
        the processor waits for results of one after the other.
        """
        xs = [self.within(x, _LARGEST[kind]) for x, kind in zip(sums, kinds, strict=True)]
        one, two, fractions = self.constant(1), self.constant(2), []
        powers = self.powers(xs, [_FACTOR[kind] for kind in kinds])
        for power, more, kind in zip(*powers, kinds, strict=True):
            if kind == "sigmoid":
                fractions.append((one, self.sum(self.fused(more, power, power), one)))
            else:
                m = self.fused(more, power, self.sum(power, self.constant(-1)))
                fractions.append((m, self.sum(m, two)))
        return self.quotients(fractions)

    def rows(
        self, rows: Any, size: Any, strides: Sequence[Any], work: Callable[[Places], None]
    ) -> None:
        """Write a loop over rows, and over the vectors of each.

        Args:
            rows: how many.
            size: how many numbers of a row are worked on.
            strides: for each array, how far it is from a row to the next.
            work: writes the code for a vector.
        """
        arrays = self.arguments[: len(strides)]
        with self.tools.for_range(self.builder, rows) as loop:
            begins = [
                self.at(a, self.builder.mul(loop.index, self.number(s)))
                for a, s in zip(arrays, strides, strict=True)
            ]
            whole = self.builder.udiv(size, self.number(LANES))
            with self.tools.for_range(self.builder, whole) as inner:
                work(Places(self, begins, self.times(inner.index, LANES)))
            done = self.times(whole, LANES)
            with self.builder.if_then(self.builder.icmp_signed("<", done, size)):
                work(Places(self, begins, done, self.mask(done, size)))


class Places:
    """A vector of each array, at the same place of a row."""

    def __init__(self, code: Gates, begins: Sequence[Any], first: Any, mask: Any = None):
        self.code, self.begins, self.first, self.mask = code, begins, first, mask

    def load(self, array: int, *steps: Any) -> Any:
        """Return what an array has there, or so many numbers further on."""
        place = self.code.at(self.begins[array], self.first, *steps)
        if self.mask is None:
            return self.code.load(place)
        return self.code.masked_load(place, self.mask)

    def store(self, vector: Any, array: int, *steps: Any) -> None:
        """Write a vector likewise."""
        place = self.code.at(self.begins[array], self.first, *steps)
        if self.mask is None:
            self.code.store(vector, place)
        else:
            self.code.masked_store(vector, place, self.mask)


def lstm_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``lstm.cells``."""
    code = Gates(context, builder, signature, arguments)
    gates, sums, before, after, inner, hidden = range(6)
    width, size = code.arguments[6:]
    steps = [code.times(size, k) for k in range(4)]

    def work(at: Places) -> None:
        kinds = ["sigmoid", "sigmoid", "tanh", "sigmoid"]
        both = [code.sum(at.load(gates, step), at.load(sums, step)) for step in steps]
        i, f, g, o = made = code.activated(both, kinds)
        c = code.fused(f, at.load(before), code.product(i, g))
        (t,) = code.activated([c], ["tanh"])
        for step, gate in zip(steps, made, strict=True):
            at.store(gate, gates, step)
        at.store(c, after)
        at.store(t, inner)
        at.store(code.product(o, t), hidden)

    code.rows(code.sizes[gates], size, (width, width, size, size, size, size), work)
    return context.get_dummy_value()


def lstm_back_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``lstm.cells_back``."""
    code = Gates(context, builder, signature, arguments)
    dh, more, dc, gates, before, inner, d = range(7)
    dh_width, width, size = code.arguments[7:]
    steps = [code.times(size, k) for k in range(4)]

    def work(at: Places) -> None:
        i, f, g, o = (at.load(gates, step) for step in steps)
        t, to_h = at.load(inner), code.sum(at.load(dh), at.load(more))
        to_c = code.fused(code.product(to_h, o), code.rest(t), at.load(dc))
        at.store(code.product(to_c, g, code.slope(i)), d, steps[0])
        at.store(code.product(to_c, at.load(before), code.slope(f)), d, steps[1])
        at.store(code.product(to_c, i, code.rest(g)), d, steps[2])
        at.store(code.product(to_h, t, code.slope(o)), d, steps[3])
        at.store(code.product(to_c, f), dc)

    strides = dh_width, size, size, width, size, size, code.times(size, 4)
    code.rows(code.sizes[dh], size, strides, work)
    return context.get_dummy_value()


def gru_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``gru.units``."""
    code = Gates(context, builder, signature, arguments)
    gates, sums, before, move, inner, hidden = range(6)
    width, size = code.arguments[6:]
    steps = [code.times(size, k) for k in range(3)]

    def work(at: Places) -> None:
        both = [code.sum(at.load(gates, step), at.load(sums, step)) for step in steps[:2]]
        r, z = code.activated(both, ["sigmoid", "sigmoid"])
        s = at.load(sums, steps[2])
        (n,) = code.activated([code.fused(r, s, at.load(gates, steps[2]))], ["tanh"])
        for step, gate in zip(steps, (r, z, n), strict=True):
            at.store(gate, gates, step)
        difference = builder.fsub(at.load(before), n)
        at.store(difference, move)
        at.store(s, inner)
        at.store(code.fused(z, difference, n), hidden)

    code.rows(code.sizes[gates], size, (width, width, size, size, size, size), work)
    return context.get_dummy_value()


def gru_back_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of ``gru.units_back``."""
    code = Gates(context, builder, signature, arguments)
    dh, more, carried, gates, move, inner, of_input, of_hidden = range(8)
    dh_width, width, size = code.arguments[8:]
    steps, whole = [code.times(size, k) for k in range(3)], code.times(size, 3)

    def work(at: Places) -> None:
        r, z, n = (at.load(gates, step) for step in steps)
        g = code.sum(at.load(dh), at.load(more), at.load(carried))
        to_sum = code.product(code.less(g, z, g), code.rest(n))
        to_r = code.product(to_sum, at.load(inner), code.slope(r))
        to_z = code.product(g, at.load(move), code.slope(z))
        for target in of_input, of_hidden:
            at.store(to_r, target, steps[0])
            at.store(to_z, target, steps[1])
        at.store(to_sum, of_input, steps[2])
        at.store(code.product(to_sum, r), of_hidden, steps[2])
        at.store(code.product(g, z), carried)

    strides = dh_width, size, size, width, size, size, whole, whole
    code.rows(code.sizes[dh], size, strides, work)
    return context.get_dummy_value()
