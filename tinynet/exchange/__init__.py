"""Weight files: tinynet's own format, ``.safetensors``, and PyTorch's."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.exchange.files import ExchangeError as ExchangeError
    from tinynet.exchange.files import UnsafeError as UnsafeError
    from tinynet.exchange.model import load_model as load_model
    from tinynet.exchange.model import save_model as save_model
    from tinynet.exchange.pytorch import load_pytorch as load_pytorch
    from tinynet.exchange.pytorch import save_pytorch as save_pytorch
    from tinynet.exchange.safetensors import load_file as load_file
    from tinynet.exchange.safetensors import safe_open as safe_open
    from tinynet.exchange.safetensors import save_file as save_file
    from tinynet.exchange.serialization import load as load
    from tinynet.exchange.serialization import save as save
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
