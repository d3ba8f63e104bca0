"""Parameters with one meaning everywhere, which the reference shows at each name.

A docstring that explains the parameter takes precedence.
"""

import inspect
import re
from typing import Any

from docs.site.inventory import parameters_of

ELSEWHERE = re.compile(r"[Aa]rguments\b[\w\s,]*\b(as there|are those of)|same arguments")
"""Phrases by which the docstring of a layer refers to that of another one."""

COMPATIBLE = "accepted for compatibility; changes nothing."

MEANINGS = {
    "accumulate": "add to the existing values instead of replacing them.",
    "as_tuple": "return one index tensor per dimension, instead of one with a row per element.",
    "axis": "alias of `dim`.",
    "axis0": "a dimension; negative ones count from the last.",
    "axis1": "a dimension; negative ones count from the last.",
    "bias": "`[out]`, added to the result; None adds nothing.",
    "cache_size": "1 caches the last value and its image, 0 caches nothing.",
    "ceil_mode": "round output lengths up: the last window may extend past the edge.",
    "correction": "divide by n - `correction`: 1 for a sample, 0 for a whole population.",
    "count_include_pad": "whether the mean includes padded zeros.",
    "descending": "sort in descending order.",
    "device": "only the cpu is supported.",
    "diagonal": "the diagonal: 0 is the main one, positive numbers are above it, negative below.",
    "dilation": "the spacing between the elements of a window; one number, or one per dimension.",
    "dim": "a dimension, or several where a tuple is allowed; negative ones count from the last.",
    "dim0": "a dimension; negative ones count from the last.",
    "dim1": "a dimension; negative ones count from the last.",
    "dim2": "a dimension; negative ones count from the last.",
    "dims": "dimensions; negative ones count from the last.",
    "divisor_override": "the divisor of sums, instead of the window size.",
    "dtype": "the dtype of the result; default: that of the input, or the default dtype.",
    "end_dim": "the last dimension (inclusive).",
    "eps": "a small number that keeps divisors away from 0.",
    "fill_value": "the value of all elements.",
    "generator": "the source of random numbers; default: the default generator.",
    "high": "the upper bound (exclusive).",
    "index": "int64 indices along the dimension.",
    "indices": "int64 indices.",
    "indices_or_sections": "the number of parts, or the indices at which to split.",
    "inplace": "write the result to the input.",
    "k": "the rank of the element, or the number of elements.",
    "keepdim": "keep the reduced dimensions, with length 1.",
    "kernel_size": "the length of the window; one number, or one per dimension.",
    "lambd": "the threshold.",
    "largest": "return the largest elements; False: the smallest.",
    "layout": COMPATIBLE,
    "low": "the lower bound (inclusive).",
    "mask": "a bool tensor, broadcast to the tensor; True selects an element.",
    "mat2": "a matrix.",
    "max": "the upper bound; None for no bound.",
    "mean": "the mean of the distribution.",
    "memory_format": COMPATIBLE,
    "min": "the lower bound; None for no bound.",
    "n": "the number of elements.",
    "non_blocking": COMPATIBLE,
    "num_samples": "the number of samples.",
    "offset": "the diagonal: 0 is the main one, positive numbers are above it, negative below.",
    "output_size": "the lengths of the output; None keeps the length of the input.",
    "p": "the order of the norm: 2 is Euclidean, 1 sums absolute values, infinity is the maximum.",
    "padding": "the padding at each end; one number, or one per dimension.",
    "pin_memory": COMPATIBLE,
    "reduction": '`"mean"`, `"sum"`, or `"none"` for one value per element.',
    "repeats": "the number of repetitions.",
    "replacement": "sample with replacement.",
    "requires_grad": "record operations on the result.",
    "return_indices": "also return the indices of the values.",
    "shape": "the lengths of the dimensions: several numbers, or one sequence.",
    "shifts": "the number of positions; negative numbers shift to the front.",
    "size": "the lengths of the dimensions: several numbers, or one sequence.",
    "sizes": "the lengths of the dimensions: several numbers, or one sequence.",
    "sorted": "return the elements in sorted order.",
    "split_size": "the length of each part, or a list of lengths.",
    "split_sizes": "the length of each part.",
    "src": "the source: a tensor with the shape of the destination.",
    "stable": "keep the order of equal elements.",
    "start_dim": "the first dimension.",
    "std": "the standard deviation of the distribution.",
    "stride": "the step from one window to the next; default: the window's length.",
    "tensors": "the tensors: a sequence, or several arguments where that is allowed.",
    "training": "True for training mode; evaluation mode is deterministic.",
    "unbiased": "divide by n - 1 instead of n.",
    "upper": "use the upper triangular factor instead of the lower.",
    "value": "a number or a 0-d tensor.",
    "vec": "a vector.",
    "vec2": "a vector.",
}


def of(value: Any) -> dict[str, str]:
    """Return the meanings of the parameters that a docstring does not explain."""
    doc = inspect.getdoc(value) or ""
    if inspect.isclass(value) and ELSEWHERE.search(doc):
        return {}
    names = [p.name for p in parameters_of(value) if p.name in MEANINGS]
    return {name: MEANINGS[name] for name in names if not explains(doc, name)}


def explains(doc: str, name: str) -> bool:
    """Return whether a docstring explains a parameter, in a list or in the text."""
    in_list = any(
        name in line.strip().partition(":")[0].replace("*", "").replace("`", "").split(", ")
        for line in doc.splitlines()
        if ":" in line
    )
    return in_list or f"``{name}``" in doc or f"`{name}`" in doc
