"""What users build on distributions: subclasses, transforms, expansion, validation, copies."""

import copy
import math
import pickle

import numpy as np
import pytest

import tinynet as tn
from tests.answers.oracle.families import FAMILIES
from tests.tools.rounding import near

from .test_samples import parameters

D = tn.distributions


@pytest.mark.parametrize("name", FAMILIES)
def test_expanded_distributions_say_the_same(name):
    family = FAMILIES[name]
    made = family.make(D, *parameters(family))
    value = tn.tensor(family.value.array(np.random.RandomState(0)))
    wide = made.expand((2, 4, *made.batch_shape))
    assert type(wide) is type(made)
    expected = made.log_prob(value).expand(wide.batch_shape)
    assert bool((wide.log_prob(value) == expected).all())
    assert wide.sample((3,)).shape == (3, *wide.batch_shape, *wide.event_shape)


@pytest.mark.parametrize("name", FAMILIES)
def test_copies(name):
    family = FAMILIES[name]
    made = family.make(D, *parameters(family))
    value = tn.tensor(family.value.array(np.random.RandomState(0)))
    others = (copy.deepcopy(made), pickle.loads(pickle.dumps(made)))
    assert [repr(other) for other in others] == [repr(made)] * 2
    for other in others:
        assert bool((other.log_prob(value) == made.log_prob(value)).all())


@pytest.mark.parametrize(
    ("made", "low", "high"),
    [
        (D.Kumaraswamy(2.0, 3.0), 1e-6, 1 - 1e-6),
        (D.Kumaraswamy(1.0, 3.0), 1e-6, 1 - 1e-6),
        (D.Weibull(2.0, 0.5), 1e-6, 5.0),
        (D.Weibull(2.0, 2.5), 1e-6, 5.0),
        (D.Beta(2.0, 5.0), 0.0, 1.0),
        (D.Beta(0.2, 0.4), 1e-6, 1 - 1e-6),
        (D.FisherSnedecor(6.0, 4.0), 1e-6, 5.0),
    ],
)
def test_mode_is_where_the_density_is_greatest(made, low, high):
    at = tn.linspace(low, high, 10_001)
    best = at[made.log_prob(at).argmax()]
    assert float(made.mode) == pytest.approx(float(best), abs=2e-3)


class Triangular(D.Distribution):
    """A user's distribution: declares its parameters, writes a density and samples."""

    arg_constraints = {"width": D.constraints.positive}
    support = D.constraints.nonnegative
    has_rsample = True

    def __init__(self, width, validate_args=None):
        (self.width,) = D.utils.broadcast_all(width)
        super().__init__(self.width.size(), validate_args=validate_args)

    def rsample(self, sample_shape=()):
        return self.width * tn.rand(self._extended_shape(sample_shape)).sqrt()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (2 * value / self.width**2).log()


def test_distribution_of_a_user():
    made = Triangular(tn.tensor([1.0, 2.0]))
    assert repr(made) == "Triangular(width: tinynet.Size([2]))"
    assert made.expand((3, 2)).sample((4,)).shape == (4, 3, 2)
    assert D.Independent(made, 1).log_prob(tn.ones(2)).shape == ()
    assert not made.sample().requires_grad
    with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
        Triangular(-1.0)
    with pytest.raises(ValueError, match="to be within the support"):
        made.log_prob(tn.tensor(-1.0))


class Bernoullian(D.ExponentialFamily):
    """An exponential family that says only what the family has to."""

    arg_constraints = {"logits": D.constraints.real}
    support = D.constraints.boolean
    _mean_carrier_measure = 0

    def __init__(self, logits):
        self.logits = logits
        super().__init__(logits.size())

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        return (1 + x.exp()).log()


def test_exponential_family_of_a_user():
    one, other = (tn.tensor([0.3, -1.2]).double(), tn.tensor([0.5, 2.0]).double())
    mine, known = Bernoullian(one), D.Bernoulli(logits=one)
    np.testing.assert_allclose(mine.entropy().detach(), known.entropy(), rtol=1e-12)
    found = D.kl_divergence(mine, Bernoullian(other))
    wanted = D.kl_divergence(known, D.Bernoulli(logits=other))
    np.testing.assert_allclose(found.detach(), wanted, rtol=1e-12)


def test_transform_of_a_user_makes_a_flow():
    class Cube(D.Transform):
        domain = codomain = D.constraints.real
        bijective = True
        sign = 1

        def _call(self, x):
            return x**3

        def _inverse(self, y):
            return y.sign() * y.abs() ** (1 / 3)

        def log_abs_det_jacobian(self, x, y):
            return (3 * x**2).log()

    at = tn.tensor([-3.0, 0.5, 5.0], dtype=tn.float64)
    start = D.Normal(tn.zeros_like(at), 1.0)
    flow = D.TransformedDistribution(start, [Cube(), D.AffineTransform(1.0, -2.0)])
    step = 1e-4
    slope = (flow.cdf(at + step) - flow.cdf(at - step)) / (2 * step)
    np.testing.assert_allclose(flow.log_prob(at).exp(), slope, rtol=2e-8)
    np.testing.assert_allclose(flow.icdf(flow.cdf(at)), at, rtol=1e-12)


def test_validation_can_be_switched_off():
    try:
        D.Distribution.set_default_validate_args(False)
        assert math.isnan(float(D.Normal(0.0, -1.0).log_prob(tn.tensor(0.0))))
        with pytest.raises(ValueError, match="Expected parameter scale"):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        D.Normal(0.0, -1.0)


def test_probs_and_logits_are_computed_once_and_keep_their_history():
    logits = tn.tensor([0.3, -1.2], requires_grad=True)
    made = D.Bernoulli(logits=logits)
    with tn.no_grad():
        assert made.probs is made.probs
    assert made.probs.requires_grad


def test_ambiguous_divergences_warn():
    class Narrow(D.Normal):
        pass

    registered = dict(D.kl._KL_REGISTRY)
    try:
        D.register_kl(Narrow, D.Normal)(lambda p, q: "first")
        D.register_kl(D.Normal, Narrow)(lambda p, q: "second")
        with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
            assert D.kl_divergence(Narrow(0.0, 1.0), Narrow(0.0, 1.0)) == "first"
    finally:
        D.kl._KL_REGISTRY.clear()
        D.kl._KL_REGISTRY.update(registered)


def test_large_low_rank_divergence_needs_no_full_matrix():
    n = 20_000  # whose covariance would be 3 GB
    made = [
        D.LowRankMultivariateNormal(tn.zeros(n), tn.ones(n, 1) / n, tn.full((n,), s))
        for s in (1.0, 2.0)
    ]
    per_number = float(D.kl_divergence(*made)) / n
    assert per_number == near(0.5 * (0.5 - 1 + math.log(2)), n, scale=1)
