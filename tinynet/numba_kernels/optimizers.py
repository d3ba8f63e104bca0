"""Updates of optimizers: one pass over a parameter, its gradient and its state, all ``[n]``."""

from __future__ import annotations

import numpy as np
from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.shared import shared


@shared("param grad mean square", cost=6)
def adam(
    param: Array,
    grad: Array,
    mean: Array,
    square: Array,
    kept: float32,
    penalty: float32,
    beta1: float32,
    new1: float32,
    beta2: float32,
    new2: float32,
    eps: float32,
    rate: float32,
) -> None:
    """Adam's step; ``kept`` is the factor of decoupled decay, ``penalty`` the L2 penalty."""
    for i in range(param.size):
        p = param[i] * kept
        g = grad[i] + penalty * p
        m = mean[i] * beta1 + new1 * g
        v = square[i] * beta2 + new2 * (g * g)
        mean[i] = m
        square[i] = v
        param[i] = p - rate * (m / (np.sqrt(v) + eps))


@shared("param grad buffer", cost=3)
def momentum(
    param: Array, grad: Array, buffer: Array, penalty: float32, kept: float32, lr: float32
) -> None:
    """A step of gradient descent with momentum, without dampening or Nesterov's form."""
    for i in range(param.size):
        b = buffer[i] * kept + (grad[i] + penalty * param[i])
        buffer[i] = b
        param[i] -= lr * b
