"""gym under its old name: gymnasium."""

from gymnasium import *  # noqa: F403
from gymnasium import make as make
from gymnasium import spaces as spaces
