"""The rows of PyTorch's tables: each a function and a sample of its arguments."""

from __future__ import annotations

import contextlib
import copy
import functools
import operator
import re
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import tinynet as tn

from . import layouts, nodes, translate, writes
from .compare import difference
from .left_out import LEFT_OUT, VALUES_LEFT_OUT, fits
from .outcomes import AbsentError, Call, tensors

MOST = 10  # samples per operation and dtype, for the record and the test
COMPLEX = (torch.complex64, torch.complex128)
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, *COMPLEX)

# Their results are unique up to signs; the table's own samples say what to compare of them.
AMBIGUOUS = {"linalg.eig", "linalg.eigh", "linalg.svd", "svd"}


@dataclass
class Program:
    """A function whose first argument is the library that it runs under."""

    run: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)


@dataclass
class Row(Call):
    """One call: under PyTorch as it stands, under tinynet with its arguments translated.

    Attributes:
        op: the operation's name in PyTorch's table, with that of the variant.
        path: the operation's name alone.
        dtype: name of the dtype of the samples.
        number: which sample.
        call: PyTorch's function.
    """

    op: str = ""
    path: str = ""
    dtype: str = ""
    number: int = 0
    call: Callable[..., Any] = print
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.op}/{self.face}/{self.dtype}/{self.number}"

    def _under(self, library: Any) -> Callable[..., Any]:
        program = isinstance(self.call, Program)
        return functools.partial(self.call, library) if program else self.call

    def theirs(self) -> dict[str, Any]:
        """Return PyTorch's outcome."""
        memo: dict[Any, Any] = {}
        args, kwargs = copied(self.args, memo), copied(self.kwargs, memo)
        return self.outcome(torch, self._under(torch), args, kwargs)

    def their_nodes(self) -> list[str | None]:
        """Return the names of PyTorch's nodes: see nodes.py; none where no second gradient is."""
        if not self.second or self.face != "function":
            return []
        memo: dict[Any, Any] = {}
        args, kwargs = copied(self.args, memo), copied(self.kwargs, memo)
        return nodes.names(torch, self._under(torch), args, kwargs)

    def their_refusals(self) -> str:
        """Return the writes that PyTorch refuses: see writes.py."""
        if not self.differentiable or self.face != "function" or self.dtype != "float64":
            return ""

        def arguments() -> tuple[Any, Any]:
            memo: dict[Any, Any] = {}
            return copied(self.args, memo), copied(self.kwargs, memo)

        return writes.refused(torch, self._under(torch), arguments)

    def ours(self) -> dict[str, Any]:
        """Return tinynet's outcome.

        Raises:
            AbsentError: tinynet lacks the function, or what it is called with.
        """
        return self.outcome(tn, *self._translated())

    def _translated(self) -> tuple[Callable[..., Any], Any, Any]:
        """Return the function and the arguments for tinynet."""
        memo: dict[Any, Any] = {}
        args = translate.arguments(self.args, memo)
        kwargs = translate.arguments(self.kwargs, memo)
        call = self._under(tn)
        # A function of PyTorch's table that is no function of PyTorch calls one with our tensors.
        theirs = isinstance(self.call, types.FunctionType) and tensors([args, kwargs])
        if not isinstance(self.call, Program):
            with contextlib.suppress(*[AbsentError] if theirs else []):
                call = translate.function(call, self.path)
        return call, args, kwargs

    def their_strides(self) -> dict[str, layouts.Strides]:
        """Return the strides of PyTorch's results by variant, see layouts.py; no errors."""
        made = {}
        for variant in layouts.VARIANTS:
            memo: dict[Any, Any] = {}
            args, kwargs = copied(self.args, memo), copied(self.kwargs, memo)
            found = layouts.strides(self._under(torch), args, kwargs, variant)
            if found is not None:
                made[variant] = found
        return made

    def stride_difference(self, variant: str, theirs: layouts.Strides) -> str | None:
        """Return in what the strides of tinynet's results differ from PyTorch's."""
        try:
            return layouts.difference(theirs, layouts.strides(*self._translated(), variant))
        except AbsentError:
            return None  # as test_tables.py reports


def compared(row: Row) -> str | None:
    """Return in what tinynet differs from PyTorch; None where it does not."""
    try:
        return difference(row.theirs(), row.ours(), row.path)
    except AbsentError as error:
        return f"absent: {error}"


def operations(only: str = "") -> Iterator[Any]:
    """Yield the operations of ``op_db`` that are not left out."""
    for op in op_db:
        name = full_name(op)
        if re.search(only, name) and not fits(name, LEFT_OUT):
            yield op


def full_name(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def rows(
    only: str = "", faces: tuple[str, ...] = (), dtypes: tuple[str, ...] = (), most: int = 10**9
) -> Iterator[Row]:
    """Yield the rows of the operations whose name fits ``only``."""
    for op in operations(only):
        for kind in [*DTYPES, torch.bfloat16]:
            name = str(kind).removeprefix("torch.")
            asked = name in dtypes if dtypes else kind in DTYPES
            if kind in op.dtypes and asked:
                for row in _rows(op, kind, name, most):
                    if not faces or row.face in faces:
                        yield row
        if not faces or "error" in faces:
            yield from _errors(op, most)


def _rows(op: Any, kind: torch.dtype, name: str, most: int) -> Iterator[Row]:
    grads = op.supports_autograd and kind in op.backward_dtypes
    valueless, call = fits(full_name(op), VALUES_LEFT_OUT), _call(op)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            samples = list(op.sample_inputs("cpu", kind, requires_grad=grads))
        except Exception:
            return  # PyTorch's own table fails
    step = max(1, -(-len(samples) // most))
    second = grads and op.supports_gradgrad and kind in (torch.float64, torch.complex128)
    for number, sample in enumerate(samples[::step]):
        args = (sample.input, *sample.args)
        label = full_name(op)
        make = functools.partial(Row, op=label, path=op.name, dtype=name, number=number * step)
        if op.name in AMBIGUOUS:
            make.keywords["process"] = sample.output_process_fn_grad
        if valueless:
            make.keywords["process"] = emptied
        yield make(
            face="function",
            call=call,
            args=args,
            kwargs=sample.kwargs,
            differentiable=grads and not valueless,
            second=second and not valueless,
        )
        method = op.get_method()
        if method is not None:
            method = getattr(torch.Tensor, op.name) if valueless else method
            yield make(face="method", call=method, args=args, kwargs=sample.kwargs)
        inplace = op.get_inplace()
        if inplace is not None:
            yield make(face="inplace", call=inplace, args=args, kwargs=sample.kwargs)
        if op.supports_out:
            yield make(face="out", call=call, args=args, kwargs=sample.kwargs)


def _errors(op: Any, most: int) -> Iterator[Row]:
    if op.error_inputs_func is None:
        return
    torch.manual_seed(0)
    try:
        found = list(op.error_inputs("cpu"))
    except Exception:
        return
    valueless = fits(full_name(op), VALUES_LEFT_OUT)
    for number, error in enumerate(found[:most]):
        sample = error.sample_input
        if foreign([sample.input, sample.args, sample.kwargs]):
            continue
        yield Row(
            "error",
            op=full_name(op),
            path=op.name,
            dtype="any",
            number=number,
            call=_call(op),
            args=(sample.input, *sample.args),
            kwargs=sample.kwargs,
            process=emptied if valueless else Row.process,
        )


def foreign(value: Any) -> bool:
    """Return whether arguments hold what left_out.py leaves out under DEVICES."""
    if isinstance(value, torch.Tensor):
        return value.device.type != "cpu" or foreign(value.dtype)
    if isinstance(value, torch.dtype):
        return value in (torch.complex32, torch.bfloat16)
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, (list, tuple)) and any(map(foreign, value))


def _call(op: Any) -> Callable[..., Any]:
    """Return an operation's function; for random numbers without the table's seed around it."""
    if not fits(full_name(op), VALUES_LEFT_OUT):
        return op.op
    paths = (op.name, f"Tensor.{op.name}", f"Tensor.{op.name}_")
    if op.variant_test_name == "in_place":
        paths = paths[2:]
    for path in paths:
        with contextlib.suppress(AttributeError):
            return operator.attrgetter(path)(torch)
    raise LookupError(full_name(op))


def emptied(result: Any) -> Any:
    """Return a result with zeros as its values."""
    if isinstance(result, tuple):
        return tuple(map(emptied, result))
    return result * 0 if result.requires_grad else result.new_zeros(result.shape)


def copied(value: Any, memo: dict[Any, Any]) -> Any:
    """Return arguments whose tensors are copies, so that a call cannot change the sample.

    A tensor that recurs is one, and what shares memory does so in the copies, as in
    ``translate.arguments``.
    """
    if isinstance(value, torch.Tensor):
        if id(value) not in memo:
            memo[id(value)] = _copy(value, memo)
        return memo[id(value)]
    if type(value) in (list, tuple):
        return type(value)(copied(v, memo) for v in value)
    if isinstance(value, dict):
        return {k: copied(v, memo) for k, v in value.items()}
    return copy.copy(value) if isinstance(value, torch.Generator) else value


def _copy(t: torch.Tensor, memo: dict[Any, Any]) -> torch.Tensor:
    if t.layout is not torch.strided or t.is_conj() or t.is_neg() or t._is_zerotensor():
        return t.detach().clone().requires_grad_(t.requires_grad)
    storage = t.untyped_storage()
    if storage.data_ptr() not in memo:
        memo[storage.data_ptr()] = storage.clone()
    made = torch.empty(0, dtype=t.dtype)
    made.set_(memo[storage.data_ptr()], t.storage_offset(), t.shape, t.stride())
    return made.requires_grad_(t.requires_grad)
