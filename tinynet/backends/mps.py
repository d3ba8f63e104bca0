"""Apple's GPU, unavailable."""

from tinynet.backends.absent import is_available as is_available
from tinynet.backends.absent import is_built as is_built
