"""Re-exports under PyTorch's import paths."""

from tinynet.nn.modules import batchnorm as batchnorm
from tinynet.nn.modules import dropout as dropout
from tinynet.nn.modules import instancenorm as instancenorm
from tinynet.nn.modules import lazy as lazy
from tinynet.nn.modules import module as module
from tinynet.nn.modules import normalization as normalization
from tinynet.nn.modules import utils as utils
from tinynet.nn.modules.module import Module as Module
