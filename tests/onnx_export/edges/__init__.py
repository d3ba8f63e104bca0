"""A sweep of shapes and edge values over all forms in ONNX.

Each case exports a function of arrays, runs it in onnxruntime, and compares with what tinynet
computes, or finds a refusal. `TABLES` has a list of cases for each family of operations.
"""

from .cases import Case as Case
from .elementwise import BINARY_CASES, INTEGER_CASES, NUMBER_CASES, UNARY_CASES
from .layers import ATTENTION_CASES, LOSS_CASES, NORM_CASES, RECURRENT_CASES
from .reductions import REDUCTION_CASES
from .shapes import INDEX_CASES, PRODUCT_CASES, SHAPE_CASES
from .windows import CONVOLUTION_CASES, PAD_CASES, POOL_CASES, RESIZE_CASES

TABLES = {
    "unary": UNARY_CASES,
    "binary": BINARY_CASES,
    "numbers": NUMBER_CASES,
    "integers": INTEGER_CASES,
    "reductions": REDUCTION_CASES,
    "shapes": SHAPE_CASES,
    "indices": INDEX_CASES,
    "products": PRODUCT_CASES,
    "convolutions": CONVOLUTION_CASES,
    "pools": POOL_CASES,
    "pads": PAD_CASES,
    "resampling": RESIZE_CASES,
    "norms": NORM_CASES,
    "attention": ATTENTION_CASES,
    "losses": LOSS_CASES,
    "recurrent": RECURRENT_CASES,
}
