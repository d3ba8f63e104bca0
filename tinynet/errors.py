"""Every message that users can match on, as functions that return exceptions.

The first sentence is PyTorch's, with ``tinynet`` where it prints ``torch`` (and the seeds' wording
where PyTorch has changed since). What follows names the lines and the fix.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet.invocation import command

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
DIRTY_NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function."
)
AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {} block (if you "
    "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
NOT_RECORDED = "element {} of tensors does not require grad and does not have a grad_fn"
SCALAR_ONLY = "grad can be implicitly created only for scalar outputs"
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead."
)
LOST = f"More: {command('explain', 'lost-gradient')}"
CONVERTED_GRAD = (
    NON_LEAF_GRAD
    + " Here {} converted the leaf, and so made a result of it: convert first, then call "
    "requires_grad_() on what that returns. " + LOST
)
NO_GRAD_GRAD = (
    "The .grad of this tensor is None, and stays so: it was computed under no_grad from a tensor "
    "that requires grad, and requires none itself. If it took the place of a parameter "
    "(`w = w - lr * w.grad`), change the parameter in place instead: `w -= lr * w.grad`. " + LOST
)
BACKWARD_OF_LEAF = (
    "backward() was called on a leaf: nothing but its own .grad is computed. If it is a loss, it "
    "was cut off from the parameters on the way (by detach(), .data, .item(), numpy or no_grad), "
    "and requires_grad = True does not connect it again: let it depend on them. " + LOST
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


def explained(topic: str) -> str:
    """Return the line that names the page on an error, see ``tinynet/explanations``."""
    return f"  explain  {command('explain', topic)}"


class LostGradientWarning(UserWarning):
    """Something that raises nothing, and trains nothing either.

    Said once per line. ``warnings.simplefilter("ignore", tinynet.errors.LostGradientWarning)``
    silences all of its kind.
    """


class LinAlgError(RuntimeError):
    """A matrix has no inverse, no Cholesky factor, or an algorithm did not converge."""


LinAlgError.__module__ = "tinynet.linalg"


class AllocationError(RuntimeError, MemoryError):
    """Memory has no room for an array: a RuntimeError in PyTorch, a MemoryError in numpy."""


# How numpy begins to say so; a size that overflows becomes a negative one.
TOO_LARGE = (
    "array is too big",
    "iterator is too large",
    "Maximum allowed",
    "negative dimensions are not allowed",
)


def unallocated(error: Exception) -> Exception:
    """Return PyTorch's error where numpy found no room for an array; others as they are."""
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
    """Raise PyTorch's error instead of one that means that memory has no room."""
    if (known := unallocated(error)) is not error:
        raise known from None


def allocating(function: F) -> F:
    """Let a function that makes arrays outside operations raise PyTorch's errors of memory."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (MemoryError, ValueError) as error:
            refuse_unallocated(error)
            raise

    return guarded  # type: ignore[return-value]


class AutogradError(RuntimeError):
    """An error of autograd that knows the lines it is about.

    Attributes:
        saved_at: where the value was saved (a ``Location`` or None).
        changed_by: where it was changed, oldest first.
        needed_at: where the backward ran.
        hint: the fix, as the message shows it.
        topic: name of the page in ``tinynet/explanations`` that says more.
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
            body.append(f"  fix      {hint}")
        if topic:
            body.append(explained(topic))
        super().__init__("\n".join(body))
        self.saved_at = saved_at
        self.changed_by = list(changed_by)
        self.needed_at = needed_at
        self.hint = hint
        self.topic = topic


# Users of PyTorch know it as RuntimeError: tracebacks begin with its very words.
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
    """Return the sentence for a second backward through a graph whose values are gone."""
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
        output: what the view is the output of, ``"0 of Unbind"``; None if it has no history.
        indirectly: its base was written, not the view itself.
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
    """Backward was called on a tensor without history."""
    return AutogradError(
        NOT_RECORDED.format(index),
        needed_at=needed,
        hint=(
            "no leaf behind it requires grad, or it was detached on the way: look for the first "
            "tensor of the forward whose requires_grad is False (setting it on this one trains "
            "nothing)"
        ),
        topic="not-recorded",
    )


def not_scalar(shape: Sequence[int], needed: Any) -> AutogradError:
    """Backward was called on several elements without a gradient."""
    return AutogradError(
        SCALAR_ONLY,
        needed_at=needed,
        hint=(
            f"this tensor has the shape {list(shape)}: reduce it first, `.sum().backward()` or "
            "`.mean().backward()`, or pass its gradient, `.backward(gradient)`"
        ),
        topic="scalar-only",
    )


def not_leaf_flag() -> RuntimeError:
    """``requires_grad`` was set on a non-leaf."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach()."
    )


def not_floating() -> RuntimeError:
    """``requires_grad`` was set on an integer tensor."""
    return RuntimeError("only Tensors of floating point dtype can require gradients")


def grad_shape(index: int, grad: Sequence[int], output: Sequence[int]) -> RuntimeError:
    """A gradient passed to backward has another shape than its output."""
    return RuntimeError(
        f"Mismatch in shape: grad_output[{index}] has a shape of tinynet.Size({list(grad)}) and "
        f"output[{index}] has a shape of tinynet.Size({list(output)})."
    )


def unused(index: int, needed: Any) -> AutogradError:
    """An input of ``autograd.grad`` is not part of the graph."""
    return AutogradError(
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior.",
        needed_at=needed,
        hint="ask for the very tensor that the forward used: every operation makes a new one",
        topic="unused-input",
    )


def mixed_dtypes(sentence: str) -> RuntimeError:
    """The operands of a product, or an input and the weights of a layer, differ in dtype."""
    return RuntimeError(
        f"{sentence}\n  Convert one of them: `x.float()` makes float32, as layers have it, of the "
        "float64 of numpy or of integers; `module.double()` makes the weights float64."
    )


def not_broadcastable(a: Sequence[int], b: Sequence[int]) -> RuntimeError:
    """Two shapes do not broadcast."""
    for back in range(1, min(len(a), len(b)) + 1):
        x, y = a[-back], b[-back]
        if x != y and 1 not in (x, y):
            dim = max(len(a), len(b)) - back
            return RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at "
                f"non-singleton dimension {dim}"
            )
    raise AssertionError(f"{a} and {b} do broadcast")


def output_shape(output: Sequence[int], needed: Sequence[int]) -> RuntimeError:
    """An in-place result is larger than the tensor it would be written to."""
    return RuntimeError(
        f"output with shape {list(output)} doesn't match the broadcast shape {list(needed)}"
    )


def not_written(target: Sequence[int], source: Sequence[int]) -> RuntimeError:
    """A tensor was to be written with one of another shape."""
    try:
        return output_shape(target, np.broadcast_shapes(tuple(target), tuple(source)))
    except ValueError:
        return not_broadcastable(target, source)


def cannot_cast(result: str, target: str) -> RuntimeError:
    """An in-place result has a dtype of a higher category than its target."""
    return RuntimeError(f"result type {result} can't be cast to the desired output type {target}")


def overlapping() -> RuntimeError:
    """An in-place write to a tensor whose elements share memory."""
    return RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )


def dim_range(dim: int, ndim: int) -> IndexError:
    """A dimension is out of range."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
    )


def must_be_tensor(function: str, argument: str, position: int, got: Any) -> TypeError:
    """An argument is not a tensor."""
    kind = f"{'numpy.' * isinstance(got, np.ndarray)}{type(got).__name__}"
    return TypeError(
        f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {kind}"
    )


def must_be_generator(function: str, got: Any) -> TypeError:
    """What random numbers shall come from is not a generator."""
    kind = type(got).__name__
    return TypeError(f"{function}(): argument 'generator' must be tinynet.Generator, not {kind}")


VMAP_IN_PLACE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
    "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
    "operators instead of inplace arithmetic. If said operator is being called inside the PyTorch "
    "framework, please file a bug report instead."
)
