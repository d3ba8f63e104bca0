"""``torch.fx``: only decorators without effect; programs are not traced."""

from __future__ import annotations

from typing import Any, TypeVar

from tinynet.compat.refusal import absent, refusal
from tinynet.nn.base.module import Module

T = TypeVar("T")


def wrap(fn_or_name: T) -> T:
    """Return the function unchanged: there is no tracing to exclude it from.

    Args:
        fn_or_name: a function or the name of one.

    Example:
        >>> from tinynet.compat import fx
        >>> fx.wrap("len")
        'len'
    """
    return fn_or_name


symbolic_trace = refusal("fx.symbolic_trace", "programs are not traced to graphs; run the module")


class _Untraced:
    """A part of a traced program: annotations may name it; making one raises."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        symbolic_trace()


class Graph(_Untraced):
    """The operations of a traced program."""


class GraphModule(_Untraced, Module):
    """A module that runs a graph."""


class Interpreter(_Untraced):
    """A class that runs a graph node by node."""


class Node(_Untraced):
    """An operation of a graph."""


class Proxy(_Untraced):
    """A value of a program while it is traced."""


class Tracer(_Untraced):
    """A class that traces programs."""


class Transformer(Interpreter):
    """A class that rewrites a graph."""


# ---- torch._subclasses --------------------------------------------------------------------------

_RUN = "programs are not traced; run them on tensors"
FakeTensor = absent("_subclasses.FakeTensor", _RUN)
FakeTensorMode = absent("_subclasses.FakeTensorMode", _RUN)


def is_fake(x: object) -> bool:
    """Return False: all tensors have numbers."""
    return False


# ---- torch.fx.experimental.proxy_tensor ---------------------------------------------------------


def get_proxy_mode() -> None:
    """Return None: nothing is being traced."""


# ---- torch.SymInt and the like ------------------------------------------------------------------

SymInt = absent("SymInt", _RUN)
SymFloat = absent("SymFloat", _RUN)
SymBool = absent("SymBool", _RUN)
