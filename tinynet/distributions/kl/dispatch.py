"""``kl_divergence`` and ``register_kl``: formulas by pairs of distributions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions.distribution import Distribution

Formula = TypeVar("Formula", bound=Callable[[Any, Any], Tensor])

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}
_FOUND: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Register the decorated function as the formula for a pair of classes and their subclasses.

    Args:
        type_p: the class of the first distribution.
        type_q: the class of the second.

    Raises:
        TypeError: a class is not a distribution.

    Example:
        >>> D = tn.distributions
        >>> class Mine(D.Normal):
        ...     pass
        >>> @D.register_kl(Mine, D.Normal)
        ... def _(p, q):
        ...     return p.loc - q.loc
        >>> D.kl_divergence(Mine(3.0, 1.0), D.Normal(1.0, 1.0))
        tensor(2.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # others that behave like distributions, too
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def register(formula: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = formula
        _FOUND.clear()
        return formula

    return register


def _find(type_p: type, type_q: type) -> Callable[[Any, Any], Tensor]:
    """Return the formula for the nearest base classes, giving priority to those of p."""
    steps = {
        pair: (type_p.__mro__.index(pair[0]), type_q.__mro__.index(pair[1]))
        for pair in _KL_REGISTRY
        if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])
    }
    if not steps:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type_p.__name__} and q type "
            f"{type_q.__name__}"
        )
    by_p = min(steps, key=lambda pair: steps[pair])
    by_q = min(steps, key=lambda pair: steps[pair][::-1])
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence: the mean of ``log p(x) - log q(x)`` for x from p.

    Args:
        p: the distribution of the samples.
        q: the distribution to compare with.

    Returns:
        A tensor of the batch shape.

    Raises:
        NotImplementedError: no formula is registered for the two classes.

    Example:
        >>> D = tn.distributions
        >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0))
        tensor(0.5000)
    """
    pair = type(p), type(q)
    if pair not in _FOUND:
        _FOUND[pair] = _find(*pair)
    return _FOUND[pair](p, q)
