"""Checks of derivatives against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tinynet.autograd.derivatives import grad
from tinynet.autograd.differences import (
    Array,
    GradcheckError,
    analytical,
    as_tuple,
    differentiable,
    floating,
    in_parts,
    numerical,
    numerical_along,
)
from tinynet.autograd.function import Function
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor, wrap


class Settings(NamedTuple):
    """The options of ``gradcheck``."""

    eps: float
    atol: float
    rtol: float
    raise_exception: bool
    nondet_tol: float
    check_undefined_grad: bool
    fast_mode: bool
    batched: bool

    def close(self, a: Any, b: Any, scale: float = 1.0) -> bool:
        """Return whether ``a`` is as close to ``b`` as the tolerances demand."""
        return np.allclose(a, b, self.rtol, self.atol * scale)


class Problem:
    """A function, the inputs that are checked, and the outputs that have a derivative.

    Args:
        were_complex: whether each floating output is one of pairs, the parts of a complex one.
    """

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...], were_complex: list[bool]):
        self.were_complex = were_complex
        self.func = func
        self.inputs = inputs
        self.checked = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
        made = func(*inputs)
        self.outputs = differentiable(made)
        self.places = [i for i, t in enumerate(floating(made)) if t.requires_grad]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Return True if the gradients of ``func`` agree with central differences.

    Args:
        func: function of tensors that returns a tensor or several.
        inputs: its arguments; those that require grad are checked and should be float64 or
            complex128.
        eps: step of the differences.
        atol, rtol: tolerances, for ``|analytical - numerical| <= atol + rtol * |numerical|``.
        raise_exception: raise on disagreement instead of returning False.
        nondet_tol: the largest allowed difference between two backward passes.
        check_undefined_grad: also check that missing gradients of outputs count as zeros.
        check_grad_dtypes: accepted: gradients always get the dtype of their inputs.
        check_batched_grad: also compare gradients of a batch in one pass with a loop's.
        check_batched_forward_grad, check_forward_ad: must be False: there is no forward mode.
        check_backward_ad: must be True.
        fast_mode: compare one random projection of each Jacobian instead of all of it.
        masked: ignored.

    Raises:
        GradcheckError: the gradients disagree, or another of the checks failed.
        ValueError: no input requires grad.
        RuntimeError: an input has elements that share memory.

    Example:
        >>> x = tn.rand(3, dtype=tn.float64, requires_grad=True)
        >>> tn.autograd.gradcheck(lambda x: (x * x).sum(), [x])
        True
    """
    _refuse_modes(
        check_batched_forward_grad=check_batched_forward_grad, check_forward_ad=check_forward_ad
    )
    if not check_backward_ad:
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    settings = Settings(
        eps,
        atol,
        rtol,
        raise_exception,
        nondet_tol,
        check_undefined_grad,
        fast_mode,
        check_batched_grad,
    )
    return _check(func, as_tuple(inputs), settings)


def _check(func: Callable[..., Any], inputs: tuple[Any, ...], settings: Settings) -> bool:
    func, inputs, were_complex = in_parts(func, inputs)
    _check_inputs(inputs)
    try:
        problem = Problem(func, inputs, were_complex)
        (_compare_fast if settings.fast_mode else _compare)(problem, settings)
        if settings.batched:
            _check_batched(problem, settings)
        _check_linear(problem)
        if settings.check_undefined_grad:
            _check_undefined(problem)
    except GradcheckError:
        if settings.raise_exception:
            raise
        return False
    return True


def _refuse_modes(**modes: bool) -> None:
    for name, value in modes.items():
        if value:
            raise ValueError(f"{name}=True needs forward mode, which tinynet does not have.")


def _check_inputs(inputs: Sequence[Any]) -> None:
    found = [(i, t) for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for i, t in found:
        if t._array.dtype != np.float64:
            warnings.warn(SINGLE_PRECISION.format(i), UserWarning, stacklevel=4)
        steps = zip(t.stride(), t.shape, strict=True)
        if t.numel() and any(step <= 0 and n > 1 for step, n in steps):
            raise RuntimeError(OVERLAP.format(i))


# ---- Jacobians ----------------------------------------------------------------------------------


def _compare(problem: Problem, settings: Settings) -> None:
    """Compare whole Jacobians."""
    expected = [numerical(problem.func, problem.inputs, t, settings.eps) for t in problem.checked]
    if not problem.outputs and any(matrix.any() for row in expected for matrix in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")
    for i, (output, place) in enumerate(zip(problem.outputs, problem.places, strict=True)):
        found = analytical(output, problem.checked, settings.nondet_tol)
        for j, matrix in enumerate(found):
            if not settings.close(matrix, expected[j][place]):
                text = MISMATCH.format(i, j, wrap(expected[j][place]), wrap(matrix))
                part = _part(problem, settings, place, matrix, expected[j][place])
                raise GradcheckError(part + text)


def _part(problem: Problem, settings: Settings, place: int, found: Array, expected: Array) -> str:
    """Return which part of a complex output differs, the imaginary one first."""
    if not problem.were_complex[place]:
        return ""
    same = settings.close(found[:, 1::2], expected[:, 1::2])
    return OF_A_PART.format("real" if same else "imaginary")


def _compare_fast(problem: Problem, settings: Settings) -> None:
    """Compare ``v @ J @ u`` for random unit vectors with positive elements."""
    random = np.random.default_rng(0)
    us = [_direction(random, t) for t in problem.checked]
    vs = [_direction(random, t) for t in problem.outputs]
    expected = [
        numerical_along(problem.func, problem.inputs, t, settings.eps, u)
        for t, u in zip(problem.checked, us, strict=True)
    ]
    if not problem.outputs:
        if any(np.abs(one).max(initial=0) > settings.nondet_tol for row in expected for one in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")
    for i, (output, v) in enumerate(zip(problem.outputs, vs, strict=True)):
        found = analytical(output, problem.checked, settings.nondet_tol, v)
        for j, (u, column) in enumerate(zip(us, found, strict=True)):
            a = np.asarray(column[:, 0] @ u)
            n = np.asarray(v @ expected[j][problem.places[i]])
            # An error of atol in each element of J would move the product by this much.
            if not settings.close(a, n, float(u.sum() * v.sum())):
                part, rest = _in_slow_mode(problem, settings, i, j)
                raise GradcheckError(part + MISMATCH.format(i, j, wrap(n), wrap(a)) + rest)


def _direction(random: np.random.Generator, t: Tensor) -> Array:
    drawn = random.random(t._array.size)
    return (drawn / np.linalg.norm(drawn)).astype(t._array.dtype)


def _in_slow_mode(problem: Problem, settings: Settings, i: int, j: int) -> tuple[str, str]:
    """Describe the full Jacobian of output ``i`` by input ``j``: the part, and what differs."""
    t = problem.checked[j]
    n = numerical(problem.func, problem.inputs, t, settings.eps)[problem.places[i]]
    (a,) = analytical(problem.outputs[i], [t], float("inf"))
    text = IN_FAST_MODE.format(wrap(n), wrap(a), np.abs(n - a).max())
    part = _part(problem, settings, problem.places[i], a, n)
    return part, text + ONLY_IN_FAST_MODE if settings.close(a, n) else text


# ---- what else a backward must do ---------------------------------------------------------------


def _check_linear(problem: Problem) -> None:
    """Check that zeros as gradients of the outputs give zeros."""
    if not problem.outputs:
        return
    zeros = [wrap(np.zeros_like(o._array, order="C")) for o in problem.outputs]
    for g in grad(problem.outputs, problem.checked, zeros, allow_unused=True):
        if g is not None and g._array.any():
            raise GradcheckError("backward not multiplied by grad_output")


def _check_batched(problem: Problem, settings: Settings) -> None:
    """Check that one pass for a batch of gradients computes the same as one pass for each."""
    random = np.random.default_rng(0)
    for output in problem.outputs:
        drawn = random.standard_normal((2, *output._array.shape)).astype(output._array.dtype)
        options = {"retain_graph": True, "allow_unused": True}
        singles = [grad([output], problem.checked, [wrap(g)], **options) for g in drawn]
        try:
            found = grad([output], problem.checked, [wrap(drawn)], is_grads_batched=True, **options)
        except RuntimeError as error:
            text = f"While computing batched gradients, got: {error}\n\n{NOT_BATCHED}"
            raise GradcheckError(text) from error
        for batch, *rows in zip(found, *singles, strict=True):
            if batch is not None and not any(row is None for row in rows):
                if not settings.close(batch._array, np.stack([row._array for row in rows])):
                    raise GradcheckError(NOT_BATCHED)


class _Undefined(Function):
    """The identity, with no gradient."""

    @staticmethod
    def forward(ctx: Any, t: Tensor) -> Tensor:
        """Return the values."""
        return t.detach()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> None:
        """Return no gradient."""


def _check_undefined(problem: Problem) -> None:
    """Check that missing gradients, of all outputs or of one, count as zeros."""
    count = len(problem.outputs)
    for missing in [set(range(count)), *({i} for i in range(count) if count > 1)]:
        made = differentiable(problem.func(*problem.inputs))
        shown = [_Undefined.apply(o) if i in missing else o for i, o in enumerate(made)]
        zeros = [wrap(np.zeros_like(o._array, order="C")) for o in shown]
        if not shown:
            return
        try:
            found = grad(shown, problem.checked, zeros, allow_unused=True)
        except RuntimeError as error:
            warn(UNDEFINED_CHECKED)
            raise GradcheckError(UNHANDLED) from error
        if any(g is not None and g._array.any() for g in found):
            warn(UNDEFINED_CHECKED)
            raise GradcheckError(NOT_ZERO)


# ---- second derivatives -------------------------------------------------------------------------


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Return True if the gradients of the gradients of ``func`` agree with central differences.

    Args:
        func: function of tensors that returns a tensor or several.
        inputs: its arguments; those that require grad are checked and should be float64 or
            complex128.
        grad_outputs: gradients of the outputs that require grad; drawn from [-1, 1) with a seed of
            their own unless given.
        gen_non_contig_grad_outputs: draw them so that they are not contiguous.
        check_fwd_over_rev: must be False: there is no forward mode.
        check_rev_over_rev: must be True.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes,
            check_batched_grad, fast_mode, masked: as in ``gradcheck``.

    Raises:
        GradcheckError: the gradients disagree, or another of the checks failed.

    Example:
        >>> x = tn.rand(3, dtype=tn.float64, requires_grad=True)
        >>> tn.autograd.gradgradcheck(lambda x: x * x * x, [x])
        True
    """
    _refuse_modes(check_fwd_over_rev=check_fwd_over_rev)
    if not check_rev_over_rev:
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        starts = _random_starts(differentiable(func(*arguments)), gen_non_contig_grad_outputs)
    else:
        starts = as_tuple(grad_outputs)
    settings = Settings(
        eps,
        atol,
        rtol,
        raise_exception,
        nondet_tol,
        check_undefined_grad,
        fast_mode,
        check_batched_grad,
    )
    return _check(_gradient_of(func, arguments), (*arguments, *starts), settings)


def _gradient_of(
    func: Callable[..., Any], arguments: tuple[Any, ...]
) -> Callable[..., tuple[Tensor, ...]]:
    """Return the function of arguments and gradients of outputs that runs ``func`` backward."""
    places = [i for i, t in enumerate(arguments) if isinstance(t, Tensor) and t.requires_grad]

    def gradient(*args: Any) -> tuple[Tensor, ...]:
        given, directions = args[: len(arguments)], args[len(arguments) :]
        made = differentiable(func(*given))
        wanted = [given[i] for i in places]
        found = grad(made, wanted, directions, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradient


def _random_starts(outputs: Sequence[Tensor], strided: bool) -> tuple[Tensor, ...]:
    random = np.random.default_rng(0)
    found = []
    for t in outputs:
        shape = t._array.shape
        wide = (*shape[:-1], 2 * shape[-1]) if strided and shape else shape
        drawn = random.uniform(-1, 1, wide)
        if t.is_complex():
            drawn = drawn + 1j * random.uniform(-1, 1, wide)
        array = np.asarray(drawn).astype(t._array.dtype)
        found.append(wrap(array[..., ::2] if wide != shape else array).requires_grad_())
    return tuple(found)


SINGLE_PRECISION = (
    "Input #{} requires gradient and is not a double precision floating point or complex. This "
    "check will likely fail if all the inputs are not of double precision floating point or "
    "complex. "
)
OVERLAP = (
    "The {}th input has a dimension with stride 0. gradcheck only supports inputs that are "
    "non-overlapping to be able to compute the numerical gradients correctly. You should call "
    ".contiguous on the input before passing it to gradcheck."
)
MISMATCH = (
    "Jacobian mismatch for output {} with respect to input {},\nnumerical:{}\nanalytical:{}\n"
)
IN_FAST_MODE = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \nin "
    "fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {}\nAnalytical:\n{}\n\n"
    "The max per-element difference (slow mode) is: {}.\n"
)
ONLY_IN_FAST_MODE = (
    "Fast gradcheck failed but element-wise differences are small. This means that the\n"
    "test might've passed in slow_mode! Try fast_mode=False."
)
OF_A_PART = "While considering the {} part of complex outputs only, "
NOT_BATCHED = "gradcheck or gradgradcheck failed while testing batched gradient computation."
UNDEFINED_CHECKED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by "
    "default, but it may break existing callers of this function. If this is true for you, you "
    'can call this function with "check_undefined_grad=False" to disable the feature'
)
UNHANDLED = "Expected backward function to handle undefined output grads."
NOT_ZERO = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
)
