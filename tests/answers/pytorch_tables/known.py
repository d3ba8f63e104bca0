"""Differences from PyTorch that stay, each with its reason. Patterns of whole ids of rows.

docs/departures.md shows the reasons, but for those that begin with "text: ".
"""

from __future__ import annotations

import functools
import re

SINGLE = "PyTorch rounds in float32 throughout; tinynet computes in float64 and rounds once"
DIMENSIONS = "numpy's arrays have at most 64 dimensions"
DROPOUT = "random numbers from a different generator"
TIES = "equal elements may appear in any order, and PyTorch's sort reorders many of them"

KNOWN: dict[str, str] = {
    r"gather/error/any/7": "PyTorch resizes out= into the memory of the index",
    r"histogramdd/function/float32/4[1357]": "bin edges that do not increase: any bin may result",
    r"addr/inplace/.*/[13]": "text: another sentence for the same mistake",
    r"__r\w+__/error/any/.*": "text: Python's own, of a method without a tensor",
    r"cov/function/(float32|complex128)/24|logcumsumexp/function/(float32|complex64)/(0|1)": SINGLE,
    r"(amax|amin|aminmax)/error/any/[12]": DIMENSIONS,
    r"as_strided_scatter/function/(float|complex).*": (
        "PyTorch's gradient with respect to the input is that of the overwritten elements, not "
        "of the others"
    ),
    r"narrow_copy/error/any/[16]": "text: those of narrow, where PyTorch fails an internal check",
    r"linalg\.householder_product/function/complex128/[1367]": (
        "PyTorch's second derivative is accurate to 1e-8; tinynet's to 1e-15"
    ),
    r"renorm/function/complex64/3": "PyTorch's gradient is NaN for an infinite norm in complex64",
    r"mvlgamma\..*/function/float64/[0-4]": "PyTorch's trigamma function is accurate to 1e-9",
    r"nn\.functional\.hardsigmoid/function/float64/0": "PyTorch uses 1/6 in float32",
    r"nn\.functional\.max_pool3d/error/any/[45]": "text: PyTorch names an internal function",
    r"nn\.functional\.scaled_dot_product_attention/function/float(32|64)"
    r"/(2|3|6|7|10|11|14|15|18|19|22|23)": DROPOUT,
    r"nn\.functional\.multi_head_attention_forward/function/float(32|64)/0": DROPOUT,
    r"nn\.BCELoss/train/float64/[0-4]|nn\.functional\.binary_cross_entropy/function/float64/4": (
        "in the second derivative, PyTorch adds 1e-12 to the probabilities; tinynet does not"
    ),
    r"fft\.ihfft[2n]/out/.*": (
        "with out=, PyTorch leaves it unwritten unless the last dimension comes last in dim"
    ),
    r"native_layer_norm/function/float64/(1|5|9|13|17)": (
        "PyTorch's second derivative fails with a bias and no weight"
    ),
    r"nonzero/out/.*/\d*[13579]": "out= as a tuple, where PyTorch expects one tensor",
    r"optim\.Muon/steps/float64/2": (
        "lr as a float32 tensor: PyTorch computes the decay in float32, tinynet in float64"
    ),
    r"argsort/(function|method)/bool/0": TIES,
}


@functools.cache
def known(row_id: str) -> str | None:
    """Return the pattern of the list that a row's id, ``add/function/float64/0``, fits."""
    return next((p for p in KNOWN if re.fullmatch(p, row_id)), None)
