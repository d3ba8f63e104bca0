"""EmbeddingBag is Embedding and a reduction: where PyTorch's record cannot tell."""

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.tools.rounding import assert_near
from tinynet.autograd import gradcheck, gradgradcheck

INDICES, STARTS = tn.tensor([0, 1, 1, 2, 0, 1, 4]), tn.tensor([0, 3, 3])
WEIGHT = np.random.RandomState(0).standard_normal((5, 3))


def table():
    return tn.tensor(WEIGHT, requires_grad=True)


def by_hand(weight, mode, **options):
    rows = F.embedding(INDICES, weight, **options)
    reduce = {"sum": lambda x: x.sum(0), "mean": lambda x: x.mean(0), "max": lambda x: x.amax(0)}
    first, second = (reduce[mode](x) for x in (rows[:3], rows[3:]))
    return tn.stack([first, weight.new_zeros(3), second])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_a_bag_is_a_reduced_embedding(mode):
    for options in ({}, {"scale_grad_by_freq": True}):
        if options and mode == "max":
            continue
        one, other = table(), table()
        found = F.embedding_bag(INDICES, one, STARTS, mode=mode, **options)
        expected = by_hand(other, mode, **options)
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
        weights = tn.tensor(np.arange(9.0).reshape(3, 3))
        (found * weights).sum().backward()
        (expected * weights).sum().backward()
        if mode == "max":  # amax shares a tie out, the bag gives it to the first: no ties but one
            assert one.grad[[0, 2, 3]].tolist() == other.grad[[0, 2, 3]].tolist()
        np.testing.assert_allclose(one.grad.sum(0).numpy(), other.grad.sum(0).numpy(), rtol=1e-14)
        if mode != "max":
            np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-14)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_derivatives_of_both_orders(mode):
    def bags(weight, factors):
        factors = factors if mode == "sum" else None
        return F.embedding_bag(
            INDICES, weight, STARTS, mode=mode, per_sample_weights=factors, padding_idx=2
        )

    leaves = [table(), tn.tensor(np.arange(1.0, 8.0), requires_grad=mode == "sum")]
    assert gradcheck(bags, leaves) and gradgradcheck(bags, leaves)


def test_bags_of_many_sizes():
    tn.manual_seed(0)
    sizes = tn.randint(0, 300, (200,)).numpy()
    bags = np.repeat(np.arange(200), sizes)
    indices, starts = tn.randint(0, 50, (sizes.sum(),)), tn.from_numpy(np.cumsum(sizes) - sizes)
    weight, factors = tn.randn(50, 20), tn.randn(sizes.sum())
    for given in (None, factors):
        found = F.embedding_bag(indices, weight, starts, mode="sum", per_sample_weights=given)
        each = np.ones(sizes.sum()) if given is None else given.numpy().astype(np.float64)
        rows = weight.numpy().astype(np.float64)[indices.numpy()] * each[:, None]
        exact, scale = np.zeros((2, 200, 20))
        np.add.at(exact, bags, rows)
        np.add.at(scale, bags, abs(rows))
        assert_near(found.numpy(), exact, 301, scale)


def test_offsets_must_not_decrease():
    with pytest.raises(RuntimeError, match="must not decrease. Got \\[0, 3, 2\\] instead"):
        F.embedding_bag(INDICES, table(), tn.tensor([0, 3, 2]))


def test_no_bags():
    assert F.embedding_bag(tn.tensor([], dtype=tn.int64), table(), STARTS[:0]).shape == (0, 3)


@pytest.mark.parametrize("offsets", [[0, 2], [0]])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_the_last_offset_is_the_length(mode, offsets):
    """PyTorch drops the rest of the input for sums of float32, and keeps it for others."""
    with pytest.raises(RuntimeError, match=f"must be the length.*, 7. Got {offsets[-1]} instead"):
        F.embedding_bag(INDICES, table(), tn.tensor(offsets), mode=mode, include_last_offset=True)


@pytest.mark.parametrize("dtype", [tn.float32, tn.float64])
@pytest.mark.parametrize("bad", [-1, 10])
@pytest.mark.parametrize("options", [{"mode": "max"}, {"mode": "sum"}, {"padding_idx": 0}], ids=str)
def test_an_index_outside(options, bad, dtype):
    plain = options == {"mode": "sum"} and dtype == tn.float32
    text = (
        f"^Index 1 of input takes value {bad} which is not in the valid range"
        if plain
        else f"^embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {bad}$"
    )
    with pytest.raises(RuntimeError, match=text):
        F.embedding_bag(tn.tensor([[1, bad]]), tn.ones(10, 2, dtype=dtype), **options)
