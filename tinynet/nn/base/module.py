"""Module: the base class of layers and models."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from tinynet import dtypes
from tinynet.core import seams, trace
from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.explanations.failures import explain
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import repeated
from tinynet.nn.base import conversion, hooks, registry, state
from tinynet.nn.base.registry import BUFFERS, MODULES, NAMESPACE, PARAMETERS, TABLES, attributes
from tinynet.nn.parameter import Buffer, Parameter

M = TypeVar("M", bound="Module")
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class _Callable(Protocol[P, R_co]):
    """Declares to type checkers that calling a module has the signature of its ``forward``."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def _table_for(value: Any) -> str | None:
    """Return the member table for a value; None if it is not a member."""
    if isinstance(value, Tensor):
        if isinstance(value, Parameter):
            return PARAMETERS
        return BUFFERS if isinstance(value, Buffer) else None
    return MODULES if isinstance(value, Module) else None


class Module(ChecksArguments):
    """A building block of models, with parameters, buffers, submodules and a ``forward``.

    Subclass it, call ``super().__init__()`` first, assign layers and parameters to attributes, and
    define ``forward``. Call the module itself rather than ``forward``, so that its hooks run.

    Attributes:
        training: True in training mode, False in evaluation mode; see ``train`` and ``eval``.

    Raises:
        AttributeError: there is no such attribute, or a member is assigned before
            ``super().__init__()``.
        NotImplementedError: the module is called, but its class does not define ``forward``.
        TypeError: an object that is not a tensor is assigned to a parameter or buffer.

    Example:
        >>> class Net(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = nn.Linear(3, 2)
        ...     def forward(self, x):
        ...         return self.fc(x).relu()
        >>> net = Net()
        >>> net
        Net(
          (fc): Linear(in_features=3, out_features=2, bias=True)
        )
        >>> net(tn.zeros(5, 3)).shape
        tinynet.Size([5, 2])
    """

    training: bool
    call_super_init: bool = False
    dump_patches: bool = False  # for PyTorch; unused
    _version: int = 1  # version of the state_dict format
    _parameters: dict[str, Parameter | None]  # the values are attributes, too: see registry.py
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _hooks: hooks.ModuleHooks | None = None
    _takes_global_hooks = True
    _state_hooks: state.StateHooks | None = None

    def __init__(self, *args: Any, **kwargs: Any):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                    f"'{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but "
                    f"{len(args) + 1} were given"
                )
        registry.set_up(self)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- running ----------------------------------------------------------------------------

    _expected_shapes: tuple[str, ...] = ()  # for messages, see core/explanations/arguments.py

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every module overrides this."""
        raise registry.no_forward(self)

    if TYPE_CHECKING:

        def __call__(self: _Callable[P, R_co], *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    else:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Run the hooks and ``forward``, in the scope of this module."""
            outer = mode.scope
            mode.scope = (outer, weakref.ref(self))
            if trace.calls.listeners:
                for follower in trace.calls.here():
                    follower.entered(self)
            try:
                if self._hooks is None:
                    return self.forward(*args, **kwargs)
                return hooks.call_with_hooks(self, args, kwargs)
            except Exception as error:
                if outer is None:
                    explain(error)
                raise
            finally:
                mode.scope = outer
                if trace.calls.listeners:
                    for follower in trace.calls.here():
                        follower.left(self)

        _call_impl = __call__

        def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
            return self._call_impl(*args, **kwargs)

        def __init_subclass__(cls, **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            if "_call_impl" in vars(cls) and "__call__" not in vars(cls):
                cls.__call__ = Module._wrapped_call_impl

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile ``forward`` in place, see ``tn.compile``.

        Args:
            *args, **kwargs: the options of ``tn.compile``.
        """
        seams.compile_forward[0](self, *args, **kwargs)

    register_forward_pre_hook = hooks.register_forward_pre_hook
    register_forward_hook = hooks.register_forward_hook
    register_full_backward_pre_hook = hooks.register_full_backward_pre_hook
    register_full_backward_hook = hooks.register_full_backward_hook
    register_backward_hook = hooks.register_backward_hook
    _forward_pre_hooks = hooks._forward_pre_hooks
    _forward_pre_hooks_with_kwargs = hooks._forward_pre_hooks_with_kwargs
    _forward_hooks = hooks._forward_hooks
    _forward_hooks_with_kwargs = hooks._forward_hooks_with_kwargs
    _forward_hooks_always_called = hooks._forward_hooks_always_called
    _backward_pre_hooks = hooks._backward_pre_hooks
    _backward_hooks = hooks._backward_hooks
    _is_full_backward_hook = hooks._is_full_backward_hook

    # ---- members ----------------------------------------------------------------------------

    register_parameter = registry.register_parameter
    register_buffer = registry.register_buffer
    _named_members = registry._named_members
    named_parameters = registry.named_parameters
    named_buffers = registry.named_buffers
    named_children = registry.named_children
    named_modules = registry.named_modules
    get_parameter = registry.get_parameter
    get_buffer = registry.get_buffer

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule; None reserves the name.

        Raises:
            TypeError: ``module`` is neither a Module nor None.
            KeyError: the name is empty, contains a dot, or is the name of another attribute.
        """
        if module is not None and not isinstance(module, Module):
            raise registry.not_a_module(module)
        registry.check_name(self, "module", name, MODULES)
        registry.join(self, name, module, MODULES)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule, as ``add_module`` does."""
        self.add_module(name, module)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield all parameters (with ``recurse``, also those of the modules inside), each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers (with ``recurse``, also those of the modules inside), each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def children(self) -> Iterator[Module]:
        """Yield the direct submodules, each once."""
        return (child for _, child in self.named_children())

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yield this module and all submodules."""
        return (m for _, m in self.named_modules(remove_duplicate=remove_duplicate))

    def get_submodule(self, target: str) -> Module:
        """Return the module at a path such as ``"encoder.0"``; ``""`` is this module itself.

        Raises:
            AttributeError: there is no such attribute, or it is not a module.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            found = registry.find(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the submodule at a path such as ``"encoder.0"``.

        Args:
            strict: only replace an existing module.

        Raises:
            ValueError: the path is empty, or ``module`` is not a Module.
            AttributeError: the path leads to something that is not a module.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def __setattr__(self, name: str, value: Any) -> None:
        table = _table_for(value)
        if table is None and registry.table_of(self, name) is None:
            if name in TABLES:
                registry.set_table(self, name, value)
            else:
                object.__setattr__(self, name, value)
        else:
            registry.assign(self, name, value, table)

    def __delattr__(self, name: str) -> None:
        if registry.table_of(self, name) is None:
            object.__delattr__(self, name)
        else:
            registry.forget(self, name)

    def __getattr__(self, name: str) -> Any:
        """Return a member; Python calls this for what it does not find, see ``registry.py``.

        The ``__getattr__`` of a subclass may call it, such as a wrapper that delegates to its
        module.
        """
        table = registry.table_of(self, name)
        return registry.look_up(self, name) if table is None else attributes(self)[table][name]

    if not TYPE_CHECKING:
        __dict__ = NAMESPACE

    def __dir__(self) -> list[str]:
        own = attributes(self)
        names = {*super().__dir__(), *(name for table in TABLES for name in own.get(table, ()))}
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles, in PyTorch's layout."""
        return {**self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state from ``__getstate__``; override it to read older pickles."""
        self.__dict__.update(state)

    # ---- values -----------------------------------------------------------------------------

    state_dict = state.state_dict
    load_state_dict = state.load_state_dict
    _save_to_state_dict = state.save_to_state_dict
    _load_from_state_dict = state.load_from_state_dict
    get_extra_state = state.get_extra_state
    set_extra_state = state.set_extra_state
    _register_state_dict_hook = state._register_state_dict_hook
    _register_load_state_dict_pre_hook = state._register_load_state_dict_pre_hook
    register_state_dict_pre_hook = state.register_state_dict_pre_hook
    register_state_dict_post_hook = state.register_state_dict_post_hook
    register_load_state_dict_pre_hook = state.register_load_state_dict_pre_hook
    register_load_state_dict_post_hook = state.register_load_state_dict_post_hook
    _state_dict_pre_hooks = state._state_dict_pre_hooks
    _state_dict_hooks = state._state_dict_hooks
    _load_state_dict_pre_hooks = state._load_state_dict_pre_hooks
    _load_state_dict_post_hooks = state._load_state_dict_post_hooks

    def apply(self: M, fn: Callable[[Module], None]) -> M:
        """Call ``fn`` on all submodules and on this module, and return self.

        Example:
            >>> def to_zero(module):
            ...     if isinstance(module, nn.Linear):
            ...         nn.init.zeros_(module.weight)
            >>> nn.Linear(2, 1).apply(to_zero).weight
            Parameter containing:
            tensor([[0., 0.]], requires_grad=True)
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    _apply = conversion.apply_to_tensors
    to = conversion.to
    to_empty = conversion.to_empty
    _replicate_for_data_parallel = conversion.replicate
    share_memory = conversion.share_memory

    float = conversion.converting("float", dtypes.float32)
    double = conversion.converting("double", dtypes.float64)
    half = conversion.converting("half", dtypes.float16)
    bfloat16 = conversion.converting("bfloat16", dtypes.bfloat16)

    def type(self: M, dst_type: Any) -> M:
        """Convert all parameters and buffers to a dtype and return self."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self: M) -> M:
        """Return self: everything is on the CPU."""
        return self

    cuda, ipu, mtia, xpu = map(conversion.elsewhere, ("cuda", "ipu", "mtia", "xpu"))

    # ---- modes ------------------------------------------------------------------------------

    def train(self: M, mode: bool = True) -> M:
        """Set this module and its submodules to training (or evaluation) mode and return self.

        The mode affects modules such as Dropout.

        Raises:
            ValueError: ``mode`` is not a bool.

        Example:
            >>> nn.Dropout().train().training, nn.Dropout().eval().training
            (True, False)
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: M) -> M:
        """Set this module and its submodules to evaluation mode and return self."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Set ``requires_grad`` of all parameters, for example to freeze them, and return self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    @repeated
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters to None or, with ``set_to_none=False``, to zero."""
        for parameter in self.parameters():
            if parameter._grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter._grad.detach_().zero_()

    # ---- printing ---------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return the text that ``repr`` shows in parentheses; layers override this."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        inside = [
            f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self._modules.items()
        ]
        name = self._get_name()
        if not inside and len(own) <= 1:
            return f"{name}({extra})"
        return "\n  ".join([f"{name}(", *own, *inside]) + "\n)"

    def _get_name(self) -> str:
        return type(self).__name__


seams.module_calls.add(Module.__call__.__code__)
