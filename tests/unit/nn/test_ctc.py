"""CTC against its definition: the sum over all paths that read as the sequence."""

from itertools import groupby, product

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.tools.rounding import near
from tinynet.autograd import gradcheck


def scores(*shape, seed=0, dtype=np.float64):
    return tn.tensor(np.random.RandomState(seed).standard_normal(shape).astype(dtype))


def read(path, blank):
    """The sequence that a path reads as: repetitions merged, blanks left out."""
    return tuple(label for label, _ in groupby(path) if label != blank)


def by_definition(log_probs, sequence, blank):
    time, classes = log_probs.shape
    total = -np.inf
    for path in product(range(classes), repeat=time):
        if read(path, blank) == tuple(sequence):
            total = np.logaddexp(total, sum(log_probs[t, c] for t, c in enumerate(path)))
    return -total


@pytest.mark.parametrize("blank", [0, 1])
@pytest.mark.parametrize("sequence", [[], [2], [2, 2], [2, 0, 2], [0, 0, 2], [2, 2, 2, 2]])
def test_the_sum_over_all_paths(sequence, blank):
    sequence = [{0: 1 - blank}.get(label, label) for label in sequence]
    log_probs = scores(5, 1, 3).log_softmax(2)
    found = F.ctc_loss(
        log_probs,
        tn.tensor([[*sequence, 0, 0]]),
        (5,),
        (len(sequence),),
        blank,
        reduction="none",
    )
    expected = by_definition(log_probs.numpy()[:, 0], sequence, blank)
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_the_derivative_through_log_softmax():
    targets = tn.tensor([[1, 1, 2], [3, 2, 0], [1, 0, 0]])

    def loss(x):
        log_probs = x.log_softmax(2)
        return F.ctc_loss(log_probs, targets, (6, 5, 3), (3, 2, 0), reduction="none")

    assert gradcheck(loss, [scores(6, 3, 4).requires_grad_()])


def test_what_is_after_a_length_has_no_gradient_and_no_effect():
    x, targets = scores(6, 2, 4).log_softmax(2).requires_grad_(), tn.tensor([[1, 2], [3, 3]])
    loss = F.ctc_loss(x, targets, (6, 2), (2, 1))
    (grad,) = tn.autograd.grad(loss, x)
    assert not grad[2:, 1].any() and grad[:2, 1].any()
    changed = x.detach().clone()
    changed[2:, 1] = 5.0
    targets[1, 1] = 99  # longer than the sequence: not looked at
    assert F.ctc_loss(changed, targets, (6, 2), (2, 1)).item() == loss.item()


def test_no_path():
    x, targets = scores(2, 2, 4).requires_grad_(), tn.tensor([[1, 1], [2, 3]])
    for zero, expected in ((False, np.inf), (True, 0.0)):
        log_probs = x.log_softmax(2)
        loss = F.ctc_loss(log_probs, targets, (2, 2), (2, 2), 0, "none", zero_infinity=zero)
        assert loss[0].item() == expected and np.isfinite(loss[1].item())
        (grad,) = tn.autograd.grad(loss.sum(), x)
        assert np.isnan(grad[:, 0].numpy()).all() == (not zero)
        assert np.isfinite(grad[:, 1].numpy()).all() and grad[:, 1].numpy().any()


def test_long_sequences_stay_finite():
    x = scores(800, 2, 20, dtype=np.float32).log_softmax(2).requires_grad_()
    targets = tn.tensor(np.random.RandomState(1).randint(1, 20, (2, 200)))
    loss = F.ctc_loss(x, targets, (800, 700), (200, 150))
    loss.backward()
    assert np.isfinite(loss.item()) and np.isfinite(x.grad.numpy()).all()
    grad = x.grad.numpy()  # probabilities minus probabilities
    paths = F.ctc_loss(x, targets, (800, 700), (200, 150), reduction="none")  # minus logarithms
    scale = paths.max().item() * np.abs(grad).sum(axis=2).max()
    assert grad.sum(axis=2) == near(np.zeros((800, 2)), scale=scale)


def test_there_is_no_second_derivative():
    x = scores(4, 1, 3).log_softmax(2).requires_grad_()
    (grad,) = tn.autograd.grad(F.ctc_loss(x, tn.tensor([[1]]), (4,), (1,)), x, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for aten::_ctc_loss_backward is not"):
        grad.sum().backward()


def test_a_target_that_is_no_class():
    with pytest.raises(RuntimeError, match="must be classes from 0 to 2. Got 3 instead"):
        F.ctc_loss(scores(4, 1, 3), tn.tensor([[3]]), (4,), (1,))
