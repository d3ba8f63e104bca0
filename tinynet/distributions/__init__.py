"""Probability distributions: densities, samples with gradients, transforms and divergences.

The names, arguments and semantics are those of ``torch.distributions``.
"""

from tinynet.distributions import constraints as constraints
from tinynet.distributions import transforms as transforms
from tinynet.distributions import utils as utils
from tinynet.distributions.bernoulli import Bernoulli as Bernoulli
from tinynet.distributions.bernoulli import ContinuousBernoulli as ContinuousBernoulli
from tinynet.distributions.bernoulli import Geometric as Geometric
from tinynet.distributions.bernoulli import RelaxedBernoulli as RelaxedBernoulli
from tinynet.distributions.beta import Beta as Beta
from tinynet.distributions.beta import Dirichlet as Dirichlet
from tinynet.distributions.beta import Kumaraswamy as Kumaraswamy
from tinynet.distributions.binomial import Binomial as Binomial
from tinynet.distributions.binomial import Multinomial as Multinomial
from tinynet.distributions.binomial import NegativeBinomial as NegativeBinomial
from tinynet.distributions.binomial import Poisson as Poisson
from tinynet.distributions.categorical import Categorical as Categorical
from tinynet.distributions.categorical import MixtureSameFamily as MixtureSameFamily
from tinynet.distributions.categorical import OneHotCategorical as OneHotCategorical
from tinynet.distributions.categorical import (
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
from tinynet.distributions.categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from tinynet.distributions.constraint_registry import biject_to as biject_to
from tinynet.distributions.constraint_registry import transform_to as transform_to
from tinynet.distributions.distribution import Distribution as Distribution
from tinynet.distributions.distribution import ExponentialFamily as ExponentialFamily
from tinynet.distributions.gamma import Chi2 as Chi2
from tinynet.distributions.gamma import Exponential as Exponential
from tinynet.distributions.gamma import FisherSnedecor as FisherSnedecor
from tinynet.distributions.gamma import Gamma as Gamma
from tinynet.distributions.gamma import InverseGamma as InverseGamma
from tinynet.distributions.kl import kl_divergence as kl_divergence
from tinynet.distributions.kl import register_kl as register_kl
from tinynet.distributions.location_scale import Cauchy as Cauchy
from tinynet.distributions.location_scale import HalfCauchy as HalfCauchy
from tinynet.distributions.location_scale import Laplace as Laplace
from tinynet.distributions.location_scale import StudentT as StudentT
from tinynet.distributions.location_scale import Uniform as Uniform
from tinynet.distributions.location_scale import VonMises as VonMises
from tinynet.distributions.normal import HalfNormal as HalfNormal
from tinynet.distributions.normal import LogisticNormal as LogisticNormal
from tinynet.distributions.normal import LogNormal as LogNormal
from tinynet.distributions.normal import LowRankMultivariateNormal as LowRankMultivariateNormal
from tinynet.distributions.normal import MultivariateNormal as MultivariateNormal
from tinynet.distributions.normal import Normal as Normal
from tinynet.distributions.pareto import GeneralizedPareto as GeneralizedPareto
from tinynet.distributions.pareto import Gumbel as Gumbel
from tinynet.distributions.pareto import Pareto as Pareto
from tinynet.distributions.pareto import Weibull as Weibull
from tinynet.distributions.transformed_distribution import Independent as Independent
from tinynet.distributions.transformed_distribution import (
    TransformedDistribution as TransformedDistribution,
)
from tinynet.distributions.transforms import *  # noqa: F403
from tinynet.distributions.wishart import LKJCholesky as LKJCholesky
from tinynet.distributions.wishart import Wishart as Wishart
