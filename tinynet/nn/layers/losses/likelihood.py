"""Negative log-likelihood losses for counts, measurements and sequences."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.options import with_options
from tinynet.nn.functional.checks import REDUCTIONS
from tinynet.nn.layers.docstrings import complete
from tinynet.nn.layers.losses.loss import _Loss

__all__ = ["PoissonNLLLoss", "GaussianNLLLoss", "CTCLoss", "KLDivLoss"]


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


complete(__name__)
