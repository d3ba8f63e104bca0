"""Lists of unequal lengths raise an error that names them, never zip()'s own."""

import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.nn.utils import rnn
from tinynet.optim import swa_utils
from tinynet.utils.checkpoint import checkpoint


def parameter():
    return nn.Parameter(tn.zeros(1))


def growing():
    """Return a function with one more output in each call."""
    calls = []

    def outputs(x):
        calls.append(x)
        return (x * 2,) * len(calls)

    return outputs


def rerun():
    checkpoint(growing(), parameter(), use_reentrant=True)[0].sum().backward()


def perturbed():
    start = tn.zeros(1, dtype=tn.float64, requires_grad=True)
    tn.autograd.gradcheck(growing(), (start,))


def averaged(model, other, **options):
    return lambda: swa_utils.AveragedModel(model, **options).update_parameters(other)


def lost_statistics():
    average = swa_utils.AveragedModel(nn.BatchNorm1d(2))
    average.update_parameters(nn.BatchNorm1d(2, track_running_stats=False))


def transposed(kernel, stride):
    layer = nn.ConvTranspose2d(1, 1, kernel, stride=stride)
    return lambda: layer(tn.zeros(1, 1, 4, 4), output_size=(5, 5))


ONE, TWO = [tn.zeros(1)], [tn.zeros(1), tn.zeros(1)]
POINTS = tn.zeros(5, 2)
LINEAR, TWICE = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
LISTS = r"^Tensor lists must have the same number of tensors, got "
MISTAKES = {
    "checkpoint": (rerun, RuntimeError, "returned 1 outputs in the forward pass, but 2 when"),
    "gradcheck": (perturbed, AssertionError, "same number of outputs .* but got: [0-9] and [0-9]"),
    "average": (averaged(LINEAR, TWICE), RuntimeError, LISTS + "2 and 4"),
    "buffers": (
        averaged(nn.BatchNorm1d(2), nn.BatchNorm1d(2, affine=False), use_buffers=True),
        RuntimeError,
        LISTS + "5 and 3",
    ),
    "statistics": (lost_statistics, RuntimeError, LISTS + "3 and 0"),
    "ema": (lambda: swa_utils.get_ema_multi_avg_fn()(ONE, TWO, 1), RuntimeError, LISTS + "1 and 2"),
    "swa": (lambda: swa_utils.get_swa_multi_avg_fn()(TWO, ONE, 1), RuntimeError, LISTS + "2 and 1"),
    "stride": (transposed(2, (2, 2, 2)), RuntimeError, r"^expected stride to be .* of 2 values"),
    "kernel": (transposed((2, 2, 2), 1), RuntimeError, r"^expected kernel_size to be .* 2 values"),
    "unpad": (
        lambda: rnn.unpad_sequence(tn.zeros(2, 3, 1), tn.tensor([1]), batch_first=True),
        ValueError,
        r"^Expected one length for each of the 2 sequences. Got 1 instead",
    ),
    "sparse": (
        lambda: tn.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2, 2)),
        RuntimeError,
        r"^'len\(size\) == sparse_dim \+ dense_dim' is not satisfied: len\(size\) = 2, sparse_dim",
    ),
    "histogram": (
        lambda: tn.histogram(tn.zeros(3), 2, range=(0.0,)),
        RuntimeError,
        "for a 1-dimensional histogram range should have 2 elements, but got 1",
    ),
    "histogramdd": (
        lambda: tn.histogramdd(POINTS, [2, 2], range=[0.0, 1.0]),
        RuntimeError,
        "for a 2-dimensional histogram range should have 4 elements, but got 2",
    ),
}


@pytest.mark.parametrize("label", MISTAKES)
def test_the_error_names_the_lists(label):
    program, error, text = MISTAKES[label]
    with pytest.raises(error, match=text):
        program()


@pytest.mark.parametrize("change", ["added", "removed"])
def test_groups_changed_while_others_are_swapped_in_are_restored(change):
    p, q, new = parameter(), parameter(), parameter()
    optimizer = optim.SGD([{"params": [p]}, {"params": [q]}], lr=0.1, momentum=0.9)
    p.grad = q.grad = tn.ones(1)
    optimizer.step()
    groups = [*optimizer.param_groups]
    swapped = {"p": parameter(), "q": parameter()}
    saved = optimizer.state_dict()
    with optim.swap_in_optimizer_params_and_state(optimizer, swapped, saved):
        if change == "added":
            optimizer.add_param_group({"params": [new]})
        else:
            del optimizer.param_groups[0]
    assert [id(g) for g in optimizer.param_groups] == [id(g) for g in groups]
    assert optimizer.param_groups[0]["params"] == [p]
