"""What operations want of ``out=`` beyond room for their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tinynet.core.declaration.out_argument import DEMANDS, Demand
from tinynet.dtypes import Array
from tinynet.ops.argument_errors import c_name, name_of

_BYTES = Demand(also=(np.dtype(np.uint8),))
DEMANDS.update(
    all=_BYTES,
    any=_BYTES,
    arange=Demand(by_count=True),
    cat=Demand(apart=True),
    cumprod=Demand(inside=True),
    cumsum=Demand(inside=True),
    gather=Demand(apart=True),
    index_select=Demand(apart=True),
    kthvalue=Demand(apart=True),
    linspace=Demand(by_count=True, inside=True),
    logspace=Demand(by_count=True, inside=True),
    masked_select=Demand(apart=True),
    median=Demand(dim=True),
    nanmedian=Demand(dim=True),
    prod=Demand(dim=True, inside=True),
    stack=Demand(apart=True),
    sum=Demand(dim=True, inside=True),
    take=Demand(apart=True),
)

# Who casts no result, and what is said of another dtype: one text for each result, or for all.
_EXPECTED = "Expected out tensor to have dtype {result_c}, but got {out_c} instead"
_HISTOGRAM = (
    "tinynet.histogram: input tensor and {0} tensor should have the same dtype, but got input "
    "{{result_c}} and {0} {{out_c}}{1}"
)
_REFUSALS: dict[str | tuple[str, ...], str] = {
    (_EXPECTED, _EXPECTED): "max median min nanmedian",
    _EXPECTED: (
        "addmm addmv alias_copy aminmax argmax argmin as_strided_copy avg_pool2d avg_pool3d "
        "baddbmm bmm cholesky cholesky_ex cross cumprod cumsum diag diagonal_copy eigh eigvalsh "
        "expand_copy gather index_add index_copy index_reduce inv inv_ex isin ldl_factor "
        "ldl_factor_ex ldl_solve linalg_cross linalg_det linalg_slogdet linear log_softmax "
        "lu_factor lu_factor_ex lu_solve lu_unpack matmul mm msort norm permute_copy prod qr "
        "renorm scatter scatter_add scatter_reduce slice_scatter slogdet softmax solve solve_ex "
        "sort split_with_sizes_copy squeeze_copy sum svd svdvals t_copy take_along_dim topk "
        "transpose_copy triangular_solve tril triu unbind_copy unfold_copy unsqueeze_copy "
        "vector_norm view_copy"
    ),
    "Found dtype {out} but expected {result}": (
        "abs bitwise_not ceil floor frac gelu hardshrink neg round sgn sign softplus softshrink "
        "trunc"
    ),
    "expected scalar_type {result} but found {out}": "cummax cummin logcumsumexp",
    "expected scalar type {result} but found {out}": "logsigmoid solve_triangular",
    "result dtype {out} does not match input dtype {result}": "dot vdot",
    "self and mat2 must have the same dtype, but got {out} and {result}": "addbmm",
    "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}": "mv",
    "Expected the dtype for input and out to match, but got {result} for input's dtype and {out} "
    "for out's dtype.": "amax amin",
    "{name}(): self and out expected to have the same dtype, but got self.dtype = {result} and "
    "out.dtype = {out}": "take",
    "{name}(): self and result must have the same scalar type": "index_select masked_select",
    "{name} expects {result} tensor out, got: {out}": "multinomial",
    "{name} does not support non-boolean outputs.": "isneginf isposinf signbit",
    "{name} only supports bool tensor for result, got: {out}": "all any",
    "{name}: dtype of out: {out} should be same as input: {result}": "nan_to_num",
    "{name}: Expected out tensor to have scalar type {result} but got scalar type{out}": "nonzero",
    "{name} is not yet implemented for tensors with different dtypes.": "heaviside",
    "linalg.{name} expected out tensor dtype {result} but got: {out}": "matrix_norm",
    "linalg.norm expected out tensor dtype {result} but got: {out}": "linalg_norm",
    "dtype {result} does not match dtype of out parameter ({out})": "linspace logspace",
    "Expected self.dtype() == output.dtype() to be true, but got false.": "narrow_copy",
    "linalg.{name}: Expected out of dtype{result} but found {out}": "vecdot",
    "{name}(): expected out tensor to have dtype {result_c} but got {out_c}": "multi_dot",
    "the output given to {name} has dtype {out} but the operation's result requires dtype "
    "{result}": "float_power",
    "tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with "
    "dtype {out}": "inner tensordot",
    "quantile() out tensor must be same dtype as the input tensor": "nanquantile quantile",
    _HISTOGRAM.format("hist", ""): "histc",
    (
        _HISTOGRAM.format("hist", ""),
        _HISTOGRAM.format("bin_edges", " for dimension 0"),
    ): "histogram",
    "tinynet.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
    "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
    "{out} and out_int32 flag is {is_int32}": "bucketize searchsorted",
    "tinynet.ormqr: Expected input and result to have the same dtype, but input has "
    "dtype{result} and result has dtype {out}": "ormqr",
    (
        "tinynet.frexp() expects mantissa to have dtype {result_c} but got {out_c}",
        "tinynet.frexp() expects exponent to have int dtype but got {out_c}",
    ): "frexp",
    (
        "output values must be of same type as input",
        "output indices must be of scalar type {result}",
    ): "kthvalue",
    (
        "expected scalar type '{result}' but got '{out}' for values output",
        "expected scalar type '{result}' but got '{out}' for indices output",
    ): "mode",
}


def _text(template: str, name: str) -> Callable[[Array, Array], str]:
    def text(result: Array, out: Array) -> str:
        return template.format(
            name=name,
            result=name_of(result),
            out=name_of(out),
            result_c=c_name(result),
            out_c=c_name(out),
            is_int32=result.dtype == np.int32,
        )

    return text


for _templates, _names in _REFUSALS.items():
    for _name in _names.split():
        _texts = (_templates,) if isinstance(_templates, str) else _templates
        _demand = DEMANDS.get(_name, Demand())
        DEMANDS[_name] = replace(_demand, texts=tuple(_text(t, _name) for t in _texts))
