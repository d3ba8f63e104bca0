"""oneDNN, unavailable: its switch has no effect."""

from tinynet.backends.absent import flags as flags
from tinynet.backends.absent import is_available as is_available

enabled = False
