"""Packed and padded sequences: what PyTorch does not do, and what LSTM promises beyond numbers."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import nn
from tinynet.nn.utils import rnn


def test_lengths_beyond_the_padding_are_refused():
    """PyTorch packs what is not there."""
    with pytest.raises(RuntimeError, match=r"must be <= 2, the padded length. Got 3 instead."):
        rnn.pack_padded_sequence(tn.zeros(2, 2), [3, 1])


def test_unpadding_leaves_the_batch_as_it_is():
    """PyTorch transposes it in place."""
    padded = tn.zeros(3, 2)
    rnn.unpad_sequence(padded, tn.tensor([3, 1]))
    assert padded.shape == (3, 2) and padded._version == 0


def test_a_number_is_no_sequence():
    with pytest.raises(RuntimeError, match="must have 1 or more dimensions. Got a number"):
        rnn.pad_sequence([tn.tensor(1.0)])


def test_packed_sequences_say_where_they_are():
    packed = rnn.pack_sequence([tn.ones(2)])
    assert packed.cpu() is packed and not packed.is_cuda and not packed.is_pinned()
    assert packed.to(tn.float32) is packed and packed.float() is packed
    assert packed.to(tn.float64).data.dtype == tn.float64
    assert rnn.invert_permutation(None) is None


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_all_weights_and_flattening(kind):
    layer = getattr(nn, kind)(3, 4, 2, bidirectional=True)
    names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    keys = [f"{n}_l{k}{d}" for k in (0, 1) for d in ("", "_reverse") for n in names]
    assert list(layer.state_dict()) == keys
    flat = [p for group in layer.all_weights for p in group]
    assert all(p is getattr(layer, key) for p, key in zip(flat, keys, strict=True))
    assert layer.flatten_parameters() is None


def test_dropout_between_layers():
    tn.manual_seed(0)
    x = tn.ones(3, 2, 4)
    layer = nn.LSTM(4, 5, 2, dropout=0.5)
    assert layer(x)[0].tolist() != layer(x)[0].tolist()
    layer.eval()
    assert layer(x)[0].tolist() == layer(x)[0].tolist()
    blocked = nn.GRU(4, 5, 2, dropout=1.0)
    nothing = nn.GRU(5, 5)
    nothing.load_state_dict(
        {k.replace("l1", "l0"): p for k, p in blocked.state_dict().items() if "l1" in k}
    )
    expected = nothing(tn.zeros(3, 2, 5))[0].detach().numpy()
    assert blocked(x)[0].detach().numpy() == near(expected, 2 * STEPS)


def test_dropout_of_one_layer_warns():
    text = "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
    text += "expects num_layers greater than 1, but got dropout=0.5 and num_layers=1"
    with pytest.warns(UserWarning) as caught:
        nn.LSTM(2, 3, dropout=0.5)
    assert str(caught[0].message) == text and caught[0].filename == __file__


@pytest.mark.parametrize("layer", [nn.LSTM(2, 3), nn.LSTMCell(2, 3)])
def test_lstm_takes_a_pair(layer):
    with pytest.raises(TypeError, match=r"must be a pair \(h_0, c_0\). Got Tensor instead."):
        layer(tn.zeros(4, 2), tn.zeros(1, 3))


def test_the_state_of_lstm_has_the_dtype_of_its_weights():
    state = tn.zeros(1, 5, 4).double(), tn.zeros(1, 5, 4)
    with pytest.raises(RuntimeError, match="same dtype, but got Double and Float"):
        nn.LSTM(3, 4)(tn.zeros(2, 5, 3), state)


def test_packed_steps_need_decreasing_sizes():
    packed = rnn.PackedSequence(tn.zeros(3, 3), tn.tensor([1, 2]))
    with pytest.raises(RuntimeError, match=r"must not increase. Got \[1, 2\] instead."):
        nn.LSTM(3, 4)(packed)


def test_a_written_output_is_noticed():
    output, _ = nn.LSTM(3, 4)(tn.zeros(2, 5, 3))
    with tn.no_grad():
        output.zero_()
    with pytest.raises(RuntimeError, match="output 0 of LstmSequenceBackward0, is at version 1"):
        output.sum().backward()


def test_the_last_states_may_be_written():
    x = tn.ones(2, 5, 3)
    layer = nn.LSTM(3, 4)
    output, (h, c) = layer(x)
    h.detach().zero_()
    c.detach().zero_()
    output.sum().backward()
    expected = [p.grad.tolist() for p in layer.parameters()]
    layer.zero_grad()
    layer(x)[0].sum().backward()
    assert [p.grad.tolist() for p in layer.parameters()] == expected


def test_tied_weights_get_both_gradients_twice():
    layer = nn.RNN(4, 4, dtype=tn.float64)
    layer.weight_hh_l0 = layer.weight_ih_l0
    w = layer.weight_ih_l0
    loss = layer(tn.full((3, 2, 4), 0.1, dtype=tn.float64))[0].sum()
    (plain,) = tn.autograd.grad(loss, w, retain_graph=True)
    (recorded,) = tn.autograd.grad(loss, w, create_graph=True)
    assert recorded.requires_grad
    np.testing.assert_allclose(plain.numpy(), recorded.detach().numpy(), rtol=1e-12)
