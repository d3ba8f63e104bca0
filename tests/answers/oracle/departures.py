"""Where tinynet answers differently from PyTorch on purpose, each with its reason."""

from __future__ import annotations

import re

from tests.tools.recorded.departures import Departure, Instead

DEPARTURES = (
    Departure(
        "PyTorch numbers nodes by C++ overload, in this text, too.",
        said=r"(.* is output \d+ of \w+)1(, is .*)",
        ours=lambda said: rf"{re.escape(said[1])}Backward\d*{re.escape(said[2])}",
        cases="activations/*_-saved!",
    ),
    Departure(
        "Every indexed write is a <CopySlices>; for `a[:] = 0`, PyTorch 2.13 detects a write to "
        "the whole tensor and skips the view.",
        said=r"FillBackward\d|CopyBackwards",
        ours=lambda said: "CopySlices",
        cases="indexed_writes/setitem-*",
    ),
    Departure(
        "The same in a printed tensor.",
        said=r"(tensor\(.*grad_fn=<)FillBackward\d(>\))",
        ours=lambda said: rf"{re.escape(said[1])}CopySlices{re.escape(said[2])}",
        cases="printing/repr-copy-slices",
    ),
    Departure(
        "PyTorch counts dimensions after moving the indexed ones to the front; tinynet names the "
        "dimension of the indexed tensor.",
        said=r"index 2 is out of bounds for dimension 0 with size 2",
        ours=lambda said: "index 2 is out of bounds for dimension 1 with size 2",
        cases="indexing/getitem-index-range-second!",
    ),
    Departure(
        "The same for the in-place forms.",
        said=r"(RreluWithNoise|Threshold|Celu)Backward1",
        ours=lambda said: f"{said[1]}Backward0",
        cases="activations/*_-*",
    ),
    Departure(
        "The result of a composite in nn.functional has the node of its last operation.",
        said=r"\w+Backward\d",
        ours=lambda said: r"\w+Backward\d",
        cases="nn_functional/cross_entropy-*",
    ),
    Departure(
        "The same for nll_loss.",
        said=r"\w+Backward\d",
        ours=lambda said: r"\w+Backward\d",
        cases="nn_functional/nll_loss-*",
    ),
    Departure(
        "The same for binary_cross_entropy_with_logits.",
        said=r"\w+Backward\d",
        ours=lambda said: r"\w+Backward\d",
        cases="nn_functional/binary_cross_entropy_with_logits-*",
    ),
    Departure(
        "The same for losses and distances.",
        said=r"\w+Backward\d",
        ours=lambda said: r"\w+Backward\d",
        cases="losses/*",
    ),
    Departure(
        "The same for linear.",
        said=r"\w+Backward\d",
        ours=lambda said: r"\w+Backward\d",
        cases="nn_functional/linear-*",
    ),
    Departure(
        "einsum skips steps without effect: a view of the same shape, a product of one batch. "
        "PyTorch always ends with a view.",
        said=r"(View|Mul|Permute)Backward0",
        ours=lambda said: r"(View|Mul|Permute|Mm|Bmm|Diagonal)Backward0",
        cases="products/einsum-*",
    ),
    Departure(
        "PyTorch computes the distances of many points with several operations; tinynet's cdist "
        "is one.",
        said=r"ViewBackward0",
        ours=lambda said: "CdistBackward0",
        cases="products/cdist-large",
    ),
    Departure(
        "For a product with a number, PyTorch's C++ uses a different overload from its Python.",
        said=r"(Mul|Div)Backward1",
        ours=lambda said: rf"{said[1]}Backward0",
        cases="products/*trap*",
    ),
    Departure(
        "Solving with factors, and everything based on it, is composed of triangular solves.",
        said=r"(LinalgLuSolve|LuUnpack|Cholesky|LinalgHouseholderProduct)Backward0",
        ours=lambda said: (
            r"(LinalgSolveTriangular|LinalgCholeskyEx|Mm|Transpose|Add|Triu|Sub)Backward0"
        ),
        cases="linalg/*",
    ),
    Departure(
        "Condition numbers and norms based on singular values compute them in a different order.",
        said=r"(Squeeze|Permute)Backward\d",
        ours=lambda said: r"(Div|Unsqueeze)Backward0",
        cases="linalg/[cm][oa][nt]*",
    ),
    Departure(
        "PyTorch's text lacks a space.",
        said=r"(.*lu_solve)(and will be .*)",
        ours=lambda said: re.escape(f"{said[1]} {said[2]}"),
        cases="linalg/lu_solve-older",
    ),
    Departure(
        "A value that was partly overwritten keeps its producer's name: AddBackward0 after `b[0] "
        "= 1000`. PyTorch 2.13 names the write.",
        said=r"(.* is output 0 of )tinynet::autograd::CopySlices(, is .*)",
        ours=lambda said: rf"{re.escape(said[1])}\w+Backward\d{re.escape(said[2])}",
        cases="indexed_writes/setitem-of-saved!",
    ),
    Departure(
        "ndtr is one operation with a derivative of its own, for speed.",
        said=r"MulBackward1",
        ours=lambda said: "SpecialNdtrBackward0",
        cases="functions/ndtr-*",
    ),
    Departure(
        "A mask without dimensions is treated like any other.",
        said=r"CopySlices",
        ours=lambda said: "IndexPutBackward0",
        cases="indexed_writes/setitem-mask-*0d",
    ),
    Departure(
        "For a number next to a list, PyTorch's text describes its own code; tinynet says what "
        "is wrong with the data.",
        said=r"'list' object cannot be interpreted as an integer|TypeError",
        ours=lambda said: r"expected sequences of equal length at dim 1|ValueError",
        cases="creation/tensor-ragged-depth!",
    ),
    Departure(
        "PyTorch's text has a stray blank.",
        said=r"input \(H: 3, W: 3 \) is too small",
        ours=lambda said: r"input \(H: 3, W: 3\) is too small",
        cases="padding/pad-replicate-gone-2d!",
    ),
    Departure(
        "PyTorch names internal functions; tinynet names the function that was called.",
        said=r"(max_pool3d|fractional_max_pool3d)(?:_with_indices)?_out(?:_cpu_template)?(\(\).*)",
        ours=lambda said: re.escape(said[1] + said[2]),
        cases="pooling/*",
    ),
    Instead(
        "lu_unpack is a composite: each part comes from its own node.",
        "linalg/lu_unpack-all",
        {"result.2.output": None},
    ),
)
