"""Running a model at several sizes of its inputs, and merging what was captured."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.capture.program import Call, Program, Value, leaves, rebuilt, same
from tinynet.capture.record.capturing import capture
from tinynet.capture.record.outputs import Output
from tinynet.core.callsite import Site, locate
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.onnx.errors import OnnxExporterError
from tinynet.onnx.graph import DifferentError, merged

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


# ---- names of inputs and of their dynamic dimensions ----


def input_names(
    function: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    given: Sequence[str] | None,
    taken: Collection[str],
) -> list[str]:
    """Return a name for each tensor: the given one, or its argument's.

    Raises:
        TypeError: the arguments do not fit the function.
        OnnxExporterError: there are more names than tensors, or one name twice.
    """
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"the example does not fit the model: {error}") from None
    names = []
    for name, argument in _by_name(bound):
        tensors = [x for x in leaves(argument) if isinstance(x, Tensor)]
        alone = len(tensors) == 1
        names += [name if alone else f"{name}_{i}" for i in range(len(tensors))]
    return renamed(names, given, "input_names", "inputs", taken)


def _by_name(bound: inspect.BoundArguments) -> list[tuple[str, Any]]:
    """Return the arguments with their names, in the order of the call."""
    kinds = bound.signature.parameters
    found: list[tuple[str, Any]] = []
    for name, value in bound.arguments.items():
        found += (
            value.items() if kinds[name].kind == inspect.Parameter.VAR_KEYWORD else [(name, value)]
        )
    return found


def renamed(
    names: list[str], given: Sequence[str] | None, option: str, what: str, taken: Collection[str]
) -> list[str]:
    """Return names, the first of which are replaced by given ones.

    Raises:
        OnnxExporterError: there are too many names, or a name is taken.
    """
    given = [] if given is None else [*given]
    if len(given) > len(names):
        raise OnnxExporterError(
            f"{option} has {quantity(len(given), 'name')}, and there are {len(names)} {what}"
        )
    rest = [f"{n}_{what[:-1]}" if n in taken or n in given else n for n in names[len(given) :]]
    names = [*given, *rest]
    for i, name in enumerate(names):
        if name in taken or name in names[:i]:
            raise OnnxExporterError(f"two values have the name {name!r}; see {option}")
    return names


def _by_default(names: Sequence[str], tensors: Sequence[Tensor]) -> Dynamic:
    """Return the first dimension of each input as dynamic: the batch."""
    lengths = [t.shape[0] for t in tensors if t.ndim]
    return [
        {0: "batch" if t.shape[0] == lengths[0] else f"{name}_dim_0"} if t.ndim else {}
        for name, t in zip(names, tensors, strict=True)
    ]


def from_axes(
    axes: Mapping[str, Any] | None,
    names: Sequence[str],
    outputs: Sequence[str],
    tensors: Sequence[Tensor],
) -> Dynamic:
    """Return the dynamic dimensions that ``dynamic_axes`` names; the first ones for None.

    Raises:
        OnnxExporterError: it names an unknown input, or a dimension that it does not have.
    """
    if axes is None:
        return _by_default(names, tensors)
    unknown = [name for name in axes if name not in names and name not in outputs]
    if unknown:
        raise OnnxExporterError(
            f"dynamic_axes names {unknown[0]!r}, which is neither an input nor an output: "
            f"{', '.join([*names, *outputs])}"
        )
    found = []
    for name, t in zip(names, tensors, strict=True):
        given = axes.get(name) or {}
        if not isinstance(given, Mapping):
            given = {axis: f"{name}_dim_{axis}" for axis in given}
        found.append(_checked(given, name, t))
    return found


def from_shapes(
    shapes: Any, args: Sequence[Any], kwargs: dict[str, Any], function: Any, names: Sequence[str]
) -> Dynamic:
    """Return the dynamic dimensions that ``dynamic_shapes`` names, by argument or in their order.

    Raises:
        OnnxExporterError: it does not have the structure of the arguments.
    """
    bound = _by_name(inspect.signature(function).bind(*args, **kwargs))
    if isinstance(shapes, Mapping):
        unknown = set(shapes) - {name for name, _ in bound}
        if unknown:
            raise OnnxExporterError(
                f"dynamic_shapes names {unknown.pop()!r}, which is not an argument"
            )
        shapes = [shapes.get(name) for name, _ in bound]
    pairs: list[tuple[Tensor, Any]] = []
    _pair([value for _, value in bound], shapes, pairs)
    return [
        _checked(_axes(given, name), name, t) for name, (t, given) in zip(names, pairs, strict=True)
    ]


def _pair(arguments: Any, shapes: Any, pairs: list[tuple[Tensor, Any]]) -> None:
    """Find what is given for each tensor of a structure."""
    if isinstance(arguments, Tensor):
        pairs.append((arguments, shapes))
    elif isinstance(arguments, (tuple, list, dict)):
        parts = [*arguments.values()] if isinstance(arguments, dict) else [*arguments]
        inner = shapes
        if isinstance(arguments, dict) and isinstance(shapes, Mapping):
            inner = [shapes.get(key) for key in arguments]
        inner = [None] * len(parts) if inner is None else inner
        if not isinstance(inner, (tuple, list)) or len(inner) != len(parts):
            raise OnnxExporterError("dynamic_shapes does not have the structure of the arguments")
        for part, given in zip(parts, inner, strict=True):
            _pair(part, given, pairs)


def _axes(given: Any, name: str) -> dict[int, str]:
    """Return the dynamic dimensions of one tensor; each has a name, or is anything but None."""
    if given is None:
        return {}
    items = given.items() if isinstance(given, Mapping) else enumerate(given)
    called = {axis: getattr(dim, "__name__", dim) for axis, dim in items if dim is not None}
    return {
        axis: dim if isinstance(dim, str) else f"{name}_dim_{axis}" for axis, dim in called.items()
    }


def _checked(axes: Mapping[int, str], name: str, t: Tensor) -> dict[int, str]:
    for axis in axes:
        if not isinstance(axis, int) or not -t.ndim <= axis < t.ndim:
            raise OnnxExporterError(
                f"the input {name!r} has {t.ndim} dimensions, and none with the number {axis!r}"
            )
    return {axis % t.ndim: label for axis, label in axes.items()}
