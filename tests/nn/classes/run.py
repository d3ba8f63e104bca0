"""Runs a row under a library and describes what came of it."""

from __future__ import annotations

import inspect
import math
import re
import warnings
import zlib
from typing import Any

import numpy as np

from .spec import Failure, Input, Layer, tensors_in

RATE, STEPS, SAMPLES, MODULES = 0.05, 3, 2000, 50
LEFT_OUT = """
    self args kwargs device dtype _weight _freeze min_value max_value
""".split()


def describe(lib: Any, row: Layer | Failure, kind: str = "float64") -> dict[str, Any]:
    """Everything that is compared about a row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(row, Failure):
            return {"error": error_of(lib, row)}
        found = measured(lib, row, kind)
        module = row.build(lib)
        found["signature"] = signature(type(module))
        found["repr"] = repr(module)
        if row.initial:
            found["initial"] = initial(lib, row)
        return found


def error_of(lib: Any, row: Failure) -> str:
    """Class and first sentence of what the program raises."""
    try:
        row.program(lib)
    except Exception as error:
        return error_text(error)
    return "nothing was raised"


def error_text(error: Exception) -> str:
    builtin = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
    text = (
        re.split(r"(?<=[.!?])\s|\n", str(error).strip())[0]
        .replace("torch.", "tinynet.")
        .rstrip(".")
    )
    return f"{builtin.__name__}: {text}"


def signature(kind: type) -> list[str]:
    """The parameters of a constructor, without those that only PyTorch has a use for."""
    shown = []
    found = inspect.signature(kind.__init__)
    if [*found.parameters] == ["self", "args", "kwargs"] and kind.__doc__:  # PyTorch's LSTM
        written = re.match(r"__init__(\(.*\))\n", kind.__doc__)
        found = (
            found if written is None else inspect.signature(eval(f"lambda {written[1][1:-1]}: 0"))
        )
    for p in found.parameters.values():
        if p.name not in LEFT_OUT:
            default = "" if p.default is p.empty else f"={default_text(p.default)}"
            shown.append(f"{p.name}{default}")
    return shown


def default_text(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(float(value))
    return getattr(value, "__name__", repr(value))


# ---- numbers ------------------------------------------------------------------------------------


def tensor(lib: Any, array: np.ndarray, kind: str) -> Any:
    dtype = {"f": kind, "i": "int64", "b": "bool"}[array.dtype.kind]
    return lib.tensor(array.tolist(), dtype=getattr(lib, dtype)).reshape(array.shape)


def arguments(lib: Any, row: Layer, kind: str) -> list[Any]:
    made = []
    for place, one in enumerate(row.inputs):
        if isinstance(one, Input):
            array = one.array(f"{row.name} {place}")
            array = array.astype({"float": "f8", "int": "i8", "bool": "?"}[one.kind])
            one = tensor(lib, array, kind)
            if row.inputs[place].grad:
                one.requires_grad_()
        made.append(one)
    return made


def fill(lib: Any, module: Any, name: str) -> None:
    """Give every entry of the state numbers that follow from its name."""
    state = {}
    for key, t in module.state_dict().items():
        if not t.is_floating_point():
            continue
        random = np.random.RandomState(zlib.crc32(f"{name} {key}".encode()))
        array = np.asarray(random.standard_normal(tuple(t.shape)) * 0.4)
        array = np.abs(array) + 0.5 if key.endswith("running_var") else array
        state[key] = tensor(lib, array, str(t.dtype).split(".")[-1])
    module.load_state_dict(state, strict=False)


def build(lib: Any, row: Layer, kind: str) -> Any:
    module = row.build(lib).to(getattr(lib, kind))
    fill(lib, module, row.name)
    return module.train(row.train)


def number(x: float) -> Any:
    return float(f"{x:.13g}") if math.isfinite(x) else str(x)


def numbers(t: Any) -> list[Any]:
    """A tensor as shape, two projections, largest element and first four."""
    if t is None:
        return [None]
    array = np.asarray((t.to_dense() if getattr(t, "is_sparse", False) else t).tolist())
    array = array.astype("f8").reshape(-1)
    places = np.arange(array.size)
    known = np.where(np.isfinite(array), array, 7.0)
    seen = [known @ np.cos(1.3 * places), known @ np.sin(0.7 * places + 1)]
    seen += [np.abs(known).max(initial=0), *array[:4]]
    return [list(t.shape), *(number(float(x)) for x in seen)]


def weighted(lib: Any, tensors: list[Any], phase: float) -> Any:
    """A number that depends on every element of every tensor."""
    total = 0.0
    for t in tensors:
        if t.is_floating_point() and t.requires_grad:
            weights = tensor(lib, np.cos(phase + np.arange(t.numel())), str(t.dtype).split(".")[-1])
            total = total + (t * weights.reshape(t.shape)).sum() + 0.1 * (t * t).sum()
    return total


def measured(lib: Any, row: Layer, kind: str) -> dict[str, Any]:
    module, inputs = build(lib, row, kind), arguments(lib, row, kind)
    state = module.state_dict()
    shapes = {k: [str(t.dtype).split(".")[-1], *t.shape] for k, t in state.items()}
    found: dict[str, Any] = {"state": shapes}
    outputs = list(tensors_in(row.call(module, *inputs)))
    found["outputs"] = [[str(t.dtype).split(".")[-1], *numbers(t)] for t in outputs]
    wanted = [t for t in inputs if hasattr(t, "requires_grad") and t.requires_grad]
    wanted += [p for p in module.parameters() if p.requires_grad]
    loss = weighted(lib, outputs, 0.0)
    if wanted and hasattr(loss, "backward") and loss.requires_grad:
        grads = lib.autograd.grad(loss, wanted, create_graph=row.second, allow_unused=True)
        found["grads"] = [numbers(g) for g in grads]
        again = [g for g in grads if g is not None]
        second = weighted(lib, again, 1.0) if row.second else 0.0
        if hasattr(second, "backward"):
            grads = lib.autograd.grad(second, wanted, allow_unused=True)
            found["second"] = [numbers(g) for g in grads]
    if row.steps and any(p.requires_grad for p in module.parameters()):
        found |= trained(lib, row, kind)
    return found


def trained(lib: Any, row: Layer, kind: str) -> dict[str, Any]:
    """Three steps of gradient descent."""
    module, losses = build(lib, row, kind), []
    for _ in range(STEPS):
        outputs = list(tensors_in(row.call(module, *arguments(lib, row, kind))))
        size = sum(t.numel() for t in outputs)
        loss = weighted(lib, outputs, 0.0) / max(size, 1)
        module.zero_grad()
        loss.backward()
        losses.append(number(loss.item()))
        with lib.no_grad():
            for p in module.parameters():
                if p.grad is not None:
                    p -= RATE * p.grad
    return {"losses": losses, "trained": {k: numbers(t) for k, t in module.state_dict().items()}}


def initial(lib: Any, row: Layer) -> dict[str, Any]:
    """Mean, spread and largest value of each entry, over many modules."""
    lib.manual_seed(0)
    pooled: dict[str, list[float]] = {}
    for _ in range(MODULES):
        for key, t in row.build(lib).state_dict().items():
            pooled.setdefault(key, []).extend(t.double().reshape(-1).tolist())
        if all(len(x) >= SAMPLES for x in pooled.values()):
            break
    stats = {}
    for key, values in pooled.items():
        x = np.asarray(values)
        stats[key] = [x.mean(), x.std(), np.abs(x).max()] if x.size else [0.0, 0.0, 0.0]
    return {k: [number(float(x)) for x in v] for k, v in stats.items()}
