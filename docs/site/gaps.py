"""`python -m docs.site.gaps`: public names whose entries are incomplete.

An entry needs an example, the arguments, the errors (docs/site/raises.py) and the source
(docs/site/sources.py). The name without an underscore covers the in-place form. Facts from a
declaration (pointwise, node, derivative) need no section.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum

from docs.site import glossary, raises, sources
from docs.site.api import identity, names_of
from docs.site.docstrings import sections
from docs.site.inventory import CONSTANTS, TITLES, Name, operation_of, page_of, parameters_of
from tinynet.nn import Module
from tinynet.train.config.sections import field_docs


def without_example(page: str) -> list[str]:
    """Return the names of a page without an example."""
    return [n.path for n in to_check(page) if ">>>" not in (inspect.getdoc(n.value) or "")]


def without_arguments(page: str) -> list[str]:
    """Return the names of a page with undocumented parameters."""
    return [n.path for n in to_check(page) if has_parameters(n) and not explains_parameters(n)]


def without_errors(page: str) -> list[str]:
    """Return the names of a page with undocumented errors."""
    return [n.path for n in to_check(page) if raises.can_fail(n) and not raises.documented(n)]


def without_source(page: str) -> list[str]:
    """Return the names of a page that compute something, without a formula or a paper."""
    return [n.path for n in to_check(page) if sources.needed(n, page) and not sources.documented(n)]


KINDS = {
    "example": without_example,
    "arguments": without_arguments,
    "errors": without_errors,
    "source": without_source,
}


def to_check(page: str) -> Iterator[Name]:
    """Yield the names of a page that need their own documentation.

    Skips aliases, in-place forms, and names deprecated in favor of another one.
    """
    seen: set[int] = set()
    deprecated = re.compile("Deprecated: call ")
    names = [n for n in names_of(page) if not deprecated.match(inspect.getdoc(n.value) or "")]
    known = {name.name for name in names}
    for name in names:
        if name.name in CONSTANTS.split() and not name.module:
            continue
        if name.name.endswith("_") and name.name[:-1] in known:
            continue
        if page == "tensor" and page_of(name.name):  # documented as a function
            continue
        if not callable(name.value) and not isinstance(name.value, property):
            continue
        if inspect.isclass(name.value) and issubclass(name.value, Exception):  # users only catch it
            continue
        if identity(name.value) not in seen:
            seen.add(identity(name.value))
            yield name


def has_parameters(name: Name) -> bool:
    """Return whether there are parameters that name and declaration do not explain."""
    value = name.value
    op = operation_of(value) if inspect.isroutine(value) else None
    if isinstance(value, property):
        return False
    if inspect.isclass(value) and issubclass(value, BaseException | Enum):
        return False
    if not inspect.isroutine(value) and not inspect.isclass(value):  # its class is documented
        return False
    if op is not None and op.kind == "pointwise" and not op.attributes:
        return False
    if inspect.isclass(value) and value.__init__ is Module.__init__:  # a layer without parameters
        return False
    tensors = {"self", "input", "other", "tensor", "out"}
    return any(p.name not in tensors for p in parameters_of(value))


def explains_parameters(name: Name) -> bool:
    """Return whether the docstring, the glossary or a shape explains each parameter."""
    doc = inspect.getdoc(name.value) or ""
    known = {"self", "input", "other", "tensor", "out", *glossary.MEANINGS}
    if dataclasses.is_dataclass(name.value):
        known |= {*field_docs(name.value)}
    parameters = inspect.signature(name.value).parameters
    if re.search(
        r"[Aa]rguments (are those|as there)|[Ss]ee ``|otherwise as|parameters .* are those"
        r"|[Aa]rguments, .* are those|are those of",
        doc,
    ):
        return True
    text = "".join(part for heading, part in sections(doc).items() if heading != "Example")
    words = {*re.findall(r"\w+", text)}  # names in a sentence
    return all(
        p in known | words or p.startswith("_") or glossary.explains(doc, p) for p in parameters
    )


def main() -> None:
    """Print the gaps of each page."""
    for page in TITLES:
        print(f"{page}: {len([*to_check(page)])} names")
        for kind, without in KINDS.items():
            found = without(page)
            print(f"   without {kind}: {len(found)}", *found)


if __name__ == "__main__":
    main()
