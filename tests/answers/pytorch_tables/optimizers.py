"""The rows of PyTorch's ``optim_db``: an optimizer with its options, and three steps of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

from .rows import Program, Row, foreign

DTYPES = (torch.float32, torch.float64)
LEFT_OUT = {"SparseAdam": "takes only sparse gradients: tests/unit/optim compares it"}
STEPS = 3


def rows(only: str = "", most: int = 10**9) -> Iterator[Row]:
    """Yield the rows of the optimizers whose name fits ``only``."""
    for info in optim_db:
        if not re.search(only, f"optim.{info.name}"):
            continue
        for kind in DTYPES:
            if info.name not in LEFT_OUT:
                for number, sample in enumerate(info.optim_inputs_func(device="cpu")[:most]):
                    yield _row(info, "steps", kind, number, None, sample.kwargs, STEPS)
            errors = info.optim_error_inputs_func(device="cpu", dtype=kind)
            for number, error in enumerate(errors[:most]):
                sample = error.optimizer_error_input
                if foreign(sample.params):
                    continue
                steps = int(error.error_on == OptimizerErrorEnum.STEP_ERROR)
                row = _row(info, "error", kind, number, sample.params, sample.kwargs, steps)
                yield row


def _row(
    info: Any, face: str, kind: torch.dtype, number: int, params: Any, kwargs: Any, steps: int
) -> Row:
    if params is None:
        generator = np.random.default_rng(number)
        params = [
            torch.nn.Parameter(torch.from_numpy(generator.standard_normal(shape)).to(kind))
            for shape in ((3, 4), (2, 3))  # two dimensions: Muon takes no others
        ]
    name, dtype = f"optim.{info.name}", str(kind).removeprefix("torch.")
    program = Program(functools.partial(_run, info.name, steps))
    row = Row(face, op=name, path=name, dtype=dtype, number=number, call=program)
    row.args, row.kwargs = (params,), dict(kwargs)
    return row


def _run(name: str, steps: int, library: Any, params: Any, **options: Any) -> Any:
    """Return the parameters and the optimizer's state after some steps."""
    optimizer = getattr(library.optim, name)(params, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = sum((p**4 / 4 + p**2 / 2 - p).sum() for p in params)
        loss.backward()
        return loss

    losses = [optimizer.step(closure) for _ in range(steps)]
    if not steps:
        return None
    state = [] if name == "LBFGS" else [[*optimizer.state[p].values()] for p in params]
    return [[_data(v) for v in values] for values in ([*params], losses, *state)]


def _data(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value
