"""Private helpers that copies of PyTorch's own code import."""

import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import nn
from tinynet.compat import paths
from tinynet.compat.utilities import helpers
from tinynet.nn import functional as F


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("torch.nn.init", "_no_grad_fill_ _no_grad_normal_ _no_grad_trunc_normal_ kaiming_normal_"),
        ("torch.nn.functional", "_canonical_mask _none_or_dtype _verify_batch_size linear"),
        ("torch.utils.checkpoint", "check_backward_validity checkpoint detach_variable"),
        ("torch._utils", "ExceptionWrapper _flatten_dense_tensors _take_tensors"),
    ],
)
def test_they_are_at_pytorchs_paths(path, names):
    homes = paths.homes_of(path)
    missing = [n for n in names.split() if not any(hasattr(home, n) for home in homes)]
    assert not missing


def test_attention_by_the_helpers_is_that_of_the_module():
    attention = nn.MultiheadAttention(6, 1, batch_first=True)
    q, k = tn.randn(2, 3, 6), tn.randn(2, 4, 6)
    masked = tn.rand(3, 4) > 0.6
    masked[:, 0] = False
    assert helpers._mha_shape_check(q, k, k, None, masked, 1)
    assert not helpers._mha_shape_check(q[0], k[0], k[0], None, masked, 1)
    mask = helpers._canonical_mask(
        masked, "attn_mask", helpers._none_or_dtype(None), "", q.dtype, check_other=False
    )
    parts = helpers._in_projection_packed(q, k, k, attention.in_proj_weight, attention.in_proj_bias)
    mixed = F.scaled_dot_product_attention(*parts, attn_mask=mask)
    expected = attention(q, k, k, attn_mask=masked)[0]
    assert attention.out_proj(mixed).tolist() == near(expected.tolist(), 2 * STEPS)
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    for one, other in zip(helpers._in_projection(q, k, k, *weights, *biases), parts, strict=True):
        assert tn.equal(one, other)


def test_masks_and_batches_are_checked():
    with pytest.raises(AssertionError, match="expected `key` and `value` to be 3-D but found 2-D"):
        helpers._mha_shape_check(tn.ones(2, 3, 4), tn.ones(3, 4), tn.ones(3, 4), None, None, 2)
    with pytest.raises(AssertionError, match="only bool and floating types of mask are supported"):
        helpers._canonical_mask(tn.ones(2, dtype=tn.int64), "mask", None, "", tn.float32)
    with pytest.warns(UserWarning, match="Support for mismatched mask and other is deprecated"):
        helpers._canonical_mask(tn.ones(2), "mask", tn.bool, "other", tn.float32)
    with pytest.raises(RuntimeError, match="must be None or torch.Tensor"):
        helpers._none_or_dtype(3)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        helpers._verify_batch_size([1, 5, 1, 1])


def test_checkpoints_detach_their_inputs():
    x = tn.ones(2, requires_grad=True)
    detached, plain, number = helpers.detach_variable((x * 1, tn.ones(1), 3))
    assert detached.requires_grad and detached.is_leaf and not plain.requires_grad and number == 3
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        helpers.detach_variable([x])
    helpers.check_backward_validity([1, x])
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        helpers.check_backward_validity([plain, number])


def test_tensors_are_taken_in_groups_of_a_dtype():
    single, double = tn.ones(4), tn.ones(2, dtype=tn.float64)
    groups = list(helpers._take_tensors([single, double, single, single, tn.ones(9)], 32))
    assert [[len(t) for t in group] for group in groups] == [[4, 4], [4], [9], [2]]
    assert list(helpers._take_tensors([], 32)) == []


def test_exceptions_are_raised_elsewhere_with_their_origin():
    try:
        raise KeyError("lost")
    except KeyError:
        wrapper = helpers.ExceptionWrapper(where="in replica 0")
    with pytest.raises(KeyError, match=r"(?s)Caught KeyError in replica 0.*lost"):
        wrapper.reraise()
