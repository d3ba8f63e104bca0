"""OpenMP, unavailable."""

from tinynet.backends.absent import is_available as is_available
