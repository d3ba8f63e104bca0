"""Versions: law 2 (bump). A counter that belongs to a storage and is shared by all its aliases."""

from __future__ import annotations

from typing import NamedTuple

from tinynet.core.callsite import Site

KEPT = 8  # changes that a version remembers; more are only counted


class Change(NamedTuple):
    """One write to a storage.

    Attributes:
        site: the user's line.
        what: what wrote, for people: ``"__setitem__"``, ``"SGD.step"``.
        version: the version after the write.
        producer: name of the node whose output the tensor became (None: unchanged).
    """

    site: Site | None
    what: str
    version: int
    producer: str | None


class Version:
    """Counts the writes to a storage and remembers the last few."""

    __slots__ = ("changes", "n")
    n: int
    changes: list[Change]  # unset until the first write: most storages are never written

    def bump(self, site: Site | None, what: str, producer: str | None = None) -> None:
        """Count one write, after it happened."""
        self.n += 1
        change = Change(site, what, self.n, producer)
        if self.n == 1:
            self.changes = [change]
        else:
            self.changes = [*self.changes[1 - KEPT :], change]

    def since(self, version: int) -> list[Change]:
        """Return the remembered changes after ``version``, oldest first."""
        return [c for c in self.changes if c.version > version] if self.n else []


def new_version() -> Version:
    """Return a counter at zero."""
    version = Version()
    version.n = 0
    return version
