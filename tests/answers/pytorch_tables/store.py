"""Arguments and answers on disk, as tests/tools/recorded stores them: readable without PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tinynet as tn
from tests.tools.recorded import store

from .outcomes import AbsentError

FOLDER = Path(__file__).parent / "answers"
FAMILY = "tables"


class UnstorableError(Exception):
    """A value that the record cannot hold."""


def looked_up(path: str) -> Any:
    """Return what tinynet has under a path such as ``nn.functional.relu``, as a function.

    Raises:
        AbsentError: nothing.
    """
    found: Any = tn
    for name in path.split("."):
        found = getattr(found, name, None)
        if found is None:
            raise AbsentError(f"tinynet.{path}")
    return found.fget if isinstance(found, property) else found


def frozen(value: Any, known: list[Any], names: dict[Any, str]) -> Any:
    """Return an argument for tinynet as JSON and arrays.

    Args:
        value: the argument.
        known: the tensors that stand further left; one that recurs is the same tensor.
        names: paths of dtypes, layouts and functions.

    Raises:
        UnstorableError: it is of another kind.
    """
    if isinstance(value, tn.Tensor):
        for number, t in enumerate(known):
            if t is value:
                return {"!": "again", "number": number}
        if any(np.shares_memory(t._array, value._array) for t in known):
            raise UnstorableError("tensors that share memory")
        known.append(value)
        array, order = value.detach().numpy(), value.stride()
        strides = {} if value.is_contiguous() else {"strides": list(order)}
        return {"!": "tensor", "grad": value.requires_grad, "array": array.copy(), **strides}
    if isinstance(value, tn.Generator):
        return {"!": "generator", "seed": value.initial_seed()}
    if isinstance(value, tuple):
        return {"!": "tuple", "of": [frozen(v, known, names) for v in value]}
    if isinstance(value, list):
        return [frozen(v, known, names) for v in value]
    if isinstance(value, dict):
        return {k: frozen(v, known, names) for k, v in value.items()}
    if isinstance(value, slice):
        return {"!": "slice", "of": [value.start, value.stop, value.step]}
    if value is Ellipsis:
        return {"!": "ellipsis"}
    if isinstance(value, np.ndarray):
        return {"!": "array", "array": value}
    if value is None or type(value) in (bool, int, float, str):
        return value
    try:
        return {"!": "name", "path": names[value]}
    except (KeyError, TypeError):
        raise UnstorableError(repr(value)) from None


def thawed(value: Any, known: list[Any]) -> Any:
    """Return the argument that ``frozen`` stored."""
    if isinstance(value, list):
        return [thawed(v, known) for v in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("!")
    if kind is None:
        return {k: thawed(v, known) for k, v in value.items()}
    if kind == "tensor":
        known.append(_tensor(value))
        return known[-1]
    makers: dict[str, Callable[[], Any]] = {
        "again": lambda: known[value["number"]],
        "generator": lambda: tn.Generator().manual_seed(value["seed"]),
        "tuple": lambda: tuple(thawed(value["of"], known)),
        "slice": lambda: slice(*value["of"]),
        "ellipsis": lambda: ...,
        "array": lambda: value["array"].copy(),
        "name": lambda: looked_up(value["path"]),
    }
    return makers[kind]()


def _tensor(value: dict[str, Any]) -> tn.Tensor:
    array = value["array"].copy()
    if "strides" in value:
        strides = value["strides"]
        last = sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
        memory = np.zeros(last + 1 if array.size else 0, array.dtype)
        steps = [s * array.itemsize for s in strides]
        placed = np.lib.stride_tricks.as_strided(memory, array.shape, steps)
        placed[...] = array
        array = placed
    t = tn.from_numpy(array)
    return t.requires_grad_() if value["grad"] else t


def save(samples: dict[str, Any]) -> None:
    """Write the record: per sample its arguments and, per face, PyTorch's answer."""
    FOLDER.mkdir(exist_ok=True)
    store.save(FOLDER / FAMILY, samples)


@functools.cache
def load() -> dict[str, Any]:
    """Return the record, which takes half a second to read the first time."""
    return store.load(FOLDER / FAMILY)


def answers(sample: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the faces of a sample: the name, how it is called, and PyTorch's answer."""
    first = None
    for face, made in sample["faces"].items():
        answer = made["answer"]
        first = answer if first is None else first
        yield (
            face,
            made,
            {
                k: first["result"] if isinstance(v, str) and v == SAME else v
                for k, v in answer.items()
            },
        )


SAME = "the result of the first face"
