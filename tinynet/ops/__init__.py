"""Operations, one file per family; ``ops/README.md`` says how to add one.

The package's names are the public functions on tensors. Each declaration says which functions,
methods and other names it has; here they are collected, and ``ops/__init__.pyi`` is generated.
"""

import functools
import inspect

from tinynet.core.declaration.operation import REGISTRY
from tinynet.core.tensors.tensor import ALIASES, FUNCTIONS, METHODS, method
from tinynet.ops import deprecated, linalg, special
from tinynet.ops.creation import (
    constructors, fill, like, memory, random, ranges, reparameterized,
    tensor_types,
)  # fmt: skip
from tinynet.ops import fourier
from tinynet.ops.indexing import gather, getitem, index_put, index_select, scatter_reduce
from tinynet.ops.pointwise import (
    addcmul, apply, arithmetic, bessel, clamp, comparison, complex_numbers, conversion,
    error_function, gamma, logarithms, powers, rounding, trigonometry,
)  # fmt: skip
from tinynet.ops.products import addmm, cdist, einsum, matmul, tensordot
from tinynet.ops.reduction import (
    cumulative, extrema, histograms, softmax, sorting,
    statistics, sums, unique,
)  # fmt: skip
from tinynet.ops.shaping import (
    copies, diagonals, grids, reshaping, splitting, stacking, strided,
)  # fmt: skip
from tinynet.ops.arguments import keywords
from tinynet.ops.special_functions import SPECIAL

functions = dict(FUNCTIONS)
for _name, _first in ALIASES.items():
    functions[_name] = functions[_first]
    for _end in ("", "_"):
        if _first + _end in METHODS:
            method(METHODS[_first + _end], _name + _end)
    if f"{_first}_" in functions:
        functions[f"{_name}_"] = functions[f"{_first}_"]
for _name in [name for name, op in REGISTRY.items() if op.numbers_first]:
    functions[_name] = deprecated.reordered(_name, functions[_name], False)
    for _method_name in {_name, f"{_name}_"} & METHODS.keys():
        method(deprecated.reordered(_method_name, METHODS[_method_name], True), _method_name)
_named = functools.cache(keywords)  # most functions are methods, too, and some have several names
functions = {name: _named(f) for name, f in functions.items()}
for _name, _method in [*METHODS.items()]:
    if inspect.isfunction(_method) and not hasattr(_method, "is_hot"):
        if (_found := _named(_method)) is not _method:
            method(_found, _name)
globals().update(functions)
vars(special).update({name: _named(f) for name, f in SPECIAL.items()}, __all__=sorted(SPECIAL))
__all__ = sorted([*functions, "special"])
