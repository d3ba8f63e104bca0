"""Functions of single elements."""

from functools import partial

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F

from .cases import FLOATS, INF, NAN, Case, values

KINDS = ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool"]
ROUNDINGS = {"floor", "trunc"}

UNARY = [
    "abs", "neg", "sign", "sgn", "exp", "log", "sqrt", "reciprocal", "tanh", "sigmoid", "relu",
    "erf", "erfc", "floor", "ceil", "trunc", "frac", "round", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "square", "rsqrt", "expm1", "log1p", "exp2",
    "log2", "log10", "isnan", "isinf", "isfinite", "logical_not", "bitwise_not", "nan_to_num",
    "clone", "zeros_like", "ones_like",
]  # fmt: skip
ACTIVATIONS = {
    name: getattr(F, name)
    for name in (
        "leaky_relu", "elu", "celu", "selu", "silu", "mish", "hardtanh", "relu6", "hardswish",
        "hardsigmoid", "softplus", "softsign", "tanhshrink", "hardshrink", "softshrink",
        "logsigmoid",
    )
} | {
    "threshold": partial(F.threshold, threshold=0.5, value=-3.0),
    "gelu tanh": partial(F.gelu, approximate="tanh"),
    "prelu": lambda x: F.prelu(x, tn.tensor([0.25], dtype=x.dtype)),
    "celu 2": partial(F.celu, alpha=2.0),
    "elu 0.3": partial(F.elu, alpha=0.3),
    "softplus 2": partial(F.softplus, beta=2.0, threshold=5.0),
    "leaky -0.5": partial(F.leaky_relu, negative_slope=-0.5),
    "hardshrink 1.5": partial(F.hardshrink, lambd=1.5),
    "softshrink 0": partial(F.softshrink, lambd=0.0),
}  # fmt: skip
DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


def unary():
    for kind in KINDS:
        x = values(kind)
        for name in UNARY:
            yield Case(f"{name} {kind}", getattr(tn, name), (x,))
        for dtype in DTYPES:
            yield Case(f"{kind} to {dtype}", partial(tn.Tensor.to, dtype=getattr(tn, dtype)), (x,))
        if np.dtype(kind).kind == "f":
            for name, function in ACTIVATIONS.items():
                yield Case(f"{name} {kind}", function, (x,))
            # as in PyTorch, at infinity it depends on the dtype and the length
            yield Case(f"gelu {kind}", F.gelu, (x[np.isfinite(x)],))
    near_zero = np.geomspace(1e-12, 0.5, 60, dtype=np.float32)
    for name in ("log1p", "expm1"):
        for sign in (1, -1):
            x = (sign * near_zero)[:, None]
            function = partial(_relative, getattr(tn, name))
            yield Case(f"{name} near 0 {sign}", function, (x,))


def _relative(function, x):
    return function(x) / x


SAME = [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "eq", "ne", "lt", "le",
    "gt", "ge", "maximum", "minimum", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor",
]  # fmt: skip
QUOTIENTS = {
    "floor_divide": tn.floor_divide, "remainder": tn.remainder, "fmod": tn.fmod, "div": tn.div,
    "div floor": partial(tn.div, rounding_mode="floor"),
    "div trunc": partial(tn.div, rounding_mode="trunc"),
}  # fmt: skip
BINARY = {name: getattr(tn, name) for name in SAME} | QUOTIENTS | {
    "add alpha": partial(tn.add, alpha=2), "sub alpha": partial(tn.sub, alpha=2), "rsub": tn.rsub,
    "where": lambda x, y: tn.where(x > y, x, y),
    "masked_fill": lambda x, y: x.expand(-1, y.shape[1]).masked_fill(y > 1, 3),
    "clamp min": lambda x, y: tn.clamp(x, min=y), "clamp max": lambda x, y: tn.clamp(x, max=y),
    "clamp both": lambda x, y: tn.clamp(x, min=y, max=y + 1),
    "clamp crossed": lambda x, y: tn.clamp(x, min=y, max=y - 1),
    "lerp 0.3": lambda x, y: tn.lerp(x, y, 0.3), "lerp 0.7": lambda x, y: tn.lerp(x, y, 0.7),
    "lerp": lambda x, y: tn.lerp(x, y, y), "addcmul": lambda x, y: tn.addcmul(x, x, y),
    "addcmul 2": lambda x, y: tn.addcmul(x, x, y, value=2),
    "addcdiv 2": lambda x, y: tn.addcdiv(x, x, y, value=2),
}  # fmt: skip


def binary():
    for kind in ("float32", "int64", "bool", "float64", "int32", "uint8", "float16"):
        x = values(kind)
        for name, function in BINARY.items():
            yield Case(f"{name} {kind}", function, (x[:, None], x[None]))
    for name in ("add", "mul", "maximum", "lt", "floor_divide", "remainder", "where"):
        x, y = FLOATS[:, None].astype(np.float32), values("int64")[None]
        yield Case(f"{name} of two dtypes", BINARY[name], (x, y[y != 0][None]))


NUMBERS = [0, 1, 2, 3, -2, -1, 0.5, -0.5, 1.5, 2.5, INF, -INF, NAN, -3]
WITH_NUMBERS = {name: BINARY[name] for name in SAME[:14]} | QUOTIENTS | {
    "rpow": lambda x, n: n**x, "rsub": lambda x, n: n - x, "rdiv": lambda x, n: n / x,
    "rfloordiv": lambda x, n: n // x, "rmod": lambda x, n: n % x,
    "clamp_min": lambda x, n: x.clamp_min(n), "clamp_max": lambda x, n: x.clamp_max(n),
    "clamp low": lambda x, n: x.clamp(n, 2), "clamp high": lambda x, n: x.clamp(-2, n),
    "threshold": lambda x, n: F.threshold(x, n, 7), "hardshrink": lambda x, n: F.hardshrink(x, n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n), "add_": lambda x, n: x.clone().add_(n),
    "where": lambda x, n: tn.where(x > 0, x, n), "fill_": lambda x, n: x.clone().fill_(n),
    "full_like": tn.full_like,
}  # fmt: skip


def _with(function, number):
    return lambda x: function(x, number)


def numbers():
    for kind in ("float32", "int64", "bool", "float64"):
        for name, function in WITH_NUMBERS.items():
            for number in NUMBERS:
                case = _with(function, number)
                yield Case(f"{name} {number} {kind}", case, (values(kind),))


def integers():
    """Quotients and powers of integers; the smallest by -1, which has none, is left out."""
    for kind in ("int64", "int32", "int16", "int8", "uint8"):
        x = values(kind)
        divisors = x[(x != 0) & (x != np.array(-1).astype(kind))]
        for name, function in QUOTIENTS.items():
            yield Case(f"{name} {kind}", function, (x[:, None], divisors[None]))
            if x.min() < 0:
                least = np.iinfo(kind).min
                case = (x[x != least][:, None], np.array([[-1]], kind))
                yield Case(f"{name} {kind} by -1", function, case)
        for name in (*QUOTIENTS, "pow", "rfloordiv", "rmod", "add", "mul"):
            for number in (1, 2, 3, -2, -3, 7, 40, 1.5):
                x = values(kind) if name[0] != "r" or name == "remainder" else divisors
                case = _with(WITH_NUMBERS[name], number)
                yield Case(f"{name} {number} {kind}", case, (x,))
