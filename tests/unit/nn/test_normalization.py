"""Normalisation: state, versions and precision, which recorded answers cannot show."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near, near
from tinynet import nn
from tinynet.nn import functional as F
from tinynet.nn.functional import sample_normalization_ops

# ---- running statistics are state ----------------------------------------------------------------


def test_each_move_of_the_running_statistics_counts_as_a_write():
    """PyTorch does not count them, and then uses the moved ones in an older backward."""
    bn = nn.BatchNorm1d(2)
    before = [b._version for b in bn.buffers()]
    bn(tn.randn(3, 2))
    assert [b._version for b in bn.buffers()] == [n + 1 for n in before]
    bn.eval()(tn.randn(3, 2))
    assert [b._version for b in bn.buffers()] == [n + 1 for n in before]


def test_a_backward_that_needs_moved_statistics_says_so():
    bn = nn.BatchNorm1d(2).eval()
    loss = bn(tn.randn(3, 2)).sum()
    bn.train()(tn.randn(3, 2))
    with pytest.raises(RuntimeError, match=r"FloatTensor \[2\]\].* is at version 2; expected"):
        loss.backward()


def test_two_batches_in_training_do_not_disturb_each_other():
    bn = nn.BatchNorm1d(2)
    x, y = tn.randn(3, 2, requires_grad=True), tn.randn(3, 2, requires_grad=True)
    (bn(x).square().sum() + bn(y).square().sum()).backward()
    assert x.grad is not None and y.grad is not None


def test_nothing_moves_when_the_input_is_refused():
    bn = nn.BatchNorm1d(2)
    for wrong in (tn.zeros(3, 2, dtype=tn.float64), tn.zeros(3, 5), tn.zeros(1, 2)):
        with pytest.raises((RuntimeError, ValueError)):
            bn(wrong)
    assert bn.running_mean.tolist() == [0, 0] and bn.running_var.tolist() == [1, 1]
    assert bn.num_batches_tracked.item() == 0


def test_an_empty_batch_moves_nothing_but_the_count():
    bn = nn.BatchNorm1d(2)
    bn(tn.zeros(0, 2))
    assert bn.running_mean.tolist() == [0, 0] and bn.running_var.tolist() == [1, 1]
    assert bn.num_batches_tracked.item() == 1


def test_a_cumulative_average_is_that_of_the_batches():
    bn = nn.BatchNorm1d(2, momentum=None)
    batches = [tn.randn(5, 2) for _ in range(4)]
    for batch in batches:
        bn(batch)
    exact = np.stack(batches).astype(float)
    assert bn.running_mean.numpy() == near(exact.mean((0, 1)), scale=np.abs(exact).mean())
    assert bn.running_var.numpy() == near(exact.var(1, ddof=1).mean(0), 2 * STEPS)


def test_a_state_without_a_count_of_batches_is_an_old_one():
    bn = nn.BatchNorm1d(2)
    bn(tn.randn(3, 2))
    state = bn.state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match='Missing key.*"num_batches_tracked"'):
        bn.load_state_dict(state)
    assert bn.load_state_dict(dict(state)).missing_keys == []  # a plain dict has no version
    assert bn.num_batches_tracked.item() == 1


def test_instance_norm_follows_the_average_over_the_batch():
    layer, x = nn.InstanceNorm1d(2, momentum=1.0, track_running_stats=True), tn.randn(3, 2, 5)
    layer(x)
    exact = x.numpy().astype(float)
    assert layer.running_mean.numpy() == near(exact.mean((0, 2)), scale=np.abs(exact).mean())
    assert layer.running_var.numpy() == near(exact.var(2, ddof=1).mean(0), 2 * STEPS)
    assert layer.num_batches_tracked.item() == 0  # as in PyTorch


def test_instance_norm_warns_of_a_number_of_channels_that_it_does_not_use():
    with pytest.warns(UserWarning, match="dim=1 does not match num_features") as caught:
        nn.InstanceNorm1d(7)(tn.randn(2, 3, 4))
    assert caught[0].filename == __file__


def test_statistics_of_inference_mode_cannot_be_moved_outside():
    with tn.inference_mode():
        bn = nn.BatchNorm1d(2)
        bn(tn.randn(3, 2))
    mean = bn.running_mean.tolist()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        bn(tn.randn(3, 2))
    assert bn.running_mean.tolist() == mean


# ---- numbers ------------------------------------------------------------------------------------

FAMILY = {
    "batch, few places": (lambda x: F.batch_norm(x, None, None, training=True), (0, 2)),
    "batch, many places": (
        lambda x: F.batch_norm(x.repeat(1, 1, 30), None, None, training=True)[..., : x.shape[2]],
        (0, 2),
    ),
    "instance": (F.instance_norm, (2,)),
    "group": (lambda x: F.group_norm(x, 1), (1, 2)),
    "layer": (lambda x: F.layer_norm(x, x.shape[1:]), (1, 2)),
}


@pytest.mark.parametrize("name", FAMILY)
def test_a_large_mean_costs_no_digits(name):
    """A variance from the mean of squares would have none left here."""
    normalized, axes = FAMILY[name]
    x = np.random.RandomState(0).standard_normal((8, 4, 6)).round(2).astype("float32")
    x += np.float32(4096)
    exact = x.astype("float64")
    exact -= exact.mean(axes, keepdims=True)
    exact /= np.sqrt((exact**2).mean(axes, keepdims=True) + 1e-5)
    assert normalized(tn.tensor(x)).numpy() == near(exact, 8, scale=4096)


@pytest.mark.parametrize("shape", [(2, 8, 40, 40), (600, 16, 4, 4), (3, 4, 1, 1), (40, 8, 700)])
@pytest.mark.parametrize("affine", [False, True])
def test_gradients_of_groups_are_those_of_double_precision(shape, affine):
    """Rows in one part and in several, with few places per channel and with many."""
    draw, found = np.random.RandomState(0), {}
    x, g = draw.standard_normal((2, *shape)).astype("float32")
    vectors = draw.standard_normal((2, shape[1])).astype("float32")
    for dtype in (tn.float32, tn.float64):
        leaf, *given = (
            tn.tensor(v, dtype=dtype, requires_grad=True) for v in (x, *vectors[: 2 * affine])
        )
        y = F.group_norm(leaf, 2, *given)
        grads = tn.autograd.grad(y, [leaf, *given], tn.tensor(g, dtype=dtype))
        assert {v.dtype for v in (y, *grads)} == {dtype}
        found[dtype] = [v.detach().numpy() for v in (y, *grads)]
    for single, exact in zip(found[tn.float32], found[tn.float64], strict=True):
        added = x.size // exact.size if exact.ndim == 1 else 1
        assert_near(single, exact, x[0].size + STEPS, scale=np.abs(exact).max() + added**0.5)


@pytest.mark.parametrize("name", FAMILY)
def test_half_precision_is_summed_in_single(name):
    normalized, _ = FAMILY[name]
    x = tn.randn(8, 4, 6, dtype=tn.float64).half().requires_grad_()
    single = x.detach().float().requires_grad_()
    one, other = normalized(x), normalized(single)
    assert one.dtype == tn.float16
    assert one.detach().numpy() == near(other.detach().numpy(), 2, dtype=np.float16)
    weights = tn.randn(8, 4, 6)
    (one * weights.half()).sum().backward()
    (other * weights).sum().backward()
    assert x.grad.dtype == tn.float16
    assert x.grad.numpy() == near(single.grad.numpy(), 30 + STEPS, dtype=np.float16)


def test_third_derivatives():
    for normalized, _ in FAMILY.values():
        x = tn.randn(3, 2, 4, dtype=tn.float64).requires_grad_()
        (g,) = tn.autograd.grad(normalized(x).pow(3).sum(), x, create_graph=True)
        (h,) = tn.autograd.grad(g.square().sum(), x, create_graph=True)
        assert tn.autograd.gradcheck(
            lambda y, n=normalized: tn.autograd.grad(
                tn.autograd.grad(n(y).pow(3).sum(), y, create_graph=True)[0].square().sum(),
                y,
                create_graph=True,
            ),
            [x],
            atol=1e-3,
            rtol=1e-3,
        )
        assert h.shape == x.shape


def test_only_what_is_needed_is_computed():
    x, weight = tn.randn(4, 3), nn.Parameter(tn.ones(3))
    F.batch_norm(x, None, None, weight, training=True).sum().backward()
    F.layer_norm(x, (3,), weight).sum().backward()
    assert x.grad is None and weight.grad.shape == (3,)
    frozen = tn.ones(3)
    for bn in (F.batch_norm(x.requires_grad_(), tn.zeros(3), tn.ones(3), frozen),):
        bn.sum().backward()
    assert frozen.grad is None and x.grad.shape == (4, 3)


def test_sizes_below_one_are_refused():
    with pytest.raises(ValueError, match="'size' parameter of local_response_norm must be >= 1"):
        F.local_response_norm(tn.ones(1, 2, 3), 0)
    with pytest.raises(ValueError, match="'num_groups' parameter of GroupNorm must be >= 1"):
        nn.GroupNorm(0, 4)


# ---- where PyTorch's users look for them --------------------------------------------------------


def test_bases_by_which_users_tell_layers():
    modules = nn.modules
    assert isinstance(nn.BatchNorm2d(3), modules.batchnorm._BatchNorm)
    assert isinstance(nn.InstanceNorm1d(3), modules.instancenorm._InstanceNorm)
    assert not isinstance(nn.InstanceNorm1d(3), modules.batchnorm._BatchNorm)
    assert isinstance(nn.LazyBatchNorm1d(), modules.batchnorm._NormBase)
    assert isinstance(nn.AlphaDropout(), modules.dropout._DropoutNd)
    assert modules.normalization.LayerNorm is nn.LayerNorm


@pytest.mark.parametrize("norm", [F.layer_norm, F.rms_norm])
@pytest.mark.parametrize("affine", [True, False])
def test_large_inputs_are_normalised_in_parts(monkeypatch, norm, affine):
    rng, found = np.random.default_rng(0), []
    x, g = rng.standard_normal((2, 7, 5, 4))
    for large in (1 << 30, 0):
        monkeypatch.setattr(sample_normalization_ops, "_LARGE", large)
        monkeypatch.setattr(sample_normalization_ops, "_BLOCK", 40)
        leaf = tn.tensor(x, requires_grad=True)
        weight = tn.arange(1.0, 5.0, dtype=tn.float64, requires_grad=True) if affine else None
        y = norm(leaf, (4,), weight)
        y.backward(tn.tensor(g))
        found.append([y.detach(), leaf.grad] + ([weight.grad] if affine else []))
    for whole, parts in zip(*found, strict=True):
        np.testing.assert_allclose(parts.numpy(), whole.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 4, 0), (2, 4, 0, 3)])
def test_groups_without_elements(shape):
    """Their gradients are those of PyTorch: means of no elements are NaN."""
    x, w, b = tn.zeros(shape), tn.ones(4), tn.zeros(4)
    for t in (x, w, b):
        t.requires_grad_()
    nn.functional.group_norm(x, 2, w, b).sum().backward()
    assert x.grad.shape == shape and w.grad.isnan().all() and b.grad.equal(tn.zeros(4))
