"""Negative log-likelihood losses for counts, measurements and sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.functional.checks import REDUCTIONS
from tinynet.nn.functional.losses.linear_cross_entropy import LinearCrossEntropyOptions
from tinynet.nn.layers.container import ModuleList, Sequential
from tinynet.nn.layers.declaration import complete, with_options
from tinynet.nn.layers.linear import Linear
from tinynet.nn.layers.losses import _Loss
from tinynet.ops import cat

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "CTCLoss",
    "GaussianNLLLoss",
    "KLDivLoss",
    "LinearCrossEntropyLoss",
    "PoissonNLLLoss",
]


@with_options
class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts for Poisson distributions.

    For the logarithm x of an expected count and a count y it is ``exp(x) - y * x``; for the
    expected count itself, ``x - y * log(x + eps)``. The constant ``log(y!)`` is left out.

    Args:
        log_input: whether the input holds logarithms of the expected counts, not the counts.
        full: add Stirling's approximation of ``log(y!)`` for ``y > 1``.
        eps: added to expected counts before their logarithm is taken.

    Shape:
        Input and counts of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> nn.PoissonNLLLoss()(tn.zeros(2), tn.tensor([0.0, 3.0]))
        tensor(1.)
    """

    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """``(log(var) + (x - y) ** 2 / var) / 2``: Gaussian measurements y.

    Args:
        full: add the constant, ``log(2 * pi) / 2``.
        eps: lower bound of the variances.

    Shape:
        Expected values and measurements of one shape; variances of that shape, or without the last
        dimension, or with one dimension of length 1, or a number; to a scalar (or that shape for
        ``"none"``).

    Raises:
        ValueError: a variance is negative, the shape of the variances does not match, or
            ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast.

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    Example:
        >>> nn.GaussianNLLLoss()(tn.tensor([1.0]), tn.tensor([3.0]), tn.tensor([1.0]))
        tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


@with_options
class CTCLoss(_Loss):
    """Minus the log-probability of sequences, summed over all alignments in time.

    Args:
        blank: the index of the blank class.
        reduction: ``"mean"`` (each loss divided by the length of its sequence, then their mean),
            ``"sum"`` or ``"none"``.
        zero_infinity: replace infinite losses, of sequences too long for their input, by 0, with
            gradient 0.

    Shape:
        Log-probabilities ``[time, batch, classes]``, sequences ``[batch, longest]`` (or
        concatenated in one dimension), lengths of input and of sequences ``[batch]``, to a scalar
        (or ``[batch]`` for ``"none"``). The batch dimension is optional.

    Raises:
        RuntimeError: lengths or shapes do not match, or a class is out of range.
        NotImplementedError: the log-probabilities have an integer dtype.
        ValueError: ``reduction`` is unknown.

    Source: Graves et al., "Connectionist temporal classification", 2006.

    Example:
        >>> even = tn.zeros(3, 1, 2).log_softmax(2)  # 3 steps of 2 classes, 6 of 8 paths read "1"
        >>> nn.CTCLoss()(even, tn.tensor([[1]]), (3,), (1,)).exp()
        tensor(1.3333)
    """

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )


@with_options
class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence of target probabilities from log-probabilities.

    For log-probabilities x and target probabilities y it is ``y * (log(y) - x)``.

    Args:
        reduction: ``"batchmean"`` (the divergence itself, per batch), ``"mean"``, ``"sum"`` or
            ``"none"``.
        log_target: whether the target is given as logarithms.

    Shape:
        Log-probabilities and target of one shape, to a scalar (or that shape for ``"none"``).

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not broadcast.

    Source: Kullback and Leibler, "On information and sufficiency", 1951.

    Example:
        >>> kl = nn.KLDivLoss(reduction="batchmean")
        >>> kl(tn.tensor([[0.5, 0.5]]).log(), tn.tensor([[1.0, 0.0]]))
        tensor(0.6931)
    """

    _reductions = (*REDUCTIONS, "batchmean")

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    log_target: bool = False

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


# ---- adaptive softmax ---------------------------------------------------------------------------
# Adaptive softmax for many classes, most of them rare.


class ASMoutput(NamedTuple):
    """The result of ``AdaptiveLogSoftmaxWithLoss``."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probability of a target class; frequent classes must have low indices.

    Classes below ``cutoffs[0]`` are the shortlist. The other classes form clusters, from one cutoff
    to the next. The head is a softmax over the shortlist and the clusters. Each cluster has a tail,
    a softmax over its classes behind a projection to ``in_features / div_value ** i`` features::

        log p(class) = log head[cluster] + log tail[class]

    A batch only computes the tails of the clusters that its targets are in.

    Args:
        in_features: length of the input vectors.
        n_classes: number of classes.
        cutoffs: the first class of each cluster, in increasing order.
        div_value: the factor by which the features shrink from cluster to cluster.
        head_bias: whether the head has a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        Input ``[batch, in_features]`` and target ``[batch]`` (int64) to ``(output, loss)``:
        log-probabilities ``[batch]`` and minus their mean. The batch dimension is optional.

    Attributes:
        head: the Linear for the shortlist and the clusters.
        tail: per cluster a Sequential of two Linears.

    Raises:
        ValueError: the cutoffs are not increasing, or not between 1 and ``n_classes - 1``.
        RuntimeError: shapes or dtypes do not match, or a target class is out of range (in the
            call).

    Source: Grave et al., "Efficient softmax approximation for GPUs", 2017, arXiv:1609.04309.

    Example:
        >>> asm = nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
        >>> asm(tn.zeros(3, 16), tn.tensor([0, 7, 19])).output.shape
        tinynet.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        cutoffs = _checked(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            features = int(in_features // div_value ** (i + 1))
            projection = Linear(in_features, features, False, device, dtype)
            self.tail.append(
                Sequential(projection, Linear(features, end - first, False, device, dtype))
            )

    def reset_parameters(self) -> None:
        """Draw new weights."""
        for linear in self.modules():
            if isinstance(linear, Linear):
                linear.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> ASMoutput:
        """Return the log-probabilities of the targets, and minus their mean."""
        input, target = input_, target_
        _check_shapes(input, target)
        if target.ndim == 0:
            output, loss = self(input.unsqueeze(0), target.unsqueeze(0))
            return ASMoutput(output.squeeze(0), loss)
        if target.numel() and not ((target >= 0) & (target < self.n_classes)).all():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        column = target  # of the head: the class itself, or its cluster
        output = input.new_zeros(target.shape)
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= first) & (target < end)).nonzero().squeeze(1)
            if rows.numel():
                column = column.index_fill(0, rows, self.shortlist_size + i)
                tail = F.log_softmax(self.tail[i](input[rows]), dim=1)
                found = tail.gather(1, (target[rows] - first).unsqueeze(1)).squeeze(1)
                output = output.index_add(0, rows, found)
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        return ASMoutput(output, (-output).mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log-probabilities of all classes, ``[batch, n_classes]``.

        Example:
            >>> asm = nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
            >>> asm.log_prob(tn.zeros(3, 16)).exp().sum(dim=1).allclose(tn.ones(3))
            True
        """
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return cat(parts, dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable classes, ``[batch]``.

        A tail is computed only for inputs whose most probable head entry is its cluster.
        """
        best = self.head(input).argmax(dim=1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel():
            best[rows] = self.log_prob(input[rows]).argmax(dim=1)
        return best


def _checked(cutoffs: Sequence[int], classes: int) -> list[int]:
    """Return the cutoffs as a list, or raise ValueError."""
    found = list(cutoffs)
    if not found:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    ordered = found == sorted(set(found)) and all(int(c) == c for c in found)
    if not ordered or found[0] <= 0 or found[-1] > classes - 1:
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )
    return found


def _check_shapes(input: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input.shape[:1] != target.shape:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with size {input.shape}"
        )


# ---- linear cross entropy -----------------------------------------------------------------------
# The last layer of a classifier fused with its loss.


class LinearCrossEntropyLoss(_Loss):
    """The cross-entropy between a target and the logits of an internal ``Linear``.

    Args:
        in_features: length of the input vectors.
        num_classes: number of classes.
        out_features: lengths of further output dimensions; each position has its own target.
        bias: whether the Linear has a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.
        weight: a weight for each class.
        ignore_index: a target class to ignore; -100 unless given.
        label_smoothing: the fraction of each target to spread evenly over all classes.
        options: see ``linear_cross_entropy``.

    Shape:
        Input ``[batch, in_features]``, target classes ``[batch, *out_features]`` (int64) or
        probabilities ``[batch, num_classes, *out_features]``, to a scalar (or
        ``[batch, *out_features]`` for ``"none"``). Without ``out_features`` also without ``batch``.

    Attributes:
        linear: ``[in_features]`` to ``[num_classes * prod(out_features)]``.

    Raises:
        RuntimeError: the input or the weight has the wrong length, dtypes differ, or the smoothing
            is not in [0, 1].
        IndexError: a target class is out of range.
        ValueError: batch sizes differ, or ``reduction`` is unknown.

    Source: ``log(sum(exp(W x))) - (W x)[y]`` for input x and class y.

    Example:
        >>> loss = nn.LinearCrossEntropyLoss(20, 10)
        >>> loss(tn.zeros(3, 20), tn.tensor([1, 2, 3]))
        tensor(2.3026, grad_fn=<NllLossBackward0>)
    """

    weight: Tensor | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ):
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """Return the sizes and options."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


complete(__name__)
