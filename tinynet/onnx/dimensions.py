"""Names of inputs and of their dynamic dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tinynet.capture.program import leaves
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.onnx.errors import OnnxExporterError
from tinynet.onnx.tracing import Dynamic


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
