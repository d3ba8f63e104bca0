"""Counting the floating-point operations of an operation from its shapes.

A product of an n x k and a k x m matrix counts 2 n k m: a multiplication and an addition each.
Only products are counted (matrices, convolutions, attention, recurrent layers), because they
dominate. The derivative of a product is one more product for each factor that requires a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Shape = tuple[int, ...]
Count = Callable[[Sequence[Shape], Sequence[Shape]], int]


def flops(op: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
    """Return the count for an operation, by its internal name; 0 if it is not a product.

    Example:
        >>> from tinynet.board.graphs.flops import flops
        >>> flops("mm", [(2, 3), (3, 4)], [(2, 4)])
        48
        >>> flops("relu", [(2, 3)], [(2, 3)])
        0
    """
    count = _COUNTS.get(op)
    return 0 if count is None else count(inputs, outputs)


def _inner(first: int) -> Count:
    """Count a product along the last dimension of input number `first`."""
    return lambda ins, outs: 2 * math.prod(outs[0]) * ins[first][-1]


def _convolution(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count a sum over the kernel for each output: channels within the group times positions."""
    return 2 * math.prod(outs[0]) * math.prod(ins[1][1:])


def _transposed(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count a transposed convolution, which spreads each input over the kernel."""
    return 2 * math.prod(ins[0]) * math.prod(ins[1][1:])


def _correlation(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count the gradient of a convolution's weight: as many products as the convolution."""
    return 2 * math.prod(ins[1]) * math.prod(outs[0][1:])


def _attention(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count the scores and the weighted sum of the values."""
    query, key, value = ins[:3]
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _recurrent(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count the products with both weights at each step of each sequence."""
    weights = [shape for shape in ins[1:] if len(shape) == 2 and shape[0] % outs[0][-1] == 0]
    return 2 * math.prod(ins[0][:-1]) * sum(math.prod(shape) for shape in weights[-2:])


_COUNTS: dict[str, Count] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "linear_map", "affine_map"), _inner(0)),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), _inner(1)),
    "addbmm": lambda ins, outs: 2 * math.prod(ins[1]) * outs[0][-1],
    **dict.fromkeys(("convolve", "convolve_biased"), _convolution),
    **dict.fromkeys(("spread", "spread_biased"), _transposed),
    "correlate": _correlation,
    **dict.fromkeys(("attend", "attend_with_bias"), _attention),
    **dict.fromkeys(("rnn_sequence", "gru_sequence", "lstm_sequence"), _recurrent),
}
