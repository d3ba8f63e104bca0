"""The Kullback-Leibler divergence between two distributions, by a table of formulas."""

from tinynet.distributions.kl import across as across
from tinynet.distributions.kl import multivariate as multivariate
from tinynet.distributions.kl import within as within
from tinynet.distributions.kl.dispatch import _KL_REGISTRY as _KL_REGISTRY
from tinynet.distributions.kl.dispatch import kl_divergence as kl_divergence
from tinynet.distributions.kl.dispatch import register_kl as register_kl

__all__ = ["kl_divergence", "register_kl"]
