"""The forms of tinynet's operations in ONNX, one file per family."""

from tinynet.onnx.graph import FORMS as FORMS
from tinynet.onnx.graph import PUT_BACK as PUT_BACK
from tinynet.onnx.graph import RANDOM as RANDOM
from tinynet.onnx.operations import activations as activations
from tinynet.onnx.operations import arithmetic as arithmetic
from tinynet.onnx.operations import layers as layers
from tinynet.onnx.operations import reductions as reductions
from tinynet.onnx.operations import shaping as shaping
