"""The functions that are compiled of a declared operation, as they are."""

import textwrap

import tinynet  # noqa: F401  (declares the operations)
from docs.site.text import fenced
from tinynet.core.declaration import codegen_inplace as inplace_source
from tinynet.core.declaration.codegen import Forward
from tinynet.core.declaration.codegen_backward import Backward
from tinynet.core.declaration.operation import REGISTRY


def out_of_place() -> str:
    """What ``a * b`` runs, and its backward."""
    op = REGISTRY["mul"]
    forward = folded("The compiled source of a * b", Forward(op, False).source())
    return forward + "\n\n" + folded("The compiled source of its backward", Backward(op).source())


def in_place() -> str:
    """What ``a.mul_(b)`` runs."""
    return folded(
        "The compiled source of mul_", inplace_source.source(REGISTRY["mul"], "mul_", False)
    )


def folded(title: str, code: str) -> str:
    """A block that opens when its title is clicked."""
    return f'??? note "{title}"\n' + textwrap.indent(fenced(code, "python"), "    ")
