"""Top-level names of ``torch`` that ``tinynet`` itself does not export."""

from __future__ import annotations

from tinynet.compat.library import ops as ops
from tinynet.compat.version import __version__ as __version__
from tinynet.runtime import _assert as _assert
