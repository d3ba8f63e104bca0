"""Random indices with given weights."""

from __future__ import annotations

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor, method, public_function, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.ops.argument_errors import refuse_others
from tinynet.ops.out_dtypes import same_dtype
from tinynet.random import Generator, numbers_of


def _check_weights(weights: Array, count: int, replacement: bool) -> None:
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not dtypes.is_floating(weights.dtype):
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtypes.of(weights).scalar_name}"
        )
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if weights.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if replacement and count > 1:
        if not (weights >= 0).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry < 0)"
            )
        if not np.isfinite(weights).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry = infinity or "
                "NaN)"
            )
    elif not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and ((weights > 0).sum(-1) < count).any():
        raise RuntimeError(
            "invalid multinomial distribution (with replacement=False, not enough non-negative "
            "category to sample)"
        )


def _indices(rows: Array, levels: Array) -> Array:
    """Return the positions of levels in [0, 1) among the cumulative weights of their rows.

    Each row is offset by its number, so that one search serves all rows.
    """
    ends = np.cumsum(rows, 1)
    number = np.arange(len(rows))[:, None]
    at = np.minimum(levels + number, np.nextafter(number + 1.0, 0))
    found = np.searchsorted((ends / ends[:, -1:] + number).ravel(), at.ravel(), "right")
    return found.reshape(levels.shape) - number * rows.shape[1]


@public_function
@with_out(same_dtype("{name} expects {result} tensor out, got: {out}"))
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw indices from each row, with the given weights.

    Index i is drawn next with probability ``w[i] / sum(w)``, w being the remaining weights.

    Without replacement, each index draws an exponential waiting time with its weight as rate; the
    shortest waiting times win.

    Raises:
        RuntimeError: weights that are negative, not finite or all zero; too few nonzero weights.

    Example:
        >>> tn.multinomial(tn.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
        tensor([1, 1])
    """
    refuse_others("multinomial", input=input)
    return wrap(_drawn(input._array, num_samples, replacement, generator))


@traced
def _drawn(
    weights: Array, num_samples: int, replacement: bool, generator: Generator | None
) -> Array:
    _check_weights(weights, num_samples, replacement)
    rows = np.atleast_2d(weights).astype(np.float64)
    draw = numbers_of(generator, "multinomial")
    if replacement:
        picked = _indices(rows, draw.random((len(rows), num_samples)))
    else:
        waits = draw.standard_exponential(rows.shape)
        np.divide(waits, rows, out=waits, where=rows > 0)
        waits[rows == 0] = np.inf
        picked = np.argsort(waits, 1)[:, :num_samples]
    return np.ascontiguousarray(picked if weights.ndim > 1 else picked[0])


method(multinomial)
