"""The source of the functions compiled from the declaration of an operation."""

import textwrap

import tinynet  # noqa: F401  (declares the operations)
from docs.site.text import fenced
from tinynet.core.declaration.codegen import Backward, Forward, InPlace
from tinynet.core.declaration.operation import REGISTRY


def out_of_place() -> str:
    """Return the source of ``a * b`` and of its backward."""
    op = REGISTRY["mul"]
    forward = folded("The compiled source of a * b", Forward(op, False).source())
    return forward + "\n\n" + folded("The compiled source of its backward", Backward(op).source())


def in_place() -> str:
    """Return the source of ``a.mul_(b)``."""
    source = InPlace(REGISTRY["mul"], "mul_", False, {}).source()
    return folded("The compiled source of mul_", source)


def folded(title: str, code: str) -> str:
    """Return a block of code that opens with a click on its title."""
    return f'??? note "{title}"\n' + textwrap.indent(fenced(code, "python"), "    ")
