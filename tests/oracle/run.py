"""Runs one case under one library and describes all that came of it in neutral terms.

An answer is made of dicts, lists, strings, numbers and numpy arrays. Keys at their usual value
(a leaf, no grad, version 0, no alias) are left out.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from tests.rounding import bound

from .spec import Case


def first_sentence(text: str) -> str:
    """The first sentence of the first line of a message, without the full stop."""
    line = re.sub(r"\btorch(\.|::)", r"tinynet\1", text.split("\n", 1)[0])
    return re.split(r"(?<!i\.e)(?<!e\.g)(?<=[\w)\]'`])\.(?:\s|$)", line, maxsplit=1)[0].strip()


def close(expected: np.ndarray, got: np.ndarray) -> bool:
    """Whether two arrays of one shape hold the same numbers, NaN and inf in the same places.

    Integers and booleans exactly, floats to what their roundings may differ by in two libraries, of
    the largest number: 2 in float16, which is computed in float32, 100 in float32, and 10^5 in
    float64, where inverses of matrices are compared.
    """
    if expected.dtype.kind != "f":
        return bool(np.array_equal(expected, got))
    finite = np.abs(expected[np.isfinite(expected)])
    tolerance = 2 * bound(expected.dtype, {2: 2, 4: 100, 8: 10**5}[expected.itemsize])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    return np.allclose(got, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def describe_error(error: Exception) -> dict[str, str]:
    """The built-in class that `except` would name, and the first sentence."""
    builtin = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
    return {"raises": builtin.__name__, "says": first_sentence(str(error))}


def describe_tensor(tensor: Any, inputs: list[Any]) -> dict[str, Any]:
    """Everything that a user can see of a tensor; aliases are numbers of inputs."""
    node: dict[str, Any] = {}
    if tensor.requires_grad:
        node["requires_grad"] = True
    if not tensor.is_leaf:
        node["is_leaf"] = False
    if tensor.grad_fn is not None:
        node["grad_fn"] = type(tensor.grad_fn).__name__
    if tensor._version:
        node["version"] = tensor._version
    array = tensor.detach().numpy()
    same = [number for number, x in enumerate(inputs) if x is tensor]
    views = [n for n, x in enumerate(inputs) if np.shares_memory(array, x.detach().numpy())]
    if same:
        node["is_input"] = same
    elif views:
        node["shares_memory_with_input"] = views
    return {"tensor": array.copy(), **node}


def describe(tn: Any, value: Any, inputs: list[Any]) -> Any:
    """A result of any kind in neutral terms."""
    if isinstance(value, tn.Tensor):
        return describe_tensor(value, inputs)
    if isinstance(value, np.ndarray):
        return {"numpy": value.copy()}
    if isinstance(value, (list, tuple)):
        return [describe(tn, part, inputs) for part in value]
    if isinstance(value, dict):
        return {key: describe(tn, part, inputs) for key, part in value.items()}
    if isinstance(value, Exception):
        return describe_error(value)
    if isinstance(value, str):
        return value.replace("torch.", "tinynet.")
    if value is None or type(value) in (bool, int, float):
        return value
    if type(value).__name__ == "dtype":
        return str(value).rpartition(".")[2]
    raise TypeError(f"A case returned a {type(value).__name__}, which cannot be compared.")


def tensors_in(tn: Any, value: Any) -> list[Any]:
    """The tensors of a result, in order."""
    if isinstance(value, tn.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return (
        [t for part in parts for t in tensors_in(tn, part)]
        if isinstance(value, (list, tuple, dict))
        else []
    )


def random_like(tn: Any, tensors: list[Any], random: np.random.RandomState) -> list[Any]:
    arrays = [t.detach().numpy() for t in tensors]
    return [tn.tensor(np.round(random.uniform(-2, 2, a.shape), 3).astype(a.dtype)) for a in arrays]


def numbers(tensor: Any) -> np.ndarray | None:
    """The numbers of a gradient; PyTorch's lazy tensor of zeros is one that must be cloned."""
    return None if tensor is None else tensor.detach().clone().numpy()


def same_arrays(one: list[Any], other: list[Any]) -> bool:
    return all(
        a is b if a is None or b is None else a.shape == b.shape and close(a, b)
        for a, b in zip(one, other, strict=True)
    )


def gradients(tn: Any, case: Case, outputs: list[Any], inputs: list[Any]) -> dict[str, Any]:
    """First-order gradients and, in float64, second-order ones.

    The first order is computed twice, plain and with `create_graph`; the second result is
    part of the answer only if it differs from the first, which it never should.

    The second order differentiates sum(gradient * weights) by the inputs and by the incoming
    gradient. There, an unused input and a gradient of zeros are the same thing: which of the two
    comes out is not promised.
    """
    incoming = random_like(tn, outputs, case.random("incoming"))
    plain = tn.autograd.grad(outputs, inputs, incoming, retain_graph=True, allow_unused=True)
    answer: dict[str, Any] = {"gradients": [numbers(g) for g in plain]}
    if not case.second_order or any(x.dtype != tn.float64 for x in inputs + outputs):
        return answer
    incoming = [g.requires_grad_() for g in incoming]
    recorded = tn.autograd.grad(outputs, inputs, incoming, create_graph=True, allow_unused=True)
    graph = [numbers(g) for g in recorded]
    if not same_arrays(answer["gradients"], graph):
        answer["gradients_with_create_graph"] = graph
    weights = random_like(tn, inputs, case.random("weights"))
    differentiable = [n for n, g in enumerate(recorded) if g is not None and g.requires_grad]
    by = inputs + incoming
    second = [None] * len(by)
    if differentiable:
        first = [recorded[n] for n in differentiable]
        second = tn.autograd.grad(
            first, by, [weights[n] for n in differentiable], allow_unused=True
        )
    answer["second"] = [
        np.zeros(tuple(x.shape)) if g is None else numbers(g)
        for x, g in zip(by, second, strict=True)
    ]
    return answer


def answer(tn: Any, case: Case) -> dict[str, Any]:
    """What `case` does under the library `tn`."""
    random = case.random("inputs")
    inputs = [spec.build(tn, random) for spec in case.inputs]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = _answer(tn, case, inputs)
    if heard:
        said = dict.fromkeys((w.category.__name__, str(w.message)) for w in heard)
        found["warns"] = [{"raises": kind, "says": first_sentence(text)} for kind, text in said]
    return found


def _answer(tn: Any, case: Case, inputs: list[Any]) -> dict[str, Any]:
    try:
        result = case.call(tn, *inputs)
    except Exception as error:  # whatever comes is the answer
        return {"call": describe_error(error), "versions": [x._version for x in inputs]}
    found = {"result": describe(tn, result, inputs), "versions": [x._version for x in inputs]}
    outputs = [t for t in tensors_in(tn, result) if t.requires_grad]
    sources = [x for x in inputs if x.requires_grad]
    if outputs and sources:
        try:
            found |= gradients(tn, case, outputs, sources)
        except Exception as error:  # whatever comes is the answer
            found["backward"] = describe_error(error)
    return found


def ending(found: dict[str, Any]) -> str:
    """Where the case ended, in the words of `Case.ends`."""
    if "call" in found:
        return "in the call"
    return "in backward" if "backward" in found else "well"
