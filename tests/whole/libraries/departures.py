"""Where tinynet shows something else than PyTorch, each with its reason.

In the pending rows tinynet computes where PyTorch raises, or otherwise than PyTorch.
"""

from tests.tools.recorded.departures import Departure, Instead, Unsaid

DEPARTURES: tuple[Departure | Instead | Unsaid, ...] = (
    Unsaid(
        "PyTorch's protocols are those of numpy 1; tinynet's have the arguments of numpy 2.",
        said=r"DeprecationWarning: __array(_wrap)?__ .*(must accept|doesn't accept a copy).*",
    ),
)

_OPERANDS = (
    "Arrays are operands of tensors, on both sides: formulas of gradients mix them. PyTorch takes"
    " them on the right only, has numpy compute, and returns no history."
)
_OUT = "Methods take out=, which numpy passes; PyTorch's refuse it, and numpy converts the tensor."
_SEQUENCE = "For C code, a Python class with __getitem__ is a sequence. PyTorch's class is none."

PENDING = {
    "numpy/array_plus": _OPERANDS,
    "numpy/plus_array": _OPERANDS,
    "numpy/array_times": _OPERANDS,
    "numpy/times_array": _OPERANDS,
    "numpy/compared_with_array": _OPERANDS,
    "numpy/array_compared": _OPERANDS,
    "numpy/added": _OPERANDS,
    "matplotlib/bar_at": _OPERANDS,
    "numpy/any_": _OUT,
    "numpy/all_": _OUT,
    "numpy/argmax": _OUT,
    "numpy/argmax_of_rows": _OUT,
    "numpy/round_": _OUT,
    "numpy/zeros_of_size": _SEQUENCE,
    "pillow/points": _SEQUENCE,
    "pillow/line": _SEQUENCE,
    "pillow/box": _SEQUENCE,
    "pillow/put_data": _SEQUENCE,
    "pandas/isna": _SEQUENCE,
    "pandas/index": _SEQUENCE,
    "pandas/cut": _SEQUENCE,
    "pandas/located": _SEQUENCE,
}
