"""Divergences between multivariate normal distributions, with full or low-rank covariances.

``(tr(inv(C1) @ C0) + d @ inv(C1) @ d - n + log det C1 - log det C0) / 2``, where d is the
difference of the means. The trace is the sum of ``x @ inv(C1) @ x`` over the columns x of any R
with ``C0 = R @ R.mT``.
"""

from __future__ import annotations

from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions.kl.dispatch import register_kl
from tinynet.distributions.multivariate_normal import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    half_log_det,
    solved,
)

_KINDS = (MultivariateNormal, LowRankMultivariateNormal)


def _squares(q: Any, x: Tensor) -> Tensor:
    """Return the sum of ``x @ inv(C) @ x`` over the columns of a matrix."""
    if isinstance(q, MultivariateNormal):
        return solved(q._unbroadcasted_scale_tril, x).pow(2).sum((-2, -1))
    outside = x.pow(2).sum(-1) / q._unbroadcasted_cov_diag
    inside = solved(q._capacitance_tril, q._scaled_factor @ x)
    return outside.sum(-1) - inside.pow(2).sum((-2, -1))


def _squares_of_diagonal(q: Any, diagonal: Tensor) -> Tensor:
    """Return that sum for the square root of a diagonal matrix, stored as a vector."""
    if isinstance(q, MultivariateNormal):
        return _squares(q, diagonal.sqrt().diag_embed())
    outside = (diagonal / q._unbroadcasted_cov_diag).sum(-1)
    inside = solved(q._capacitance_tril, q._scaled_factor * diagonal.sqrt().unsqueeze(-2))
    return outside - inside.pow(2).sum((-2, -1))


def _trace(p: Any, q: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return _squares(q, p._unbroadcasted_scale_tril)
    diagonal = _squares_of_diagonal(q, p._unbroadcasted_cov_diag)
    return _squares(q, p._unbroadcasted_cov_factor) + diagonal


def _log_det(p: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return 2 * half_log_det(p._unbroadcasted_scale_tril)
    return p._log_det()


def _divergence(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    away = _squares(q, (q.loc - p.loc).unsqueeze(-1))
    return 0.5 * (_trace(p, q) + away - p.event_shape[0] + _log_det(q) - _log_det(p))


for _p in _KINDS:
    for _q in _KINDS:
        register_kl(_p, _q)(_divergence)
