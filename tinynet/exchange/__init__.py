"""Files of weights: tinynet's own, ``.safetensors``, and those of PyTorch."""

from tinynet.exchange.files import ExchangeError as ExchangeError
from tinynet.exchange.npz import load as load
from tinynet.exchange.npz import save as save
