"""Differences from PyTorch that stay, each with its reason. Patterns of whole ids of rows."""

from __future__ import annotations

import functools
import re

UNREAD = "PyTorch gives gradients to the triangle that it does not read; tinynet gives zeros"
OUT = "out= of another dtype: where PyTorch could cast and does not, tinynet casts"
SINGLE = "PyTorch's own rounding in float32: tinynet computes in float64 and rounds once"
DIMENSIONS = "numpy's arrays have at most 64 dimensions"
TIES = "equal elements may stand in any order, and PyTorch's sort shuffles many of them"

KNOWN: dict[str, str] = {
    r"cholesky_(inverse|solve)/function/.*/(6|8|10)": UNREAD,
    r"(gather/error/any/1|aminmax/error/any/3)": OUT,
    r"(amax|amin)/error/any/5": "the text about out= of another dtype",
    r"(gather|cat)/error/any/6|kthvalue/error/any/0|take/error/any/1"
    r"|masked_select/error/any/[12]": (
        "out= is an input and has another shape: tinynet refuses to resize it"
    ),
    r"arange/error/any/.*": "out= gives the dtype only after the values are there",
    r"cov/function/float32/24|logcumsumexp/function/float32/(0|1)": SINGLE,
    r"(amax|amin|aminmax)/error/any/[12]": DIMENSIONS,
    r"as_strided_scatter/function/float(32|64)/.*": (
        "PyTorch's gradient by the input is that of the elements written over, not of the others"
    ),
    r"(split_with_sizes|unbind)_copy/out/.*": "with out=, PyTorch returns None",
    r"(narrow_copy/error/any/[16]|(view_copy|reshape)/error/any/6)": "the texts of narrow and view",
    r"linalg\.norm\.subgradients_at_zero/function/float64/0": "NaN at a kink",
    r"mvlgamma\..*/function/float64/[03]": "PyTorch's trigamma function is good to 1e-9",
    r"nn\.functional\.hardsigmoid/function/float64/0": "PyTorch's sixth is one of float32",
    r"nn\.functional\.(adaptive_avg_pool3d/error/any/2|adaptive_max_pool1d/error/any/1"
    r"|conv[23]d/error/any/5|gaussian_nll_loss/error/any/0|max_pool3d/error/any/[45]"
    r"|multi_margin_loss/error/any/7|prelu/error/any/0)": "another sentence for the same mistake",
    r"nonzero/out/.*/9": "out= of a tuple, where PyTorch wants one tensor",
    r"norm\.nuc/(function|method|out)/.*": "norm has no nuclear norm; linalg.norm has it",
    r"rsub/error/any/0": "a number as first argument",
    r"argsort/(function|method)/bool/0": TIES,
}


@functools.cache
def known(row_id: str) -> str | None:
    """Return the pattern of the list that a row's id, ``add/function/float64/0``, fits."""
    return next((p for p in KNOWN if re.fullmatch(p, row_id)), None)
