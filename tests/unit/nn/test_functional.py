"""Values and gradients of `nn.functional` are PyTorch's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.tools.rounding import near

# ---- single precision and other dtypes ----------------------------------------------------------


@pytest.mark.parametrize("name", "elu gelu silu mish softplus hardswish leaky_relu".split())
def test_results_keep_the_dtype(name):
    for kind in (tn.float16, tn.float32, tn.float64):
        x = tn.tensor([-1.0, 0.5]).to(kind).requires_grad_()
        y = getattr(F, name)(x)
        y.sum().backward()
        assert y.dtype == x.grad.dtype == kind


def test_losses_keep_the_dtype():
    for kind in (tn.float32, tn.float64):
        x = tn.tensor([[0.3, 0.6]], dtype=kind, requires_grad=True)
        for loss in (
            F.cross_entropy(x, tn.tensor([1])),
            F.mse_loss(x, x.detach() + 1),
            F.binary_cross_entropy(x, x.detach()),
            F.binary_cross_entropy_with_logits(x, x.detach()),
        ):
            assert loss.dtype == kind
    assert F.mse_loss(tn.ones(2), tn.ones(2, dtype=tn.int64)).dtype == tn.float32
    assert F.mse_loss(tn.ones(2), tn.ones(2, dtype=tn.float64)).dtype == tn.float64


@pytest.mark.parametrize(
    "name, kernel",
    [
        ("leaky_relu", "leaky_relu_cpu"),
        ("elu", "elu_cpu"),
        ("gelu", "GeluKernelImpl"),
        ("silu", "silu_cpu"),
        ("logsigmoid", "log_sigmoid_cpu"),
    ],
)
def test_integers_are_refused(name, kernel):
    with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for 'Long'"):
        getattr(F, name)(tn.tensor([1, 2]))


# ---- extreme values -----------------------------------------------------------------------------

LARGE = [-1e4, -100.0, 0.0, 100.0, 1e4]


@pytest.mark.parametrize(
    "name, expected, slope",
    [
        ("softplus", [0, 3.783505853e-44, 0.6931471805599453, 100, 1e4], [0, 0, 0.5, 1, 1]),
        ("logsigmoid", [-1e4, -100, -0.6931471805599453, 0, 0], [1, 1, 0.5, 0, 0]),
        ("elu", [-1, -1, 0, 100, 1e4], [0, 0, 1, 1, 1]),
        ("silu", [0, 0, 0, 100, 1e4], [0, 0, 0.5, 1, 1]),
        ("mish", [0, 0, 0, 100, 1e4], [0, 0, 0.6, 1, 1]),
        ("gelu", [0, 0, 0, 100, 1e4], [0, 0, 0.5, 1, 1]),
        ("hardswish", [0, 0, 0, 100, 1e4], [0, 0, 0.5, 1, 1]),
    ],
)
def test_no_overflow(name, expected, slope):
    x = tn.tensor(LARGE, dtype=tn.float64, requires_grad=True)
    y = getattr(F, name)(x)
    (g,) = tn.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(y.detach().numpy(), expected, atol=1e-30)
    np.testing.assert_allclose(g.detach().numpy(), slope, atol=1e-30)
    (h,) = tn.autograd.grad(g.sum(), x)
    assert np.isfinite(h.numpy()).all()


def test_cross_entropy_of_large_logits():
    x = tn.tensor([[1e4, 0.0], [0.0, 1e4]], requires_grad=True)
    loss = F.cross_entropy(x, tn.tensor([0, 0]), reduction="none")
    assert loss.tolist() == [0.0, 1e4]
    loss.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [-1.0, 1.0]]


def test_binary_cross_entropy_at_the_ends():
    x = tn.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    loss = F.binary_cross_entropy(x, tn.tensor([1.0, 0.0, 0.0, 1.0]), reduction="none")
    assert loss.tolist() == [100.0, 100.0, 0.0, 0.0]
    loss.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()
    assert x.grad.tolist()[2:] == [0.0, 0.0]


def test_binary_cross_entropy_with_logits_at_zero():
    x = tn.zeros(2, requires_grad=True)
    F.binary_cross_entropy_with_logits(x, tn.tensor([0.0, 1.0]), reduction="sum").backward()
    assert x.grad.tolist() == [0.5, -0.5]


def test_empty_batches():
    x, y = tn.zeros(0, 3, requires_grad=True), tn.zeros(0, dtype=tn.int64)
    assert np.isnan(F.cross_entropy(x, y).item())
    assert F.cross_entropy(x, y, reduction="sum").item() == 0
    assert F.cross_entropy(x, y, reduction="none").shape == (0,)
    loss = F.mse_loss(x, x.detach())
    loss.backward()
    assert np.isnan(loss.item()) and x.grad.shape == (0, 3)


def test_a_batch_of_nothing_but_ignored_targets():
    x = tn.zeros(2, 3, requires_grad=True)
    target = tn.tensor([-100, -100])
    assert np.isnan(F.cross_entropy(x, target).item())
    loss = F.cross_entropy(x, target, reduction="sum")
    loss.backward()
    assert loss.item() == 0 and x.grad.tolist() == [[0.0] * 3] * 2


# ---- one-hot, dropout ---------------------------------------------------------------------------


def test_one_hot():
    assert F.one_hot(tn.tensor([[0, 2]])).tolist() == [[[1, 0, 0], [0, 0, 1]]]
    assert F.one_hot(tn.tensor(1), 4).tolist() == [0, 1, 0, 0]
    empty = F.one_hot(tn.zeros(0, dtype=tn.int64), 3)
    assert empty.shape == (0, 3) and empty.dtype == tn.int64


def test_dropout_keeps_the_expected_value():
    tn.manual_seed(1)
    x = tn.ones(100_000, requires_grad=True)
    y = F.dropout(x, 0.25)
    values = set(np.unique(y.detach().numpy()).tolist())
    assert values == {0.0, np.float32(1 / 0.75)}
    assert (y == 0).sum().item() == pytest.approx(25_000, abs=600)
    y.sum().backward()
    assert (x.grad == y.detach()).all()  # the same elements, the same factor
    assert type(y.grad_fn).__name__ == "MulBackward0"


def test_dropout_draws_from_the_default_generator():
    draws = []
    for _ in range(2):
        tn.manual_seed(3)
        draws.append(F.dropout(tn.ones(20), 0.5).tolist() + F.dropout(tn.ones(20), 0.5).tolist())
    assert draws[0] == draws[1]
    assert draws[0][:20] != draws[0][20:]


def test_dropout_does_nothing_in_evaluation():
    x = tn.ones(3)
    state = tn.get_rng_state()
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 0.0) is x
    assert tn.equal(tn.get_rng_state(), state)
    assert F.dropout(x, 1.0).tolist() == [0.0] * 3


def test_dropout_in_place():
    x = tn.ones(1000)
    assert F.dropout(x, 0.5, inplace=True) is x
    assert x._version == 1 and set(x.tolist()) == {0.0, 2.0}


# ---- in place -----------------------------------------------------------------------------------


def test_in_place_activations_follow_the_laws():
    leaf = tn.tensor([-1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        F.leaky_relu(leaf, inplace=True)
    x = leaf * 1
    y = F.leaky_relu(x, 0.5, inplace=True)
    assert y is x and x._version == 1 and x.tolist() == [-0.5, 2.0]
    x.sum().backward()
    assert leaf.grad.tolist() == [0.5, 1.0]


def test_an_in_place_activation_that_destroys_a_saved_value_is_named():
    leaf = tn.tensor([-1.0, 2.0], requires_grad=True)
    x = leaf.exp()
    F.selu(x, inplace=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        x.sum().backward()
    assert "by selu_" in str(caught.value)


# ---- refusals -----------------------------------------------------------------------------------

X = tn.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
T = tn.tensor([0, 2])
REFUSED = [
    (lambda: F.cross_entropy(X, tn.tensor([0, 3])), IndexError, "Target 3 is out of bounds."),
    (lambda: F.cross_entropy(X, tn.tensor([-1, 0])), IndexError, "Target -1 is out of bounds."),
    (lambda: F.nll_loss(X, tn.tensor([0, 3])), IndexError, "Target 3 is out of bounds."),
    (
        lambda: F.cross_entropy(X, tn.tensor([0])),
        ValueError,
        "Expected input batch_size (2) to match target batch_size (1).",
    ),
    (
        lambda: F.cross_entropy(X, tn.tensor([0.0, 1.0])),
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Float",
    ),
    (
        lambda: F.cross_entropy(X, tn.ones(2, 4)),
        RuntimeError,
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    (
        lambda: F.cross_entropy(X, tn.ones(2, 3, dtype=tn.int64)),
        RuntimeError,
        "Expected floating point type for target with class probabilities, got Long",
    ),
    (
        lambda: F.cross_entropy(X, X.softmax(1), ignore_index=1),
        RuntimeError,
        "ignore_index is not supported for floating point target",
    ),
    (
        lambda: F.cross_entropy(X.reshape(1, 3, 2), tn.tensor([[0, 1, 2]])),
        RuntimeError,
        "Expected target size [1, 2], got [1, 3]",
    ),
    (
        lambda: F.cross_entropy(X[0], tn.tensor([0, 0])),
        ValueError,
        "For 1D input, 1D target must have size 1, but got target size: 2",
    ),
    (
        lambda: F.cross_entropy(X, T, weight=tn.ones(2)),
        RuntimeError,
        "weight tensor should be defined either for all 3 classes or no classes but got weight "
        "tensor of shape: [2]",
    ),
    (
        lambda: F.cross_entropy(X, T, weight=tn.ones(3, dtype=tn.float64)),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    (
        lambda: F.cross_entropy(X, T, reduction="foo"),
        ValueError,
        "foo is not a valid value for reduction",
    ),
    (
        lambda: F.cross_entropy(X, T, label_smoothing=2.0),
        RuntimeError,
        "label_smoothing must be between 0.0 and 1.0. Got: 2",
    ),
    (
        lambda: F.cross_entropy(3, T),
        TypeError,
        "cross_entropy_loss(): argument 'input' (position 1) must be Tensor, not int",
    ),
    (
        lambda: F.cross_entropy(X, [0, 2]),
        TypeError,
        "cross_entropy_loss(): argument 'target' (position 2) must be Tensor, not list",
    ),
    (lambda: F.mse_loss(X, X, reduction="x"), ValueError, "x is not a valid value for reduction"),
    (lambda: F.mse_loss(X.long(), X.long()), NotImplementedError, '"mse_cpu" not implemented'),
    (
        lambda: F.smooth_l1_loss(X, X, beta=-1),
        RuntimeError,
        "smooth_l1_loss does not support negative values for beta.",
    ),
    (
        lambda: F.huber_loss(X, X, delta=0),
        RuntimeError,
        "huber_loss does not support non-positive values for delta.",
    ),
    (
        lambda: F.binary_cross_entropy(X + 5, X),
        RuntimeError,
        "all elements of input should be between 0 and 1",
    ),
    (
        lambda: F.binary_cross_entropy(X, tn.ones(2, 1)),
        ValueError,
        "Using a target size (tinynet.Size([2, 1])) that is different to the input size "
        "(tinynet.Size([2, 3])) is deprecated.",
    ),
    (
        lambda: F.binary_cross_entropy(X, X.long()),
        RuntimeError,
        "Found dtype Long but expected Float",
    ),
    (
        lambda: F.binary_cross_entropy_with_logits(X, tn.ones(2, 1)),
        ValueError,
        "Target size (tinynet.Size([2, 1])) must be the same as input size (tinynet.Size([2, 3]))",
    ),
    (
        lambda: F.binary_cross_entropy_with_logits(X, X.long()),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (lambda: F.embedding(tn.tensor([0, 2]), X), IndexError, "index out of range in self"),
    (lambda: F.embedding(tn.tensor([-1]), X), IndexError, "index out of range in self"),
    (
        lambda: F.embedding(tn.tensor([0.0]), X),
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        "Long, Int; but got tinynet.FloatTensor instead (while checking arguments for embedding)",
    ),
    (lambda: F.embedding(T, X[0]), RuntimeError, "'weight' must be 2-D"),
    (
        lambda: F.embedding(T, X, padding_idx=5),
        AssertionError,
        "Padding_idx must be within num_embeddings",
    ),
    (
        lambda: F.embedding([0], X),
        TypeError,
        "embedding(): argument 'indices' (position 2) must be Tensor, not list",
    ),
    (
        lambda: F.one_hot(tn.tensor([0, 2]), 2),
        RuntimeError,
        "Class values must be smaller than num_classes.",
    ),
    (lambda: F.one_hot(tn.tensor([-1])), RuntimeError, "Class values must be non-negative."),
    (
        lambda: F.one_hot(tn.tensor([0.0])),
        RuntimeError,
        "one_hot is only applicable to index tensor of type LongTensor.",
    ),
    (
        lambda: F.one_hot(tn.zeros(0, dtype=tn.int64)),
        RuntimeError,
        "Can not infer total number of classes from empty tensor.",
    ),
    (
        lambda: F.dropout(X, 1.5),
        ValueError,
        "dropout probability has to be between 0 and 1, but got 1.5",
    ),
    (
        lambda: F.dropout(T),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (
        lambda: F.prelu(X, tn.ones(2)),
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and "
        "channel size = 3.",
    ),
    (
        lambda: F.prelu(X, tn.ones(3, 1)),
        RuntimeError,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2",
    ),
    (
        lambda: F.gelu(X, approximate="x"),
        RuntimeError,
        "approximate argument must be either none or tanh.",
    ),
    (lambda: F.hardtanh(X, 2, 1), ValueError, "min_val cannot be greater than max_val"),
    (
        lambda: F.selu(3.0),
        TypeError,
        "selu(): argument 'input' (position 1) must be Tensor, not float",
    ),
    (lambda: F.pad(X, (1,)), RuntimeError, "Padding length must be divisible by 2"),
    (
        lambda: F.pad(X, (1,) * 6),
        RuntimeError,
        "Padding length should be less than or equal to two times the input dimension but got "
        "padding length 6 and input of dimension 2",
    ),
    (lambda: F.pad(X, (-2, -2)), RuntimeError, "length must be non-negative"),
    (lambda: F.pad(X, (1, 1), "mirror"), NotImplementedError, "Unrecognised padding mode mirror"),
    (
        lambda: F.linear(X, tn.ones(4, 2)),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)",
    ),
    (
        lambda: F.linear(X, tn.ones(4, 3), tn.ones(3)),
        RuntimeError,
        "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
        "dimension 1.  Target sizes: [2, 4].  Tensor sizes: [3]",
    ),
    (
        lambda: F.linear(X.double(), tn.ones(4, 3), tn.ones(4)),
        RuntimeError,
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    (
        lambda: F.linear(X, tn.ones(4, 3), tn.ones(4, dtype=tn.float64)),
        RuntimeError,
        "self and mat2 must have the same dtype, but got Double and Float",
    ),
    (
        lambda: F.linear(X, tn.ones(4, 3, dtype=tn.float64)),
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: float != double",
    ),
    (
        lambda: F.linear(tn.tensor(2.0), tn.ones(4, 3)),
        RuntimeError,
        "both arguments to linear need to be at least 1D, but they are 0D and 2D",
    ),
    (
        lambda: F.linear(3, tn.ones(4, 3)),
        TypeError,
        "linear(): argument 'input' (position 1) must be Tensor, not int",
    ),
]


@pytest.mark.parametrize("call, error, text", REFUSED, ids=[text[:40] for *_, text in REFUSED])
def test_refusals(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_what_a_linear_refuses_says_what_would_fit():
    with pytest.raises(RuntimeError) as caught:
        F.linear(tn.ones(5, 3), tn.ones(4, 2))
    assert str(caught.value).splitlines()[1].strip() == (
        "The last dimension of the input must be 2, that of the weight [4, 2]. "
        "Got an input of shape [5, 3] instead."
    )


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss])
def test_a_target_that_would_broadcast_is_pointed_out(loss):
    with pytest.warns(UserWarning, match="that is different to the input size") as caught:
        loss(tn.ones(2, 3), tn.ones(1, 3))
    assert caught[0].filename == __file__


def test_an_implicit_softmax_dimension_is_deprecated():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert F.softmax(X).sum(1).tolist() == near([1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.softmax(X, 1)


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "celu"])
def test_in_place_with_a_negative_slope(name):
    """PyTorch refuses the backward: it keeps the result, whose sign does not tell the input's."""
    x, y = (tn.tensor([-1.0, 2.0], requires_grad=True) for _ in range(2))
    getattr(F, name)(x * 1, -0.5).sum().backward()
    getattr(F, f"{name}_")(y * 1, -0.5).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.cosine_similarity(x, tn.arange(24.0).view(2, 3, 4), -1),
        lambda x: tn.nn.GRU(4, 3)(x)[0],
        lambda x: tn.nn.RNN(4, 3)(x)[0],
        lambda x: tn.nn.RNN(4, 3, nonlinearity="relu")(x)[0],
    ],
)
def test_an_output_can_be_written_to_where_pytorch_s_is_not_saved(call):
    gradients = []
    for write in (lambda y: y * 3, lambda y: y.mul_(3)):
        tn.manual_seed(0)
        x = tn.linspace(-1, 1, 24).view(2, 3, 4).requires_grad_()
        write(call(x)).sum().backward()
        gradients.append(x.grad)
    assert tn.equal(*gradients)
