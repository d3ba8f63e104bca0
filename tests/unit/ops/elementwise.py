"""Elementwise operations of one tensor, one row each: PyTorch's name, and the domain of the inputs.

``tests/unit/ops`` checks their derivatives, in-place forms and memory, ``tests/unit/batching``
their batches, and ``tests/answers/oracle`` compares them with PyTorch.
"""

# The elementary functions, with rows for each layout in place too.
ELEMENTARY = {
    "exp": "normal",
    "log": "positive",
    "log1p": "positive",
    "expm1": "normal",
    "sqrt": "positive",
    "rsqrt": "positive",
    "abs": "normal",
    "sign": "normal",
    "sin": "normal",
    "cos": "normal",
    "tan": "unit",
    "tanh": "normal",
    "sigmoid": "normal",
    "relu": "normal",
    "erf": "normal",
    "floor": "off_integers",
    "round": "off_integers",
    "neg": "normal",
}
FUNCTIONS = {
    "acos": "unit",
    "acosh": "above",
    "asin": "unit",
    "asinh": "normal",
    "atan": "normal",
    "atanh": "unit",
    "cosh": "normal",
    "sinh": "normal",
    "sinc": "normal",
    "deg2rad": "normal",
    "rad2deg": "normal",
    "exp2": "normal",
    "frac": "off_integers",
    "sgn": "normal",
    "logit": "part",
    "erfc": "normal",
    "erfinv": "unit",
    "lgamma": "positive",
    "digamma": "positive",
    "i0": "normal",
    "special.entr": "positive",
    "special.erfcx": "normal",
    "special.ndtr": "normal",
    "special.ndtri": "part",
    "special.log_ndtr": "normal",
    "special.i0e": "normal",
    "special.i1": "normal",
    "special.i1e": "normal",
}
