"""Runs a program under one library and describes its variables in plain JSON values."""

from __future__ import annotations

import re
import warnings
from typing import Any

from tests.differential.run import locals_of
from tests.differential.spec import Program
from tests.oracle.run import describe_error

DIGITS = {"float64": 14, "float32": 6, "float16": 3}  # more than is compared, less than noise


def answer(T: Any, program: Program) -> dict[str, Any]:
    """What is to be seen after `program` has run under the library `T`, in float64."""
    error = None
    T.set_default_dtype(T.float64)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = program.run(T)
        except Exception as caught:  # whatever comes is the answer
            error, found = caught, locals_of(program, caught.__traceback__)
        finally:
            T.set_default_dtype(T.float32)
    shown = {k: v for k, v in sorted(found.items()) if k[0] != "_" and is_shown(T, v)}
    told = {"sees": {name: describe(T, value) for name, value in shown.items()}}
    if error is not None:
        told["ends"] = said(error)
    if heard:
        told["warns"] = [f"{w.category.__name__}: {text(str(w.message))}" for w in heard]
    return told


def is_shown(T: Any, value: Any) -> bool:
    """Leaves out the library, functions, classes, and helpers such as hook handles."""
    plain = (str, bool, int, float, list, tuple, dict, Exception, type(None))
    return isinstance(value, (*plain, T.Tensor, T.nn.Module))


def describe(T: Any, value: Any) -> Any:
    if type(value).__name__.startswith("Uninitialized"):
        return repr(value)  # it has nothing else to show
    if isinstance(value, T.Tensor):
        return tensor(T, value)
    if isinstance(value, T.nn.Module):
        state = {k: describe(T, v) for k, v in value.state_dict().items()}
        return {"module": text(repr(value)).split("\n"), "training": value.training, "state": state}
    if isinstance(value, T.Size):
        return list(value)
    if isinstance(value, list | tuple):
        return [describe(T, part) for part in value]
    if isinstance(value, dict):
        return {str(key): describe(T, part) for key, part in value.items()}
    if isinstance(value, Exception):
        return said(value)
    if isinstance(value, T.dtype):
        return str(value).rpartition(".")[2]
    if isinstance(value, str):
        return text(value)
    plain = value is None or isinstance(value, bool | int | float)
    return value if plain else type(value).__name__


def tensor(T: Any, t: Any) -> dict[str, Any]:
    kind = str(t.dtype).rpartition(".")[2]
    parameter = isinstance(t, T.nn.Parameter)
    told = {
        "tensor": rounded(t.detach().tolist(), DIGITS.get(kind)),
        "dtype": kind,
        "shape": list(t.shape),
        "parameter": parameter or None,
        "requires_grad": t.requires_grad or None,
        "history": (t.grad_fn is not None) or None,
        "grad": tensor(T, t.grad) if t.is_leaf and t.grad is not None else None,
    }
    return {key: part for key, part in told.items() if part is not None}


def rounded(value: Any, digits: int | None) -> Any:
    """Floats with as many significant digits as their dtype is good for; infinities as text."""
    if isinstance(value, list):
        return [rounded(part, digits) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if abs(value) < float("inf") else str(value)
    return value


def said(error: Exception) -> dict[str, str]:
    described = describe_error(error)
    return {**described, "says": text(described["says"])}


def text(value: str) -> str:
    """The text as tinynet would say it: its name for PyTorch's, its shorter paths of classes."""
    value = re.sub(r"\b(torch|tinynet)\.nn\.modules\.", "tinynet.nn.", value)
    return re.sub(r"\btorch(\.| Tensor)", r"tinynet\1", value)
