"""The base classes of activations."""

from __future__ import annotations

from tinynet.nn.base.module import Module
from tinynet.nn.base.options import options_repr, with_options


class _Activation(Module):
    """Base class of activations.

    Args:
        inplace: overwrite the input.

    Shape:
        Any; the output has the same shape.

    Raises:
        NotImplementedError: the input has an integer dtype.
    """

    _options: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        """Return the options; ``inplace`` only if it is set."""
        shown = options_repr(self)
        return shown.removesuffix("inplace=False").removesuffix(", ")


@with_options
class _InPlace(_Activation):
    """Base class of activations whose only option is ``inplace``."""

    inplace: bool = False
