"""Recognizing a call like the last one, without the key of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.capture.guard.keys import modes, sharing_of
from tinynet.capture.program import root
from tinynet.capture.source import Source, compiled
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import VIEW, Tensor
from tinynet.core.tensors.version import INFERENCE
from tinynet.core.tensors.views import requires_grad
from tinynet.dtypes import default_float


class _Stale:
    """What a program returns if its guards do not hold."""


STALE = _Stale()
_NAMES = {
    "INFERENCE": INFERENCE,
    "STALE": STALE,
    "VIEW": VIEW,
    "apart": lambda a, b: root(a) is not root(b),
    "array": np.ndarray,
    "default_float": default_float,
    "mode": mode,
    "requires_grad": requires_grad,
}


def recognizer(run: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Callable[..., Any]:
    """Return a function of the arguments that runs a program if they are like those of a call.

    It recognizes calls with different tensors that do not require grad, under the same modes. For
    others it returns ``STALE``; that they fit has to be found by their key.

    Args:
        run: the program as a function of the tensors.
        tensors: those that were passed.
        args, kwargs: all arguments.
    """
    plain = len(tensors) == len(args) and not kwargs and all(map(_is_plain, tensors))
    if not (plain and args) or sharing_of(tensors) or modes()[1:3] != (False, None):
        return recognize_nothing
    source = Source([], [])
    keep, names = source.keep, [f"A{i}" for i in range(len(args))]
    source.namespace.update(_NAMES)
    tests = [f"{'' if mode.grad else 'not '}mode.grad", "not mode.inference"]
    tests += ["mode.autocast is None", f"default_float() is {keep(default_float())}"]
    for i, (name, t) in enumerate(zip(names, tensors, strict=True)):
        tests.append(f"type({name}) is {keep(type(t))}")
        tests.append(f"(a{i} := {name}._array).__class__ is array")
        tests.append(f"a{i}.shape == {t._array.shape!r} and a{i}.strides == {t._array.strides!r}")
        tests.append(f"a{i}.dtype is {keep(t._array.dtype)}")
        flag = "VIEW" if t._requires_grad is VIEW else "False"
        tests.append(f"{name}._requires_grad is {flag} and {name}._counter is not INFERENCE")
        tests += [f"not requires_grad({name})"] if flag == "VIEW" else []
        tests += [
            f"(a{i}.base is None is a{j}.base and a{i} is not a{j} or apart(a{i}, a{j}))"
            for j in range(i)
        ]
    given = ", ".join(names)
    lines = [
        "def recognize(args):",
        f"    if len(args) != {len(args)}: return STALE",
        f"    {given}, = args",
        f"    if not ({' and '.join(tests)}): return STALE",
        f"    return {keep(run)}({given})",
    ]
    made: Callable[..., Any] = compiled("recognition", "recognize", lines, source.namespace)
    return made


def _is_plain(t: Tensor) -> bool:
    return not requires_grad(t) and t._edge is None and t._counter is not INFERENCE


def recognize_nothing(args: Any) -> Any:
    """Return ``STALE``: the key has to tell."""
    return STALE
