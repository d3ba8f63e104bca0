"""A matrix of calls of libraries and kinds of tensors.

A program is a row: one call of a library. Its results are the cells, what the call gives for a
tensor of each kind: a value, or the built-in class of the error.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tools.recorded import describe
from tests.tools.recorded.programs import Family

NUMBERS, TABLE = [0.5, 1.5, 2.5, 4.0], [[0.5, 2.0, 1.0], [3.0, 1.5, 4.0]]


def kinds_of(values: Any) -> dict[str, Callable[[Any], Any]]:
    """Return a function from the library to a tensor of these values, for each kind."""
    return {
        "float32": lambda T: T.tensor(values),
        "float64": lambda T: T.tensor(values, dtype=T.float64),
        "requires_grad": lambda T: T.tensor(values, requires_grad=True),
        "computed": lambda T: T.tensor(values, requires_grad=True) * 1,
        "parameter": lambda T: T.nn.Parameter(T.tensor(values)),
        "bool": lambda T: T.tensor(values) > 1,
        "int64": lambda T: T.tensor(values).long(),
        "uint8": lambda T: T.tensor(values).byte(),
        "float16": lambda T: T.tensor(values).half(),
        "bfloat16": lambda T: T.tensor(values).bfloat16(),
        "complex64": lambda T: T.tensor(values).to(T.complex64),
        "not_contiguous": lambda T: T.tensor([values, values]).transpose(0, -1)[..., 0].t(),
        "empty": lambda T: T.tensor(values)[:0],
    }


VECTORS = kinds_of(NUMBERS)
TABLES = kinds_of(TABLE) | {
    "not_contiguous": lambda T: T.tensor([*zip(*TABLE, strict=True)]).t(),
    "of_tensors": lambda T: [T.tensor(row) for row in TABLE],
}
ONES = {kind: lambda T, make=make: make(T)[-1] for kind, make in VECTORS.items() if kind != "empty"}
ONES |= {"one_element": lambda T: T.tensor([4.0]), "empty": VECTORS["empty"]}


class Matrix(Family):
    """The calls of one library.

    Args:
        module: ``__name__``.
        needs: the modules that must be installed.
    """

    def __init__(self, module: str, *needs: str) -> None:
        absent = [name for name in needs if importlib.util.find_spec(name) is None]
        super().__init__(module, f"needs {', '.join(absent)}" if absent else "", composition=False)

    def rows(
        self, kinds: dict[str, Callable[[Any], Any]], /, **calls: Callable[[Any], Any]
    ) -> None:
        """Add a program for each call of a tensor, or of a list of tensors."""
        for name, call in calls.items():
            self.add(
                name,
                lambda T, call=call: {
                    kind: _cell(T, call, make(T)) for kind, make in kinds.items()
                },
            )


def _cell(T: Any, call: Callable[[Any], Any], tensor: Any) -> Any:
    try:
        return _shown(T, call(tensor))
    except Exception as error:  # whatever comes is the answer; texts are numpy's or Python's own
        return f"raises {describe.error(error)['raises']}"


def _shown(T: Any, value: Any) -> Any:
    """Return a value with its tensors described; those of bfloat16 as float32, for numpy."""
    if isinstance(value, T.Tensor):
        numbers = value.detach()
        return {
            "tensor": f"{value.dtype} {type(value).__name__}",
            "requires_grad": value.requires_grad,
            "values": (numbers.float() if value.dtype == T.bfloat16 else numbers).numpy(),
        }
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_shown(T, part) for part in value]
    if isinstance(value, dict):
        return {key: _shown(T, part) for key, part in value.items()}
    return value
