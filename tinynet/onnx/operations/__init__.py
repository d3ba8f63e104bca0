"""The forms of tinynet's operations in ONNX, one file per family."""

from tinynet.onnx.operations import activations as activations
from tinynet.onnx.operations import arithmetic as arithmetic
from tinynet.onnx.operations import layers as layers
from tinynet.onnx.operations import reductions as reductions
from tinynet.onnx.operations import shaping as shaping
from tinynet.onnx.operations.table import FORMS as FORMS
from tinynet.onnx.operations.table import PUT_BACK as PUT_BACK
from tinynet.onnx.operations.table import RANDOM as RANDOM
