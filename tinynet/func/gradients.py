"""Function transforms for gradients, products with Jacobians, Jacobians and Hessians."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tinynet.compat.pytree import tree_flatten, tree_unflatten
from tinynet.core.modes import enable_grad, is_grad_enabled
from tinynet.core.tensors.tensor import Tensor
from tinynet.func.level import Level, check_outputs, lifted, with_aux
from tinynet.ops import zeros_like
from tinynet.ops.batching import jacobian_columns, jacobian_rows


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``func`` and its value.

    Args:
        func: returns one number, as a tensor without dimensions.
        argnums: the positional arguments to differentiate by; a tuple gives a tuple. An argument
            may be a tree: nested lists, tuples and dicts of tensors.
        has_aux: ``func`` returns a pair of its value and auxiliary data; both are returned as the
            value.

    Raises:
        RuntimeError: the function returns something else, or there is no such argument.
        ValueError: an argument to differentiate by is not a tensor.

    Example:
        >>> tn.func.grad_and_value(lambda x: (x * x).sum())(tn.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        level = Level()
        with enable_grad():
            whole, chosen = lifted(level, args, argnums)
            found = func(*whole, **kwargs)
            output, aux = with_aux(found, has_aux, "grad_and_value(f)(*args)")
            _check_scalar(output)
            inputs, spec = tree_flatten(chosen)
            grads = tree_unflatten(level.gradients([output], inputs), spec)
        level.finish()
        value = level.leave(output)
        return level.leave(grads), (value, level.leave(aux)) if has_aux else value

    return wrapper


def _check_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
        )
    if output.dim():
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
            f"with {output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``func``; ``has_aux`` adds auxiliary data.

    Args:
        func, argnums, has_aux: as in ``grad_and_value``.

    Raises:
        RuntimeError, ValueError: as ``grad_and_value``.

    Example:
        >>> tn.func.grad(tn.sin)(tn.tensor(0.0))
        tensor(1.)
        >>> tn.func.grad(tn.func.grad(lambda x: x**3))(tn.tensor(2.0))
        tensor(12.)
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return ``func(*primals)``, and a function of ``v`` that returns the tuple ``v @ J``.

    Args:
        func: function of tensors, or trees of them, that returns one.
        *primals: its arguments.
        has_aux: ``func`` returns a pair, whose second part is returned third.

    Raises:
        RuntimeError: an output is not a floating-point tensor, or ``v`` does not fit.
        ValueError: an argument is not a tensor.

    Example:
        >>> value, product = tn.func.vjp(lambda x: x * x, tn.tensor([1.0, 2.0]))
        >>> product(tn.ones(2))
        (tensor([2., 4.]),)
    """
    level, whole, outputs, result = differentiable(func, primals, None, has_aux)
    inputs, spec = tree_flatten(whole)
    flat, form = tree_flatten(outputs)

    def product(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given, given_form = tree_flatten(cotangents)
        if given_form != form:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {given_form}, primal output: {form}"
            )
        level.outside = is_grad_enabled()
        found = level.leave(level.gradients(flat, inputs, given, create_graph))
        return tree_unflatten(found, spec)

    return (result[0], product, *result[1:])


def differentiable(
    func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool
) -> tuple[Level, Any, Any, tuple[Any, ...]]:
    """Return a level, its inputs and outputs as trees, and the results for the caller."""
    level = Level()
    with enable_grad():
        whole, chosen = lifted(level, args, argnums)
        outputs, aux = with_aux(func(*whole), has_aux, "vjp(f, *primals)")
        flat, _ = tree_flatten(outputs)
        check_outputs(flat, "vjp(f, *primals)")
        for out in flat:
            if not (out.is_floating_point() or out.is_complex()):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                    f"Tensor with dtype {out.dtype}"
                )
    level.finish()
    seen = level.leave(outputs)
    return level, chosen, outputs, (seen, level.leave(aux)) if has_aux else (seen,)


# ---- forward ------------------------------------------------------------------------------------

_JVP = "jvp(f, primals, tangents)"


class Forward:
    """The products ``J @ v`` of a function, from ``v @ J`` recorded as a function of ``v``."""

    def __init__(
        self, func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool
    ):
        self.level = level = Level()
        with enable_grad():
            whole, chosen = lifted(level, args, argnums)
            self.inputs, self.spec = tree_flatten(chosen)
            outputs, aux = with_aux(func(*whole), has_aux, _JVP)
            self.outputs, self.form = tree_flatten(outputs)
            check_outputs(self.outputs, _JVP)
            self.dual = [self._dual(out) for out in self.outputs]
            self.slope = level.gradients(self.outputs, self.inputs, self.dual, create_graph=True)
        level.finish()
        self.value = level.leave(outputs)
        self.aux = (level.leave(aux),) if has_aux else ()

    def _dual(self, out: Tensor) -> Tensor:
        made = zeros_like(out)
        return self.level.leaf(made) if out.requires_grad else made

    def product(self, tangents: list[Tensor]) -> list[Tensor]:
        """Return ``J @ v`` for each output."""
        self.level.outside = is_grad_enabled()
        wanted = [i for i, u in enumerate(self.dual) if u.requires_grad]
        with enable_grad():
            found = self.level.gradients(self.slope, [self.dual[i] for i in wanted], tangents)
        all_of = [zeros_like(out) for out in self.outputs]
        for i, g in zip(wanted, found, strict=True):
            all_of[i] = self.level.leave(g)
        return all_of

    def column(self, number: int, vector: Tensor) -> list[Tensor]:
        """Return ``J @ v`` for a ``v`` that is zero but for input ``number``."""
        tangents = [x.new_zeros(x.shape) for x in self.inputs]
        tangents[number] = vector
        return self.product(tangents)


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Return ``func(*primals)`` and the product of its Jacobian with ``tangents``, ``J @ v``.

    It takes two backward passes (see ``tinynet.autograd.functional``), so ``func`` must be twice
    differentiable.

    Args:
        func: function of tensors, or trees of them, that returns one.
        primals: its arguments, a tuple.
        tangents: the directions, of the same structure and shapes.
        strict: raise where an output does not depend on the inputs, instead of returning zeros.
        has_aux: ``func`` returns a pair, whose second part is returned third.

    Raises:
        RuntimeError: the structures differ, or an output is not a tensor.

    Example:
        >>> tn.func.jvp(lambda x: x * x, (tn.tensor([1.0, 2.0]),), (tn.tensor([1.0, 0.0]),))
        (tensor([1., 4.]), tensor([2., 0.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    flat, spec = tree_flatten(primals)
    given, given_spec = tree_flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For "
            f"example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {spec} and tangents with structure {given_spec}"
        )
    for what, tensors in (("primals", flat), ("tangents", given)):
        _check_tensors(what, tensors)
    forward = Forward(func, primals, None, has_aux)
    if strict and not all(u.requires_grad for u in forward.dual):
        raise RuntimeError(
            f"{_JVP[:-1]}, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    found = tree_unflatten(forward.product(given), forward.form)
    return (forward.value, found, *forward.aux)


def _check_tensors(what: str, tensors: list[Any]) -> None:
    if not tensors:
        raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(t)}")


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return ``func(*primals)``, and a function of tangents that gives ``J @ v`` there.

    The function is evaluated only once, for any number of products.

    Args:
        func: function of tensors, or trees of them, that returns one.
        *primals: its arguments.

    Raises:
        RuntimeError: an output is not a tensor, or tangents do not fit the arguments.

    Example:
        >>> value, product = tn.func.linearize(tn.sin, tn.zeros(2))
        >>> product(tn.ones(2))
        tensor([1., 1.])
    """
    forward = Forward(func, primals, None, False)
    spec = tree_flatten(primals)[1]

    def product(*tangents: Any) -> Any:
        given, given_spec = tree_flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(
                f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}"
            )
        for i, (t, primal) in enumerate(zip(given, forward.inputs, strict=True)):
            for what in ("shape", "dtype"):
                mine, its = getattr(t, what), getattr(primal, what)
                if mine != its:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {mine} in flattened pytree doesn't match the "
                        f"{what} {its} of the corresponding primal."
                    )
        return tree_unflatten(forward.product(given), forward.form)

    return forward.value, product


# ---- Jacobians and Hessians ---------------------------------------------------------------------


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``func``, all rows in one backward pass.

    Args:
        func: function of tensors, or trees of them, that returns one.
        argnums: which positional arguments to differentiate by; a tuple gives a tuple.
        has_aux: ``func`` returns a pair, whose second part is passed on.
        chunk_size: the number of rows to compute in one pass; by default all.

    Raises:
        RuntimeError: an output is not a floating-point tensor, or there is no such argument.
        ValueError: ``chunk_size`` is not positive.

    Example:
        >>> tn.func.jacrev(lambda x: x * x)(tn.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        level, chosen, outputs, seen = differentiable(func, args, argnums, has_aux)
        inputs, spec = tree_flatten(chosen)
        flat, form = tree_flatten(outputs)
        _refuse_complex(inputs)
        rows = [
            jacobian_rows(_product(level, out, inputs), out, inputs, chunk_size) for out in flat
        ]
        jacobian = tree_unflatten([tree_unflatten(level.leave(r), spec) for r in rows], form)
        return (jacobian, *seen[1:]) if has_aux else jacobian

    return wrapper


def _refuse_complex(inputs: list[Tensor]) -> None:
    for place, x in enumerate(inputs):
        if x.is_complex():
            raise RuntimeError(
                "jacrev: Expected all inputs to be real but received complex tensor at flattened "
                f"input idx: {place}"
            )


def _product(level: Level, out: Tensor, inputs: list[Tensor]) -> Callable[[Tensor], list[Tensor]]:
    """Return the function that multiplies a vector and the Jacobians of one output."""
    return lambda vector: level.gradients([out], inputs, [vector])


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``func``, all columns in one pass.

    The function runs once, so random numbers are the same in all columns.

    Args:
        func, argnums, has_aux: as in ``jacrev``.
        randomness: accepted.

    Raises:
        RuntimeError: an output is not a tensor, or there is no such argument.

    Example:
        >>> tn.func.jacfwd(lambda x: (x * x).sum())(tn.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        forward = Forward(func, args, argnums, has_aux)
        columns = [
            jacobian_columns(functools.partial(forward.column, i), t, forward.outputs)
            for i, t in enumerate(forward.inputs)
        ]
        rows = [[column[j] for column in columns] for j in range(len(forward.outputs))]
        trees = [tree_unflatten(row, forward.spec) for row in rows]
        jacobian = tree_unflatten(trees, forward.form)
        return (jacobian, *forward.aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of ``func``, the Jacobian of its Jacobian.

    Args:
        func, argnums: as in ``jacrev``.

    Raises:
        RuntimeError: as ``jacrev``.

    Example:
        >>> tn.func.hessian(lambda x: (x**3).sum())(tn.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
