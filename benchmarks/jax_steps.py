"""The same training steps in JAX, compiled as a whole, for the column next to eager PyTorch.

The models are rewritten as functions of their weights; each race first checks that they compute
the same losses.
"""

import math
from collections.abc import Callable
from itertools import cycle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.workloads import Training

Weights = dict[str, Any]


def mlp(w: Weights, x: Any) -> Any:
    """Linear layers with ReLU between them."""
    layers = sorted({int(name.split(".")[0]) for name in w})
    for i in layers:
        x = x @ w[f"{i}.weight"].T + w[f"{i}.bias"]
        x = jax.nn.relu(x) if i != layers[-1] else x
    return x


def _norm(w: Weights, name: str, x: Any) -> Any:
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def _linear(w: Weights, name: str, x: Any) -> Any:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def gpt(w: Weights, x: Any) -> Any:
    """A small GPT of 4 heads."""
    x = w["token.weight"][x] + w["place"]
    batch, length, width = x.shape
    mask = jnp.tril(jnp.ones((length, length), bool))
    for i in range(sum(name.endswith(".qkv.weight") for name in w)):
        b = f"blocks.{i}."
        qkv = _linear(w, b + "qkv", _norm(w, b + "norm1", x))
        q, k, v = qkv.reshape(batch, length, 3, 4, width // 4).transpose(2, 0, 3, 1, 4)
        scores = jnp.where(mask, q @ k.swapaxes(-1, -2) / math.sqrt(width // 4), -jnp.inf)
        y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
        x = x + _linear(w, b + "out", y)
        grown = jax.nn.gelu(_linear(w, b + "grow", _norm(w, b + "norm2", x)), approximate=False)
        x = x + _linear(w, b + "shrink", grown)
    return _linear(w, "head", _norm(w, "norm", x))


MODELS: dict[str, Callable[[Weights, Any], Any]] = {
    **dict.fromkeys(("mlp_small", "mlp_small_adamw", "mlp_mnist", "mlp_wide_adamw"), mlp),
    **dict.fromkeys(("gpt_micro", "gpt_small"), gpt),
}


def momentum(w: Weights, g: Weights, state: Any, lr: float, momentum: float) -> Any:
    """SGD with momentum."""
    (speed,) = state
    speed = {k: momentum * speed[k] + g[k] for k in w}
    return {k: w[k] - lr * speed[k] for k in w}, (speed,)


def adamw(w: Weights, g: Weights, state: Any, lr: float) -> Any:
    """AdamW with PyTorch's defaults."""
    mean, square, t = state
    t = t + 1
    mean = {k: 0.9 * mean[k] + 0.1 * g[k] for k in w}
    square = {k: 0.999 * square[k] + 0.001 * g[k] ** 2 for k in w}
    rate, root = lr / (1 - 0.9**t), jnp.sqrt(1 - 0.999**t)
    step = {k: rate * mean[k] / (jnp.sqrt(square[k]) / root + 1e-8) for k in w}
    return {k: w[k] * (1 - lr * 0.01) - step[k] for k in w}, (mean, square, t)


class JaxTraining(Training):
    """A workload whose step is one compiled JAX function."""

    def start(self, weights: dict[str, Any]) -> None:
        """Start over from these weights."""
        self.initial = weights
        model = MODELS[self.row.name]
        name, options = self.row.optimizer
        update, buffers = (momentum, 1) if name == "SGD" else (adamw, 2)

        def loss_of(w: Weights, x: Any, y: Any) -> Any:
            logits = jax.nn.log_softmax(model(w, x).reshape(-1, _classes(weights)))
            return -jnp.take_along_axis(logits, y.reshape(-1, 1), 1).mean()

        @jax.jit
        def step(w: Weights, state: Any, x: Any, y: Any) -> Any:
            loss, g = jax.value_and_grad(loss_of)(w, x, y)
            return loss, *update(w, g, state, **options)

        self.w = {k: jnp.asarray(v) for k, v in weights.items()}
        zeros = {k: jnp.zeros_like(v) for k, v in self.w.items()}
        self.moments = (zeros,) * buffers + ((jnp.zeros(()),) if buffers == 2 else ())
        data = cycle([(jnp.asarray(x.numpy()), jnp.asarray(y.numpy())) for x, y in self.batches])

        def run() -> Any:
            loss, self.w, self.moments = step(self.w, self.moments, *next(data))
            return np.asarray(loss)  # waits until it is computed

        self.step = run


def _classes(weights: dict[str, Any]) -> int:
    return len([*weights.values()][-1])  # the bias of the head
