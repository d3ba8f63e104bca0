"""Elementwise operations over the whole range of float64, and what PyTorch answers.

``python -m tests.unit.ops.extremes`` records PyTorch's answers.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .elementwise import ELEMENTARY, FUNCTIONS

RECORD = Path(__file__).parent / "extremes.npz"
INF, NAN = np.inf, np.nan
_INFO = np.finfo(np.float64)

_SIZES = (
    0.0, 5e-324, _INFO.tiny / 4, _INFO.tiny, 1e-200, 1e-154, 1e-30, _INFO.eps, 1e-8, 1e-3, 0.25,
    0.5, 0.9, 1.0, 1 + 4e-16, 1.3, 2.0, 2.5, 3.0, 6.0, 8.5, 12.5, 25.5, 40.0, 100.0, 600.0, 709.0,
    745.0, 1e4, 1e8, 1e16, 1e100, 1e154, 1e200, _INFO.max / 4, _INFO.max, INF,
)  # fmt: skip
_FEW = (0.0, 5e-324, _INFO.tiny, 1e-154, 1e-8, 0.3, 1.0, 2.0, 100.0, 1e200, _INFO.max, INF)


def _both(sizes: tuple[float, ...]) -> np.ndarray:
    return np.array([*sizes, *(-s for s in sizes), NAN])


def _whole_vectors(a: np.ndarray) -> np.ndarray:
    """Repeat the first points until PyTorch's loops over vectors leave no rest."""
    return np.resize(a, -(-a.size // 64) * 64)


ONE = (_whole_vectors(_both(_SIZES)),)
TWO = tuple(_whole_vectors(a.ravel()) for a in np.meshgrid(_both(_FEW), _both(_FEW)))


def _named(name: str) -> Any:
    *path, last = name.split(".")
    return lambda tn, x: getattr(tn.special if path else tn, last)(x)


def _activation(name: str, *args: Any, **kwargs: Any) -> Any:
    return lambda tn, x: getattr(tn.nn.functional, name)(x, *args, **kwargs)


UNARY: dict[str, Any] = {name: _named(name) for name in (*ELEMENTARY, *FUNCTIONS)}
UNARY |= {name: _named(name) for name in ("log2", "log10", "reciprocal", "square", "trunc", "ceil")}
UNARY |= {
    name: _activation(name)
    for name in (
        "relu6", "hardtanh", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "tanhshrink",
        "softsign", "elu", "selu", "celu", "gelu", "leaky_relu", "logsigmoid", "silu", "mish",
        "softplus",
    )
}  # fmt: skip
UNARY |= {
    "gelu-tanh": _activation("gelu", approximate="tanh"),
    "celu-3": _activation("celu", 3.0),
    "threshold": _activation("threshold", 0.5, -3.0),
    "clamp": lambda tn, x: x.clamp(-1, 1),
    "clamp-min": lambda tn, x: x.clamp(min=0),
    "clamp-max": lambda tn, x: x.clamp(max=0.5),
    "clamp-infinite": lambda tn, x: x.clamp(-INF, INF),
    "clamp-nan": lambda tn, x: x.clamp(min=NAN),
    "clip-sqrt": lambda tn, x: x.clip(0).sqrt(),
    "logit-eps": lambda tn, x: tn.logit(x, 0.3),
    "nan_to_num": lambda tn, x: tn.nan_to_num(x, 1.0, 2.0, -2.0),
    "pow-2": lambda tn, x: x**2,
    "pow-third": lambda tn, x: x ** (1 / 3),
    "pow-minus": lambda tn, x: x**-2,
    "pow-0": lambda tn, x: x**0,
    "2-pow": lambda tn, x: 2.0**x,
    "rdiv": lambda tn, x: 3 / x,
    "fmod": lambda tn, x: x.fmod(1.5),
    "remainder": lambda tn, x: x.remainder(-1.5),
    "xlogy-0": lambda tn, x: tn.xlogy(x, 0.0),
    "where": lambda tn, x: tn.where(x > 0, x.sqrt(), x),
    "masked_fill": lambda tn, x: x.masked_fill(x > 0, 0.5),
}
BINARY: dict[str, Any] = {
    name: lambda tn, x, y, name=name: getattr(tn, name)(x, y)
    for name in (
        "add", "sub", "mul", "div", "atan2", "hypot", "maximum", "minimum", "fmax", "fmin",
        "copysign", "logaddexp", "logaddexp2", "xlogy",
    )
}  # fmt: skip
BINARY |= {
    "pow": lambda tn, x, y: x.pow(y),
    "xlog1py": lambda tn, x, y: tn.special.xlog1py(x, y),
    "where": lambda tn, x, y: tn.where(x > y, x, y),
    "lerp": lambda tn, x, y: tn.lerp(x, y, 0.25),
    "addcmul": lambda tn, x, y: tn.addcmul(x, x, y, value=0.5),
    "clamp-min": lambda tn, x, y: x.clamp(min=y),
    "clamp-max": lambda tn, x, y: x.clamp(max=y),
    "clamp-both": lambda tn, x, y: x.clamp(y, y * 2),
    "clamp_min": lambda tn, x, y: tn.clamp_min(x, y),
    "mse_loss": lambda tn, x, y: tn.nn.functional.mse_loss(x, y, reduction="none"),
    "l1_loss": lambda tn, x, y: tn.nn.functional.l1_loss(x, y, reduction="none"),
    "smooth_l1_loss": lambda tn, x, y: tn.nn.functional.smooth_l1_loss(x, y, reduction="none"),
    "huber_loss": lambda tn, x, y: tn.nn.functional.huber_loss(x, y, reduction="none"),
    "kl_div": lambda tn, x, y: tn.nn.functional.kl_div(x, y, reduction="none"),
    "glu": lambda tn, x, y: tn.nn.functional.glu(tn.stack([x, y], -1), -1)[..., 0],
}
OPERATIONS = {f"1 {n}": (f, ONE) for n, f in UNARY.items()}
OPERATIONS |= {f"2 {n}": (f, TWO) for n, f in BINARY.items()}

# ---- answers ------------------------------------------------------------------------------------


def answers(library: Any, name: str, incoming: float) -> dict[str, np.ndarray]:
    """Return the result, its derivatives, and theirs, for incoming gradients of one value."""
    function, points = OPERATIONS[name]
    inputs = [library.from_numpy(p.copy()).requires_grad_() for p in points]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(library, *inputs)
        found = {"value": _plain(result)}
        if not result.requires_grad:
            return found
        grads = _gradients(library, result, inputs, incoming)
        for k, grad in enumerate(grads):
            if grad is None:
                continue
            found[f"slope {k}"] = _plain(grad)
            if grad.requires_grad:
                for j, bend in enumerate(_gradients(library, grad, inputs, 0.75)):
                    if bend is not None:
                        found[f"bend {k}{j}"] = _plain(bend)
    return found


def _gradients(library: Any, y: Any, inputs: list[Any], incoming: float) -> Any:
    g = library.from_numpy(np.full(tuple(y.shape), incoming))
    try:
        return library.autograd.grad(y, inputs, g, create_graph=True, allow_unused=True)
    except RuntimeError as error:  # PyTorch has no second derivative of some
        if "not implemented" not in str(error):
            raise
        return [None] * len(inputs)


def _plain(t: Any) -> np.ndarray:
    return np.asarray((t.detach() + 0).tolist())


INCOMING = {"finite": 1.5, "infinite": INF, "nan": NAN}


def everything(library: Any) -> dict[str, np.ndarray]:
    """Return all answers; for gradients that are not finite, only where the results are NaN."""
    found = {}
    for name in OPERATIONS:
        for kind, incoming in INCOMING.items():
            for what, array in answers(library, name, incoming).items():
                found[f"{name}/{kind}/{what}"] = array if kind == "finite" else np.isnan(array)
    return found


if __name__ == "__main__":
    import torch

    np.savez_compressed(RECORD, **everything(torch))
