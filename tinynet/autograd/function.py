"""User-defined differentiable functions: ``autograd.Function``."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from tinynet import dtypes, errors
from tinynet.autograd.function_node import FunctionNode
from tinynet.core.callsite import here
from tinynet.core.graph.inplace import permit, rebase, wrote
from tinynet.core.graph.node import Edge, count_nodes
from tinynet.core.graph.views import FUNCTION, MULTIPLE, make_view, requires_grad
from tinynet.core.modes import mode, no_grad
from tinynet.core.tensors.subclasses import alike
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, wrap
from tinynet.ops.shaping.views import alias

FunctionCtx = FunctionNode  # PyTorch's name for annotations

_DIRTY_NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function."
)


class Function:
    """A differentiable function with a custom forward and backward.

    Subclass it, define two static methods, and call ``apply``.

    Args:
        *args, **kwargs: none: the class cannot be instantiated. Pass arguments to ``apply``.

    Example:
        >>> class Square(tn.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad_output):
        ...         (x,) = ctx.saved_tensors
        ...         return 2 * x * grad_output
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor(6.)
    """

    _backward_cls: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._backward_cls = type(f"{cls.__name__}Backward", (FunctionNode,), {"function": cls})

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise an error: Functions cannot be instantiated."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method: call "
            f"`{type(self).__name__}.apply(...)`."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; the first argument is ``ctx`` unless ``setup_context`` is given."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save values for backward, if ``forward`` does not take ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return one gradient (or None) per argument of forward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward  # another name for it
    generate_vmap_rule = False

    @classmethod
    def derivative(cls) -> Callable[..., Any]:
        """Return ``backward``, or ``vjp`` if the subclass defines it.

        Raises:
            RuntimeError: the subclass defines both.
        """
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function and record it.

        Keyword arguments are matched to the parameters of ``forward``.

        Returns:
            The result of ``forward``.
        """
        if kwargs or cls.setup_context is not Function.setup_context:
            args = _positional(cls, args, kwargs)
        node = cls._backward_cls(args)
        recorded = mode.grad and any(edge is not None for edge in node.edges)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                output = node._shown_to(cls.forward, *args)
            else:
                output = cls.forward(*args)
                node._shown_to(cls.setup_context, args, output)
        _warn_of_stored_tensors(node, args, output)
        several = isinstance(output, tuple)
        outputs = output if several else (output,)
        for t in node._dirty:
            if not any(t is o for o in outputs):
                raise RuntimeError(_DIRTY_NOT_RETURNED)
            if recorded and t._view is None and requires_grad(t) and t.is_leaf:
                raise RuntimeError(errors.LEAF_WRITTEN)
            wrote(t, f"{cls.__name__}.forward")
            if recorded:
                permit(t)
        if not recorded or not any(isinstance(o, Tensor) for o in outputs):
            made = tuple(_unrecorded(node, o, args) for o in outputs)
            return made if several else made[0]
        made = tuple(
            _output(node, o, i, args) if isinstance(o, Tensor) else o for i, o in enumerate(outputs)
        )
        views = [o._view for o in made if isinstance(o, Tensor) and o._requires_grad is VIEW]
        if sum(isinstance(o, Tensor) and bool(o._requires_grad) for o in made) > 1:
            for view in views:
                view.origin = MULTIPLE
        _describe(node, made)
        node.seal(made)
        return made if several else made[0]


def _positional(
    cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return all arguments of ``apply`` in the order of ``forward``'s parameters."""
    takes_ctx = cls.setup_context is Function.setup_context
    parameters = list(inspect.signature(cls.forward).parameters.values())[takes_ctx:]
    places = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if not takes_ctx:  # setup_context unpacks all arguments, defaults included
        kwargs = {
            p.name: p.default for p in places[len(args) :] if p.default is not p.empty
        } | kwargs
    known = {p.name for p in places[len(args) :]}
    for name in kwargs:
        if name not in known:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
    found = list(args)
    if not kwargs:
        return args
    last = max(i for i, p in enumerate(places) if p.name in kwargs)
    for p in places[len(args) : last + 1]:
        if p.name not in kwargs and p.default is p.empty:
            raise TypeError(f"forward() missing a required argument: '{p.name}'")
        found.append(kwargs.get(p.name, p.default))
    return tuple(found)


def _unrecorded(node: FunctionNode, output: Any, args: tuple[Any, ...]) -> Any:
    """Return an unrecorded output; an input returned as-is becomes a new tensor."""
    if not isinstance(output, Tensor):
        return output
    if not any(output is a for a in args):
        if mode.grad and output._view is not None:
            output._view.origin = FUNCTION
        return output
    if not mode.grad:
        return output.detach()
    if any(output is d for d in node._dirty):
        return output
    return _returned(output)


def _returned(t: Tensor) -> Tensor:
    """Return a view of an input that forward returns as it is, of the same class."""
    made = wrap(t._array)
    make_view(t, made, ((alias, ()),), True)
    return alike(made, t)


_warned: set[tuple[type, str]] = set()


def _warn_of_stored_tensors(node: FunctionNode, args: tuple[Any, ...], output: Any) -> None:
    """Warn, once per Function and name, about ``ctx.x = x`` for an input or output."""
    for name, value in vars(node).items():
        if not isinstance(value, Tensor) or (node.function, name) in _warned:
            continue
        outputs = output if isinstance(output, tuple) else (output,)
        if any(value is t for t in (*args, *outputs)):
            _warned.add((node.function, name))
            warnings.warn(
                f"{node.function.__name__}.forward stores a tensor on ctx outside "
                f"save_for_backward (attribute '{name}'): it is not checked for changes in place, "
                "and keeps its graph alive. Use ctx.save_for_backward for inputs and outputs."
                + errors.more("lost-gradient"),
                errors.LostGradientWarning,
                stacklevel=3,
            )


def _output(node: FunctionNode, t: Tensor, number: int, args: tuple[Any, ...]) -> Tensor:
    """Set the history of an output of forward."""
    if any(t is c for c in node._constant) or not dtypes.is_inexact(t._array.dtype):
        return t
    edge: Edge = (node, number)
    if any(t is d for d in node._dirty):
        node.sequence = count_nodes()
        rebase(t, node, number)
        return t
    if any(t is a for a in args):  # an input comes back as a view of it
        made = _returned(t)
        node._to_save = tuple(made if s is t else s for s in node._to_save)
        t = made
    view = t._view
    if view is not None:
        view.origin = FUNCTION
        view.at = counter_of(t).n
        view.site = here()
        t._edge, t._requires_grad = edge, VIEW
        return t
    t._edge = edge
    t._requires_grad = True
    return t


def _describe(node: FunctionNode, outputs: tuple[Any, ...]) -> None:
    zeros = [
        isinstance(o, Tensor) and (bool(o._requires_grad) or node._materialize_non_diff_grads)
        for o in outputs
    ]
    shapes = [o._array.shape if z else None for o, z in zip(outputs, zeros, strict=True)]
    kinds = [o._array.dtype if z else None for o, z in zip(outputs, zeros, strict=True)]
    node.multiple = len(outputs) > 1
    node.shape = tuple(shapes) if node.multiple else shapes[0]
    node.dtype = tuple(kinds) if node.multiple else kinds[0]
    node.sequence = count_nodes()


class InplaceFunction(Function):
    """A `Function` under the name that old programs give to one that writes its inputs.

    Args:
        inplace: kept as an attribute.

    Example:
        >>> class AddOne(tn.autograd.function.InplaceFunction):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.mark_dirty(x)
        ...         return x.add_(1)
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad_output):
        ...         return grad_output
        >>> AddOne.apply(tn.zeros(2))
        tensor([1., 1.])
    """

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


class _Refused(Function):
    """The history of non-differentiable gradients, which raises an error in backward."""

    @staticmethod
    def forward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients unchanged."""
        return tuple(None if g is None else g.clone() for g in grads)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Raise an error."""
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


class Error(FunctionNode):
    """The node of `_Refused`, under PyTorch's name."""

    function = _Refused

    def name(self) -> str:
        """Return the name that messages show."""
        return "tinynet::autograd::Error"

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The edges, with one to nothing for each gradient that is None."""
        edges = iter(super().next_functions)
        return tuple(next(edges) if given else (None, 0) for given in self._is_tensor)


_Refused._backward_cls = Error


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that cannot be differentiated itself.

    With ``create_graph=True``, differentiating the gradients that it returns raises an error.

    Example:
        >>> from tinynet.autograd.function import once_differentiable
        >>> class Double(tn.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, g):
        ...         return g * 2
    """

    @functools.wraps(function)
    def wrapped(ctx: Any, *args: Any) -> Any:
        with no_grad():
            results = function(ctx, *args)
        asked = [a for a in args if isinstance(a, Tensor) and requires_grad(a)]
        if not mode.grad or not asked:
            return results
        several = isinstance(results, tuple)
        grads = results if several else (results,)
        fresh = [None if g is None else g.detach().requires_grad_() for g in grads]
        found = _Refused.apply(*fresh)
        return found if several else found[0]

    return wrapped
