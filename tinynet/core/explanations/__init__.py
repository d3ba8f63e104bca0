"""What errors mean and how to fix them: one page per error, in this folder.

The messages name the page: ``python -m tinynet explain inplace-saved``.
"""

import os

from tinynet.base import invocation
from tinynet.core.explanations import display as display  # shows uncaught errors from now on

_FOLDER = os.path.dirname(__file__)


def topics() -> list[str]:
    """Return the names of all pages.

    Example:
        >>> "inplace-saved" in topics()
        True
    """
    pages = os.listdir(_FOLDER)
    return sorted(name.removesuffix(".md") for name in pages if name.endswith(".md"))


_INTRODUCTION = """\
The first sentence of an error is PyTorch's. The lines below it are tinynet's: an error of a layer
has the path of the layer, your line, the shapes that came and that the layer expects, and the fix.

    RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x32 and 16x10)
      layer    model.net.3 Linear(in_features=16, out_features=10, bias=True)
      line     train.py:18 in forward   return self.net(x)
                                               ^^^^^^^^^^^
      got      input float32 [8, 32]
      expects  float32 [..., 16]
      fix      make the layer with `in_features=32`, or the last dimension of its input 16

Tracebacks show your lines only. An error that tinynet does not raise on purpose, and may be a bug
of tinynet, keeps all lines. With `TINYNET_TRACEBACKS=full` in the environment, all errors do."""


def all_pages() -> str:
    """Return all pages as one Markdown document, the documentation's page on errors."""
    shown = invocation.command("explain", "TOPIC")
    parts = [
        "# Errors, and what to do",
        _INTRODUCTION,
        f"Each of the following errors and warnings names its page: `{shown}`.",
    ]
    for topic in topics():
        title, _, body = explain(topic).removeprefix("# ").partition("\n")
        parts.append(f"## {title}\n\n*{topic}*\n{body.rstrip()}")
    return "\n\n".join(parts)


def explain(topic: str) -> str:
    """Return the page on ``topic``, as Markdown.

    Raises:
        KeyError: there is no such page.

    Example:
        >>> explain("scalar-only").splitlines()[0]
        '# backward on a tensor with several elements'
    """
    if topic not in topics():
        raise KeyError(topic)
    with open(os.path.join(_FOLDER, f"{topic}.md"), encoding="utf-8") as page:
        return page.read()
