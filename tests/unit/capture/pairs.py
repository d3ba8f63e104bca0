"""Compiled against eager: the same program twice, from the same seed, compared after each call."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tinynet as tn
from tinynet.compiler import CompileWarning
from tinynet.nn import Module
from tinynet.optim import Optimizer

CALLS = 5


def same(a: Any, b: Any, where: str = "") -> None:
    """Assert that two results are the same to the bit."""
    assert type(a) is type(b), where
    if isinstance(a, tn.Tensor):
        assert a.is_sparse == b.is_sparse and a.dtype == b.dtype, where
        assert a.requires_grad == b.requires_grad, f"{where}: requires_grad"
        assert a.is_leaf == b.is_leaf, f"{where}: is_leaf"
        x, y = ((t.to_dense() if t.is_sparse else t).detach().numpy() for t in (a, b))
        assert x.shape == y.shape, where
        assert np.array_equal(x, y, equal_nan=x.dtype.kind == "f"), f"{where}: {x} and {y}"
        assert np.array_equal(np.signbit(x), np.signbit(y)) if x.dtype.kind == "f" else True, where
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert [*a] == [*b], where
        for key in a:
            same(a[key], b[key], f"{where}.{key}")
    else:
        assert a == b or (a != a and b != b), f"{where}: {a} and {b}"


def visible(thing: Any) -> Any:
    """Return all that a program can see of a tensor, module or optimizer."""
    if isinstance(thing, tn.Tensor):
        grad = None if thing.grad is None else (thing.grad.detach(), thing.grad._version)
        return thing.detach(), thing._version, thing.requires_grad, grad
    if isinstance(thing, Module):
        tensors = dict(thing.named_parameters()) | dict(thing.named_buffers())
        return {name: visible(t) for name, t in tensors.items()}, thing.training
    if isinstance(thing, Optimizer):
        return thing.state_dict()
    if isinstance(thing, (tuple, list)):
        return [visible(part) for part in thing]
    if isinstance(thing, dict):
        return {key: visible(part) for key, part in thing.items()}
    return thing.state_dict() if hasattr(thing, "state_dict") else thing


def outcome(function: Callable[..., Any], args: Any) -> Any:
    """Return the result of a call, or its error."""
    try:
        return function(*args)
    except Exception as error:  # whatever comes is the outcome
        return type(error), str(error).split("\n")[0]


def compare(
    build: Callable[[], tuple[Any, Callable[..., Any]]],
    inputs: Callable[[int], tuple[Any, ...]] = lambda i: (),
    *,
    calls: int = CALLS,
    between: Callable[[int, Any], Any] = lambda i, state: None,
    after: Callable[[Any, Any], Any] = lambda result, args: None,
    compile: Callable[..., Any] = tn.compile,
    call: Callable[..., Any] = lambda function, args: function(*args),
) -> str | None:
    """Run a program eagerly and compiled; return why it ran eagerly, or None if it was replayed.

    Args:
        build: returns the objects whose state is compared, and the function.
        inputs: the arguments of the i-th call.
        calls: the number of calls.
        between: is called with i and the objects before the i-th call.
        after: is called with the result and the arguments of each call, such as for a backward
            pass; its result is compared.
        compile: what compiles the function.
        call: calls the function with the arguments.
    """
    sides = []
    reason = None
    for compiling in (False, True):
        tn.manual_seed(0)
        state, function = build()
        sides.append((state, compile(function) if compiling else function))
    for i in range(calls):
        seen = []
        for state, function in sides:
            tn.manual_seed(i)
            args = inputs(i)
            between(i, state)
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                warnings.simplefilter("error", SyntaxWarning)  # of generated code
                result = outcome(call, (function, args))
                later = outcome(after, (result, args))
            for w in heard:
                if issubclass(w.category, CompileWarning):
                    reason = str(w.message)
            seen.append([result, later, visible(args), visible(state), tn.get_rng_state()])
        same(*seen, f"call {i}")
    function = sides[1][1]
    compiled = function.__dict__["forward"] if isinstance(function, Module) else function
    assert reason is not None or compiled._entries, "it was neither replayed nor warned"
    return reason
