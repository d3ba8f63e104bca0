"""Cases, their values, and the comparison."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import tinynet as tn
from tests.tools.rounding import bound
from tests.unit.onnx_export.comparing import onnxruntime, running
from tinynet.capture.program import leaves
from tinynet.onnx import OnnxExporterError

INF, NAN = np.inf, np.nan
FLOATS = np.array([
    -INF, -3e38, -1e10, -89, -7, -3.5, -3, -2.5, -2, -1.5, -1, -0.75, -0.5, -1e-3, -1e-10, -1e-39,
    -0.0, 0, 1e-39, 1e-10, 1e-3, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 6, 7, 20, 21, 89, 1e10, 3e38,
    INF, NAN,
])  # fmt: skip
SMALL = (-7, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 7)


class Case(NamedTuple):
    """A function, its inputs, and how it is exported.

    ``sizes`` are other inputs of the same graph; without them, no dimension is dynamic. ``scale``
    is what was added, in absolute value; by default the result or 1, whatever is larger.
    """

    label: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    sizes: tuple[tuple[Any, ...], ...] = ()
    scale: float | None = None
    roundings: int = 64


def values(kind):
    """Return edge values of a dtype."""
    kind = np.dtype(kind)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return FLOATS.astype(kind)
    if kind.kind == "b":
        return np.array([True, False])
    info = np.iinfo(kind)
    large = [info.max, info.min, info.max // 2, info.max // 2 + 1]
    return np.array([n for n in SMALL if n >= info.min] + large, kind)


def normal(*shape, seed=0):
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def integers(high, *shape, low=0):
    return np.random.RandomState(1).randint(low, high, shape)


def with_edges(x, *edges):
    """Return a copy with edge values at scattered places."""
    made = x.copy()
    for i, edge in enumerate(edges or (NAN, INF)):
        made.flat[(7 * i + 3) % x.size] = edge
    return made


def of_lengths(x, *lengths):
    """Return inputs with other lengths of the first dimension."""
    return tuple(np.resize(x, (n, *x.shape[1:])) for n in lengths)


def outcome(case):
    """Return "same", why the function is refused, or what differs; None if tinynet raises.

    A function of a dtype for which onnxruntime has no kernel is refused there, and named.
    """
    with np.errstate(all="ignore"), tn.no_grad():
        return _outcome(case)


def _outcome(case):
    first = _answers(case.function, case.inputs)
    if first is None:
        return None
    options = {} if case.sizes else {"dynamic_axes": {}}
    try:
        program = tn.onnx.export(case.function, tuple(map(tn.tensor, case.inputs)), **options)
    except OnnxExporterError as error:
        return f"refused: {error}"
    try:
        run = running(program)
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented as error:
        return f"refused: no kernel of onnxruntime for {str(error).partition(' for ')[2]}"
    for inputs in (case.inputs, *case.sizes):
        wanted = first if inputs is case.inputs else _answers(case.function, inputs)
        if wanted is None:
            continue
        for place, (its, mine) in enumerate(zip(run(*inputs), wanted, strict=True)):
            if problem := _difference(its, mine, case):
                return f"differs: result {place} {problem}"
    return "same"


def _answers(function, inputs):
    try:
        made = function(*map(tn.tensor, inputs))
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return None
    return [t.numpy() for t in leaves(made) if isinstance(t, tn.Tensor)]


def _difference(found, exact, case):
    """Return where an array differs from tinynet's by more than rounding, or nothing."""
    if (found.shape, found.dtype) != (exact.shape, exact.dtype):
        return f"is {found.dtype}{found.shape}, not {exact.dtype}{exact.shape}"
    if found.dtype.kind != "f":
        wrong = found != exact
    else:
        a, b = found.astype(np.float64), exact.astype(np.float64)
        finite = np.isfinite(b)
        with np.errstate(invalid="ignore"):
            scale = np.maximum(np.abs(b), 1) if case.scale is None else case.scale
            near = np.abs(a - b) <= bound(found.dtype, case.roundings) * scale
            wrong = np.where(finite, ~near, (a != b) & ~(np.isnan(a) & np.isnan(b)))
    places = np.argwhere(wrong)[:3].tolist()
    return "; ".join(f"at {p}: {found[tuple(p)]}, not {exact[tuple(p)]}" for p in places)
