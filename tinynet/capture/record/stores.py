"""Attributes of modules that a captured function sets to tensors: ``self.mean = x.mean()``.

What it reads before it sets it, as in ``self.total = 0.9 * self.total + x``, is *carried* from call
to call: the tensor of that time is one more argument of the program. So is a tensor whose data a
function replaces: ``self.u.data = normalized(w @ self.u)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.capture.guard.holdings import ABSENT, alike, is_a, members_of, of_class
from tinynet.capture.guard.keys import form
from tinynet.capture.program import CaptureError
from tinynet.core.callsite import Site
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import MODULES, PARAMETERS, attributes

REMEDY = "return the value instead, and store it outside of the function"


class Store:
    """An attribute of a module that a function sets.

    A replay sets it, too. It never reads the tensor that was there before, unless it is carried,
    but for its form, which a guard compares: ``if self.mask.shape != x.shape: self.mask = ...``.

    Attributes:
        module, name: the module and the name.
        before: what it was before the call, or ``ABSENT``; of a tensor, its form, once checked.
        site: the line that sets it.
        looks: code that sets it may look at the tensor that was there.
    """

    __slots__ = "before", "looks", "module", "name", "site"

    def __init__(self, module: Module, name: str, site: Site | None, looks: bool):
        self.module, self.name, self.site, self.looks = module, name, site, looks
        self.before = self.value()

    def held(self) -> Any:
        """Return what it is now, an argument of the program if it is carried."""
        return self.value()

    def left(self, tensors: Sequence[Tensor]) -> Any:
        """Return what a call left in it."""
        return self.value()

    def where(self) -> tuple[int, str]:
        """Return what stays the same from call to call."""
        return id(self.module), self.name

    def value(self) -> Any:
        """Return what it is now."""
        return attributes(self.module).get(self.name, ABSENT)

    def put(self, value: Any) -> None:
        """Set it, or delete it if there was none."""
        if value is not ABSENT:
            setattr(self.module, self.name, value)
        elif self.value() is not ABSENT:
            delattr(self.module, self.name)

    def is_idle(self) -> bool:
        """Return whether it has the value that it had."""
        return alike(self.before, self.value())

    def check(self) -> None:
        """Raise CaptureError unless a replay can set it: to a tensor, and in place of one.

        Code may ask whether there is a tensor already, and do something else the first time.
        """
        if type(self.value()) is not Tensor:
            raise self._error("the function sets the attribute {!r}", REMEDY)
        if type(self.before) is not Tensor:
            raise self._error("the function sets the attribute {!r}, which had no tensor", REMEDY)

    def forget_before(self) -> None:
        """Keep the form of the tensor that it was."""
        self.before = form(self.before)

    def _error(self, reason: str, remedy: str) -> CaptureError:
        return CaptureError(reason.format(self.name), remedy, self.site)


class Data:
    """The data of a tensor from outside that a function replaces.

    Attributes:
        tensor: the tensor.
        place: its number among the arguments of the program.
        name, before: as in ``Store``.
    """

    __slots__ = "before", "name", "place", "tensor"

    def __init__(self, tensor: Tensor | None, place: int = -1):
        self.tensor, self.place, self.name = tensor, place, "data"
        self.before: Any = None

    def held(self) -> Any:
        """Return the tensor, an argument of the program if it is carried."""
        return self.tensor

    def left(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return a tensor of the data that a call left.

        Args:
            tensors: the arguments of the program.
        """
        return wrap(tensors[self.place]._array)

    def where(self) -> tuple[int, str]:
        """Return what stays the same from call to call."""
        return (id(self.tensor) if self.tensor is not None else self.place), self.name

    def check(self) -> None:
        """Do nothing: the program knows the array, or is refused."""

    def forget_before(self) -> None:
        """Keep nothing of the call."""
        self.before = None


class CarryError(CaptureError):
    """A function changes what a program depends on, unless the program gets that as an argument.

    Attributes:
        stores: what to carry: attributes that it reads and sets, tensors whose data it replaces;
            empty if nothing helps.
    """

    def __init__(
        self, reason: str, remedy: str, stores: Sequence[Any] = (), site: Site | None = None
    ):
        super().__init__(reason, remedy, site)
        self.stores = [*stores]


def can_be_set(owner: Any, name: str) -> bool:
    """Return whether setting an attribute only stores a value: no code of the user's runs."""
    if not is_a(owner, Module):
        return False
    plain = of_class(type(owner), "__setattr__") is members_of(Module)["__setattr__"]
    own = attributes(owner)
    member = any(name in own.get(table, ()) for table in (PARAMETERS, MODULES))
    found = of_class(type(owner), name)
    return plain and not member and of_class(type(found), "__set__") is ABSENT
