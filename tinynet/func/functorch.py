"""``functorch``: the package from which ``torch.func`` came, with its functions for modules."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import func
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module

Tensors = tuple[Tensor, ...]


def _deprecated(replacement: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a function that warns of its age, as PyTorch's does."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__

        @functools.wraps(function)
        def warned(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(
                "We've integrated functorch into PyTorch. As the final step of the integration, "
                f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a "
                f"future version of PyTorch >= 2.3. Please use `{replacement}` instead; see the "
                "PyTorch 2.0 release notes and/or the `torch.func` migration guide for more "
                "details https://pytorch.org/docs/main/func.migrating.html",
                FutureWarning,
                stacklevel=2,
            )
            return function(*args, **kwargs)

        return warned

    return decorate


vmap = _deprecated("torch.vmap")(func.vmap)
grad = _deprecated("torch.func.grad")(func.grad)
grad_and_value = _deprecated("torch.func.grad_and_value")(func.grad_and_value)
vjp = _deprecated("torch.func.vjp")(func.vjp)
jvp = _deprecated("torch.func.jvp")(func.jvp)
jacrev = _deprecated("torch.func.jacrev")(func.jacrev)
jacfwd = _deprecated("torch.func.jacfwd")(func.jacfwd)
hessian = _deprecated("torch.func.hessian")(func.hessian)
functionalize = _deprecated("torch.func.functionalize")(func.functionalize)


class FunctionalModule(Module):
    """A module without parameters of its own: they are its first argument.

    Args:
        stateless_model: a module, whose parameters are replaced in each call.
        param_names: the paths of the parameters, in the order of the argument.
    """

    def __init__(self, stateless_model: Module, param_names: Sequence[str]):
        super().__init__()
        self.stateless_model, self.param_names = stateless_model, tuple(param_names)

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Return the module's result with these parameters."""
        state = dict(zip(self.param_names, params, strict=True))
        return func.functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModuleWithBuffers(FunctionalModule):
    """A module without parameters and buffers of its own: they are its first arguments.

    Args:
        stateless_model: a module, whose parameters and buffers are replaced in each call.
        param_names, buffer_names: their paths, in the order of the arguments.
    """

    def __init__(
        self, stateless_model: Module, param_names: Sequence[str], buffer_names: Sequence[str]
    ):
        super().__init__(stateless_model, param_names)
        self.buffer_names = tuple(buffer_names)

    def forward(
        self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        """Return the module's result with these parameters and buffers."""
        names = self.param_names + self.buffer_names
        state = dict(zip(names, (*params, *buffers), strict=True))
        return func.functional_call(self.stateless_model, state, args, kwargs)


def _parts(
    model: Module, disable_autograd_tracking: bool
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Return a copy of a module that takes its state as arguments, and copies of its state."""
    apart = copy.deepcopy(model)
    params, buffers = dict(apart.named_parameters()), dict(apart.named_buffers())
    made = FunctionalModuleWithBuffers(copy.deepcopy(apart), [*params], [*buffers])
    if disable_autograd_tracking:
        for p in params.values():
            p.requires_grad_(False)
    return made, tuple(params.values()), tuple(buffers.values())


@_deprecated("torch.func.functional_call")
def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, Tensors]:
    """Return a function of parameters and inputs, and copies of the module's parameters.

    Args:
        model: a module without buffers; it stays as it is.
        disable_autograd_tracking: return parameters that need no gradient.

    Raises:
        RuntimeError: the module has buffers.

    Example:
        >>> import warnings
        >>> from tinynet.func.functorch import make_functional
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     function, params = make_functional(nn.Linear(2, 1))
        >>> function((tn.ones(1, 2), tn.zeros(1)), tn.tensor([[1.0, 2.0]]))
        tensor([[3.]])
    """
    made, params, buffers = _parts(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule(made.stateless_model, made.param_names), params


@_deprecated("torch.func.functional_call")
def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Return a function of parameters, buffers and inputs, and copies of both.

    Args:
        model, disable_autograd_tracking: as of ``make_functional``.
    """
    return _parts(model, disable_autograd_tracking)


@_deprecated("torch.func.stack_module_state")
def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Return a function of one module's state, and the stacked states of several, for ``vmap``.

    Args:
        models: modules of one class, all in training or all in evaluation mode.

    Raises:
        RuntimeError: there are no modules, or they differ in class or mode.
    """
    what = "combine_state_for_ensemble: Expected"
    if not models:
        raise RuntimeError(f"{what} at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(f"{what} all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError(f"{what} all models to be of the same class.")
    made, _, _ = _parts(models[0], False)
    params, buffers = func.stack_module_state([*models])
    return (
        made,
        tuple(p.detach() for p in params.values()),
        tuple(b.detach() for b in buffers.values()),
    )
