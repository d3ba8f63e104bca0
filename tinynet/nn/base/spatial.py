"""The base class of layers over one, two or three dimensions."""

from __future__ import annotations

from tinynet.nn.base.module import Module


class Spatial(Module):
    """A layer that computes the same over one, two or three dimensions.

    What its class says is in the instance, too: as in PyTorch, ``forward`` reads attributes of the
    instance only, and works on any object that has them.
    """

    rank: int  # the number of spatial dimensions
    _of_class: tuple[str, ...] = ("rank",)

    def __init__(self) -> None:
        super().__init__()
        for name in self._of_class:
            if hasattr(self, name):  # users' classes may do without
                setattr(self, name, getattr(self, name))
