"""Operations, one file per family; ``ops/README.md`` says how to add one.

The package's names are the public functions on tensors: those of the operations that are Tensor
methods, the composites, and the functions listed here. They are collected, not written out, so
that an operation is declared in one place only; ``ops/__init__.pyi`` is generated from them.
"""

import inspect

from tinynet.core.tensors import storage
from tinynet.core.declaration.operation import COMPOSITES, REGISTRY
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import METHODS, Tensor, method
from tinynet.ops import aliases, deprecated, linalg, out_dtypes, recorded_sums, special
from tinynet.ops.creation import (
    constructors, fill, like, multinomial, properties, random, random_inplace, ranges,
    reparameterized, tensor_types
)  # fmt: skip
from tinynet.ops.indexing import gather, getitem, index_put, index_select, scatter_reduce
from tinynet.ops.pointwise import (
    addcmul, apply, arithmetic, bessel, clamp, comparison, conversion, division, error_function,
    gamma, logarithms, powers, rounding, trigonometry
)  # fmt: skip
from tinynet.ops.products import addmm, cdist, einsum, matmul, tensordot
from tinynet.ops.reduction import (
    correlation, cumulative, extrema, histograms, quantiles, segment_reduce, softmax, sorting,
    statistics, sums, trapezoid, unique
)  # fmt: skip
from tinynet.ops.shaping import (
    combinations, diagonals, flipping, meshgrid, reshaping, splitting, stacking, strided,
    view_copies
)  # fmt: skip
from tinynet.ops.argument_errors import tensor_first
from tinynet.ops.argument_names import keywords

_ONLY_FUNCTIONS = {
    constructors: "tensor as_tensor from_numpy zeros ones empty full eye",
    like: "zeros_like ones_like empty_like full_like rand_like randn_like randint_like",
    ranges: (
        "arange linspace logspace scalar_tensor asarray frombuffer empty_strided empty_permuted"
    ),
    tensor_types: (
        "FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor "
        "CharTensor ByteTensor BoolTensor"
    ),
    multinomial: "multinomial",
    random: ("rand randn randint randperm bernoulli normal poisson binomial"),
}
_ONLY_METHODS = {
    "view", "view_as", "expand", "expand_as", "reshape_as", "repeat", "contiguous", "type", "cpu",
    "to", "type_as", "getitem", "setitem", "fill_diagonal",
}  # fmt: skip
_FUNCTIONS_OF_OPERATIONS = ("cat", "stack", "_standard_gamma_grad", "_dirichlet_grad")

# Composites that look at no argument themselves; as methods they have a tensor anyway.
_TENSOR_FIRST = (
    "adjoint cholesky_solve chunk conj diagonal dsplit flatten fliplr flipud hsplit is_complex "
    "is_conj is_floating_point is_neg moveaxis movedim narrow numel positive rand_like "
    "randint_like randn_like ravel real reshape resolve_conj resolve_neg split tensor_split tile "
    "unflatten vsplit zero_"
).split()

# Called everywhere, and never by those names: they are spared the look at keyword arguments.
_FAST = ("view", "expand", "reshape")

functions = {
    **{name: op.function for name, op in REGISTRY.items() if hasattr(Tensor, name)},
    **{name: with_out(REGISTRY[name].function) for name in _FUNCTIONS_OF_OPERATIONS},
    **{name: f for name, f in COMPOSITES.items() if not name.endswith("_")},
    **{
        name: getattr(module, name)
        for module, names in _ONLY_FUNCTIONS.items()
        for name in names.split()
    },
    **{name: getattr(Tensor, name) for name in ("detach", "get_device")},
    "where": arithmetic.choose,
    "range": deprecated.inclusive_range,
    "set_default_tensor_type": conversion.set_default_tensor_type,
    "is_tensor": conversion.is_tensor,
    "resize_as_": storage.resize_as_,
    "numel": conversion.numel,
    "result_type": conversion.result_type,
    "is_floating_point": conversion.is_floating_point,
}
functions |= aliases.functions()
for _name in _ONLY_METHODS:
    functions.pop(_name, None)
functions |= {name: tensor_first(functions[name]) for name in _TENSOR_FIRST}
for _name in deprecated.ORDERS:
    functions[_name] = deprecated.reordered(_name, functions[_name], False)
    for _method_name in {_name, f"{_name}_"} & METHODS.keys():
        method(deprecated.reordered(_method_name, METHODS[_method_name], True), _method_name)
functions = {name: keywords(f) for name, f in functions.items()}
for _name, _method in [*METHODS.items()]:
    if inspect.isfunction(_method) and _name not in _FAST:
        method(keywords(_method), _name)
globals().update(functions)
__all__ = sorted([*functions, "special"])
