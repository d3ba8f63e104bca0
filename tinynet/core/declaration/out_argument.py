"""``out=``: writing a result to an existing tensor."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.graph.inplace import wrote
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode, no_grad
from tinynet.core.tensors.overlap import refuse_overlap, refuse_partial_overlap
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import refuse_inference
from tinynet.dtypes import Array
from tinynet.kernels.strides import resized


class OutRules(NamedTuple):
    """An operation's special rules for ``out=``, declared with the operation.

    Attributes:
        apart: ``out`` must not be an input.
        texts: functions of the operation's name, a result and ``out`` that return the error for
            another dtype, one per result or one for all. Without them, or for another number of
            results, ``out`` is cast.
        by_count: ``out`` keeps its shape if it has as many elements as the result.
        warns: a function that creates tensors warns, like all others, if it resizes ``out``.
        dim: ``out`` requires ``dim``.
        inside: compute in the dtype of ``out``.
        also: dtypes that are allowed besides that of the result.
        silent: the function returns None, as PyTorch's does.
    """

    apart: bool = False
    dim: bool = False
    inside: bool = False
    also: tuple[Any, ...] = ()
    texts: tuple[Callable[[str, Array, Array], str], ...] = ()
    by_count: bool = False
    warns: bool = False
    silent: bool = False


ANY = OutRules()


def written(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    out: Any,
    rules: OutRules = ANY,
) -> Any:
    """Write the result of ``function`` to ``out``, and return it.

    Args:
        function: a public operation or composite.
        args, kwargs: its arguments.
        out: a tensor, or a tuple of them for several results.
        rules: those that the function declares.

    Raises:
        TypeError: ``out`` is something else.
        RuntimeError: an input or ``out`` requires grad, or ``out`` cannot hold the result.
    """
    name = function.__name__
    targets = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    for t in targets:
        if not isinstance(t, Tensor):
            kind = type(t).__name__
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {kind}")
    inputs = list(_tensors((args, kwargs)))
    _refuse(name, targets, inputs, rules)
    if rules.dim and len(args) < 2 and "dim" not in kwargs:
        raise TypeError(f"{name}() received an invalid combination of arguments: out= needs dim")
    if rules.inside and kwargs.get("dtype") is None:
        kwargs = {**kwargs, "dtype": targets[0].dtype}
    creates = not inputs and "dtype" in (inspect.unwrap(function).__kwdefaults__ or ())
    if creates:
        kwargs = {**kwargs, "dtype": _dtype_of(targets[0], kwargs.get("dtype"))}
    casts, mode.autocast = mode.autocast, None  # autocast does not apply with out=
    try:
        with no_grad():
            results = function(*args, **kwargs)
    finally:
        mode.autocast = casts
    several = isinstance(results, tuple)
    found = tuple(results) if several else (results,)
    if len(found) != len(targets):
        raise TypeError(f"{name}(): expected out to hold {len(found)} tensors. Got {len(targets)}.")
    _refuse_dtypes(name, targets, found, rules)
    for t, result in zip(targets, found, strict=True):
        if t._array.shape != result._array.shape and any(t is x for x in inputs):
            raise errors.output_shape(t._array.shape, result._array.shape)
        _write(t, result._array, name, rules, warns=rules.warns or not creates)
    if rules.silent:
        return None
    return type(results)(targets) if type(results) is tuple else out if several else targets[0]


def _refuse(name: str, targets: tuple[Tensor, ...], inputs: list[Tensor], rules: OutRules) -> None:
    if mode.grad and any(requires_grad(t) for t in (*targets, *inputs)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    for t in targets:
        refuse_inference(t._counter)
        refuse_partial_overlap(t, tuple(inputs), rules.apart)
        if rules.apart:
            refuse_overlap(t._array)


def _refuse_dtypes(
    name: str, targets: tuple[Tensor, ...], found: tuple[Tensor, ...], rules: OutRules
) -> None:
    texts = rules.texts * len(targets) if len(rules.texts) == 1 else rules.texts
    if len(texts) != len(targets):
        return  # a form with another number of results
    for t, result, text in zip(targets, found, texts, strict=True):
        if t._array.dtype not in (result._array.dtype, *rules.also):
            raise RuntimeError(text(name, result._array, t._array))


def _dtype_of(t: Tensor, wanted: Any) -> Any:
    """Return the dtype for a function without tensor inputs: that of ``out``."""
    if wanted is not None and dtypes.as_numpy(wanted) != t._array.dtype:
        name = dtypes.from_numpy(dtypes.as_numpy(wanted)).scalar_name
        raise RuntimeError(
            f"dtype {name} does not match dtype of out parameter ({t.dtype.scalar_name})"
        )
    return t.dtype


def _write(t: Tensor, values: Any, name: str, rules: OutRules, warns: bool) -> None:
    if not dtypes.castable(values.dtype, t._array.dtype):
        raise errors.cannot_cast(dtypes.of(values).scalar_name, t.dtype.scalar_name)
    if rules.by_count and t._array.size == values.size:
        values = values.reshape(t._array.shape)
    if t._array.shape != values.shape:
        if t._array.size and warns:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(t.shape)}, which does not match the required output shape "
                f"{list(values.shape)}. Resize it yourself, to zero elements or to that shape.",
                UserWarning,
                stacklevel=5,
            )
        t._array = resized(t._array, values.shape)
    refuse_overlap(t._array)
    arrays.assign(t._array, values)
    wrote(t, f"{name}(out=...)", None, [values])


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
