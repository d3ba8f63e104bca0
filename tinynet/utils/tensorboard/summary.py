"""PyTorch's import path: ``from tinynet.utils.tensorboard.summary import hparams``."""

from tinynet.board.summaries.hparams import hparams as hparams
