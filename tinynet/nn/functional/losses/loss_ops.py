"""Operations behind the losses: one node each, with the names and derivatives that PyTorch has.

Each is the mean (or sum, or all) of what one element costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.double_backward import derivative
from tinynet.core.declaration.operation import Operation, operation
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.indexing import positions
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.nn.functional.piecewise_activation_ops import log_sigmoid
from tinynet.ops.arguments import refuse_kinds
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.clamp import clamp_numbers
from tinynet.ops.pointwise.exponential import log, sigmoid
from tinynet.ops.reduction.sums import mean_all, sum_all


def _reduced(losses: Array, reduction: str) -> Array:
    if reduction == "none":
        return losses
    kernel = mean_all.kernel if reduction == "mean" else sum_all.kernel
    found: Array = kernel(losses)
    return found


def _reduced_pairs(
    losses: Callable[..., Array], x: Array, y: Array, *options: float, reduction: str
) -> Array:
    """Reduce the losses of pairs of elements; those of large arrays are summed block by block."""
    plain = x.shape == y.shape and x.flags.c_contiguous and y.flags.c_contiguous
    if reduction == "none" or x.size <= threads.LARGE or not plain or x.dtype != y.dtype:
        return _reduced(losses(x, y, *options), reduction)
    flat, other = x.reshape(-1), y.reshape(-1)
    total = np.float64(0)
    for part in threads.slices(x.size, threads.BLOCK):
        total += sum_all.kernel(losses(flat[part], other[part], *options))
    return np.asarray(total / x.size if reduction == "mean" else total).astype(x.dtype)


def _share(g: Any, x: Any, reduction: str, other: Any = None) -> Any:
    """Return the part of a loss's gradient that belongs to each element."""
    if reduction != "mean":
        return g
    shape = x.shape if other is None else np.broadcast_shapes(x.shape, other.shape)
    return g / (math.prod(shape) or 1)


def _record(op: Operation, node: str, **formulas: Any) -> None:
    """Declare what ``create_graph`` records for a loss of the difference of input and target.

    Its derivative is odd, so that of the target is that of the input with the two exchanged.
    """
    of_input = derivative(op, node, "input", **formulas)
    function, names = op.recorded["input"]

    def of_target(g: Any, target: Any, input: Any, *rest: Any) -> Any:
        return of_input.function(g, target, input, *rest)

    op.recorded["target"] = of_target, ("target", "input", *names[2:])


# ---- differences --------------------------------------------------------------------------------


def _squares(x: Array, y: Array) -> Array:
    d = np.asarray(x - y)
    return np.square(d, out=d)


@operation(node="MseLossBackward0")
def squared_error(input: Array, target: Array, /, reduction: str) -> Array:
    """Return ``(x - y) ** 2``."""
    refuse_kinds("mse", "biu", input)
    return _reduced_pairs(_squares, input, target, reduction=reduction)


@threads.blockwise
def _scaled_gap(x: Any, y: Any, factor: Any) -> Any:
    return (x - y) * factor


def _square_slope(g: Any, x: Any, y: Any, reduction: str) -> Any:
    return _scaled_gap(x, y, _share(g * 2, x, reduction, y))


squared_error.grad(
    input=lambda g, input, target, reduction: _square_slope(g, input, target, reduction),
    target=lambda g, input, target, reduction: _square_slope(g, target, input, reduction),
)


def _square_bend(g: Any, grad_output: Any, self: Any, target: Any, reduction: str) -> Any:
    return _share(g * grad_output * 2, self - target, reduction)


_record(
    squared_error,
    "MseLossBackwardBackward0",
    self=_square_bend,
    target=lambda g, grad_output, self, target, reduction: _square_bend(
        -g, grad_output, self, target, reduction
    ),
)


@operation(node="SmoothL1LossBackward0")
def smooth_error(input: Array, target: Array, /, reduction: str, beta: float) -> Array:
    """Return ``d * d / (2 * beta)`` where ``d = abs(x - y) < beta``, else ``d - beta / 2``."""
    refuse_kinds("smooth_l1", "biu", input)
    if input.dtype == HALF:
        return in_single(smooth_error, input, target, reduction, beta)
    if not beta:
        return _reduced(np.abs(input - target), reduction)
    return _reduced_pairs(_bent, input, target, beta, beta, reduction=reduction)


def _bent(x: Array, y: Array, bend: float, divisor: float) -> Array:
    """Return ``d * d / 2`` for ``d = |x - y|`` below the bend, and the tangent from there, divided.

    It is faster than a choice.
    """
    d = np.asarray(x - y)
    low = np.minimum(np.abs(d, out=d), np.asarray(bend, d.dtype))
    bent = np.asarray(low * 0.5)
    np.multiply(np.subtract(d, bent, out=bent), low, out=bent)
    return bent if divisor == 1 else np.divide(bent, divisor, out=bent)


@threads.blockwise
def _clamped_gap(x: Any, y: Any, bend: float, factor: Any) -> Any:
    return clamp_numbers(x - y, -bend, bend) * factor


def _smooth_slope(g: Any, x: Any, y: Any, reduction: str, beta: float) -> Any:
    g = _share(g, x, reduction, y)
    if not beta:
        return where(x - y <= 0, -g, g)
    return _clamped_gap(x, y, beta, g / beta)


smooth_error.grad(
    input=lambda g, input, target, reduction, beta: _smooth_slope(
        g, input, target, reduction, beta
    ),
    target=lambda g, input, target, reduction, beta: _smooth_slope(
        g, target, input, reduction, beta
    ),
)


def _smooth_bend(
    g: Any, grad_output: Any, self: Any, target: Any, reduction: str, beta: float
) -> Any:
    d = self - target
    bend = _share(g * grad_output / (beta or 1.0), d, reduction)
    return where((d > -beta) & (d < beta), bend, 0.0)


_record(
    smooth_error,
    "SmoothL1LossBackwardBackward0",
    self=_smooth_bend,
    target=lambda g, grad_output, self, target, reduction, beta: _smooth_bend(
        -g, grad_output, self, target, reduction, beta
    ),
)


@operation(node="HuberLossBackward0", order="iterated")
def huber_error(input: Array, target: Array, /, reduction: str, delta: float) -> Array:
    """Return ``d * d / 2`` where ``d = abs(x - y) <= delta``, else ``delta * (d - delta / 2)``."""
    refuse_kinds("huber", "biu", input)
    if input.dtype == HALF:
        return in_single(huber_error, input, target, reduction, delta)
    return _reduced_pairs(_bent, input, target, delta, 1.0, reduction=reduction)


def _huber_slope(g: Any, x: Any, y: Any, reduction: str, delta: float) -> Any:
    return _clamped_gap(x, y, delta, _share(g, x, reduction, y))


huber_error.grad(
    input=lambda g, input, target, reduction, delta: _huber_slope(
        g, input, target, reduction, delta
    ),
    target=lambda g, input, target, reduction, delta: _huber_slope(
        g, target, input, reduction, delta
    ),
)


def _huber_bend(
    g: Any, grad_output: Any, self: Any, target: Any, reduction: str, delta: float
) -> Any:
    d = self - target
    return where((d > -delta) & (d < delta), _share(g * grad_output, d, reduction), 0.0)


_record(
    huber_error,
    "HuberLossBackwardBackward0",
    self=_huber_bend,
    target=lambda g, grad_output, self, target, reduction, delta: _huber_bend(
        -g, grad_output, self, target, reduction, delta
    ),
)

# ---- probabilities ------------------------------------------------------------------------------


@operation(node="BinaryCrossEntropyBackward0")
def binary_entropy(self: Array, target: Array, /, reduction: str) -> Array:
    """Return ``-y log(x) - (1 - y) log(1 - x)``, at most 100.

    An operation because the derivative of a composite would be NaN at 0 and 1, where PyTorch's is
    finite.
    """
    return _reduced_pairs(_entropies, self, target, reduction=reduction)


def _entropies(x: Array, y: Array) -> Array:
    yes, no = np.log(x), np.log1p(-x)
    low = np.asarray(-100, x.dtype)
    return (y - 1) * np.maximum(no, low) - y * np.maximum(yes, low)


binary_entropy.grad(
    self=lambda g, self, target, reduction: _share(
        g * (self - target) / clamp_numbers((1 - self) * self, 1e-12, None), self, reduction
    ),
    target=lambda g, self, reduction: _share(
        g * clamp_numbers(log(1 - self) - log(self), -100.0, 100.0), self, reduction
    ),
)


def _entropy_bend(g: Any, grad_output: Any, self: Any, target: Any, reduction: str) -> Any:
    square = clamp_numbers((1 - self) * self, 1e-12, None) ** 2
    bend = (self * self - 2 * self * target + target) / square
    return _share(g * grad_output * bend, self, reduction)


derivative(
    binary_entropy,
    "BinaryCrossEntropyBackwardBackward0",
    self=_entropy_bend,
    target=lambda g, grad_output, self, reduction: _share(
        g * grad_output / -clamp_numbers((1 - self) * self, 1e-12, None), self, reduction
    ),
)


@operation(node="BinaryCrossEntropyWithLogitsBackward0")
def entropy_of_logits(self: Array, target: Array, /, reduction: str) -> Array:
    """Return the cross-entropy of ``sigmoid(x)``: ``(1 - y) * x - log(sigmoid(x))``."""
    return _reduced_pairs(_entropies_of_logits, self, target, reduction=reduction)


def _entropies_of_logits(x: Array, y: Array) -> Array:
    return (1 - y) * x - log_sigmoid.kernel(x)


entropy_of_logits.grad(
    self=lambda g, self, target, reduction: _share((sigmoid(self) - target) * g, self, reduction),
    target=lambda g, self, reduction: _share(-self * g, self, reduction),
)

# ---- classes ------------------------------------------------------------------------------------


def _counted(target: Array, ignore_index: int) -> Array | None:
    """Return which targets count; None if all do."""
    counted = target != ignore_index
    return None if np.count_nonzero(counted) == target.size else np.asarray(counted)


def _places(target: Array, counted: Array | None, shape: tuple[int, ...]) -> Array:
    """Return where the classes lie in an array of scores; of targets that do not count, class 0."""
    safe = target if counted is None else np.where(counted, target, 0)
    if len(shape) == 1:
        return safe
    return positions(safe[:, None], shape, 1).reshape(target.shape)


def _likelihood(input: Array, target: Array, ignore_index: int, reduction: str) -> Array:
    counted = _counted(target, ignore_index)
    losses = -input.take(_places(target, counted, input.shape))
    if counted is not None:
        losses = np.where(counted, losses, input.dtype.type(0))
    if reduction == "mean":
        total: Array = sum_all.kernel(losses)
        return total / input.dtype.type(_number(target, counted))
    return _reduced(losses, reduction)


def _number(target: Array, counted: Array | None) -> int:
    return target.size if counted is None else int(np.count_nonzero(counted))


def _likelihood_slope(
    g: Any, target: Any, input_shape: tuple[int, ...], ignore_index: int, reduction: str
) -> Any:
    counted = _counted(target, ignore_index)
    if reduction == "mean":
        g = g / g.dtype.type(_number(target, counted))
    shares = -g if counted is None else np.where(counted, -g, g.dtype.type(0))
    made = np.zeros(input_shape, g.dtype)
    made.reshape(-1)[_places(target, counted, input_shape)] = shares
    return made


@operation(node="NllLossBackward0")
def likelihood(input: Array, target: Array, /, ignore_index: int, reduction: str) -> Array:
    """Return ``-input[target]`` for rows of log-probabilities, or one."""
    return _likelihood(input, target, ignore_index, reduction)


@operation(node="NllLoss2DBackward0")
def likelihood_of_places(
    input: Array, target: Array, /, ignore_index: int, reduction: str
) -> Array:
    """Return ``-input[target]`` for log-probabilities ``[batch, classes, ...]``."""
    return _likelihood(input, target, ignore_index, reduction)


likelihood.grad(input=_likelihood_slope)
likelihood_of_places.grad(input=_likelihood_slope)
derivative(
    likelihood,
    "NllLossBackwardBackward0",
    "input",
    grad_output=lambda g, target, ignore_index, reduction: likelihood(
        g, target, ignore_index, reduction
    ),
)
derivative(
    likelihood_of_places,
    "NllLoss2DBackwardBackward0",
    "input",
    grad_output=lambda g, target, ignore_index, reduction: likelihood_of_places(
        g, target, ignore_index, reduction
    ),
)
