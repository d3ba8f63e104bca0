"""oneDNN, which is not there: scripts set its switch, and nothing changes."""

from tinynet.backends.absent import flags as flags
from tinynet.backends.absent import is_available as is_available

enabled = False
