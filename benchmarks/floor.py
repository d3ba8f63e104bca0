"""The floor: the same training step of an MLP, written by hand in numpy for this one model."""

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks.workloads import Training

FLOORS = ("mlp_small", "mlp_mnist")  # an MLP with one hidden layer, SGD with momentum


class Floor(Training):
    """One of ``FLOORS``, with no layer between its formulas and numpy."""

    def start(self, weights: dict[str, Any]) -> None:
        """Start over from these weights."""
        self.initial = weights
        options = self.row.optimizer[1]
        self.step = hand_written(weights, self.batches, options["lr"], options["momentum"])


def hand_written(
    weights: dict[str, Any], batches: Any, lr: float, momentum: float
) -> Callable[[], Any]:
    """Return the step: forward, backward and update, all in preallocated memory."""
    w1, b1, w2, b2 = params = [w.copy() for w in weights.values()]
    speed = [np.zeros_like(w) for w in params]
    grads = [np.empty_like(w) for w in params]
    data = cycle([(x.numpy(), y.numpy()) for x, y in batches])
    size = len(batches[0][0])
    h, dh = np.empty((size, len(b1)), w1.dtype), np.empty((size, len(b1)), w1.dtype)
    zero, scale, rows = np.zeros_like(h), np.float32(1 / size), np.arange(size)
    lr, momentum = np.float32(lr), np.float32(momentum)

    def step() -> Any:
        x, y = next(data)
        np.dot(x, w1.T, out=h)
        np.add(h, b1, out=h)
        np.maximum(h, zero, out=h)
        z = h @ w2.T
        z += b2
        z -= z.max(axis=1, keepdims=True)
        picked = z[rows, y]
        np.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True)
        loss = np.log(total).mean() - picked.mean()
        z /= total
        z[rows, y] -= 1
        z *= scale
        np.dot(z.T, h, out=grads[2])
        np.add.reduce(z, axis=0, out=grads[3])
        np.dot(z, w2, out=dh)
        np.multiply(dh, h > 0, out=dh)
        np.dot(dh.T, x, out=grads[0])
        np.add.reduce(dh, axis=0, out=grads[1])
        for p, g, v in zip(params, grads, speed, strict=True):
            v *= momentum
            v += g
            np.multiply(v, lr, out=g)
            p -= g
        return loss

    return step
