"""The command that started this process, for commands in messages, and its Ctrl-C."""

from typing import TYPE_CHECKING

from tinynet.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.invocation.commands import VARIABLE as VARIABLE
    from tinynet.invocation.commands import command as command
    from tinynet.invocation.commands import is_wrapped as is_wrapped
    from tinynet.invocation.commands import python as python
    from tinynet.invocation.commands import shown as shown
    from tinynet.invocation.commands import typed as typed
    from tinynet.invocation.installing import installation as installation
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
