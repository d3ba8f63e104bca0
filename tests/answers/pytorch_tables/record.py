"""Records PyTorch's answers, for `python -m tests.tools.recorded.record` (needs PyTorch)."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import tinynet as tn
from tinynet.base import lazy

from . import layouts, nodes, store, translate, writes
from .columns import Column
from .compare import difference
from .known import known
from .left_out import VALUES_LEFT_OUT, fits
from .outcomes import AbsentError
from .rows import AMBIGUOUS, MOST, Row, rows

KEPT = (0, 3)  # of the samples per operation and dtype; of errors, and known differences, all
NUMBERS = 300  # in a sample or an answer: larger ones are compared live only
# What else is recorded of a sample's function.
COLUMNS: dict[Column, Callable[[Row], Any]] = {
    nodes.COLUMN: Row.their_nodes,
    layouts.COLUMN: Row.their_strides,
    writes.COLUMN: Row.their_refusals,
}


def record(only: str = "") -> None:
    """Write PyTorch's answers to the operations whose names a pattern fits."""
    translate.install()
    names = _names()
    recorded = {k: v for k, v in store.load().items() if not re.search(only, k.split("/")[0])}
    columns = {
        column: {k: v for k, v in column.load().items() if not re.search(only, k.split("/")[0])}
        for column in COLUMNS
    }
    left = 0
    for rows_of_one in _samples(only):
        first = rows_of_one[0]
        try:
            sample = _recorded(rows_of_one, names)
        except (AbsentError, store.UnstorableError, TypeError, ValueError) as error:
            sample = {"faces": {}}
            print(f"{first.op}: {error}"[:120])
        if sample["faces"]:
            name = f"{first.op}/{first.dtype}/{first.number}"
            recorded[name] = sample
            for column, ask in COLUMNS.items() if "function" in sample["faces"] else ():
                if found := ask(first):
                    columns[column][name] = found
        left += not sample["faces"]
    store.save(dict(sorted(recorded.items())))
    for column, answers in columns.items():
        column.save(answers)
    count = sum(len(s["faces"]) for s in recorded.values())
    print(f"{count} answers to {len(recorded)} samples; {left} samples are compared live only")


def _samples(only: str) -> Iterator[list[Row]]:
    """Yield the rows of each sample to record."""
    for _, of_kind in itertools.groupby(rows(only, most=MOST), key=lambda row: (row.op, row.dtype)):
        groups = itertools.groupby(of_kind, key=lambda row: row.number)
        for index, (_, group) in enumerate(groups):
            found = list(group)
            if found[0].path in AMBIGUOUS:
                continue  # how to compare them is a function of PyTorch's table
            errors = found[0].face == "error"
            if fits(found[0].op, VALUES_LEFT_OUT) and not errors:
                continue  # what is not compared of them is in their answers
            # JSON has no complex numbers.
            kept = index in KEPT and not found[0].dtype.startswith("complex")
            if errors or kept or any(known(row.id) for row in found):
                yield found


def _recorded(rows_of_one: list[Row], names: dict[Any, str]) -> dict[str, Any]:
    memo: dict[int, Any] = {}
    seen: list[Any] = []
    given = [translate.arguments(a, memo) for a in (rows_of_one[0].args, rows_of_one[0].kwargs)]
    args, kwargs = (store.frozen(a, seen, names) for a in given)
    faces: dict[str, Any] = {}
    first: dict[str, Any] = {}
    for row in rows_of_one:
        path = translate.path(row.call, row.path)
        if not _leads(path):
            continue  # a function that PyTorch's tests define
        answer = row.theirs()
        if row.face == "error" and row.process is not Row.process and "raises" not in answer:
            continue
        if _size([args, kwargs, answer]) > NUMBERS or "complex" in repr(answer):
            continue
        first = first or answer
        short = {k: _shortened(v, answer, first) for k, v in answer.items()}
        flags = {n: True for n in ("differentiable", "second") if getattr(row, n)}
        faces[row.face] = {"path": path, **flags, "answer": short}
    return {"args": args, "kwargs": kwargs, "faces": faces}


def _shortened(value: Any, answer: dict[str, Any], first: dict[str, Any]) -> Any:
    if answer is first or "result" not in first:
        return value
    same = difference({"result": first["result"]}, {"result": value}) is None
    return store.SAME if same else value


def _leads(path: str) -> bool:
    try:
        operator.attrgetter(path)(torch)
    except AttributeError:
        return False
    return True


def _size(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_size, value)) if isinstance(value, list) else int(np.size(value))


def _names() -> dict[Any, str]:
    """Return the paths of tinynet's dtypes, layouts, memory formats and functions."""
    found: dict[Any, str] = {}
    for name, value in lazy.members(tn).items():
        own = type(value).__module__.partition(".")[0] == "tinynet"
        if (own or callable(value)) and hasattr(torch, name) and type(value).__hash__:
            found.setdefault(value, name)
    return found
