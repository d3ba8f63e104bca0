"""PyTorch's import path: `from tinynet.utils.tensorboard import SummaryWriter`."""

from tinynet.board import SummaryWriter as SummaryWriter
from tinynet.board import notebook as notebook
