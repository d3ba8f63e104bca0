"""The reentrant variant of checkpointing: a Function whose backward runs backward."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tinynet.autograd.derivatives import backward
from tinynet.autograd.function import Function
from tinynet.autograd.function_node import FunctionNode
from tinynet.core.graph.node import Freed
from tinynet.core.modes import enable_grad, mode, no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.random import default_generator, fork_rng


@dataclass
class Conditions:
    """What a function runs under that the backward pass may not have: random numbers, autocast."""

    preserve_rng_state: bool

    def __post_init__(self) -> None:
        self.state = default_generator.position() if self.preserve_rng_state else None
        self.autocast = mode.autocast

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Restore the conditions for a block."""
        with fork_rng(enabled=self.state is not None):
            if self.state is not None:
                default_generator.go_to(self.state)
            before, mode.autocast = mode.autocast, self.autocast
            try:
                yield
            finally:
                mode.autocast = before


class CheckpointFunction(Function):
    """Runs a function unrecorded, and again with recording in backward."""

    @staticmethod
    def forward(
        ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        """Run the function; save only its arguments."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        if not any(t.requires_grad for t in tensors):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning,
                stacklevel=4,  # forward, apply, checkpoint
            )
        ctx.run_function = run_function
        ctx.conditions = Conditions(preserve_rng_state)
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.is_tensor = [isinstance(a, Tensor) for a in args]
        ctx.save_for_backward(*tensors)
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Any, ...]:
        """Run the function again, then backward through it; this sets ``.grad`` of parameters."""
        tensors = iter(ctx.saved_tensors)
        args = []
        for other, is_tensor in zip(ctx.others, ctx.is_tensor, strict=True):
            if is_tensor:
                t = next(tensors)
                args.append(t.detach().requires_grad_(t.requires_grad))
            else:
                args.append(other)
        with ctx.conditions.again(), enable_grad():
            made = ctx.run_function(*args)
        outputs = made if isinstance(made, tuple) else (made,)
        if len(outputs) != len(grad_outputs):
            raise RuntimeError(
                f"checkpoint: the function returned {len(grad_outputs)} outputs in the forward "
                f"pass, but {len(outputs)} when the backward pass ran it again. It must return "
                "the same outputs both times."
            )
        pairs = [
            (o, g)
            for o, g in zip(outputs, grad_outputs, strict=True)
            if isinstance(o, Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


class CheckpointFunctionBackward(FunctionNode):
    """The node of a checkpointed call."""

    function = CheckpointFunction

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Run backward; raise for passes that compute the gradients of only some tensors."""
        self._check(wanted)
        return super().backward(g, freed, wanted)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Do the same for recorded passes."""
        self._check(wanted)
        return super().backward_recorded(g, freed, wanted)

    def _check(self, wanted: Any) -> None:
        if wanted is not None:
            raise RuntimeError(
                "When use_reentrant=True, tinynet.utils.checkpoint is incompatible with .grad() "
                "or passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )


CheckpointFunction._backward_cls = CheckpointFunctionBackward
