"""All operations: imported by what looks at each of them, or captures those that follow."""

from tinynet import ops
from tinynet.base import lazy
from tinynet.ops import loading, special

loading.load_methods()
lazy.members(ops)
lazy.members(special)
