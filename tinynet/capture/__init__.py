"""Captured steps: ``tn.compile``."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.capture.api import compile as compile
    from tinynet.capture.compiled import CAPTURES as CAPTURES
    from tinynet.capture.compiled import Calls as Calls
    from tinynet.capture.compiled import Compiled as Compiled
    from tinynet.capture.compiled import CompileError as CompileError
    from tinynet.capture.compiled import CompileWarning as CompileWarning
    from tinynet.capture.continued import Continued as Continued
    from tinynet.capture.graph import program_graph as program_graph
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
