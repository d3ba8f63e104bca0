"""The LLVM backend: runs of calls of a program as one native function."""

from tinynet.capture.native import beside as beside
from tinynet.capture.native.fusion import fused as fused
from tinynet.capture.native.whole_steps import joined as joined
