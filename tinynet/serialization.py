"""PyTorch's import path of ``save`` and ``load``, and of what files may name."""

from tinynet.exchange.pytorch import default_restore_location as default_restore_location
from tinynet.exchange.pytorch import (
    get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint,
)
from tinynet.exchange.safe_globals import add_safe_globals as add_safe_globals
from tinynet.exchange.safe_globals import clear_safe_globals as clear_safe_globals
from tinynet.exchange.safe_globals import get_safe_globals as get_safe_globals
from tinynet.exchange.safe_globals import safe_globals as safe_globals
from tinynet.exchange.serialization import DEFAULT_PROTOCOL as DEFAULT_PROTOCOL
from tinynet.exchange.serialization import load as load
from tinynet.exchange.serialization import save as save
