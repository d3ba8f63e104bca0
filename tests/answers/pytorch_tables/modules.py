"""The rows of PyTorch's ``module_db``: a module, its state and a call, in training and not."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

from .rows import Program, Row

DTYPES = (torch.float32, torch.float64)
LEFT_OUT = {
    r"nn\.Lazy.*": "the state is drawn at the first call: tests/unit/nn/machinery compares them",
    r"nn\.TransformerEncoder": "its arguments are modules; TransformerEncoderLayer has rows",
    r"nn\.FractionalMaxPool.*": "random numbers of another generator",
}


def rows(only: str = "", most: int = 10**9) -> Iterator[Row]:
    """Yield the rows of the modules whose name fits ``only``."""
    for info in module_db:
        if re.search(only, info.name) and not any(re.fullmatch(p, info.name) for p in LEFT_OUT):
            for kind in DTYPES:
                for training in (True, False) if info.train_and_eval_differ else (True,):
                    yield from _samples(info, kind, training, most)
                yield from _errors(info, kind, most)


def _samples(info: Any, kind: torch.dtype, training: bool, most: int) -> Iterator[Row]:
    samples = _made(info.module_inputs_func, info, kind, training)
    step = max(1, -(-len(samples) // most))
    for number, sample in enumerate(samples[::step]):
        torch.manual_seed(0)
        built, given = sample.constructor_input, sample.forward_input
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = info.module_cls(*built.args, **built.kwargs).to(kind)
        state = {k: t.detach().clone() for k, t in module.state_dict().items()}
        for name, parameter in module.named_parameters():
            state[name].requires_grad_(parameter.requires_grad)
        face = "train" if training else "eval"
        arguments = (built.args, built.kwargs, state, given.args, given.kwargs)
        row = _row(info, face, kind, number * step, arguments, training)
        row.differentiable = True
        row.second = info.supports_gradgrad and kind is torch.float64
        yield row


def _errors(info: Any, kind: torch.dtype, most: int) -> Iterator[Row]:
    if info.module_error_inputs_func is None:
        return
    for number, error in enumerate(_made(info.module_error_inputs_func, info, kind, True)[:most]):
        built, given = error.module_error_input.constructor_input, None
        if error.error_on == ModuleErrorEnum.FORWARD_ERROR:
            given = error.module_error_input.forward_input
        call = (given.args, given.kwargs) if given else (None, None)
        row = _row(info, "error", kind, number, (built.args, built.kwargs, {}, *call), True)
        yield row


def _row(
    info: Any, face: str, kind: torch.dtype, number: int, arguments: Any, training: bool
) -> Row:
    dtype = str(kind).removeprefix("torch.")
    program = Program(functools.partial(_run, info.name.removeprefix("nn."), training))
    name = info.name
    return Row(face, op=name, path=name, dtype=dtype, number=number, call=program, args=arguments)


def _made(function: Any, info: Any, kind: torch.dtype, training: bool) -> list[Any]:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(function(info, device="cpu", dtype=kind, requires_grad=True, training=training))


def _run(
    name: str,
    training: bool,
    library: Any,
    built: Any,
    options: Any,
    state: Any,
    args: Any,
    kwargs: Any,
) -> Any:
    """Return what a module of this state makes of its inputs, and its state afterwards."""
    module = getattr(library.nn, name)(*built, **options).train(training)
    if args is None:
        return None
    result = library.func.functional_call(module, state, args, kwargs)
    return result, {k: t for k, t in state.items() if not t.requires_grad}
