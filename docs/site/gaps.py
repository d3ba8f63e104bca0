"""`python -m docs.site.gaps`: public names whose entry lacks something.

An example, its arguments, the errors (docs/site/raises.py) or the source (docs/site/sources.py).

Names that end with an underscore are covered by the name without it. What a declaration tells (that
an operation works element by element, the node, the derivative) needs no section.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator

from docs.site import glossary, raises, sources
from docs.site.api import identity, names_of
from docs.site.docstrings import sections
from docs.site.inventory import CONSTANTS, TITLES, Name, operation_of, page_of
from tinynet.nn import Module
from tinynet.train.config.sections import field_docs


def without_example(page: str) -> list[str]:
    """The names of a page that show no example."""
    return [n.path for n in to_check(page) if ">>>" not in (inspect.getdoc(n.value) or "")]


def without_arguments(page: str) -> list[str]:
    """The names of a page that take something and do not say what."""
    return [n.path for n in to_check(page) if takes_something(n) and not says_what(n)]


def without_errors(page: str) -> list[str]:
    """The names of a page that can fail and do not say how."""
    return [n.path for n in to_check(page) if raises.can_fail(n) and not raises.told(n)]


def without_source(page: str) -> list[str]:
    """The names of a page that compute something and say neither the formula nor the paper."""
    return [n.path for n in to_check(page) if sources.needed(n, page) and not sources.told(n)]


KINDS = {
    "example": without_example,
    "arguments": without_arguments,
    "errors": without_errors,
    "source": without_source,
}


def to_check(page: str) -> Iterator[Name]:
    """The names of a page that need documentation of their own.

    Neither aliases, nor in-place forms, nor what is deprecated in favor of another name.
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
        if page == "tensor" and page_of(name.name):  # a function, and on the page of that
            continue
        if not callable(name.value) and not isinstance(name.value, property):
            continue
        if inspect.isclass(name.value) and issubclass(name.value, Exception):  # it is only caught
            continue
        if identity(name.value) not in seen:
            seen.add(identity(name.value))
            yield name


def takes_something(name: Name) -> bool:
    """Whether there are parameters that their name and the declaration do not explain."""
    value = name.value
    op = operation_of(value) if inspect.isroutine(value) else None
    if isinstance(value, property) or inspect.isclass(value) and issubclass(value, BaseException):
        return False
    if not inspect.isroutine(value) and not inspect.isclass(value):  # its class says
        return False
    if op is not None and op.kind == "pointwise" and not op.attributes:
        return False
    if inspect.isclass(value) and value.__init__ is Module.__init__:  # a layer without any
        return False
    try:
        parameters = [*inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return False
    tensors = {"self", "input", "other", "tensor", "out"}
    return any(p.name not in tensors for p in parameters)


def says_what(name: Name) -> bool:
    """Whether each parameter is told of: by the docstring, by the glossary, or as a shape."""
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
    said = {*re.findall(r"\w+", text)}  # where the sentence itself names them
    return all(p in known | said or p.startswith("_") or glossary.told(doc, p) for p in parameters)


def main() -> None:
    """Print the gaps of each page."""
    for page in TITLES:
        print(f"{page}: {len([*to_check(page)])} names")
        for kind, without in KINDS.items():
            found = without(page)
            print(f"   without {kind}: {len(found)}", *found)


if __name__ == "__main__":
    main()
