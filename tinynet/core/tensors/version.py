"""Versions: law 2 (bump). A counter of writes that all aliases of a storage share."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from tinynet import errors
from tinynet.core.callsite import Site
from tinynet.core.modes import mode
from tinynet.core.trace import Scope
from tinynet.dtypes import Array

KEPT = 8  # a version stores this number of changes, and only counts older ones
REPLACEMENT = 2.0**-30  # a replaced array's part of ``Version.n``


class Writer(str):
    """The name of a write in messages, with the fix for values that were saved before it."""

    remedy: str

    def __new__(cls, name: str, remedy: str) -> Writer:
        """Return a name with its remedy."""
        writer = super().__new__(cls, name)
        writer.remedy = remedy
        return writer


class Change(NamedTuple):
    """One write to a storage.

    Attributes:
        site: the user's line.
        what: the operation, for messages: ``"__setitem__"``, ``"SGD.step"``.
        version: the version after the write.
        producer: name of the node whose output the tensor became (None: unchanged).
        scope: the modules that were running.
    """

    site: Site | None
    what: str
    version: int
    producer: str | None
    scope: Scope | None


class Version:
    """Counts the writes to a storage and stores the last few.

    Attributes:
        n: the writes, and a small fraction for each array that ``x.data = y`` replaced, so that the
            one comparison of the fast path detects both.
    """

    __slots__ = ("n", "replaced", "reshaped", "writes")
    n: float
    replaced: list[tuple[weakref.ref[Array], Array]]  # unset until an array is replaced
    reshaped: list[Any]  # (base, step back, layout before, whether there are newer views)
    writes: list[tuple[Any, ...]]  # fields of Change; unset until the first write

    def bump(self, site: Site | None, what: str, producer: str | None = None) -> None:
        """Count a completed write."""
        n = self.n = self.n + 1
        if n < 2:
            self.writes = [(site, what, n, producer, mode.scope)]
            return
        writes = self.writes
        if len(writes) >= 2 * KEPT:
            del writes[:KEPT]
        writes.append((site, what, n, producer, mode.scope))

    @property
    def count(self) -> int:
        """The number of writes."""
        return int(self.n)

    def since(self, version: float) -> list[Change]:
        """Return the stored changes after ``version``, oldest first."""
        if not self.count:
            return []
        changes = [Change(*w) for w in self.writes[-KEPT:]]
        changes = [change._replace(version=int(change.version)) for change in changes]
        return [change for change in changes if change.version > int(version)]

    def replace(self, array: Array, by: Array) -> None:
        """Note that a tensor has another array: what saved the tensor reads that one."""
        known = [*getattr(self, "replaced", []), (weakref.ref(array), by)]
        moved = [(old, by if new is array else new) for old, new in known]
        self.replaced = [pair for pair in moved if pair[0]() is not None and pair[0]() is not by]
        self.n += REPLACEMENT

    def current(self, array: Array) -> Array:
        """Return the array that replaced this one, or this one."""
        replaced = getattr(self, "replaced", ())
        return next((new for old, new in replaced if old() is array), array)


def new_version() -> Version:
    """Return a counter at zero."""
    version = Version()
    version.n = 0
    return version


class Untracked(Version):
    """The counter of all tensors made in inference mode, which counts nothing."""

    __slots__ = ()

    @property
    def n(self) -> float:  # type: ignore[override]  # instead of the slot
        """Raise an error: only saving a value reads the number."""
        raise RuntimeError(errors.INFERENCE_SAVED)

    def bump(self, site: Site | None, what: str, producer: str | None = None) -> None:
        """Do nothing in inference mode; raise an error outside it."""
        refuse_inference(self)

    def since(self, version: float) -> list[Change]:
        """Return no changes: none are stored."""
        return []


INFERENCE = Untracked()


def refuse_inference(counter: Version | None) -> None:
    """Raise an error for a write outside inference mode to a tensor made inside."""
    if counter is INFERENCE and not mode.inference:
        raise RuntimeError(errors.INFERENCE_WRITTEN)


NUMBER = new_version()  # of saved Python numbers, which never change but can be freed
