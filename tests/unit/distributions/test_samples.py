"""Samples: their moments and distribution functions, and that their gradients are those of means.

Streams are seeded, and bounds are six standard errors.
"""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.answers.oracle.families import FAMILIES

D = tn.distributions
COUNT = 4000


def parameters(family, grad=False):
    """The parameters of a family as tensors."""
    random = np.random.RandomState(0)
    made = [tn.tensor(spec.array(random)) for spec in family.parameters]
    return [x.requires_grad_() for x in made] if grad else made


def known(made, name):
    try:
        value = getattr(made, name).detach().numpy()
    except NotImplementedError:
        return None
    return value if np.isfinite(value).all() else None


def near(found, expected, spread, count=COUNT):
    """Whether means lie within six standard errors of what is expected."""
    return np.all(np.abs(found - expected) <= 6 * spread / math.sqrt(count) + 1e-9)


HEAVY = (D.GeneralizedPareto, D.LogNormal, D.StudentT, D.Pareto, D.InverseGamma, D.FisherSnedecor)


def works(call):
    try:
        call()
    except NotImplementedError:
        return False
    return True


def having(condition):
    """Run a test for the families whose distributions satisfy a condition."""
    tn.manual_seed(7)
    made = {name: family.make(D, *parameters(family, True)) for name, family in FAMILIES.items()}
    chosen = [name for name, distribution in made.items() if condition(distribution)]
    return pytest.mark.parametrize("family", [FAMILIES[n] for n in chosen], ids=chosen)


@pytest.fixture(autouse=True)
def _seed():
    tn.manual_seed(7)


@having(lambda d: known(d, "mean") is not None and not isinstance(d, D.VonMises))
def test_moments(family):
    made = family.make(D, *parameters(family))
    mean, variance = known(made, "mean"), known(made, "variance")
    drawn = made.sample((COUNT,)).numpy()
    assert near(drawn.mean(0), mean, drawn.std(0))
    if variance is not None and type(made) not in HEAVY:
        squares = (drawn - mean) ** 2
        assert near(squares.mean(0), variance, squares.std(0))


@having(lambda d: works(lambda: d.cdf(d.sample())))
def test_distribution_function(family):
    """Kolmogorov's statistic, whose values beyond 2.5 have the probability 1e-5."""
    made = family.make(D, *parameters(family))
    levels = np.sort(made.cdf(made.sample((COUNT,))).numpy(), 0)
    even = (np.arange(COUNT)[:, None] + 0.5) / COUNT
    assert np.abs(levels.reshape(COUNT, -1) - even).max() < 2.5 / math.sqrt(COUNT)


@having(lambda d: d.has_enumerate_support)
def test_frequencies(family):
    made = family.make(D, *parameters(family))
    values = made.enumerate_support()
    chances = made.log_prob(values).exp().numpy()
    np.testing.assert_allclose(chances.sum(0), 1, atol=1e-12)
    same = (made.sample((COUNT,)).unsqueeze(1) == values).numpy()
    events = tuple(range(same.ndim - len(made.event_shape), same.ndim))
    assert near(same.all(events).mean(0), chances, np.sqrt(chances * (1 - chances)))


def differentiable(d):
    """Whether samples have gradients, and the family is plain enough to compare them.

    Within its `lims` ContinuousBernoulli's samples are uniform, whatever the parameter.
    """
    return d.has_rsample and not d.event_shape and not isinstance(d, D.ContinuousBernoulli)


@having(lambda d: differentiable(d) and known(d, "mean") is not None)
def test_gradients_of_samples_average_to_those_of_the_mean(family):
    inputs = parameters(family, grad=True)
    mean = family.make(D, *inputs).mean
    expected = tn.autograd.grad(mean.sum(), inputs, allow_unused=True)
    many = [x.detach().expand((COUNT, *x.shape)).clone().requires_grad_() for x in inputs]
    found = tn.autograd.grad(family.make(D, *many).rsample().sum(), many)
    for one, each in zip(expected, found, strict=True):
        wanted = 0 if one is None else one.numpy()
        assert near(each.numpy().mean(0), wanted, each.numpy().std(0))


@having(
    lambda d: (
        differentiable(d)
        and works(lambda: d.cdf(d.sample()).sum().backward())
        and not isinstance(d, D.MixtureSameFamily)
    )
)
def test_gradients_of_samples_keep_the_quantile(family):
    """``dx/dp = -(dF/dp) / f``, exactly, where F can be differentiated."""
    inputs = parameters(family, grad=True)
    made = family.make(D, *inputs)
    drawn = made.rsample()
    change = (-made.cdf(drawn.detach()) / made.log_prob(drawn).exp().detach()).sum()
    wanted = tn.autograd.grad(change, inputs, retain_graph=True)
    for one, other in zip(tn.autograd.grad(drawn.sum(), inputs), wanted, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_seeds(family):
    made = family.make(D, *parameters(family))
    first = [tn.manual_seed(3), made.sample((2,))][1]
    again = [tn.manual_seed(3), made.sample((2,))][1]
    assert bool((first == again).all())


@pytest.mark.parametrize(
    ("shape", "sample", "slope"),
    [  # of -(dP/da) / f by mpmath, with 40 digits
        (0.01, 1e-30, 6.85166673319527e-27),
        (0.3, 0.05, 0.4947109870041313),
        (0.3, 2.5, 3.8402241658189187),
        (1, 0.7, 0.9732187409923876),
        (2.5, 2.5, 1.0686730199876306),
        (2.5, 9, 1.891711800090848),
        (40, 35, 0.9386210202777746),
        (40, 60, 1.2214508415791072),
        (900, 850, 0.9718729782414277),
        (900, 1000, 1.053800219254576),
        (20000, 19800, 0.9949915410370521),
        (20000, 20000, 1.0000083333749987),
        (20000, 20100, 1.0025041978858311),
    ],
)
def test_standard_gamma_grad(shape, sample, slope):
    found = tn._standard_gamma_grad(*(tn.tensor(x, dtype=tn.float64) for x in (shape, sample)))
    assert float(found) == pytest.approx(slope, rel=1e-12 if shape < 1e4 else 1e-9)


@pytest.mark.parametrize(
    ("a", "b", "sample", "slope"),
    [  # of -(dI/da) / f / (1 - x) by mpmath, with 40 digits
        (0.02, 0.03, 0.4, 418.2645729358489),
        (0.3, 0.7, 0.9, 3.941074815664149),
        (1, 1, 0.25, 0.4620981203732969),
        (2, 5, 0.1, 0.09041368786994114),
        (2, 5, 0.8, 0.2642172264028238),
        (30, 70, 0.35, 0.010888337148886068),
        (0.1, 30, 0.001, 0.03206677579334652),
        (50, 0.2, 0.999, 0.020150524031305784),
        (200, 300, 0.42, 0.0020522800183457304),
    ],
)
def test_dirichlet_grad(a, b, sample, slope):
    found = tn._dirichlet_grad(*(tn.tensor(x, dtype=tn.float64) for x in (sample, a, a + b)))
    assert float(found) == pytest.approx(slope, rel=1e-10)


def test_large_dirichlet_grad_meets_the_series():
    """The expansion for large parameters continues the series."""
    slopes = [
        float(tn._dirichlet_grad(*(tn.tensor(x, dtype=tn.float64) for x in (0.4, a, a / 0.4))))
        for a in (9_999.0, 10_001.0)
    ]
    assert slopes[1] == pytest.approx(slopes[0] * 9_999 / 10_001, rel=1e-4)


def test_gradients_of_dirichlet_samples_stay_on_the_simplex():
    concentration = tn.tensor([[0.3, 2.0, 5.0]], dtype=tn.float64, requires_grad=True)
    drawn = D.Dirichlet(concentration).rsample((50,))
    (slope,) = tn.autograd.grad((drawn * tn.rand(50, 1, 1)).sum(), [concentration])
    np.testing.assert_allclose(slope.numpy(), 0, atol=1e-14)


def test_tiny_concentrations_do_not_underflow():
    drawn = D.Dirichlet(tn.full((200, 3), 1e-5)).sample()
    assert bool(D.constraints.simplex.check(drawn).all())
    assert 30 < int((drawn[:, 0] > 0.5).sum()) < 110
    assert bool((D.Gamma(tn.full((100,), 1e-5), 1.0).sample() > 0).all())


def test_lkj_correlations():
    """Off the diagonal they are ``2 * beta - 1`` with known parameters, in every place."""
    lower = D.LKJCholesky(4, 1.5).sample((COUNT,)).double()
    entries = (lower @ lower.mT).numpy()[:, *np.tril_indices(4, -1)]
    both = 1.5 + (4 - 2) / 2
    assert near(entries.mean(0), 0, entries.std(0))
    assert near((entries**2).mean(0), 1 / (2 * both + 1), (entries**2).std(0))


def test_von_mises_samples():
    made = D.VonMises(tn.tensor([0.5, 3.0]), tn.tensor([0.5, 4.0]))
    drawn = made.sample((COUNT,))
    assert bool((drawn >= -math.pi).all() and (drawn < math.pi).all())
    turned = np.exp(1j * (drawn - made.loc).double().numpy())
    assert near(turned.mean(0).imag, 0, turned.imag.std(0))
    assert near(turned.mean(0).real, 1 - made.variance.numpy(), turned.real.std(0))


def test_categorical_samples_never_have_probability_0():
    probs = tn.tensor([[0.0, 1e-30, 0.0], [0.0, 0.0, 2.0]])
    assert D.Categorical(probs).sample((500,)).T.unique(dim=1).tolist() == [[1], [2]]


def test_straight_through_has_the_gradient_of_probabilities():
    logits = tn.tensor([[0.1, -0.3, 1.2]], dtype=tn.float64, requires_grad=True)
    made = D.OneHotCategoricalStraightThrough(logits=logits)
    weights = tn.tensor([1.0, 2.0, 3.0]).double()
    product = (made.rsample((2,)) * weights).sum()
    found = tn.autograd.grad(product, [logits], retain_graph=True)
    wanted = tn.autograd.grad((2 * made.probs * weights).sum(), [logits])
    np.testing.assert_allclose(found[0].numpy(), wanted[0].numpy(), rtol=1e-12)
