"""Operations, one file per family; ``ops/README.md`` says how to add one.

The package's names are the public functions on tensors: those of the operations that are Tensor
methods, the composites, and the functions listed here. They are collected, not written out, so
that an operation is declared in one place only; ``ops/__init__.pyi`` is generated from them.
"""

import inspect

from tinynet.core import storage
from tinynet.core.operation import COMPOSITES, REGISTRY
from tinynet.core.out import with_out
from tinynet.core.tensor import METHODS, Tensor, method
from tinynet.ops import (
    aliases,
    arithmetic,
    conversion,
    creation,
    deprecated,
    legacy,
    likes,
    random,
    ranges,
    sampling,
)
from tinynet.ops import bessel as bessel
from tinynet.ops import blas as blas
from tinynet.ops import callables as callables
from tinynet.ops import combining as combining
from tinynet.ops import comparison as comparison
from tinynet.ops import contraction as contraction
from tinynet.ops import copying as copying
from tinynet.ops import correlation as correlation
from tinynet.ops import counting as counting
from tinynet.ops import cumulative as cumulative
from tinynet.ops import diagonals as diagonals
from tinynet.ops import distances as distances
from tinynet.ops import division as division
from tinynet.ops import einstein as einstein
from tinynet.ops import error_function as error_function
from tinynet.ops import extrema as extrema
from tinynet.ops import filling as filling
from tinynet.ops import fused as fused
from tinynet.ops import gamma as gamma
from tinynet.ops import gathering as gathering
from tinynet.ops import gradients as gradients
from tinynet.ops import grids as grids
from tinynet.ops import histograms as histograms
from tinynet.ops import indexing as indexing
from tinynet.ops import integrals as integrals
from tinynet.ops import limits as limits
from tinynet.ops import linalg as linalg
from tinynet.ops import logarithms as logarithms
from tinynet.ops import memory as memory
from tinynet.ops import outputs as outputs
from tinynet.ops import parts as parts
from tinynet.ops import powers as powers
from tinynet.ops import products as products
from tinynet.ops import putting as putting
from tinynet.ops import quantiles as quantiles
from tinynet.ops import random_fills as random_fills
from tinynet.ops import rearranging as rearranging
from tinynet.ops import reduction as reduction
from tinynet.ops import reparameterization as reparameterization
from tinynet.ops import reshaping as reshaping
from tinynet.ops import rounding as rounding
from tinynet.ops import scattering as scattering
from tinynet.ops import segments as segments
from tinynet.ops import selecting as selecting
from tinynet.ops import softmaxes as softmaxes
from tinynet.ops import sorting as sorting
from tinynet.ops import special as special
from tinynet.ops import statistics as statistics
from tinynet.ops import trigonometry as trigonometry
from tinynet.ops import view_copies as view_copies
from tinynet.ops import windows as windows
from tinynet.ops.refuse import tensor_first
from tinynet.ops.spelling import keywords

_ONLY_FUNCTIONS = {
    creation: "tensor as_tensor from_numpy zeros ones empty full eye",
    likes: "zeros_like ones_like empty_like full_like rand_like randn_like randint_like",
    ranges: (
        "arange linspace logspace scalar_tensor asarray frombuffer empty_strided empty_permuted"
    ),
    legacy: (
        "FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor "
        "CharTensor ByteTensor BoolTensor"
    ),
    sampling: "multinomial",
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
