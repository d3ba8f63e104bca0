"""Where two outcomes of one call differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tools.rounding import bound

# Relative to the largest number; float32 and PyTorch's are both rounded, in sums of 400 terms.
TOLERANCE = {
    "bfloat16": 4e-2,  # 5 of its roundings
    "float16": 2 * bound("float16", 20),
    "float32": 2 * bound("float32", 400),
    "float64": 1e-10,
    "complex64": 2 * bound("float32", 400),
    "complex128": 1e-10,
}
# PyTorch's own float64 values of these are no better than this: tests/unit/ops/test_bessel.py.
COARSE = dict.fromkeys(("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"), 1e-5)
# Texts of PyTorch's C++ argument parser list signatures of its own: there, the type is compared.
PARSER = ("invalid combination of arguments", "expected Tensor as element")


def difference(theirs: dict[str, Any], ours: dict[str, Any], op: str = "") -> str | None:
    """Return in what tinynet's outcome differs from PyTorch's; None where it does not."""
    if "raises" in theirs or "raises" in ours:
        return _errors(theirs, ours)
    return _unequal(theirs, ours, "", COARSE.get(op.removeprefix("special."), 0.0))


def _errors(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    if theirs.get("says", "").startswith("derivative for aten::") and "raises" not in ours:
        return None  # PyTorch has no second derivative there
    if "raises" not in ours:
        return f"should raise {theirs['raises']}: {theirs['says']}"
    if "raises" not in theirs:
        return f"raises {ours['raises']}: {ours['says']}"
    if theirs["raises"] != ours["raises"]:
        return (
            f"raises {ours['raises']} ({ours['says']}), not {theirs['raises']} ({theirs['says']})"
        )
    if theirs["says"] != ours["says"] and not any(p in theirs["says"] for p in PARSER):
        return f"says {ours['says']!r}, not {theirs['says']!r}"
    return None


def _unequal(theirs: Any, ours: Any, path: str, least: float) -> str | None:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs:
            if key not in ours:
                if key == "second" and all(map(_nothing, theirs[key])):
                    continue
                return f"{path}.{key} is missing"
            most = max(least, TOLERANCE.get(key, 0.0))
            found = _unequal(theirs[key], ours[key], f"{path}.{key}", most)
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


def _nothing(gradient: Any) -> bool:
    """Return whether a gradient is zero, but for rounding."""
    return gradient is None or bool((np.abs(gradient) <= TOLERANCE[str(gradient.dtype)]).all())


def _unequal_arrays(
    theirs: Any, ours: Any, path: str, least: float, size: float = 1.0
) -> str | None:
    if theirs.dtype != ours.dtype:
        return f"{path}: dtype {ours.dtype}, not {theirs.dtype}"
    if theirs.shape != ours.shape:
        return f"{path}: shape {ours.shape}, not {theirs.shape}"
    if theirs.dtype.kind == "c":
        pairs = ((getattr(a, part) for a in (theirs, ours)) for part in ("real", "imag"))
        size = max(1.0, float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)))
        found = (_unequal_arrays(a, b, path, least, size) for a, b in pairs)
        return next(filter(None, found), None)
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
    error = np.abs(a - b).max() / max(np.abs(a).max(), size)
    allowed = max(least, TOLERANCE[str(theirs.dtype)])
    return None if error <= allowed else f"{path}: off by {error:.1e}"
