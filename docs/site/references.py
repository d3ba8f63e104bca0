"""Other public names that a docstring refers to."""

import functools
import re
from collections.abc import Iterator

from docs.site.inventory import MODULES, Name, public

_REFERS = re.compile(
    r"(?:[Ss]ee|as in|those of|that of|as there, in|otherwise as|as|name of|like|those are of|for"
    r"|in place of|of|what|[Uu]ndo)\s+``([\w.]+)``|^Return ``([\w.]+)\(|"
    r"``([\w.]+)``(?:, of which this| does the same| under)"
)


def of(name: Name, text: str) -> Iterator[Name]:
    """Yield the public names that a text refers to, except the name itself."""
    for pair in _REFERS.findall(text):
        found = "".join(pair)
        for other in _by_name().get(found.rpartition(".")[2], ()):
            if other.name != name.name:
                yield other


@functools.cache
def _by_name() -> dict[str, list[Name]]:
    """Return all public names by their last part."""
    found: dict[str, list[Name]] = {}
    for module in ["", *(m for modules in MODULES.values() for m in modules)]:
        for name in public(module):
            found.setdefault(name.name, []).append(name)
    return found
