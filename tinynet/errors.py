"""The messages that users can match on, as functions that return exceptions.

The first sentence is PyTorch's, with ``tinynet`` in place of ``torch`` (or an older wording that
PyTorch has since changed). The rest names the lines involved and the fix.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet.base import invocation

F = TypeVar("F", bound=Callable[..., Any])

VIEW_AND_INPLACE = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by "
    "an out-of-place one."
)
VIEW_OF_FUNCTION = (
    "This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
LEAF_WRITTEN = "a leaf Variable that requires grad has been used in an in-place operation."
AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {} block (if you "
    "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead."
)
CONVERTED_GRAD = NON_LEAF_GRAD + (
    " Here {} converted the leaf and returned a new tensor, which is not a leaf: convert first, "
    "then call requires_grad_() on the result."
)
NO_GRAD_GRAD = (
    "The .grad of this tensor is None and will stay None: the tensor was computed under no_grad, "
    "so it does not require grad. If it was meant to update a parameter (`w = w - lr * w.grad`), "
    "change the parameter in place instead: `w -= lr * w.grad`."
)
BACKWARD_OF_LEAF = (
    "backward() was called on a leaf: only its own .grad is computed. If it is a loss, something "
    "detached it from the parameters (detach(), .data, .item(), numpy or no_grad), and "
    "requires_grad = True does not reconnect it: remove whatever detached it."
)
SCALAR_WITH_GRAD = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
    "the moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)
UNSEEN = (
    "one of the variables needed for gradient computation has been modified without autograd's "
    "knowledge: the contents of [{}] differ from what was saved, at the same version."
)
CREATE_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


FIX = "  fix      "  # begins the line of a message that says what to do


def with_fix(sentence: str, fix: str) -> str:
    """Return a message: PyTorch's sentence, and a line that says what to do."""
    return f"{sentence}\n{FIX}{fix}"


def explained(topic: str) -> str:
    """Return the line that names the page about an error, see ``tinynet/core/explanations``."""
    return f"  explain  {invocation.command('explain', topic)}"


def more(topic: str) -> str:
    """Return the last sentence of a warning, which names its page."""
    return f" More: {invocation.command('explain', topic)}"


class TrainingWarning(UserWarning):
    """A mistake that raises no error, but keeps a model from learning; issued once per line.

    ``warnings.simplefilter("ignore", tinynet.errors.TrainingWarning)`` silences these warnings.
    """


class LostGradientWarning(TrainingWarning):
    """A gradient that never arrives although no line raises an error."""


class LinAlgError(RuntimeError):
    """A matrix without an inverse or Cholesky factor, or an algorithm that did not converge."""


LinAlgError.__module__ = "tinynet.linalg"


class AllocationError(RuntimeError, MemoryError):
    """A failure to allocate an array: a RuntimeError in PyTorch, a MemoryError in numpy."""


# The first words of numpy's errors for sizes that overflow; an overflow can make them negative.
TOO_LARGE = ("array is too big", "iterator is too large", "Maximum allowed", "negative dimensions")


def unallocated(error: Exception) -> Exception:
    """Return PyTorch's error if numpy could not allocate an array, else ``error`` itself."""
    if isinstance(error, MemoryError) and not isinstance(error, AllocationError):
        text = "DefaultCPUAllocator: can't allocate memory"
        shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
        if shape is not None and dtype is not None:  # numpy's own
            size = math.prod(shape) * dtype.itemsize
            text += (
                f": you tried to allocate {size} bytes. Error code 12 (Cannot allocate memory)\n"
                f"  for an array of shape {list(shape)} and dtype {dtype}"
            )
        return AllocationError(text)
    if isinstance(error, ValueError) and str(error).startswith(TOO_LARGE):
        return RuntimeError("Storage size calculation overflowed")
    return error


def refuse_unallocated(error: Exception) -> None:
    """Raise PyTorch's error if ``error`` means that numpy could not allocate an array."""
    if (known := unallocated(error)) is not error:
        raise known from None


def allocating(function: F) -> F:
    """Decorate a function that makes arrays outside operations to raise PyTorch's memory errors."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (MemoryError, ValueError) as error:
            refuse_unallocated(error)
            raise

    return guarded  # type: ignore[return-value]


class AutogradError(RuntimeError):
    """An autograd error that names the lines of code involved.

    Attributes:
        saved_at: where the value was saved (a ``Location`` or None).
        changed_by: where it was changed, oldest first.
        needed_at: where the backward pass ran.
        hint: the fix, as shown in the message.
        topic: name of the page in ``tinynet/core/explanations`` with more details.
    """

    def __init__(
        self,
        sentence: str,
        *,
        lines: Sequence[str] = (),
        saved_at: Any = None,
        changed_by: Sequence[Any] = (),
        needed_at: Any = None,
        hint: str = "",
        topic: str = "",
    ):
        body = [sentence, *lines]
        if hint:
            body.append(FIX + hint)
        if topic:
            body.append(explained(topic))
        super().__init__("\n".join(body))
        self.saved_at = saved_at
        self.changed_by = list(changed_by)
        self.needed_at = needed_at
        self.hint = hint
        self.topic = topic


# PyTorch raises a RuntimeError here, so tracebacks show that name.
AutogradError.__name__ = AutogradError.__qualname__ = "RuntimeError"
AutogradError.__module__ = "builtins"


INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `tinynet.no_grad()` instead of "
    "`tinynet.inference_mode()`."
)
INFERENCE_WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone "
    "to get a normal tensor before doing inplace update."
)
INFERENCE_FLAG = (
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
)
INFERENCE_VERSION = "Inference tensors do not track version counter."


def modified(kind: str, output: str, version: int, expected: int) -> str:
    """Return the sentence for a saved value that was changed in place."""
    which = f", which is {output}," if output else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind}]{which} is at version {version}; expected version {expected} instead."
    )


def freed(what: str = "saved intermediate results") -> str:
    """Return the sentence for a second backward through a graph whose values are freed."""
    return (
        f"Trying to backward through the graph a second time, but the {what} have already been "
        "freed. Specify retain_graph=True when calling backward the first time."
    )


LEAF_IN_PLACE = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)
LEAF_MOVED = "leaf variable has been moved into the graph interior"


def view_written(origin: str, output: str | None, indirectly: bool) -> str:
    """Return the sentence for an in-place write to a view that does not allow it.

    Args:
        origin: ``"multiple"``, ``"function"``, ``"no_grad"`` or ``"inference_mode"``.
        output: the output number and node of the view, ``"0 of Unbind"``; None without history.
        indirectly: True if its base was written, not the view itself.
    """
    advice = {"multiple": VIEW_AND_INPLACE, "function": VIEW_OF_FUNCTION}
    modes = {
        "no_grad": ("no_grad mode", "with grad mode enabled"),
        "inference_mode": ("inference mode", "in normal mode"),
    }
    what = "is being modified inplace"
    if indirectly:
        what = "its base or another view of its base has been modified inplace"
    if origin in advice and output is not None:
        return f"Output {output} is a view and {what}. {advice[origin]}"
    made, written = modes.get(origin, modes["no_grad"])
    view = "A view was" if output is None else f"Output {output} is a view of a view which was"
    advised = advice.get(origin) or AMBIGUOUS.format(origin)
    return f"{view} created in {made} and {what} {written}. {advised}"


def not_recorded(index: int, needed: Any) -> AutogradError:
    """Return the error for backward on a tensor without history."""
    return AutogradError(
        f"element {index} of tensors does not require grad and does not have a grad_fn",
        needed_at=needed,
        hint=(
            "none of its leaves requires grad, or it was detached on the way: find the first "
            "tensor of the forward whose requires_grad is False (setting it on this tensor does "
            "not train anything)"
        ),
        topic="not-recorded",
    )


def not_scalar(shape: Sequence[int], needed: Any) -> AutogradError:
    """Return the error for backward on several elements without a gradient."""
    return AutogradError(
        "grad can be implicitly created only for scalar outputs",
        needed_at=needed,
        hint=(
            f"this tensor has shape {list(shape)}: reduce it first, `.sum().backward()` or "
            "`.mean().backward()`, or pass its gradient, `.backward(gradient)`"
        ),
        topic="scalar-only",
    )


def not_leaf_flag() -> RuntimeError:
    """Return the error for setting ``requires_grad`` on a non-leaf."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach()."
    )


def not_floating() -> RuntimeError:
    """Return the error for setting ``requires_grad`` on an integer tensor."""
    return RuntimeError("only Tensors of floating point dtype can require gradients")


def grad_shape(index: int, grad: Sequence[int], output: Sequence[int]) -> RuntimeError:
    """Return the error for a gradient whose shape differs from its output's."""
    return RuntimeError(
        f"Mismatch in shape: grad_output[{index}] has a shape of tinynet.Size({list(grad)}) and "
        f"output[{index}] has a shape of tinynet.Size({list(output)})."
    )


def unused(index: int, needed: Any) -> AutogradError:
    """Return the error for an input of ``autograd.grad`` that is not part of the graph."""
    return AutogradError(
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior.",
        needed_at=needed,
        hint="pass the same tensor object that the forward used: every operation makes a new one",
        topic="unused-input",
    )


def mixed_dtypes(sentence: str) -> RuntimeError:
    """Return the error for operands, or a layer's input and weights, that differ in dtype."""
    fix = (
        "convert one of them: `x.float()` converts numpy's float64, or integers, to the float32 "
        "of layers; `module.double()` converts the weights to float64"
    )
    return RuntimeError(with_fix(sentence, fix))


def not_broadcastable(a: Sequence[int], b: Sequence[int]) -> RuntimeError:
    """Return the error for two shapes that do not broadcast."""
    for back, (x, y) in enumerate(zip(a[::-1], b[::-1], strict=False), 1):
        if x != y and 1 not in (x, y):
            return RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at "
                f"non-singleton dimension {max(len(a), len(b)) - back}"
            )
    raise AssertionError(f"{a} and {b} do broadcast")


def output_shape(output: Sequence[int], needed: Sequence[int]) -> RuntimeError:
    """Return the error for an in-place result that is larger than its target."""
    return RuntimeError(
        f"output with shape {list(output)} doesn't match the broadcast shape {list(needed)}"
    )


def not_written(target: Sequence[int], source: Sequence[int]) -> RuntimeError:
    """Return the error for writing a tensor to one of another shape."""
    try:
        return output_shape(target, np.broadcast_shapes(tuple(target), tuple(source)))
    except ValueError:
        return not_broadcastable(target, source)


def cannot_cast(result: str, target: str) -> RuntimeError:
    """Return the error for an in-place result whose dtype category is above its target's."""
    return RuntimeError(f"result type {result} can't be cast to the desired output type {target}")


def overlapping() -> RuntimeError:
    """Return the error for an in-place write to a tensor whose elements share memory."""
    return RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )


def dim_range(dim: int, ndim: int) -> IndexError:
    """Return the error for a dimension that is out of range."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
    )


def must_be_tensor(function: str, argument: str, position: int, got: Any) -> TypeError:
    """Return the error for an argument that is not a tensor."""
    kind = f"{'numpy.' * isinstance(got, np.ndarray)}{type(got).__name__}"
    return not_a_tensor(
        f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {kind}", got
    )


def not_a_tensor(sentence: str, got: Any) -> TypeError:
    """Return the error for what is not a tensor, with the fix for an array."""
    narrow = ".float()" * (getattr(got, "dtype", None) == np.float64)
    fix = f"make a tensor of the array: `tn.from_numpy(x){narrow}`"
    return TypeError(with_fix(sentence, fix) if isinstance(got, np.ndarray) else sentence)


VMAP_IN_PLACE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
    "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
    "operators instead of inplace arithmetic. If said operator is being called inside the PyTorch "
    "framework, please file a bug report instead."
)
