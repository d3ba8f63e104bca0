"""Attributes of modules that a captured function sets to tensors: ``self.mean = x.mean()``.

What it reads before it sets it, as in ``self.total = 0.9 * self.total + x``, is *carried* from call
to call: the tensor of that time is one more argument of the program.
"""

from __future__ import annotations

from typing import Any

from tinynet.capture.guard.holdings import ABSENT, alike, is_a, members_of, of_class
from tinynet.capture.guard.keys import form
from tinynet.capture.program import CaptureError
from tinynet.core.callsite import Site
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.base.tables import MODULES, PARAMETERS, attributes

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


class ReadError(CaptureError):
    """A program uses tensors that were in attributes which it sets.

    Attributes:
        stores: the attributes; a program that gets what they hold as arguments may do.
    """

    def __init__(self, stores: list[Store]):
        name, site = stores[0].name, stores[0].site
        remedy = "pass the value as an argument, and return the new one"
        super().__init__(f"the function reads the attribute {name!r}, and sets it", remedy, site)
        self.stores = stores


def can_be_set(owner: Any, name: str) -> bool:
    """Return whether setting an attribute only stores a value: no code of the user's runs."""
    if not is_a(owner, Module):
        return False
    plain = of_class(type(owner), "__setattr__") is members_of(Module)["__setattr__"]
    own = attributes(owner)
    member = any(name in own.get(table, ()) for table in (PARAMETERS, MODULES))
    found = of_class(type(owner), name)
    return plain and not member and of_class(type(found), "__set__") is ABSENT
