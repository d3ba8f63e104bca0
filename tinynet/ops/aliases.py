"""Other names of the same operations."""

from __future__ import annotations

from typing import Any

from tinynet.core.declaration.operation import COMPOSITES, REGISTRY
from tinynet.core.tensors.tensor import METHODS, Tensor, method

ALIASES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "subtract": "sub",
    "swapdims": "transpose",
    "true_divide": "div",
    "unsafe_chunk": "chunk",
    "unsafe_split": "split",
    "unsafe_split_with_sizes": "split_with_sizes",
}

# PyTorch has these as functions, too, not only as methods.
IN_PLACE_FUNCTIONS = """
    abs_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_
    as_strided_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_ detach_ erf_ erfc_
    exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_
    addmv_ log_
    logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_
    sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_
""".split()


def _function(name: str) -> Any:
    found = COMPOSITES.get(name)
    return REGISTRY[name].function if found is None else found


def functions() -> dict[str, Any]:
    """Return the public functions that are known under several names, or are methods as well.

    Called once, after all operations are declared; makes the methods of those names, too.
    """
    found = {}
    for alias, name in ALIASES.items():
        found[alias] = _function(name)
        for end in ("", "_"):
            if name + end in METHODS:
                method(METHODS[name + end], alias + end)
    found |= {name: METHODS[name] for name in IN_PLACE_FUNCTIONS if hasattr(Tensor, name)}
    return found
