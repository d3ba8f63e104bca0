"""A sweep of shapes and edge values over all forms in ONNX.

Each case exports a function of arrays, runs it in onnxruntime, and compares with what tinynet
computes, or finds a refusal. `TABLES` has a generator of cases for each family of operations.
"""

from .elementwise import binary, integers, numbers, unary
from .layers import attention, losses, norms, recurrent
from .reductions import reductions
from .shapes import indices, others, products, shapes
from .windows import convolutions, pads, pools, resampling

TABLES = {
    table.__name__: table
    for table in (
        unary, binary, numbers, integers, reductions, shapes, indices, products, others,
        convolutions, pools, pads, resampling, norms, attention, losses, recurrent,
    )
}  # fmt: skip
