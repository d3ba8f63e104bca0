"""Connectionist temporal classification: the likelihood of a sequence without an alignment.

An operation for speed: one sum over paths forward and one backward, in log space, over the whole
batch at once; as a composite each step in time would be recorded. Source: Graves et al.,
"Connectionist temporal classification", 2006.

A sequence ``a b`` is read from any path of classes in time that is ``a b`` once repetitions are
merged and blanks are left out. The states of a path are the sequence with blanks between and
around, ``- a - b -``; from one step to the next a path stays, moves on by one state, or by two
where that skips a blank between different classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import check_reduction, reduced, tensor_only
from tinynet.ops.arguments import name_of, no_derivative
from tinynet.ops.pointwise.arithmetic import where

__all__ = ["ctc_loss"]

# ---- sums over paths ----------------------------------------------------------------------------


# Arrays are [states, batch]: states that follow each other are then adjacent rows of memory.


def _states(labels: Array, blank: int) -> tuple[Array, Array]:
    """Return the class of each state, ``[states, batch]``, and where a blank may be skipped to."""
    batch, count = labels.shape
    states = np.full((2 * count + 1, batch), blank, np.int64)
    states[1::2] = labels.T
    skips = np.zeros(states.shape, bool)
    skips[3::2] = states[3::2] != states[1:-2:2]
    return states, skips


def _emissions(log_probs: Array, states: Array) -> Array:
    """Return the log-probability of each state's class, ``[time, states, batch]``."""
    return log_probs[:, np.arange(states.shape[1]), states]


def _paths(emissions: Array, skips: Array) -> Array:
    """Return the logarithm of the probability of all paths up to each state and time."""
    time, count, batch = emissions.shape
    kind = emissions.dtype
    never = np.finfo(kind).min / 2**32  # instead of -inf, which would make NaN of -inf - -inf
    sums = np.full((time, count + 2, batch), never, kind)  # two rows before the first state
    stay, step, skip = sums[:, 2:], sums[:, 1:-1], sums[:, :-2]
    emissions = np.maximum(emissions, never)
    stay[0, :2] = emissions[0, :2]
    closed = np.where(skips, 0, never).astype(kind)
    top, total, terms = (np.empty((*n, count, batch), kind) for n in ((), (), (3,)))
    one, two, three = terms
    for a, b, c, here, found in zip(stay, step, skip, emissions[1:], stay[1:], strict=False):
        np.add(c, closed, three)
        np.maximum(np.maximum(a, b, out=top), three, out=top)
        np.subtract(a, top, one)
        np.subtract(b, top, two)
        np.subtract(three, top, three)
        np.exp(terms, terms)
        np.add(np.add(one, two, total), three, total)
        np.add(np.log(total, total), top, total)
        np.add(total, here, found)
    stay[stay < never / 2] = -np.inf
    return stay


def _reversed(lengths: Array, count: int) -> Array:
    """Return ``[count, batch]``, 0 to count - 1, with the first ``length`` of a column reversed."""
    places = np.arange(count)[:, None]
    return np.where(places < lengths, lengths - 1 - places, places)


@operation(node="CtcLossBackward0", hidden=("sums",))
def ctc_nll(
    log_probs: Array,
    labels: Array,
    input_lengths: Array,
    target_lengths: Array,
    /,
    blank: int,
    zero_infinity: bool,
) -> tuple[Array, Array]:
    """Return the negative logarithm of the probability of each sequence.

    Args:
        log_probs: ``[time, batch, classes]``.
        labels: ``[batch, longest]``; what is after the length of a sequence does not matter.
        input_lengths, target_lengths: ``[batch]``.
        blank: the index of the blank class.
        zero_infinity: give a sequence that has no path no gradient, instead of NaN.
    """
    states, skips = _states(labels, blank)
    sums = _paths(_emissions(log_probs, states), skips)
    last, batch = np.maximum(input_lengths - 1, 0), np.arange(len(labels))
    end = sums[last, 2 * target_lengths, batch]
    before = np.where(target_lengths > 0, sums[last, 2 * target_lengths - 1, batch], -np.inf)
    nll = -np.logaddexp(end, before).astype(sums.dtype)
    nll[input_lengths == 0] = np.where(target_lengths[input_lengths == 0] == 0, 0, np.inf)
    return nll, sums


@operation(node="CtcLossBackwardBackward0")
def ctc_nll_backward(
    g: Array,
    log_probs: Array,
    labels: Array,
    input_lengths: Array,
    target_lengths: Array,
    sums: Array,
    nll: Array,
    /,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """Return the gradient: the probability of each class minus that of being in it on a path.

    As PyTorch's, it takes ``log_probs`` for what log_softmax returned: the first term vanishes in
    the derivative of log_softmax, and leaves the gradient of the scores as one expects it.
    """
    time, batch, classes = log_probs.shape
    states, _ = _states(labels, blank)
    turned = _reversed(target_lengths * 2 + 1, len(states))
    column = np.arange(batch)
    back = _states(states[turned, column][1::2].T, blank)
    when = _reversed(input_lengths, time)
    after = _paths(_emissions(log_probs[when, column], back[0]), back[1])
    after = after[when[:, None], turned, column]
    here = _emissions(log_probs, states)
    onto = np.where(np.isinf(sums), sums, sums + after - here + nll)
    inside = np.arange(len(states))[:, None] < 2 * target_lengths + 1
    passing = np.where(inside, np.exp(onto), 0)  # the probability of being in a state at a time
    place = (np.arange(time)[:, None, None] * batch + column) * classes + states
    share = np.bincount(place.ravel(), passing.ravel(), minlength=log_probs.size)
    gradient = np.exp(log_probs) - share.reshape(log_probs.shape).astype(log_probs.dtype)
    gradient *= g[:, None]
    endless = np.isinf(nll)
    gradient[:, endless] = 0 if zero_infinity else np.nan
    gradient[np.arange(time)[:, None] >= input_lengths] = 0
    return gradient


_not_twice = no_derivative("aten::_ctc_loss_backward")
ctc_nll.grad(
    log_probs=lambda g, log_probs, labels, input_lengths, target_lengths, sums, result, blank,
    zero_infinity: ctc_nll_backward(
        g, log_probs, labels, input_lengths, target_lengths, sums, result, blank, zero_infinity
    )
)  # fmt: skip
ctc_nll_backward.grad(g=_not_twice, log_probs=_not_twice)

# ---- arguments ----------------------------------------------------------------------------------

WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check_log_probs(array: Array) -> tuple[int, ...]:
    """Return the shape, or raise an error."""
    if array.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {array.ndim}-dimensional tensor for argument "
            f"#1 'log_probs' {WHERE}"
        )
    if not array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if array.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{name_of(array)}'")
    return array.shape


def _lengths(name: str, given: Any, batch: int) -> Array:
    """Return lengths as an array ``[batch]``, or raise RuntimeError."""
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    array = array.reshape(-1).astype(np.int64)
    if len(array) != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    if array.min() < 0:
        negative = array[array < 0][0]
        raise RuntimeError(
            f"Expected {name} to have value at least 0, but got value {negative} {WHERE}"
        )
    return array


@traced
def _constants(
    targets: Array, input_lengths: Any, target_lengths: Any, shape: tuple[int, ...], blank: int
) -> tuple[Array, Array, Array]:
    """Return the sequences and the lengths of inputs and sequences, or raise RuntimeError."""
    time, batch, classes = shape
    times = _lengths("input_lengths", input_lengths, batch)
    lengths = _lengths("target_lengths", target_lengths, batch)
    if times.max() > time:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {time}, but got value {times.max()} "
            f"{WHERE}"
        )
    return _labels(targets, lengths, classes, blank), times, lengths


def _labels(targets: Array, lengths: Array, classes: int, blank: int) -> Array:
    """Return the sequences as rows ``[batch, longest]``, from rows or one after the other."""
    longest, batch = int(lengths.max()), len(lengths)
    counted = np.arange(longest) < lengths[:, None]
    labels = np.full((batch, longest), blank, np.int64)
    if targets.ndim == 1:
        if len(targets) != lengths.sum():
            raise _wrong_size(lengths.sum(), 0, len(targets))
        labels[counted] = targets
    else:
        if targets.ndim != 2:
            raise RuntimeError(
                f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for "
                f"argument #2 'targets' {WHERE}"
            )
        if len(targets) != batch:
            raise _wrong_size(batch, 0, len(targets))
        if targets.shape[1] < longest:
            raise _wrong_size(f"at least {longest}", 1, targets.shape[1])
        labels[counted] = targets[:, :longest][counted]
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        wrong = labels[(labels < 0) | (labels >= classes)][0]
        raise RuntimeError(
            f"The targets of ctc_loss must be classes from 0 to {classes - 1}. Got {wrong} instead."
        )
    return labels


def _wrong_size(expected: Any, dim: int, got: int) -> RuntimeError:
    return RuntimeError(
        f"Expected tensor to have size {expected} at dimension {dim}, but got size {got} for "
        f"argument #2 'targets' {WHERE}"
    )


@composite(module=True, autocast="float32")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return minus the log-probability of sequences, summed over all alignments in time.

    Args:
        log_probs: ``[time, batch, classes]`` or ``[time, classes]``, from ``log_softmax``.
        targets: the sequences of classes, ``[batch, longest]``, or concatenated in one dimension.
        input_lengths: the number of time steps of each input, ``[batch]``.
        target_lengths: lengths of the sequences, ``[batch]``.
        blank: the index of the blank class.
        reduction: ``"mean"`` (each loss divided by the length of its sequence, then their mean),
            ``"sum"`` or ``"none"``.
        zero_infinity: replace infinite losses, of sequences too long for their input, by 0, with
            gradient 0.

    It supports no second derivatives.

    Raises:
        RuntimeError: shapes or lengths do not match, or a target class is out of range.

    Source: Graves et al., "Connectionist temporal classification: labelling unsegmented sequence
    data with recurrent neural networks", 2006.

    Example:
        >>> even = tn.zeros(3, 1, 2).log_softmax(2)  # 3 steps of 2 classes, 6 of 8 paths read "1"
        >>> F.ctc_loss(even, tn.tensor([[1]]), (3,), (1,)).exp()
        tensor(1.3333)
    """
    tensor_only("ctc_loss", log_probs=log_probs, targets=targets)
    check_reduction(reduction)
    if log_probs.ndim == 2:
        one = ctc_loss(
            log_probs.unsqueeze(1),
            targets.reshape(1, -1),
            *(input_lengths, target_lengths, blank, reduction, zero_infinity),
        )
        return one.squeeze(0) if reduction == "none" else one
    classes = _check_log_probs(log_probs._array)[-1]
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    given = [x._array if isinstance(x, Tensor) else x for x in (input_lengths, target_lengths)]
    found = _constants(targets._array, given[0], given[1], tuple(log_probs.shape), blank)
    labels, times, lengths = map(wrap, found)
    loss = ctc_nll.function(log_probs, labels, times, lengths, blank, zero_infinity)
    if zero_infinity:
        loss = where.function(loss == math.inf, 0.0, loss)
    if reduction == "mean":
        loss = loss / lengths.clamp(min=1).to(log_probs.dtype)
    return reduced(loss, reduction)
