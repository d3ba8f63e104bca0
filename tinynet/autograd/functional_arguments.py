"""Checks of arguments and results of ``autograd.functional``, including strict mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.autograd.derivatives import grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops import zeros_like

Tensors = tuple[Tensor, ...]
Gradients = Sequence[Tensor | None]

OUTPUTS = "outputs of the user-provided function"
NOT_STRICT = " This is not allowed in strict mode."


# ---- arguments ----------------------------------------------------------------------------------


def as_tuple(value: Any, what: str, function: str) -> tuple[bool, Tensors]:
    """Return whether ``value`` is a tuple, and the value as a tuple."""
    several = isinstance(value, tuple)
    found = value if several else (value,)
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            which = f"value at index {i}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors "
                f"but the {which} has type {type(x)}."
            )
    return several, found


def inputs_of(inputs: Any, function: str, create_graph: bool) -> tuple[bool, Tensors]:
    """Return whether ``inputs`` is a tuple, and fresh tensors in its place."""
    several, found = as_tuple(inputs, "inputs", function)
    return several, fresh(found, create_graph)


def fresh(tensors: Tensors, create_graph: bool, requires_grad: bool = True) -> Tensors:
    """Return new tensors over the same memory, distinct from tensors captured by the function."""
    return tuple(
        t.view_as(t)
        if create_graph and t.requires_grad
        else t.detach().requires_grad_(requires_grad)
        for t in tensors
    )


def vector(v: Any, like: Tensors, several: bool, function: str, create_graph: bool) -> Tensors:
    """Return ``v`` as a tuple; its sizes must equal those of ``like``."""
    _, found = as_tuple(v, "v", function)
    found = fresh(found, create_graph, requires_grad=False)
    if len(found) != len(like):
        if not several:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}."
        )
    for i, (x, t) in enumerate(zip(found, like, strict=True)):
        if x.shape != t.shape:
            which = f"Entry {i} in v" if several else "v"
            raise RuntimeError(f"{which} has invalid size: should be {t.shape} but got {x.shape}.")
    return found


def input_vector(
    v: Any, inputs: Tensors, several: bool, function: str, create_graph: bool
) -> Tensors | None:
    """Return ``v`` for a product with a matrix that has a column per input element."""
    if v is not None:
        return vector(v, inputs, several, function, create_graph)
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a "
            "single Tensor with a single element."
        )
    return None


def results(tensors: Sequence[Any], several: bool, create_graph: bool) -> Any:
    """Return results as a tensor or a tuple, with or without history."""
    found = tuple(tensors) if create_graph else tuple(t.detach() for t in tensors)
    return found if several else found[0]


# ---- what strict mode refuses -------------------------------------------------------------------


def outputs_of(function: str, made: Any, strict: bool) -> tuple[bool, Tensors]:
    """Return whether the function returned a tuple, and its result as a tuple."""
    several, found = as_tuple(made, OUTPUTS, function)
    for i, t in enumerate(found):
        if strict and not t.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The "
                "outputs must be computed in a differentiable manner from the input when running "
                "in strict mode."
            )
    return several, found


def single_output(function: str, made: Any, strict: bool) -> Tensor:
    """Return the only output; it must have one element."""
    several, (out, *_) = outputs_of(function, made, strict)
    if several:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if out.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {function} should contain a single "
            "element"
        )
    return out


def check_slope(slope: Gradients, strict: bool, message: str) -> None:
    """In strict mode, refuse first derivatives that do not depend on the inputs."""
    for i, g in enumerate(slope if strict else ()):
        if g is None:
            raise RuntimeError(UNUSED["back"].format(i))
        if not g.requires_grad:
            raise RuntimeError(message.format(i))


LINEAR = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided "
    "function. This is not allowed in strict mode."
)
CONSTANT_SLOPE = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {} is independent of the input. This is not allowed in strict mode. You "
    "should ensure that your function is twice differentiable and that the jacobian depends on "
    "the inputs (this would be violated by a linear function for example)."
)
# The errors of strict mode for an entry i of a product that is not part of the graph.
UNUSED = {
    "back": "The output of the user-provided function is independent of input {}." + NOT_STRICT,
    "back_trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs "
        "when using the double backward trick to compute forward mode gradients." + NOT_STRICT
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {}." + NOT_STRICT
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {} in the "
        "grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
        "backward trick to replace forward mode AD."
    ),
}


def filled(
    grads: Gradients, like: Tensors, strict: bool, create_graph: bool, stage: str
) -> list[Tensor]:
    """Return gradients with zeros for None, which strict mode refuses."""
    found = []
    for i, (g, t) in enumerate(zip(grads, like, strict=True)):
        if strict and g is None:
            raise RuntimeError(UNUSED[stage].format(i))
        if strict and create_graph and g is not None and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is "
                "not allowed in strict mode when create_graph=True."
            )
        found.append(zeros_like(t) if g is None else g)
    return found


def gradients(
    outputs: Gradients,
    inputs: Tensors,
    directions: Gradients | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> Gradients:
    """Return the gradients of outputs that require grad; None for inputs that they do not use."""
    given = directions or [None] * len(outputs)
    used = [
        (o, d) for o, d in zip(outputs, given, strict=True) if o is not None and o.requires_grad
    ]
    if not used:
        return [None] * len(inputs)
    starts, starting = zip(*used, strict=True)
    return grad(starts, inputs, starting, retain_graph, create_graph, allow_unused=True)
