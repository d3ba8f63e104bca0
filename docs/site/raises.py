"""The errors of a name, from its docstring, its declaration and its parameters.

Errors that many names raise for the same reason are listed here, and shown at each of them.
"""

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

from docs.site import references
from docs.site.docstrings import sections
from docs.site.inventory import Name, operation_of, parameters_of

EVERYWHERE = (
    "All of them raise TypeError for unknown arguments, and for any other type where a tensor is"
    " required. Their entries list the other errors."
)
"""The beginning of the pages of functions of tensors."""

OF_PARAMETERS = {
    "dim": "IndexError: there is no such dimension.",
    "axis0": "IndexError: there is no such dimension.",
    "axis1": "IndexError: there is no such dimension.",
    "dim0": "IndexError: there is no such dimension.",
    "dim1": "IndexError: there is no such dimension.",
    "reduction": 'ValueError: `reduction` is not `"mean"`, `"sum"` or `"none"`.',
    "cache_size": "ValueError: `cache_size` is not 0 or 1.",
    "dtype": "TypeError: `dtype` is not a dtype.",
    "requires_grad": "RuntimeError: `requires_grad` is True and the dtype is not floating-point.",
    "inplace": "RuntimeError: `inplace` is True and the input is a leaf that requires grad.",
}
"""Parameter -> the error for a wrong argument. tests/whole/docs/test_raises.py tries them."""

MAKING = ("dtype", "requires_grad")

TAKES_ALL = re.compile(
    r"\w+Error\b|[Aa]ny (shape|tensor|object|value|function|sample)|anything|\baccepted\b"
    r"|\bignored\b|[Dd]o(es)? nothing|[Uu]sers make n|[Oo]nly autograd makes"
    r"|Return the tensor itself|same memory|not by users|all are on the CPU"
)
"""Text that names an error, or says that everything is accepted or ignored."""

BROADCAST = "RuntimeError: the shapes do not broadcast."


def of(value: Any) -> Iterator[str]:
    """Yield the errors that a docstring does not mention: ``type: cause``."""
    op = operation_of(value) if inspect.isroutine(value) else None
    if op is not None and op.kind == "pointwise" and len(op.tensors) > 1:
        yield BROADCAST
    doc = inspect.getdoc(value) or ""
    documented = sections(doc).get("Raises", "")
    for parameter in [p.name for p in parameters_of(value)]:
        if parameter in MAKING and inspect.isclass(value):  # its own errors matter more
            continue
        if re.search(rf"\b{parameter}: .*\b(ignored|accepted)\b", doc):
            continue
        if parameter == "requires_grad" and re.search(r"a dtype that is n\w+ float", documented):
            continue  # the dtype is refused first
        if parameter in OF_PARAMETERS and f"``{parameter}``" not in documented:
            yield OF_PARAMETERS[parameter]


# ---- gaps ----


def can_fail(name: Name) -> bool:
    """Return whether a name needs documented errors.

    These need none: properties and predicates; names without parameters; records (dataclasses,
    named tuples, enumerations); contexts that only set a mode; pointwise operations on one tensor.
    """
    value = name.value
    if isinstance(value, property) or re.match(r"(is|has)_?[a-z]", name.name):
        return False
    if not [p for p in parameters_of(value) if p.name != "self" or name.module != "Tensor"]:
        return False
    if hasattr(value, "__enter__") or inspect.isgeneratorfunction(inspect.unwrap(value)):
        return False
    if dataclasses.is_dataclass(value) or (
        inspect.isclass(value) and issubclass(value, tuple | enum.Enum)
    ):
        return False
    op = operation_of(value) if inspect.isroutine(value) else None
    return not (op and op.kind == "pointwise" and len(op.tensors) == 1)


def documented(name: Name) -> bool:
    """Return whether the entry names the errors, or says that everything is accepted."""
    doc = inspect.getdoc(name.value) or ""
    text = "\n".join(part for heading, part in sections(doc).items() if heading != "Example")
    if "Raises" in sections(doc) or [*of(name.value)]:
        return True
    if TAKES_ALL.search(text) or in_members(name.value):
        return True
    return any(documented(other) for other in references.of(name, text))


def in_members(value: Any) -> bool:
    """Return whether a method of a class, or its constructor, documents errors."""
    if not inspect.isclass(value):
        return False
    own = [m for n, m in vars(value).items() if not n.startswith("_") or n == "__init__"]
    return any("Raises:" in (inspect.getdoc(getattr(m, "__func__", m)) or "") for m in own)
