"""Functions of ``torch`` with ATen's arguments, beside those of ``nn.functional``."""

import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet.compat import root
from tinynet.nn import functional as F

A, B, C = tn.tensor(
    [[[0.5, -1.0], [2.0, 0.0]], [[1.5, 0.25], [-0.5, 1.0]], [[0.2, 0.7], [0.1, 0.9]]]
)
SIGNS = tn.tensor([1.0, -1.0])


def test_softmax_and_its_gradient():
    x = A.clone().requires_grad_()
    for name in ("softmax", "log_softmax"):
        y = getattr(root, f"_{name}")(x, 1, False)
        assert y.equal(getattr(tn, name)(A, 1))
        slope = getattr(root, f"_{name}_backward_data")
        found = slope(grad_output=B, output=y, dim=1, input_dtype=tn.float32)
        assert found.equal(tn.autograd.grad(y, x, B, retain_graph=True)[0])
        assert type(found.grad_fn).__name__.endswith("BackwardDataBackward0")
        with pytest.raises(RuntimeError, match="^softmax with half to float conversion is not"):
            getattr(root, f"_{name}")(x, 1, True)


def test_norms_except_one_dimension():
    v = tn.stack([A, B, C])
    assert root.norm_except_dim(v, 2, 1).shape == (1, 2, 1)
    sums = v.abs().double()
    for dim, exact in ((-2, sums.sum((0, 2), keepdim=True)), (-1, sums.sum())):
        assert_near(root.norm_except_dim(v, 1, dim).numpy(), exact.numpy())
    g = tn.tensor([[[2.0]], [[1.0]], [[0.5]]])
    assert_near(root.norm_except_dim(root._weight_norm(v, g)).numpy(), g.double().numpy())


def test_arguments_stand_in_the_order_of_aten():
    weight, mean, var = SIGNS.abs(), SIGNS, tn.tensor([2.0, 3.0])
    assert root.embedding(A, tn.tensor([1, 0])).equal(A[[1, 0]])
    of_batch = root.batch_norm(A, weight, None, mean, var, False, 0.1, 1e-5, True)
    assert of_batch.equal(F.batch_norm(A, mean, var, weight, None, False, 0.1, 1e-5))
    given = tn.stack([A, B])
    of_one = root.instance_norm(given, None, None, None, None, True, 0.1, 1e-5, False)
    assert of_one.equal(F.instance_norm(given))
    x = tn.ones(3)
    assert root.dropout_(x, 1.0, True) is x and x.tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss by both")
@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("kl_div", (A, C), {}),
        ("binary_cross_entropy_with_logits", (A, C), {"pos_weight": C[0]}),
        ("cosine_embedding_loss", (A, B, SIGNS), {"margin": 0.1}),
        ("hinge_embedding_loss", (A, SIGNS.expand(2, 2)), {}),
        ("margin_ranking_loss", (A, B, SIGNS.expand(2, 2)), {"margin": 0.5}),
        ("poisson_nll_loss", (A, C), {"log_input": True, "full": False, "eps": 1e-8}),
        ("triplet_margin_loss", (A, B, C), {"swap": True}),
    ],
)
def test_reductions_are_numbers(name, given, options):
    for number, word in enumerate(root.REDUCTIONS):
        expected = getattr(F, name)(*given, **options, reduction=word)
        assert getattr(root, name)(*given, **options, reduction=number).equal(expected)
    assert getattr(root, name)(*given, **options).equal(
        getattr(F, name)(*given, **options, reduction="none")
    )


def test_resize_is_a_view_of_as_many_elements():
    x = tn.arange(6.0).requires_grad_()
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        y, z = x.resize(2, 3), x.detach().resize_as(tn.zeros(3, 2))
    y.square().sum().backward()
    assert y.shape == (2, 3) and z.shape == (3, 2) and x.grad.tolist() == [0, 2, 4, 6, 8, 10]
    wrong = (
        r"^requested resize to 2x2 \(4 elements in total\), but the given tensor has a size of 6 "
    )
    with pytest.warns(UserWarning, match="non-inplace"), pytest.raises(RuntimeError, match=wrong):
        x.resize((2, 2))


@pytest.mark.parametrize("largest", [None, True, False])
@pytest.mark.parametrize("general", [False, True])
def test_extreme_eigenvalues_solve_their_equation(general, largest):
    half = tn.arange(16.0, dtype=tn.float64).reshape(4, 4).sin()
    a, b = half + half.T, half @ half.T + 2 * tn.eye(4, dtype=tn.float64)
    values, vectors = root.lobpcg(a, 2, b if general else None, largest=largest)
    assert values.shape == (2,) and vectors.shape == (4, 2)
    right = (b @ vectors if general else vectors) * values
    assert_near((a @ vectors).numpy(), right.numpy(), roundings=500)
    first, second = values.tolist()
    assert (first > second) is (largest is not False)
    if not general:  # PyTorch takes sparse matrices, too
        assert root.lobpcg(a.to_sparse(), 2, largest=largest)[0].equal(values)
