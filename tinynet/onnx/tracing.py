"""Running a model at several sizes of its inputs, and merging what was captured."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.capture.program import Call, Program, Value, leaves, rebuilt, same
from tinynet.capture.record.capturing import capture
from tinynet.capture.record.outputs import Output
from tinynet.core.callsite import Site, locate
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.onnx.errors import OnnxExporterError
from tinynet.onnx.sizes import DifferentError, merged

Dynamic = Sequence[Mapping[int, str]]  # for each input, its dynamic dimensions and their names

_ATTEMPTS = 4  # captures until one is complete: the first may fill caches
_SMALL = (2, 3, 5)  # lengths of the first dimension; 1 would broadcast
_ENOUGH = 8  # from this length on, other dimensions are shortened, else they are lengthened


class Trace:
    """A program whose constants are ints, or a `Size` where they follow the inputs.

    Attributes:
        results: name -> value.
        program: the one of the first capture.
        calls: its calls, with merged arguments and results.
        shapes: the number of a value -> its shape.
        names: the lengths of a named dimension in all captures -> its name.
    """

    def __init__(self, programs: list[Program], names: dict[tuple[int, ...], str]):
        self.program, self.names = programs[0], names
        self.shapes: dict[int, Any] = {}
        self._note([p.arguments for p in programs])
        self._note([[value for _, value in p.states] for p in programs])
        together = zip(*(p.calls for p in programs), strict=False)
        self.calls = [self._merged(calls) for calls in together]
        longest = max((p.calls for p in programs), key=len)
        if any(len(p.calls) < len(longest) for p in programs):
            raise DifferentError(longest[len(self.calls)].site)
        self.results: dict[str, Value] = {}
        for name, value in _named(self.program.results[0], "output"):
            count = sum(name == known.partition(":")[0] for known in self.results)
            self.results[f"{name}:{count}" if count else name] = value

    def _merged(self, calls: tuple[Call, ...]) -> Call:
        first = calls[0]
        if not all(c.kind == first.kind and same(c.function, first.function) for c in calls):
            raise DifferentError(first.site)
        try:
            args = merged([c.args for c in calls])
            kwargs = merged([c.kwargs for c in calls])
            results = merged([c.result for c in calls])
            self._note([[*c.outputs()] for c in calls])
        except DifferentError:
            raise DifferentError(first.site) from None
        call = Call(first.kind, first.function, args, kwargs, first.site)
        call.op, call.result, call.tensor = first.op, results, first.tensor
        return call

    def _note(self, values: list[list[Value]]) -> None:
        if len({*map(len, values)}) > 1:
            raise DifferentError
        for column in zip(*values, strict=True):
            self.shapes[column[0].number] = merged([value.shape for value in column])


def trace(model: Callable[..., Any], args: Any, kwargs: dict[str, Any], dynamic: Dynamic) -> Trace:
    """Run a model at several sizes of its dynamic dimensions.

    Raises:
        OnnxExporterError: it fails at another size than the example's, does something else there,
            or cannot be captured.
    """
    try:
        return _trace(model, args, kwargs, dynamic, multiples=False)
    except OnnxExporterError:
        if not any(axis for axes in dynamic for axis in axes):
            raise
    # Images may only fit together at sizes that are multiples of the example's.
    return _trace(model, args, kwargs, dynamic, multiples=True)


def _trace(
    model: Callable[..., Any], args: Any, kwargs: dict[str, Any], dynamic: Dynamic, multiples: bool
) -> Trace:
    tensors = [t for t in leaves((args, kwargs)) if isinstance(t, Tensor)]
    lengths = _lengths(tensors, dynamic, multiples)
    programs = []
    for which in range(len(_SMALL) if lengths else 1):
        chosen = {name: three[which] for name, three in lengths.items()}
        sized = [
            _resized(t, {axis: chosen[name] for axis, name in axes.items()})
            for t, axes in zip(tensors, dynamic, strict=True)
        ]
        at = "".join(f" with {name} = {length}" for name, length in chosen.items())
        programs.append(_captured(model, (args, kwargs), sized, at))
    try:
        return Trace(programs, {sizes: name for name, sizes in lengths.items()})
    except DifferentError as error:
        where = place_of(error.args[0])
        raise OnnxExporterError(
            f"the model computes something else at other sizes of {', '.join(lengths)}"
            f"{where and f' ({where})'}, and an ONNX graph cannot; name the dimensions that may "
            "change in dynamic_axes ({} for none)"
        ) from None


def _named(result: Any, name: str) -> Iterator[tuple[str, Value]]:
    """Yield the values of a result with names: fields and keys have their own."""
    if isinstance(result, Output):
        assert result.value is not None  # a copy, so no view
        yield name, result.value
        return
    parts: Any = ()
    if hasattr(result, "_fields"):
        parts = zip(result._fields, result, strict=True)
    elif isinstance(result, dict):
        parts = ((str(key), value) for key, value in result.items())
    elif isinstance(result, (tuple, list)):
        parts = ((f"{name}_{i}", value) for i, value in enumerate(result))
    for inner, value in parts:
        yield from _named(value, inner)


def _lengths(
    tensors: list[Tensor], dynamic: Dynamic, multiples: bool
) -> dict[str, tuple[int, ...]]:
    """Choose lengths for each named dimension, which no two share.

    Args:
        multiples: choose multiples of the example's, except for the first dimension.
    """
    found: dict[str, tuple[int, int]] = {}
    for t, axes in zip(tensors, dynamic, strict=True):
        for axis, name in axes.items():
            length = t.shape[axis]
            if found.setdefault(name, (axis, length))[1] != length:
                raise OnnxExporterError(
                    f"dimensions of the name {name!r} have {found[name][1]} and {length} elements"
                )
    chosen: dict[str, tuple[int, ...]] = {}
    for name, (axis, length) in found.items():
        for three in itertools.permutations(_SMALL):
            sizes = three
            if axis and multiples:
                sizes = tuple(length * n for n in three)
            elif axis:
                sizes = tuple(length - n + 2 if length >= _ENOUGH else length + n for n in three)
            if sizes not in chosen.values():
                chosen[name] = sizes
                break
        else:
            raise OnnxExporterError("too many dynamic dimensions")
    return chosen


def _resized(t: Tensor, lengths: dict[int, int]) -> Tensor:
    """Return a copy of an example with other lengths: elements repeat, or are left out."""
    array = t._array
    for axis, length in lengths.items():
        array = np.take(array, np.arange(length) % array.shape[axis], axis)
    return wrap(np.array(array))


def _captured(
    model: Callable[..., Any], given: tuple[Any, Any], tensors: list[Tensor], at: str
) -> Program:
    """Capture a call with other tensors in place of the example's."""
    following = iter(tensors)
    args, kwargs = rebuilt(given, lambda x: next(following) if isinstance(x, Tensor) else x)

    def forward(*args: Any, **kwargs: Any) -> Any:
        """Return copies, so that no result is an input or a view."""
        result = model(*args, **kwargs)
        return rebuilt(result, lambda x: x.clone() if isinstance(x, Tensor) else x)

    problem = None
    for _ in range(_ATTEMPTS):
        try:
            _, captured, problem = capture(forward, tensors, args, kwargs)
        except Exception as error:
            hint = "\nName the dimensions that may change in dynamic_axes ({} for none)."
            raise OnnxExporterError(f"the model fails{at}: {error}{at and hint}") from error
        if captured is not None:
            return captured.program
    assert problem is not None
    where = place_of(problem.site)
    raise OnnxExporterError(
        f"the model cannot be captured: {problem.reason}{where and f' ({where})'}: {problem.remedy}"
    )


def place_of(site: Site | None) -> str:
    """Return a line for a message: ``train.py:41 in forward   b = a.sort()``."""
    where = locate(site)
    return "" if where is None else f"{where.place}   {where.text}".rstrip()
