"""``torch.library``, ``torch.ops``: operations by name; users' own, with their derivatives."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, NoReturn

from tinynet import ops as functions
from tinynet.autograd.function import Function
from tinynet.compat.profiler import _record_function_enter, _record_function_exit
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional


class OpOverload:
    """One overload of an operation, such as ``aten.add.Tensor``."""

    def __init__(self, packet: OpOverloadPacket, overload: str):
        self.overloadpacket, self._overloadname = packet, overload
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = "torch._ops.aten"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operation."""
        return self.overloadpacket(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.overloadpacket.__name__}', overload='{self.__name__}')>"

    def name(self) -> str:
        """Return the full name: ``aten::add.Tensor``."""
        shown = self.__name__.removesuffix(".default")
        return f"aten::{shown}"


class OpOverloadPacket:
    """An operation; its attributes are its overloads, whatever their names."""

    def __init__(self, name: str, function: Callable[..., Any] | None):
        self.__name__, self._function = name, function
        self._overloads: dict[str, OpOverload] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operation.

        Raises:
            NotImplementedError: tinynet has none of this name.
        """
        if self._function is None:
            raise NotImplementedError(f"tinynet has no operation aten::{self.__name__}")
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:  # PyTorch's overloads are not listed here
        if name.startswith("__"):
            raise AttributeError(name)
        return self._overloads.setdefault(name, OpOverload(self, name))

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class _Internal:
    """Operations that PyTorch has in this namespace only."""

    @staticmethod
    def alias(x: Tensor) -> Tensor:
        return x.view(x.shape)

    @staticmethod
    def slice(
        x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
    ) -> Tensor:
        where = (builtins.slice(None),) * (dim % x.ndim)
        return x[(*where, builtins.slice(start, end, step))]

    @staticmethod
    def index(x: Tensor, indices: Any) -> Tensor:
        return x[tuple(builtins.slice(None) if i is None else i for i in indices)]

    @staticmethod
    def _to_copy(x: Tensor, **options: Any) -> Tensor:
        return x.to(copy=True, **options)


class Aten:
    """``torch.ops.aten``: PyTorch's own operations by name, such as ``aten.cat.default``.

    An overload calls tinynet's function or method of this name. Libraries use overloads as keys,
    too, so that every name is accepted; calling one that tinynet lacks raises an error.

    Example:
        >>> from tinynet.compat.library import ops
        >>> ops.aten.add.Tensor(tn.ones(2), tn.ones(2)), ops.aten.add.Tensor.name()
        (tensor([2., 2.]), 'aten::add.Tensor')
    """

    def __getattr__(self, name: str) -> OpOverloadPacket:  # they are found when they are used
        homes = (functions, functional, Tensor, _Internal)
        function = next((getattr(home, name) for home in homes if hasattr(home, name)), None)
        if name.startswith("__"):
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        packet = vars(self)[name] = OpOverloadPacket(name, function)
        return packet


_PROFILER = (_record_function_enter, _record_function_exit)
ops = SimpleNamespace(
    aten=Aten(), profiler=SimpleNamespace(**{function.__name__: function for function in _PROFILER})
)
"""``torch.ops``: the operations by namespace and name."""


class CustomOpDef:
    """An operation made by ``custom_op``; calling it runs the function below autograd.

    Gradients reach tensors that are arguments, not those in lists.
    """

    def __init__(self, name: str, function: Callable[..., Any]):
        self._qualname, self._kernel = name, function
        self._signature = inspect.signature(function)
        kinds = [p.kind for p in self._signature.parameters.values()]
        self._named = [*self._signature.parameters][
            kinds.index(_NAMED) if _NAMED in kinds else len(kinds) :
        ]
        self._backward: Callable[..., Any] = self._no_formula
        self._setup_context: Callable[..., Any] | None = None
        node = f"GeneratedBackwardFor_{name.replace('::', '_')}_default"
        self._function: Any = type(node, (Function,), self._methods())

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operation."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        return self._function.apply(*given.args, *given.kwargs.values())

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Set the function for devices; the CPU's is used. Also a decorator."""
        if fn is None:
            return lambda given: self.register_kernel(device_types, given)
        if device_types is None or "cpu" in device_types:
            self._kernel = fn
        return fn

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Return the function, which computes shapes for PyTorch's compiler, unchanged."""
        return fn

    def register_vmap(self, func: Any = None) -> Any:
        """Return the function unchanged: ``vmap`` runs the operation example by example."""
        return func if func is not None else lambda given: given

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Set the derivative.

        Args:
            backward: a function of ``ctx`` and the gradients of the results that returns the
                gradient of each argument, or None.
            setup_context: a function of ``ctx``, ``inputs`` (and ``keyword_only_inputs``, if there
                are any) and ``output`` that saves what ``backward`` needs.
        """
        self._backward, self._setup_context = backward, setup_context

    def _no_formula(self, *args: Any) -> NoReturn:
        name = f"{self._qualname.replace('::', '.')}.default"
        raise RuntimeError(
            f"Trying to backward through {name} but no autograd formula was registered. "
            "Please use register_autograd to add one."
        )

    def _methods(self) -> dict[str, Any]:
        named = self._named

        def forward(ctx: Any, *inputs: Any) -> Any:
            count = len(inputs) - len(named)
            keywords = dict(zip(named, inputs[count:], strict=True))
            output = self._kernel(*inputs[:count], **keywords)
            if self._setup_context is not None:
                only = {"keyword_only_inputs": keywords} if named else {}
                self._setup_context(ctx=ctx, inputs=inputs[:count], output=output, **only)
            return output

        def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
            found = self._backward(ctx, *grads)
            return (
                *(found if isinstance(found, (tuple, list)) else (found,)),
                *[None] * len(named),
            )

        return {"forward": staticmethod(forward), "backward": staticmethod(backward)}


_NAMED = inspect.Parameter.KEYWORD_ONLY


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operation of a function, and add it to ``torch.ops``. Also a decorator.

    Args:
        name: its name with a namespace, such as ``"mylib::scale"``.
        fn: the function.
        mutates_args: the arguments that it writes to; writes are noticed anyway.
        device_types, schema, tags: for PyTorch; unused.

    Raises:
        ValueError: the name has no namespace.

    Example:
        >>> from tinynet.compat import library
        >>> @library.custom_op("mylib::twice", mutates_args=())
        ... def twice(x):
        ...     return tn.tensor(2 * x.numpy())
        >>> twice.register_autograd(lambda ctx, grad: 2 * grad)
        >>> x = tn.ones(2, requires_grad=True)
        >>> library.ops.mylib.twice(x).sum().backward()
        >>> x.grad
        tensor([2., 2.])
    """
    if fn is None:
        return lambda given: custom_op(name, given, mutates_args=mutates_args)
    space, _, own = name.partition("::")
    if not own:
        raise ValueError(f"Expected a name like 'namespace::name', got {name!r}")
    made = CustomOpDef(name, fn)
    vars(ops).setdefault(space, SimpleNamespace())
    setattr(getattr(ops, space), own, made)
    return made


def _named(op: Any) -> Any:
    """Return an operation that is given by itself or by name."""
    space, _, name = op.partition("::") if isinstance(op, str) else ("", "", "")
    return getattr(getattr(ops, space), name) if space else op


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Any = None, lib: Any = None
) -> None:
    """Set the derivative of an operation, see ``CustomOpDef.register_autograd``."""
    _named(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Any = None, /, **options: Any) -> Any:
    """Return the function, which computes shapes for PyTorch's compiler, unchanged."""
    return func if func is not None else lambda given: given


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Set the function of an operation for devices, see ``CustomOpDef.register_kernel``."""
    return _named(op).register_kernel(device_types, func)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Return the function unchanged: ``vmap`` runs the operation example by example."""
    return _named(op).register_vmap(func)
