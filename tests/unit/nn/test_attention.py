"""What attention promises beyond PyTorch's numbers: dropout, warnings, hard inputs, memory."""

import warnings

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.tools.rounding import STEPS, assert_near
from tinynet import nn


def plain(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return (scores if mask is None else scores + mask).softmax(-1) @ v


def close(a, b, scale=None):
    exact = b.detach().numpy().astype(float)
    assert_near(a.detach().numpy(), exact, 2 * (STEPS + 16), scale)  # each of the two is rounded


# ---- dropout -------------------------------------------------------------------------------------


def test_dropout_keeps_the_mean_and_zeroes_weights():
    tn.manual_seed(0)
    q, v = tn.zeros(1, 2000, 4), tn.ones(1, 10, 1)
    made = F.scaled_dot_product_attention(q, tn.zeros(1, 10, 4), v, dropout_p=0.3)
    assert made.mean().item() == pytest.approx(1.0, abs=0.02)
    counts = np.round(made.numpy() * 0.7 * 10)  # how many of ten weights are left
    assert counts.std() == pytest.approx((10 * 0.3 * 0.7) ** 0.5, rel=0.1)


def test_all_dropped():
    made = F.scaled_dot_product_attention(*[tn.ones(1, 2, 2)] * 3, dropout_p=1.0)
    assert made.tolist() == [[[0.0, 0.0], [0.0, 0.0]]]


@pytest.mark.parametrize("mask", [None, tn.zeros(3, 5).double()])
def test_gradients_with_dropout(mask):
    random = np.random.RandomState(0)
    inputs = [tn.tensor(random.standard_normal((2, n, 4))).requires_grad_() for n in (3, 5, 5)]

    def run(q, k, v):
        tn.manual_seed(1)
        return F.scaled_dot_product_attention(q, k, v, mask, dropout_p=0.4)

    assert tn.autograd.gradcheck(run, inputs) and tn.autograd.gradgradcheck(run, inputs)


def test_heads_drop_weights_in_training_only():
    tn.manual_seed(0)
    attention, x = nn.MultiheadAttention(8, 2, dropout=0.9), tn.randn(6, 2, 8)
    for need_weights in (True, False):
        attention.train()
        one, other = (attention(x, x, x, need_weights=need_weights)[0] for _ in range(2))
        assert one.tolist() != other.tolist()
        attention.eval()
        one, other = (attention(x, x, x, need_weights=need_weights)[0] for _ in range(2))
        assert one.tolist() == other.tolist()
    weights = attention.train()(x, x, x, average_attn_weights=False)[1]
    assert 0.8 < (weights == 0).float().mean().item() < 1


def test_layers_drop_in_training():
    tn.manual_seed(0)
    layer, x = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.5), tn.randn(4, 3, 8)
    assert layer(x).tolist() != layer(x).tolist()
    assert [m.p for m in layer.modules() if isinstance(m, nn.Dropout)] == [0.5] * 3
    assert layer.self_attn.dropout == 0.5


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 30, 300])
def test_large_scores(size):
    tn.manual_seed(0)
    q, k, v = (tn.randn(2, 5, 4) * size, tn.randn(2, 7, 4), tn.randn(2, 7, 3))
    close(F.scaled_dot_product_attention(q, k, v), plain(q, k, v))


@pytest.mark.parametrize("far", [-1000.0, -50.0, 60.0, 1000.0])
def test_a_common_summand_changes_nothing(far):
    tn.manual_seed(0)
    q, k, v = (tn.randn(2, n, 4).double() for n in (5, 7, 7))
    mask = tn.full((5, 7), far, dtype=tn.float64)
    close(F.scaled_dot_product_attention(q, k, v, mask), plain(q, k, v), scale=abs(far))


def test_large_scores_that_are_kept_out():
    q = tn.tensor([[1.0]])
    k, v = tn.tensor([[500.0], [1.0], [2.0]]), tn.tensor([[1000.0], [1.0], [1.0]])
    keep = tn.tensor([[False, True, True]])
    assert F.scaled_dot_product_attention(q, k, v, keep).tolist() == [[1.0]]
    k = tn.tensor([[500.0], [-300.0], [-300.0]])
    assert F.scaled_dot_product_attention(q, k, v, keep).tolist() == [[1.0]]


def test_nan_stays():
    q = tn.tensor([[float("nan")], [1.0]])
    made = F.scaled_dot_product_attention(q, tn.ones(2, 1), tn.ones(2, 1))
    assert str(made.tolist()) == "[[nan], [1.0]]"


@pytest.mark.parametrize("row", [0, 1, 2])
def test_nan_of_a_key_that_is_kept_out(row):
    tn.manual_seed(0)
    q, k, v = tn.randn(3, 4, 8), tn.randn(3, 5, 8), tn.randn(3, 5, 2)
    keep = tn.ones(3, 4, 5, dtype=tn.bool)
    keep[row, :, 2] = False
    wanted = F.scaled_dot_product_attention(q, k, v, keep)
    k[row, 2] = float("nan")
    close(F.scaled_dot_product_attention(q, k, v, keep), wanted)


def test_half_precision():
    tn.manual_seed(0)
    q, k, v, mask = (tn.randn(2, 5, 4).half() for _ in range(4))
    mask = mask[:, :, :1].expand(2, 5, 5)
    made = F.scaled_dot_product_attention(q, k, v, mask)
    assert made.dtype == tn.float16
    expected = plain(q.double(), k.double(), v.double(), mask.double())
    assert_near(made.numpy(), expected.numpy(), roundings=4)  # what is between is in float32


def test_the_output_lies_in_memory_as_the_query_does():
    """So heads can be put side by side again without a copy."""
    x = tn.randn(2, 5, 3, 4)
    q = x.transpose(1, 2)
    made = F.scaled_dot_product_attention(q, q, q)
    assert made.transpose(1, 2).is_contiguous() and q.shape == made.shape


def test_an_output_that_is_written_is_noticed():
    q = tn.ones(2, 3).requires_grad_()
    made = F.scaled_dot_product_attention(q, q, q)
    with tn.no_grad():
        made.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()


# ---- refusals and warnings -----------------------------------------------------------------------


def test_keys_and_values_come_in_pairs():
    """PyTorch reads beyond the end."""
    with pytest.raises(RuntimeError, match=r"\[\.\.\., S, V\]. Got .* and \[2, 6, 4\] instead."):
        F.scaled_dot_product_attention(tn.ones(2, 3, 4), tn.ones(2, 5, 4), tn.ones(2, 6, 4))
    with pytest.raises(RuntimeError, match=r"\[\.\.\., L, E\], .* Got \[2, 3, 4\], \[2, 5, 3\]"):
        F.scaled_dot_product_attention(tn.ones(2, 3, 4), tn.ones(2, 5, 3), tn.ones(2, 5, 4))


def test_causal_by_head_refuses_a_mask():
    """PyTorch's flash attention takes both."""
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set"):
        F.scaled_dot_product_attention(*[tn.ones(1, 1, 2, 2)] * 3, tn.zeros(2, 2), is_causal=True)


def test_query_heads_are_a_multiple_of_those_of_keys():
    q, k = tn.ones(1, 3, 2, 2), tn.ones(1, 2, 2, 2)
    with pytest.raises(RuntimeError, match="must divide the number of heads in query. Got 2 and 3"):
        F.scaled_dot_product_attention(q, k, k, enable_gqa=True)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("sizes", [{}, {"kdim": 6, "vdim": 6}])
@pytest.mark.parametrize("batch", [1, 3])
def test_batches_must_be_equal_and_do_not_broadcast(batch, sizes, batch_first):
    attention = nn.MultiheadAttention(8, 2, batch_first=batch_first, **sizes)
    query, key = tn.ones(batch, 5, 8), tn.ones(2, 4, sizes.get("kdim", 8))
    if not batch_first:
        query, key = query.transpose(0, 1), key.transpose(0, 1)
    with pytest.raises(RuntimeError, match=f"query is a batch of {batch}, key and value of 2"):
        attention(query, key, key)


@pytest.mark.parametrize("kind", ["MultiheadAttention", "TransformerEncoderLayer"])
def test_masks_of_two_kinds_are_warned_of(kind):
    x, padding, mask = tn.randn(4, 3, 8), tn.zeros(3, 4).bool(), tn.zeros(4, 4)
    with pytest.warns(UserWarning, match="Support for mismatched .*key_padding_mask and .*mask"):
        if kind == "MultiheadAttention":
            nn.MultiheadAttention(8, 2)(x, x, x, padding, attn_mask=mask)
        else:
            nn.TransformerEncoderLayer(8, 2, 12)(x, mask, padding)


def test_encoders_do_not_warn_of_nested_tensors():
    """There are none here, so there is nothing to do about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12), 2)


def test_layers_of_a_stack_are_copies():
    layer = nn.TransformerEncoderLayer(8, 2, 12)
    first, second = nn.TransformerEncoder(layer, 2).layers
    assert first is not layer and first.linear1.weight is not second.linear1.weight
    assert first.linear1.weight.tolist() == second.linear1.weight.tolist()


@pytest.mark.parametrize("kind", ["TransformerDecoder", "Transformer"])
def test_integer_masks_are_refused_by_name(kind):
    x, mask = tn.ones(4, 2, 8), tn.zeros(4, 4, dtype=tn.int64)
    if kind == "Transformer":
        model = nn.Transformer(8, 2, 1, 1, 12)
    else:
        model = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 12), 1)
    with pytest.raises(AssertionError, match="only bool and floating types of .*mask"):
        model(x, x, tgt_mask=mask)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
def test_an_empty_batch(batch_first, need_weights):
    attention = nn.MultiheadAttention(4, 2, batch_first=batch_first)
    x = tn.ones(*((0, 3) if batch_first else (3, 0)), 4, requires_grad=True)
    output, weights = attention(x, x, x, need_weights=need_weights)
    assert output.shape == x.shape
    assert (weights.shape == (0, 3, 3)) if need_weights else weights is None
    output.sum().backward()
    assert x.grad.shape == x.shape and (attention.in_proj_weight.grad == 0).all()
    biased = nn.MultiheadAttention(4, 2, batch_first=batch_first, add_bias_kv=True)
    assert biased(x, x, x)[0].shape == x.shape
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=batch_first)
    assert layer(x).shape == layer.eval()(x).shape == x.shape
