"""Parameters that mean the same wherever they occur: told once here, shown at each name.

A docstring that explains its parameter itself is what is shown instead.
"""

import inspect
import re
from typing import Any

ELSEWHERE = re.compile(r"[Aa]rguments\b[\w\s,]*\b(as there|are those of)|same arguments")
"""How the docstring of a layer sends its reader to that of another one."""

COMPATIBLE = "accepted for compatibility; changes nothing."

MEANINGS = {
    "accumulate": "add to what is there instead of replacing it.",
    "as_tuple": "return one index tensor per dimension, instead of one with a row per element.",
    "axis": "another name of `dim`.",
    "axis0": "a dimension; negative ones count from the last.",
    "axis1": "a dimension; negative ones count from the last.",
    "bias": "`[out]`, added to the result; None adds nothing.",
    "cache_size": "1 keeps the last value and its image, 0 keeps nothing.",
    "ceil_mode": "round output lengths up: the last window may hang over the edge.",
    "correction": "the squares are divided by n - `correction`: 1 for samples, 0 for all there is.",
    "count_include_pad": "whether padded zeros count in the mean.",
    "descending": "largest first.",
    "device": "only the cpu.",
    "diagonal": "which: 0 is the main diagonal, positive ones are above it, negative ones below.",
    "dilation": "the distance between the elements of a window; one number, or one per dimension.",
    "dim": "a dimension, or several where a tuple is allowed; negative ones count from the last.",
    "dim0": "a dimension; negative ones count from the last.",
    "dim1": "a dimension; negative ones count from the last.",
    "dim2": "a dimension; negative ones count from the last.",
    "dims": "dimensions; negative ones count from the last.",
    "divisor_override": "what sums are divided by, instead of the size of the window.",
    "dtype": "of the result; unless given, that of the input, or the default dtype.",
    "end_dim": "the last dimension that counts.",
    "eps": "a small number that keeps divisors away from 0.",
    "fill_value": "the value of all elements.",
    "generator": "where the random numbers come from; the default generator unless given.",
    "high": "one above the largest number that can come.",
    "index": "whole numbers from 0 (int64): places along the dimension.",
    "indices": "whole numbers from 0 (int64).",
    "indices_or_sections": "how many parts; or the places where one ends and the next begins.",
    "inplace": "write the result to the input.",
    "k": "the number of the element, or how many of them.",
    "keepdim": "the dimensions that are reduced stay, with length 1.",
    "kernel_size": "the length of the window; one number, or one per dimension.",
    "lambd": "the threshold.",
    "largest": "the largest elements; False: the smallest.",
    "layout": COMPATIBLE,
    "low": "the smallest number that can come.",
    "mask": "of bools, broadcast to the tensor: True where an element counts.",
    "mat2": "a matrix.",
    "max": "the upper limit; None: there is none.",
    "mean": "of the distribution.",
    "memory_format": COMPATIBLE,
    "min": "the lower limit; None: there is none.",
    "n": "how many.",
    "non_blocking": COMPATIBLE,
    "num_samples": "how many are drawn.",
    "offset": "which diagonal: 0 is the main one, positive ones are above it, negative ones below.",
    "output_size": "lengths of the output; None keeps that of the input.",
    "p": "which norm: 2 is the length, 1 the sum of sizes, infinity the largest size.",
    "padding": "what is added at each end; one number, or one per dimension.",
    "pin_memory": COMPATIBLE,
    "reduction": '`"mean"`, `"sum"`, or `"none"` for one value per element.',
    "repeats": "how often.",
    "replacement": "whether one may be drawn again.",
    "requires_grad": "whether operations on the result are recorded.",
    "return_indices": "also return where the values stood.",
    "shape": "the lengths of the dimensions: several numbers, or one sequence.",
    "shifts": "by how many places; negative ones to the front.",
    "size": "the lengths of the dimensions: several numbers, or one sequence.",
    "sizes": "the lengths of the dimensions: several numbers, or one sequence.",
    "sorted": "in order.",
    "split_size": "the length of each part; or a list with the length of each.",
    "split_sizes": "the length of each part.",
    "src": "what is written: a tensor of the shape of the part.",
    "stable": "equal elements keep their order.",
    "start_dim": "the first dimension that counts.",
    "std": "standard deviation of the distribution.",
    "stride": "from one window to the next; that of the window's length unless given.",
    "tensors": "the tensors: a sequence, or several arguments where that is allowed.",
    "training": "whether the mode is training; in evaluation it is deterministic.",
    "unbiased": "divide by n - 1 instead of n.",
    "upper": "the factor above the diagonal instead of the one below.",
    "value": "a number, or a tensor without dimensions.",
    "vec": "a vector.",
    "vec2": "a vector.",
}


def of(value: Any) -> dict[str, str]:
    """The parameters of something that its docstring does not mention, and what they mean."""
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return {}
    doc = inspect.getdoc(value) or ""
    if inspect.isclass(value) and ELSEWHERE.search(doc):
        return {}
    return {name: MEANINGS[name] for name in parameters if name in MEANINGS and not told(doc, name)}


def told(doc: str, name: str) -> bool:
    """Whether a docstring explains a parameter: in a list, or by its name in the text."""
    in_list = any(
        name in line.strip().partition(":")[0].replace("*", "").replace("`", "").split(", ")
        for line in doc.splitlines()
        if ":" in line
    )
    return in_list or f"``{name}``" in doc or f"`{name}`" in doc
