"""Layers as modules: what they start from, what they write and refuse; the rest is in classes/."""

import math

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.tools.rounding import STEPS, near
from tinynet import nn

X = tn.tensor([[-2.0, -0.3, 0.4, 3.0], [0.1, 5.0, -7.0, 0.6]])

IN_PLACE = "ReLU LeakyReLU ReLU6 ELU CELU SELU SiLU Mish Hardsigmoid Hardswish Hardtanh".split()


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_activations(name):
    expected = getattr(nn, name)()(X)
    x = X.clone()
    assert getattr(nn, name)(inplace=True)(x) is x
    assert x.tolist() == expected.tolist() and x._version == 1


def test_hardtanh_bounds():
    with pytest.raises(AssertionError) as caught:
        nn.Hardtanh(2, 1)
    assert str(caught.value) == "max_val (1) must be greater than min_val (2)"


def test_a_bound_of_zero_keeps_the_sign_of_zero():
    x = tn.tensor([-0.0, 0.0])
    for clamped in (x.clamp(0, 1.0), x.clamp(-1.0, 0.0), nn.Hardtanh(0.0, 1.0)(x)):
        assert np.signbit(clamped.numpy()).tolist() == [True, False]


def test_prelu_trains_its_weight():
    layer = nn.PReLU(4, init=0.5)
    layer(X).sum().backward()
    assert layer.weight.tolist() == [0.5] * 4
    negative = np.where(X.numpy() < 0, X.numpy(), 0).sum(0)
    assert layer.weight.grad.numpy() == near(negative, 2 * STEPS)
    layer.reset_parameters()
    assert layer.weight._version == 1


# ---- Linear -------------------------------------------------------------------------------------


def test_linear_starts_from_a_uniform_distribution():
    tn.manual_seed(0)
    layer = nn.Linear(400, 300)
    for p in (layer.weight, layer.bias):
        k = 1 / math.sqrt(400)
        assert p._version == 1 and p.requires_grad and type(p) is nn.Parameter
        assert p.abs().max().item() <= k
        assert p.std().item() == pytest.approx(k / math.sqrt(3), rel=0.1)
    assert layer.weight.shape == (300, 400) and layer.bias.shape == (300,)


def test_linear_by_hand():
    layer = nn.Linear(2, 1)
    with tn.no_grad():
        layer.weight.copy_(tn.tensor([[2.0, -1.0]]))
        layer.bias.fill_(0.5)
    x = tn.tensor([[1.0, 1.0], [3.0, 0.0]], requires_grad=True)
    y = layer(x)
    assert y.tolist() == [[1.5], [6.5]] and type(y.grad_fn).__name__ == "AddmmBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, -1.0]] * 2
    assert layer.weight.grad.tolist() == [[4.0, 1.0]] and layer.bias.grad.tolist() == [2.0]


def test_linear_options():
    assert nn.Linear(2, 3, dtype=tn.float64, device="cpu").weight.dtype == tn.float64
    plain = nn.Linear(2, 3, bias=False)
    assert plain.bias is None and list(plain.state_dict()) == ["weight"]
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        empty = nn.Linear(0, 3)
    assert empty(tn.zeros(2, 0)).tolist() == [empty.bias.tolist()] * 2


def test_linear_says_what_does_not_fit():
    with pytest.raises(RuntimeError, match=r"shapes cannot be multiplied \(2x3 and 2x4\)"):
        nn.Linear(2, 4)(tn.ones(2, 3))


# ---- Flatten, Unflatten, Dropout ----------------------------------------------------------------


def test_flatten_and_unflatten():
    x = tn.arange(24).reshape(2, 3, 4)
    assert nn.Flatten()(x).shape == (2, 12) and nn.Flatten(0, 1)(x).shape == (6, 4)
    assert nn.Unflatten(1, (3, 4))(nn.Flatten()(x)).tolist() == x.tolist()
    assert nn.Unflatten(2, [2, -1])(x).shape == (2, 3, 2, 2)
    with pytest.raises(TypeError, match="must be a tuple of ints, but found type int"):
        nn.Unflatten(1, 3)
    with pytest.raises(TypeError, match="found element of type float at pos 1"):
        nn.Unflatten(1, (2, 2.0))


def test_dropout_by_mode():
    tn.manual_seed(0)
    layer, x = nn.Dropout(0.5), tn.ones(1000)
    assert set(layer(x).tolist()) == {0.0, 2.0} and layer.eval()(x) is x
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


# ---- Embedding ----------------------------------------------------------------------------------


def test_embedding_starts_from_the_normal_distribution():
    tn.manual_seed(0)
    table = nn.Embedding(1000, 30, padding_idx=-1)
    assert table.padding_idx == 999 and table.weight._version == 2
    assert table.weight[999].tolist() == [0.0] * 30
    assert table.weight[:999].std().item() == pytest.approx(1, abs=0.02)
    assert nn.Embedding(3, 5).weight._version == 1


def test_embedding_looks_up_and_trains():
    table = nn.Embedding(4, 2, padding_idx=0)
    found = table(tn.tensor([[1, 1], [3, 0]]))
    assert found.shape == (2, 2, 2) and found[1, 0].tolist() == table.weight[3].tolist()
    assert type(found.grad_fn).__name__ == "EmbeddingBackward0"
    found.sum().backward()
    assert table.weight.grad.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]
    assert table(tn.tensor([1], dtype=tn.int32)).shape == (1, 2)
    assert table(tn.zeros(0, 3, dtype=tn.int64)).shape == (0, 3, 2)


def test_max_norm_writes_once_per_lookup():
    table = nn.Embedding(3, 2, max_norm=1.0)
    with tn.no_grad():
        table.weight.copy_(tn.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 5.0]]))
    version = table.weight._version
    found = table(tn.tensor([0, 1, 0]))
    assert table.weight._version == version + 1
    assert found.tolist() == table.weight[tn.tensor([0, 1, 0])].tolist()
    rows = table.weight.detach().numpy()
    assert rows == near([[0.6, 0.8], [0.3, 0.4], [0.0, 5.0]])
    table(tn.tensor([1]))  # nothing is too long: a write all the same, as in PyTorch
    assert table.weight._version == version + 2
    with tn.no_grad():
        table(tn.tensor([2]))
    assert table.weight[2].tolist() == near([0.0, 1.0])


def test_a_lookup_that_fails_writes_nothing():
    table = nn.Embedding(2, 2, max_norm=1e-3)
    before = table.weight.tolist(), table.weight._version
    with pytest.raises(IndexError, match="index out of range in self"):
        table(tn.tensor([0, 2]))
    assert (table.weight.tolist(), table.weight._version) == before


def test_the_weight_is_not_to_be_used_before_a_lookup_that_shortens_it():
    table = nn.Embedding(3, 5, max_norm=1.0)
    direct = table.weight @ tn.randn(5, 1, requires_grad=True)
    found = table(tn.tensor([1]))
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1") as caught:
        (direct.sum() + found.sum()).backward()
    assert "by embedding renorm (max_norm=1.0), version 1 -> 2" in str(caught.value)


def test_embedding_from_vectors():
    vectors = tn.eye(3)
    frozen = nn.Embedding.from_pretrained(vectors)
    assert not frozen.weight.requires_grad and frozen.weight.data_ptr() == vectors.data_ptr()
    assert nn.Embedding.from_pretrained(vectors, freeze=False).weight.requires_grad
    with pytest.raises(AssertionError, match="expected to be 2-dimensional"):
        nn.Embedding.from_pretrained(tn.ones(2))
    with pytest.raises(AssertionError, match="Shape of weight does not match"):
        nn.Embedding(3, 4, _weight=tn.ones(2, 2))


@pytest.mark.parametrize("padding_idx", [3, -4])
def test_embedding_refusals(padding_idx):
    with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
        nn.Embedding(3, 4, padding_idx=padding_idx)


# ---- losses -------------------------------------------------------------------------------------

T = tn.tensor([[0.1, 0.9, 0.3, 0.2], [1.0, 0.0, 0.5, 0.4]])
C = tn.tensor([2, 0])
W = tn.tensor([1.0, 2.0, 3.0, 4.0])
P = X.sigmoid()
LOSSES = [
    (nn.MSELoss(), X, T, ((X - T) ** 2).mean()),
    (nn.L1Loss(reduction="sum"), X, T, (X - T).abs().sum()),
    (nn.SmoothL1Loss(beta=0.5), X, T, F.smooth_l1_loss(X, T, beta=0.5)),
    (nn.HuberLoss(delta=0.5), X, T, F.huber_loss(X, T, delta=0.5)),
    (nn.CrossEntropyLoss(), X, C, -X.log_softmax(1)[tn.tensor([0, 1]), C].mean()),
    (nn.CrossEntropyLoss(W, ignore_index=0), X, C, -X.log_softmax(1)[0, 2]),
    (nn.CrossEntropyLoss(label_smoothing=1.0), X, C, -X.log_softmax(1).mean()),
    (nn.NLLLoss(W, reduction="none"), X, C, tn.tensor([-1.2, -0.1])),
    (nn.BCELoss(W), P, T, F.binary_cross_entropy(P, T, W)),
    (nn.BCEWithLogitsLoss(W), X, T, F.binary_cross_entropy(P, T, W)),
    (
        nn.BCEWithLogitsLoss(pos_weight=W),
        X,
        T,
        F.binary_cross_entropy_with_logits(X, T, pos_weight=W),
    ),
    (
        nn.KLDivLoss(reduction="batchmean", log_target=True),
        X,
        T,
        (T.exp() * (T - X)).sum() / 2,
    ),
]


@pytest.mark.parametrize("module, output, target, expected", LOSSES, ids=lambda x: type(x).__name__)
def test_losses(module, output, target, expected):
    assert module(output, target).numpy() == near(expected.numpy(), 2 * STEPS)


def test_class_weights_are_buffers():
    loss = nn.CrossEntropyLoss(W)
    assert list(loss.state_dict()) == ["weight"] and loss.double().weight.dtype == tn.float64
    assert list(nn.CrossEntropyLoss().state_dict()) == []
    assert list(nn.BCEWithLogitsLoss(pos_weight=W).state_dict()) == ["pos_weight"]


@pytest.mark.parametrize("name", "MSELoss L1Loss CrossEntropyLoss BCELoss KLDivLoss".split())
def test_a_loss_refuses_an_unknown_reduction_at_once(name):
    with pytest.raises(ValueError, match="x is not a valid value for reduction"):
        getattr(nn, name)(reduction="x")
