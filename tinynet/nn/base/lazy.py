"""LazyModuleMixin: modules that infer sizes from their first input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import BUFFERS, PARAMETERS, members
from tinynet.nn.parameter import is_lazy


class LazyModuleMixin(Module):
    """A mixin for lazy layers, whose parameters get their shapes from the first input.

    ``class LazyLayer(LazyModuleMixin, Layer)`` registers each ``UninitializedParameter`` and
    ``UninitializedBuffer``, and defines ``initialize_parameters`` to materialise them. The first
    forward turns the module into an ordinary one of the class ``cls_to_become``.

    Create the optimizer after the first forward.

    Raises:
        NotImplementedError: the module is called, but does not define ``initialize_parameters``.
        RuntimeError: ``initialize_parameters`` left some parameters without a shape.
        ValueError: a parameter is used before the first forward.

    Example:
        >>> net = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(2))
        >>> net
        Sequential(
          (0): LazyLinear(in_features=0, out_features=8, bias=True)
          (1): ReLU()
          (2): LazyLinear(in_features=0, out_features=2, bias=True)
        )
        >>> net(tn.zeros(5, 3)).shape
        tinynet.Size([5, 2])
        >>> net
        Sequential(
          (0): Linear(in_features=3, out_features=8, bias=True)
          (1): ReLU()
          (2): Linear(in_features=8, out_features=2, bias=True)
        )
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(_before_load, with_module=True)
        self._initialize_hook = self.register_forward_pre_hook(_before_forward, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialise the parameters for an input; every lazy module overrides this."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Return whether this module has uninitialised parameters or buffers."""
        return any(is_lazy(t) for _, t in members(self, PARAMETERS, BUFFERS))


def materialize(tensor: Any, shape: Sequence[int]) -> bool:
    """Materialise a parameter or buffer if it is uninitialised, and return whether it was."""
    waiting = is_lazy(tensor)
    if waiting:
        tensor.materialize(shape)
    return waiting


def _before_load(module: Module, state_dict: Any, prefix: str, *rest: Any) -> None:
    """Materialise parameters with the shapes in the state dict."""
    for name, tensor in members(module, PARAMETERS, BUFFERS):
        given = state_dict.get(prefix + name)
        if given is not None and not is_lazy(given):
            materialize(tensor, given.shape)


def _before_forward(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Initialise the parameters and change the class of the module."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
