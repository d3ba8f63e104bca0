"""Names that ``torch`` has under the door, besides those of ``tinynet``."""

from __future__ import annotations

from tinynet.compat.version import __version__ as __version__
from tinynet.runtime import _assert as _assert
