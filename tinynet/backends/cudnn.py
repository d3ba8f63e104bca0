"""cuDNN, unavailable: its switches have no effect."""

from tinynet.backends.absent import flags as flags
from tinynet.backends.absent import is_available as is_available
from tinynet.backends.absent import version as version

enabled = benchmark = allow_tf32 = False
deterministic = True
