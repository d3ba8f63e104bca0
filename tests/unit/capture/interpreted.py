"""The LLVM backend without its compiler: native functions run as the Python code they are.

What a program computes is the same, and thousands of programs take minutes rather than days.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from tinynet.capture.native import cache, fusion, library, optimizers
from tinynet.kernels.llvm import store
from tinynet.kernels.native import compiler

MATH = types.SimpleNamespace(
    **{name: getattr(np, name) for name in "exp log sqrt tanh log1p expm1 sin cos".split()}
)


def interpret(monkeypatch: Any) -> None:
    """Leave native functions uncompiled."""
    compiler.prepare()  # kernels of eager code are compiled, now or never
    monkeypatch.setattr(cache.Native, "_compiled", _interpreted)
    monkeypatch.setattr(store, "folder", lambda: None)
    monkeypatch.setattr(fusion, "with_kernels", lambda call, measured=False: call)
    monkeypatch.setattr(optimizers, "enabled", lambda function: function)
    monkeypatch.setattr(optimizers, "_update", optimizers._update.__wrapped__)


def _interpreted(native: cache.Native) -> Any:
    space = _namespace()
    exec(native.source, space)
    return space["native"]


def _namespace() -> dict[str, Any]:
    made = vars(library) | {"math": MATH, "exp": np.exp, "tanh": np.tanh}
    made |= {"float32": np.float32, "float64": np.float64}
    made |= {"product": _product, "NO": False, "YES": True}
    made |= {name: compiler.plain(loop) for name, loop in library.image_loops().items()}
    for function in (*library._OF_ARRAYS, *library._OF_ELEMENTS):
        made[function.__name__] = types.FunctionType(function.__code__, made)
    return made


def _product(a: Any, a_turned: Any, b: Any, b_turned: Any, out: Any, add: float) -> None:
    found = (a.T if a_turned else a) @ (b.T if b_turned else b)
    out[...] = found + out if add else found
