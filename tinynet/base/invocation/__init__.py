"""The command that started this process, for commands in messages, and its Ctrl-C."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.base.invocation.commands import VARIABLE as VARIABLE
    from tinynet.base.invocation.commands import command as command
    from tinynet.base.invocation.commands import installation as installation
    from tinynet.base.invocation.commands import is_wrapped as is_wrapped
    from tinynet.base.invocation.commands import python as python
    from tinynet.base.invocation.commands import shown as shown
    from tinynet.base.invocation.commands import typed as typed
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
