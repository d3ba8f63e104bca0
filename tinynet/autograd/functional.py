"""Jacobians, Hessians, and their products with vectors, of functions of tensors.

All of them run backward. A product ``J v`` takes two passes: the gradient of ``u @ J`` with respect
to ``u`` is ``J``, whatever ``u`` is (Townsend 2017, "A new trick for calculating Jacobian vector
products").
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.autograd.functional_arguments import (
    CONSTANT_SLOPE,
    LINEAR,
    NOT_STRICT,
    Gradients,
    Tensors,
    as_tuple,
    check_slope,
    filled,
    fresh,
    gradients,
    input_vector,
    inputs_of,
    outputs_of,
    results,
    single_output,
    vector,
)
from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.ops import stack, zeros_like
from tinynet.ops.batching import jacobian_columns, jacobian_rows

OneOrMore = Tensor | Tensors


# ---- products -----------------------------------------------------------------------------------


def vjp(
    func: Callable[..., Any],
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return ``func(*inputs)`` and the product of ``v`` with its Jacobian, ``v @ J``.

    Args:
        func: function of tensors that returns a tensor or a tuple of them.
        inputs: its arguments.
        v: of the shape of the output; optional for a single output with one element.
        create_graph: return results that can be differentiated.
        strict: raise if an output does not depend on an input, instead of returning zeros.

    Raises:
        RuntimeError: ``v`` does not fit, or a check of strict mode failed.
        TypeError: an input or output is not a tensor.

    Example:
        >>> x = tn.tensor([1.0, 2.0, 3.0])
        >>> tn.autograd.functional.vjp(lambda x: x * x, x, tn.ones(3))
        (tensor([1., 4., 9.]), tensor([2., 4., 6.]))
    """
    with enable_grad():
        tuple_in, given = inputs_of(inputs, "vjp", create_graph)
        tuple_out, outputs = outputs_of("vjp", func(*given), strict)
        directions = None
        if v is not None:
            directions = vector(v, outputs, tuple_out, "vjp", create_graph)
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single "
                "Tensor with a single element."
            )
    grads = gradients(outputs, given, directions, create_graph)
    found = filled(grads, given, strict, create_graph, "back")
    return results(outputs, tuple_out, create_graph), results(found, tuple_in, create_graph)


def jvp(
    func: Callable[..., Any],
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return ``func(*inputs)`` and the product of its Jacobian with ``v``, ``J @ v``.

    Args:
        func: function of tensors that returns a tensor or a tuple of them; its derivatives must
            be differentiable.
        inputs: its arguments.
        v: of the shape of the inputs; may be left out for a single input of one element.
        create_graph, strict: as in ``vjp``.

    Raises:
        RuntimeError, TypeError: as ``vjp``.

    Example:
        >>> x = tn.tensor([1.0, 2.0, 3.0])
        >>> tn.autograd.functional.jvp(lambda x: (x * x).sum(), x, tn.tensor([1.0, 0.0, 0.0]))
        (tensor(14.), tensor(2.))
    """
    with enable_grad():
        tuple_in, given = inputs_of(inputs, "jvp", create_graph)
        directions = input_vector(v, given, tuple_in, "jvp", create_graph)
        tuple_out, outputs = outputs_of("jvp", func(*given), strict)
        dual, slope = _transposed(outputs, given)
        check_slope(slope, strict, LINEAR)
    grads = gradients(slope, dual, directions, create_graph)
    found = filled(grads, outputs, strict, create_graph, "back_trick")
    return results(outputs, tuple_out, create_graph), results(found, tuple_out, create_graph)


def _transposed(outputs: Tensors, inputs: Tensors) -> tuple[Tensors, Gradients]:
    """Return ``u``, one for each output, and ``u @ J`` recorded as a function of ``u``."""
    dual = tuple(zeros_like(o).requires_grad_() for o in outputs)
    return dual, gradients(outputs, inputs, dual, create_graph=True)


def vhp(
    func: Callable[..., Any],
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return ``func(*inputs)`` and the product of ``v`` with its Hessian, ``v @ H``.

    Args:
        func: function of tensors that returns one tensor of one element.
        inputs: its arguments.
        v: of the shape of the inputs; may be left out for a single input of one element.
        create_graph, strict: as in ``vjp``.

    Raises:
        RuntimeError, TypeError: as ``vjp``.

    Example:
        >>> x = tn.tensor([1.0, 2.0])
        >>> tn.autograd.functional.vhp(lambda x: (x**3).sum(), x, tn.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    out, slope, given, directions, tuple_in = _slope("vhp", func, inputs, v, create_graph, strict)
    grads = gradients(slope, given, directions, create_graph)
    found = filled(grads, given, strict, create_graph, "double_back")
    return results([out], False, create_graph), results(found, tuple_in, create_graph)


def hvp(
    func: Callable[..., Any],
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return ``func(*inputs)`` and the product of its Hessian with ``v``, ``H @ v``.

    If the second derivatives are continuous, ``H`` is symmetric; then ``vhp`` returns the same
    result with one pass less.

    Args:
        func: function of tensors that returns one tensor of one element.
        inputs: its arguments.
        v: of the shape of the inputs; may be left out for a single input of one element.
        create_graph, strict: as in ``vjp``.

    Raises:
        RuntimeError, TypeError: as ``vjp``.

    Example:
        >>> x = tn.tensor([1.0, 2.0])
        >>> tn.autograd.functional.hvp(lambda x: (x**3).sum(), x, tn.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    out, slope, given, directions, tuple_in = _slope("hvp", func, inputs, v, create_graph, strict)
    with enable_grad():
        dual = tuple(zeros_like(t).requires_grad_() for t in given)
        double = gradients(slope, given, dual, create_graph=True)
    grads = gradients(double, dual, directions, create_graph)
    found = filled(grads, given, strict, create_graph, "double_back_trick")
    return results([out], False, create_graph), results(found, tuple_in, create_graph)


def _slope(
    function: str, func: Any, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Tensor, Gradients, Tensors, Tensors | None, bool]:
    """Return the value and the recorded gradient of a scalar function, and its arguments."""
    with enable_grad():
        several, given = inputs_of(inputs, function, create_graph)
        directions = input_vector(v, given, several, function, create_graph)
        out = single_output(function, func(*given), strict)
        slope = gradients([out], given, create_graph=True)
        check_slope(slope, strict, CONSTANT_SLOPE)
    return out, slope, given, directions, several


# ---- matrices -----------------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Any],
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of ``func``: all derivatives of its outputs by its inputs.

    For one output and one input, the result is a tensor of the output's shape followed by the
    input's. For a tuple of inputs it is a tuple, for a tuple of outputs a tuple of these.

    Args:
        func: function of tensors that returns a tensor or a tuple of them.
        inputs: its arguments.
        create_graph, strict: as in ``vjp``.
        vectorize: compute all rows or columns in one pass, instead of one after the other.
        strategy: ``"reverse-mode"`` computes a row for each element of the outputs,
            ``"forward-mode"`` a column for each element of the inputs (requires
            ``vectorize=True``, as in PyTorch).

    Raises:
        RuntimeError, TypeError: as ``vjp``.
        NotImplementedError: forward mode with ``create_graph`` or without ``vectorize``.

    Example:
        >>> tn.autograd.functional.jacobian(lambda x: x * x, tn.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy == "forward-mode":
        _check_forward(create_graph, strict, vectorize)
    elif strategy != "reverse-mode":
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    with enable_grad():
        tuple_in, given = inputs_of(inputs, "jacobian", create_graph)
        tuple_out, outputs = outputs_of("jacobian", func(*given), strict)
        if strategy == "forward-mode":
            matrices = _by_columns(outputs, given)
        elif vectorize and strict:
            raise RuntimeError(
                "tinynet.autograd.functional.jacobian: `strict=True` and `vectorized=True` are "
                "not supported together. Please either set `strict=False` or `vectorize=False`."
            )
        else:
            rows = _all_rows if vectorize else _by_rows
            matrices = [rows(i, out, given, create_graph, strict) for i, out in enumerate(outputs)]
    found = tuple(results(row, tuple_in, create_graph) for row in matrices)
    return found if tuple_out else found[0]


def _check_forward(create_graph: bool, strict: bool, vectorize: bool) -> None:
    for name, value, problem in (
        ("create_graph", create_graph, NotImplementedError),
        ("strict", strict, RuntimeError),
    ):
        if value:
            raise problem(
                f"tinynet.autograd.functional.jacobian: `{name}=True` and "
                '`strategy="forward-mode"` are not supported together (yet). Please either set '
                f'`{name}=False` or `strategy="reverse-mode"`.'
            )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )


def units(t: Tensor) -> list[Tensor]:
    """Return the unit vectors in the shape of ``t``, in row-major order."""
    found = []
    for k in range(t.numel()):
        array = np.zeros_like(t._array)
        array.flat[k] = 1
        found.append(wrap(array))
    return found


def _by_rows(
    number: int, out: Tensor, inputs: Tensors, create_graph: bool, strict: bool
) -> list[Tensor]:
    """Return the derivatives of output ``number`` by each input, one pass per element of it."""
    rows: list[list[Tensor]] = []
    for unit in units(out):
        grads = gradients([out], inputs, [unit], create_graph, retain_graph=True)
        for i, g in enumerate(grads if strict else ()):
            if g is None:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {i}."
                    + NOT_STRICT
                )
        rows.append(filled(grads, inputs, strict, create_graph, "back"))
    return [stack([row[i] for row in rows]).view(out.shape + t.shape) for i, t in enumerate(inputs)]


def _all_rows(
    _number: int, out: Tensor, inputs: Tensors, create_graph: bool, _strict: bool
) -> list[Tensor]:
    """Return the result of ``_by_rows``, computed in one pass for all elements."""

    def row(unit: Tensor) -> list[Tensor]:
        grads = gradients([out], inputs, [unit], create_graph, retain_graph=True)
        return filled(grads, inputs, False, create_graph, "back")

    return jacobian_rows(row, out, inputs)


def _by_columns(outputs: Tensors, inputs: Tensors) -> list[list[Tensor]]:
    """Return the derivatives of each output by each input, one pass for each input."""
    dual, slope = _transposed(outputs, inputs)

    def column(number: int, unit: Tensor) -> list[Tensor]:
        grads = gradients([slope[number]], dual, [unit], retain_graph=True)
        return filled(grads, outputs, False, False, "back_trick")

    columns = [
        jacobian_columns(functools.partial(column, i), t, outputs) for i, t in enumerate(inputs)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def hessian(
    func: Callable[..., Any],
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a scalar function: its second derivatives.

    One tensor for one input, of the input's shape twice; for a tuple of inputs a tuple of tuples.

    Args:
        func: function of tensors that returns one tensor of one element.
        inputs: its arguments.
        create_graph, strict: as in ``vjp``.
        vectorize, outer_jacobian_strategy: as in ``jacobian``, for the outer one of the two.

    Raises:
        RuntimeError, TypeError: as ``jacobian``.

    Example:
        >>> tn.autograd.functional.hessian(lambda x: (x**3).sum(), tn.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    several, given = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def value(*tensors: Tensor) -> Tensor:
        return single_output("hessian", func(*tensors), strict).squeeze()

    def slope(*tensors: Tensor) -> Tensors:
        found: Tensors = jacobian(value, tensors, create_graph=True)
        check_slope(found, strict, CONSTANT_SLOPE)
        return found

    found = jacobian(slope, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if several else found[0][0]


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Return whether the value is a tuple, and the value as a tuple; without names only that."""
    if arg_name is None or fn_name is None:
        return tuple(inp) if isinstance(inp, (tuple, list)) else (inp,)
    return as_tuple(inp, arg_name, fn_name)


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: Sequence[int]) -> Tensors:
    """Return the columns of an identity matrix that belong to each tensor, in its dtype.

    Example:
        >>> _construct_standard_basis_for((tn.ones(1), tn.ones(2)), (1, 2))
        (tensor([[1.],
                [0.],
                [0.]]), tensor([[0., 0.],
                [1., 0.],
                [0., 1.]]))
    """
    parts, before = [], 0
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        part = tensor.new_zeros(sum(tensor_numels), count)
        part.diagonal(-before).fill_(1)
        parts.append(part)
        before += count
    return tuple(parts)


def _grad_preprocess(inputs: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """Return new tensors over the same memory, which may require gradients."""
    return fresh(inputs, create_graph, need_graph)


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Return tensors, in tuples of any depth, with or without their history."""
    if isinstance(inputs, Tensor):
        return inputs if create_graph else inputs.detach()
    return tuple(_grad_postprocess(x, create_graph) for x in inputs)


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """Undo `_as_tuple`: replace tuples of one by their element where the flag is False.

    Args:
        res: a tuple, or a tuple of tuples.
        to_unpack: whether to keep the outer tuple, or both.
    """
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    res = res if inner else tuple(x[0] for x in res)
    return res if outer else res[0]
