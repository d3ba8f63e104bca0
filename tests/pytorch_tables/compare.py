"""Runs a row under both libraries and says where they differ."""

from __future__ import annotations

import builtins
import contextlib
import functools
import re
import warnings
from typing import Any

import numpy as np
import torch

import tinynet as tn

from . import translate
from .rows import Program, Row, copied

# Relative to the largest number, as float32 and float64 round sums of some hundred terms.
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-10}

# PyTorch's own float64 values of these are no better than this: tests/ops/test_bessel.py.
COARSE = dict.fromkeys(("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"), 1e-5)


def difference(row: Row) -> str | None:
    """Return in what tinynet differs from PyTorch; None where it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = _outcome(lambda: _run(row, torch))
        ours = _outcome(lambda: _run(row, tn))
    if isinstance(ours, translate.AbsentError):
        return f"absent: {ours}"
    if isinstance(theirs, BaseException) or isinstance(ours, BaseException):
        return _errors(theirs, ours)
    return _unequal(theirs, ours, "", COARSE.get(row.op.removeprefix("special."), 0.0))


def _outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def _errors(theirs: Any, ours: Any) -> str | None:
    if not isinstance(ours, BaseException):
        if str(theirs).startswith("derivative for aten::"):
            return None  # PyTorch has no second derivative there
        return f"should raise {type(theirs).__name__}: {first_sentence(theirs)}"
    if not isinstance(theirs, BaseException):
        return f"raises {type(ours).__name__}: {first_sentence(ours)}"
    kinds = [_builtin(error) for error in (theirs, ours)]
    if kinds[0] != kinds[1]:
        return (
            f"raises {kinds[1]} ({first_sentence(ours)}), not {kinds[0]} ({first_sentence(theirs)})"
        )
    if first_sentence(theirs) != first_sentence(ours):
        return f"says {first_sentence(ours)!r}, not {first_sentence(theirs)!r}"
    return None


def _builtin(error: BaseException) -> str:
    """Return the name of the built-in class that ``except`` would name."""
    return next(k.__name__ for k in type(error).__mro__ if k in vars(builtins).values())


def first_sentence(error: BaseException) -> str:
    """Return the text up to its first full stop or line end, with one name for both libraries."""
    text = str(error).replace("tinynet.", "torch.").strip()
    return re.split(r"\.\s|\n", text, maxsplit=1)[0].rstrip(".")


def _run(row: Row, library: Any) -> Any:
    args, kwargs, call = copied(row.args), copied(row.kwargs), row.call
    if library is tn:
        memo: dict[int, Any] = {}
        args, kwargs = translate.arguments(args, memo), translate.arguments(kwargs, memo)
    if isinstance(call, Program):
        call = functools.partial(call, library)
    elif library is tn:
        # A function of PyTorch's table that is no function of PyTorch calls one with our tensors.
        with contextlib.suppress(
            *[translate.AbsentError] if translate.tensors([args, kwargs]) else []
        ):
            call = translate.function(call, row.path)
    generator = np.random.default_rng(0)
    if row.face == "out":
        with library.no_grad():
            expected = call(*args, **kwargs)
            targets = _empty(expected, library)
            found = call(*_detached(args), **_detached(kwargs), out=targets)
        found, targets = row.process(found), row.process(targets)
        return {"result": translate.plain(found), "targets": translate.plain(targets)}
    if row.face == "inplace":
        with library.no_grad():
            result = call(*args, **kwargs)
        return {"result": translate.plain(result), "same": result is args[0]}
    result = row.process(call(*args, **kwargs))
    seen: dict[str, Any] = {
        "result": translate.plain(result),
        "requires_grad": [t.requires_grad for t in translate.tensors(result)],
    }
    if row.differentiable and not row.raises:
        _differentiate(row, library, args, kwargs, result, seen, generator)
    return seen


def _differentiate(
    row: Row, library: Any, args: Any, kwargs: Any, result: Any, seen: Any, generator: Any
) -> None:
    inputs = [t for t in translate.tensors([args, kwargs]) if t.requires_grad]
    outputs = [t for t in translate.tensors(result) if t.requires_grad]
    if not inputs or not outputs:
        return
    weights = [_weights(t, library, generator) for t in outputs]
    grads = library.autograd.grad(
        outputs, inputs, weights, create_graph=row.second, allow_unused=True
    )
    seen["gradients"] = [translate.plain(g) for g in grads]
    # Weights for all, so that a gradient that one library records more moves no other's.
    drawn = [(g, _weights(g, library, generator)) for g in grads if g is not None]
    recorded = [(g, weight) for g, weight in drawn if g.requires_grad]
    if row.second and recorded:
        outputs, weights = zip(*recorded, strict=True)
        found = library.autograd.grad(outputs, inputs, weights, allow_unused=True)
        seen["second"] = [translate.plain(g) for g in found]


def _weights(t: Any, library: Any, generator: Any) -> Any:
    array = generator.standard_normal(tuple(t.shape))
    return library.from_numpy(np.asarray(array)).to(t.dtype)


def _empty(expected: Any, library: Any) -> Any:
    if isinstance(expected, (tuple, list)):
        return tuple(_empty(e, library) for e in expected)
    return library.zeros(tuple(expected.shape), dtype=expected.dtype)


def _detached(value: Any) -> Any:
    if isinstance(value, (torch.Tensor, tn.Tensor)):
        return value.detach()
    if type(value) in (tuple, list):
        return type(value)(_detached(v) for v in value)
    if isinstance(value, dict):
        return {k: _detached(v) for k, v in value.items()}
    return value


def _unequal(theirs: Any, ours: Any, path: str, least: float) -> str | None:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs:
            if key not in ours:
                if key == "second" and not any(np.any(g) for g in theirs[key] if g is not None):
                    continue
                return f"{path}.{key} is missing"
            found = _unequal(theirs[key], ours[key], f"{path}.{key}", least)
            if found:
                return found
        return None
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return f"{path}: {len(ours)} results, not {len(theirs)}"
        pairs = zip(theirs, ours, strict=True)
        found = (_unequal(a, b, f"{path}[{i}]", least) for i, (a, b) in enumerate(pairs))
        return next(filter(None, found), None)
    if isinstance(theirs, np.ndarray) and isinstance(ours, np.ndarray):
        return _unequal_arrays(theirs, ours, path, least)
    if isinstance(theirs, float) and isinstance(ours, (int, float)):
        return _unequal_arrays(np.asarray(theirs), np.asarray(float(ours)), path, least)
    if theirs is None or ours is None:
        # No gradient and a gradient of zeros say the same.
        other = ours if theirs is None else theirs
        if path.startswith((".gradients", ".second")) and (other is None or not np.any(other)):
            return None
    return (
        None
        if type(theirs) is type(ours) and theirs == ours
        else f"{path}: {ours!r}, not {theirs!r}"
    )


def _unequal_arrays(theirs: Any, ours: Any, path: str, least: float) -> str | None:
    if theirs.dtype != ours.dtype:
        return f"{path}: dtype {ours.dtype}, not {theirs.dtype}"
    if theirs.shape != ours.shape:
        return f"{path}: shape {ours.shape}, not {theirs.shape}"
    if theirs.dtype.kind != "f":
        return None if np.array_equal(theirs, ours) else f"{path}: other values"
    if not np.array_equal(np.isnan(theirs), np.isnan(ours)):
        return f"{path}: NaN elsewhere"
    infinite = np.isinf(theirs)
    if not np.array_equal(infinite, np.isinf(ours)) or not np.array_equal(
        theirs[infinite], ours[infinite]
    ):
        return f"{path}: infinite elsewhere"
    finite = np.isfinite(theirs)
    if not finite.any():
        return None
    a, b = theirs[finite].astype(np.float64), ours[finite].astype(np.float64)
    error = np.abs(a - b).max() / max(np.abs(a).max(), 1.0)
    return (
        None if error <= max(least, TOLERANCE[str(theirs.dtype)]) else f"{path}: off by {error:.1e}"
    )
