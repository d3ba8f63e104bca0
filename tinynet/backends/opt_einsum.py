"""opt_einsum, unavailable: numpy chooses the path of an einsum."""

from tinynet.backends.absent import is_available as is_available

enabled = False
