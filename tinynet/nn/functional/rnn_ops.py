"""The plain recurrent sequence as one operation, and functions that LSTM and GRU share.

A sequence through one layer in one direction is one operation, for speed: each step would
otherwise cost a dozen nodes. One product multiplies the inputs of all steps. Each step is then one
product with the hidden state, and arithmetic that writes to preallocated arrays. Backpropagation
through time does the same, and ends with one product per weight.

Second derivatives are rare. They recompute the sequence from elementary operations (see
``recorded``), which is slow, but needs no further derivation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.base.memory import aligned
from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.native import gates
from tinynet.kernels.native.blas import LARGE
from tinynet.kernels.threads.products import SMALL
from tinynet.nn.functional.affine import affine_map, linear_map
from tinynet.nn.functional.double_backward import recorded
from tinynet.ops.pointwise.exponential import tanh
from tinynet.ops.products.matmul import gemm
from tinynet.ops.shaping.joining import stack

# ---- products, panel by panel -------------------------------------------------------------------
#
# A step multiplies few rows (the batch) by a large matrix. OpenBLAS would spend much of its time
# copying that matrix. It reads small matrices in place, of up to ``SMALL`` multiply-adds, and is
# fastest with 64 columns, so weights are split into panels of about that width.

FACTORS = 8192  # numbers of the steps whose factors are computed at once: they stay in the cache


def _width(size: int, rows: int) -> int:
    """Return a divisor of ``size`` near 64, or ``size`` itself if there is none.

    Args:
        size: the number of columns.
        rows: the multiply-adds for each.
    """
    divisors = [w for w in range(32, 129, 8) if size % w == 0]
    small = [w for w in divisors if w * rows <= SMALL]
    return min(small or divisors, key=lambda w: abs(w - 64), default=size)


def panels(
    weight: Array, order: Sequence[int], scale: Sequence[float], steps: int, batch: int
) -> Array:
    """Return the transposed weight of each gate in panels, ``[gates, n, inputs, width]``.

    For up to 3 steps, it is one panel in the memory order of the weight.

    Args:
        weight: ``[gates * size, inputs]``.
        order: the gates of the weight in the order of the result.
        scale: a factor for each gate of the result.
        steps: the number of products with the result.
        batch: their number of rows.
    """
    gates, inputs = len(order), weight.shape[1]
    size = weight.shape[0] // gates
    width = (_width(size, batch * inputs) if steps > 3 else size) or 1
    split = weight.reshape(gates, size // width, width, inputs).transpose(0, 1, 3, 2)
    result = aligned(split.shape, weight.dtype) if steps > 3 else np.empty_like(split)
    for target, (gate, factor) in enumerate(zip(order, scale, strict=True)):
        np.multiply(split[gate], weight.dtype.type(factor), out=result[target])
    return result


def by_panel(out: Array, weight: Array) -> Array:
    """Return ``out``, ``[..., rows, size]``, as ``[..., n, rows, width]``, the products' shape."""
    n, _, width = weight.shape[-3:]
    return out.reshape(*out.shape[:-1], n, width).swapaxes(-2, -3)


def multiply_inputs(input: Array, weight: Array, out: Array) -> None:
    """Write the products of all steps with a weight.

    Args:
        input: ``[steps, batch, inputs]``.
        weight: its panels.
        out: ``[steps, gates, batch, size]``.
    """
    if input.shape[1] == 1:  # the steps are the rows of one product
        np.matmul(input[:, 0], weight, out=by_panel(out[:, :, 0].swapaxes(0, 1), weight))
    else:
        np.matmul(input[:, None, None], weight, out=by_panel(out, weight))


def arranged(sums: Array, order: list[int], scale: Array) -> Array:
    """Return the sums of one step, ``[batch, gates * size]``, as ``[gates, batch, size]``.

    A single step multiplies by the weights as they are: copying takes longer than the products.

    Args:
        sums: in the order of the weights.
        order: the gates of the weights in the order of the result.
        scale: a factor for each gate of the result, ``[gates, 1, 1]``.
    """
    batch, columns = sums.shape
    by_gate = sums.reshape(batch, len(order), columns // len(order)).swapaxes(0, 1)
    return np.multiply(by_gate[order], scale)


def step_blocks(steps: int, size: int, most: int, descending: bool) -> list[range]:
    """Return the steps, ascending or descending, in blocks of up to ``most`` numbers.

    Args:
        steps: their number.
        size: the numbers of one step.
        most: of a block, which has one step at least.
        descending: whether the last step comes first.
    """
    length = max(1, most // max(1, size))
    blocks = [range(a, min(a + length, steps)) for a in range(0, steps, length)]
    return [block[::-1] for block in blocks[::-1]] if descending else blocks


class BackwardProduct:
    """The gradient of the hidden state, from that of the sums of a step: ``d @ w_hh``.

    The weight is split into panels of its columns, and into gates where a panel would be too large;
    then the products are added. For up to 3 steps, it is the weight itself: splitting costs what 3
    steps gain.

    Args:
        d: the gradients of the sums, ``[steps, batch, gates * size]``; written before each call.
        weight: ``[gates * size, size]``.
        out: the gradient of the hidden state, ``[batch, size]``.
    """

    def __init__(self, d: Array, weight: Array, out: Array):
        (steps, batch, inner), size = d.shape, weight.shape[1]
        fits = steps <= 3 or batch * inner * 64 <= SMALL or not size
        parts = 1 if fits else inner // size
        terms = inner // parts
        width = _width(size, batch * terms) if steps > 3 else size
        split = weight.reshape(parts, terms, size // max(width, 1), width).swapaxes(1, 2)
        self.panels, self.sums, self.parts = aligned(split.shape, weight.dtype), d, None
        self.panels[...] = split
        self.out = by_panel(out, self.panels)
        if parts == 1:
            self.panels = self.panels[0]
        else:
            self.sums = d.reshape(steps, batch, parts, 1, terms).transpose(0, 2, 3, 1, 4)
            self.parts = aligned((parts, *self.out.shape), d.dtype)

    def __call__(self, step: int) -> None:
        """Write the product of a step to ``out``."""
        if self.parts is None:
            np.matmul(self.sums[step], self.panels, out=self.out)
        else:
            np.matmul(self.sums[step], self.panels, out=self.parts)
            np.add.reduce(self.parts, axis=0, out=self.out)


def as_matrix(state: Any) -> Any:
    """Return a state, an array or tensor, as ``[batch, size]``."""
    return state if state.ndim == 2 else state[0]


# ---- by LLVM's kernels -------------------------------------------------------------------------

PARTS, LEAST_ROWS = 4, 16  # of the batch; of a part: fewer rows take longer for each


def by_rows(kernel: Callable[[int, int], None], steps: int, batch: int, weight: Array) -> None:
    """Run a kernel for parts of the batch, on several threads if they take long enough.

    Args:
        kernel: called with the first row, and the last one plus 1.
        steps, batch: the numbers of steps and rows.
        weight: what each step is multiplied by.
    """
    is_large = steps * batch * weight.size >= LARGE
    part = max(LEAST_ROWS, -(-batch // PARTS)) if is_large else batch
    threads.share(lambda rows: kernel(rows.start, rows.stop), threads.slices(batch, part))


def for_products(weight: Array, steps: int, batch: int) -> Array:
    """Return the copy of a weight, or of its transpose, with which products take the least time.

    For up to 3 steps, it is the weight itself.
    """
    weight = np.ascontiguousarray(weight)
    if steps <= 3:
        return weight
    if batch == 1:  # reading the weight takes most of the time, in either order
        copy = aligned(weight.shape)
        copy[...] = weight
    else:
        copy = aligned(weight.shape[::-1])
        gates.transpose(weight, copy)
    return copy


# ---- gradients of the weights -------------------------------------------------------------------


def rows(x: Array) -> Array:
    """Return an array with steps and batch as one dimension."""
    return x.reshape(math.prod(x.shape[:2]), math.prod(x.shape[2:]))


def parameter_gradients(
    of_input: Array,
    of_hidden: Array,
    input: Array,
    h_0: Array,
    states: Array,
    reverse: bool,
    needs: Sequence[bool],
) -> tuple[Array | None, ...]:
    """Return the gradients of ``w_ih``, ``w_hh`` and one or two biases.

    Args:
        of_input, of_hidden: gradients of the products with the input and with the hidden state,
            ``[steps, batch, gates * size]``; the same array where the two are added.
        input, h_0, reverse: those of the sequence.
        states: its hidden states.
        needs: for each parameter, whether its gradient is needed; for others it is None.
    """
    flat = rows(of_input)
    return (
        gemm(flat.T, rows(input)) if needs[0] else None,
        _hidden_weight_gradient(of_hidden, h_0, states, reverse) if needs[1] else None,
        _column_sums(flat) if needs[2] else None,
        *(_column_sums(rows(of_hidden)) if needed else None for needed in needs[3:]),
    )


def _column_sums(d: Array) -> Array:
    """Return the sums over all rows, as a product, which is faster."""
    return gemm(np.ones((1, len(d)), d.dtype), d)[0]


def _hidden_weight_gradient(d: Array, h_0: Array, states: Array, reverse: bool) -> Array:
    """Return the gradient of ``w_hh``: at each step, ``d`` times the previous hidden state."""
    later, first = (d[:-1], d[-1:]) if reverse else (d[1:], d[:1])
    previous = states[1:] if reverse else states[:-1]
    total: Array = gemm(rows(first).T, as_matrix(h_0))
    if len(later):
        total += gemm(rows(later).T, rows(previous))
    return total


# ---- h = tanh(W_ih x + W_hh h + b), or relu -----------------------------------------------------


@operation(outputs=("output", "h_n"), hidden=("states",), differentiable=2, autocast="lower")
def rnn_sequence(
    input: Array, h_0: Array, w_ih: Array, w_hh: Array, bias: Array, /, relu: bool, reverse: bool
) -> tuple[Array, Array, Array]:
    """Return the hidden states of all steps, and the last: ``h = tanh(W_ih x + W_hh h + b)``.

    The derivative has a copy of the states: a program may write to the output, as in PyTorch.

    Args:
        input: ``[steps, batch, inputs]``.
        h_0: ``[batch, size]`` or, like all states of these operations, ``[1, batch, size]``; the
            last one has the same shape.
        w_ih, w_hh, bias: ``[size, inputs]``, ``[size, size]``, ``[size]``.
        relu: whether to use relu instead of tanh.
        reverse: process the sequence in reverse.
    """
    steps, batch, _ = input.shape
    size = len(w_hh)
    output = gemm(rows(input), w_ih.T, bias).reshape(steps, batch, size)
    zero, h = np.zeros((), input.dtype), as_matrix(h_0)
    if steps == 1:
        sums = gemm(h, w_hh.T)
    else:
        from_hidden = panels(w_hh, [0], [1], steps, batch)[0]
        sums = np.empty((batch, size), input.dtype)
        target = by_panel(sums, from_hidden)
    for t in range(steps)[:: -1 if reverse else 1]:
        if steps > 1:
            np.matmul(h, from_hidden, out=target)
        h = output[t]
        np.add(sums, h, out=h)
        if relu:
            np.maximum(h, zero, out=h)
        else:
            np.tanh(h, out=h)
    return output, h.reshape(h_0.shape).copy(), output.copy()


def rnn_steps(
    inputs: Sequence[Tensor], relu: bool = False, reverse: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute ``rnn_sequence`` from elementary operations."""
    input, h_0, w_ih, w_hh, bias = inputs
    h = as_matrix(h_0)
    x, outputs = affine_map(input, w_ih, bias), []
    for t in range(len(input))[:: -1 if reverse else 1]:
        total = x[t] + linear_map(h, w_hh)
        h = total.relu() if relu else tanh(total)
        outputs.append(h)
    return stack(outputs[:: -1 if reverse else 1]), h.reshape(h_0.shape)


def _rnn_gradients(
    g: Any,
    input: Any,
    h_0: Any,
    w_ih: Any,
    w_hh: Any,
    bias: Any,
    states: Any,
    relu: bool,
    reverse: bool,
    needs: tuple[bool, ...],
) -> tuple[Any, ...]:
    if isinstance(g[0], Tensor):
        inputs = (input, h_0, w_ih, w_hh, bias)
        return recorded(lambda tensors: rnn_steps(tensors, relu, reverse), inputs, g, needs)
    if relu:
        d = (states > 0).astype(states.dtype)
    else:
        d = np.multiply(states, states)
        np.subtract(1, d, out=d)
    dh = as_matrix(g[1]).copy()
    multiply = BackwardProduct(d, w_hh, dh)
    for t in range(len(d))[:: 1 if reverse else -1]:
        dh += g[0][t]
        d[t] *= dh
        multiply(t)
    dx = gemm(rows(d), w_ih).reshape(input.shape) if needs[0] else None
    rest = parameter_gradients(d, d, input, h_0, states, reverse, needs[2:])
    return dx, dh.reshape(h_0.shape), *rest


rnn_sequence.grads(_rnn_gradients)
