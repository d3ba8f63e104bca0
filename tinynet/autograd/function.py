"""User-defined differentiable functions: ``autograd.Function``."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tinynet import errors
from tinynet.core.callsite import here, locate
from tinynet.core.inplace import permit, rebase, wrote
from tinynet.core.keeping import Keeper
from tinynet.core.messages import freed_error
from tinynet.core.modes import enable_grad, mode, no_grad
from tinynet.core.node import Edge, Freed, Guard, Node, Saved, count_nodes, modified_problem
from tinynet.core.recorded import tensor_at
from tinynet.core.scope import running
from tinynet.core.tensor import VIEW, Tensor, counter_of, wrap
from tinynet.core.version import Version
from tinynet.core.views import FUNCTION, edge_of, make_view, requires_grad
from tinynet.ops.shape import alias


class FunctionNode(Node):
    """The node of one call of a Function, and the ``ctx`` that its methods get.

    Attributes:
        needs_input_grad: one bool per argument of ``apply``.
        saved_tensors: what ``save_for_backward`` kept.
    """

    function: ClassVar[type[Function]]
    takes_missing = True

    def __init__(self, args: tuple[Any, ...]):
        self.hooks = None
        self.site = here()
        self.scope = running.scope
        self.edges = tuple(edge_of(a) for a in args if isinstance(a, Tensor))
        self.needs_input_grad = tuple(isinstance(a, Tensor) and requires_grad(a) for a in args)
        self._is_tensor = tuple(isinstance(a, Tensor) for a in args)
        self._shapes = tuple(a._array.shape if isinstance(a, Tensor) else None for a in args)
        self._to_save: tuple[Tensor | None, ...] = ()
        self._saved: list[tuple[Saved, int | None] | None] | Freed = []
        self._dirty: tuple[Tensor, ...] = ()
        self._constant: tuple[Tensor, ...] = ()
        self._materialize = True
        self.sequence = -1

    # ---- what forward may call ----------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs, outputs or intermediate tensors for backward; versions are checked."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Name the inputs that forward changes in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Name the outputs that have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients arrive as zeros (default) or as None."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors.

        Raises:
            RuntimeError: one was changed in place since, or they were freed.
        """
        if isinstance(self._saved, Freed):
            raise freed_error(self.site, self._saved.site, locate(here()))
        return tuple(self._unpack(item) for item in self._saved)

    def _unpack(self, item: tuple[Saved, int | None] | None) -> Tensor | None:
        if item is None:
            return None
        saved, output = item
        array, version = saved.array, saved.version
        edge = saved.edge if output is None else (self, output)
        if isinstance(version, Guard):
            return tensor_at(version.restore(self, array), None, edge)
        assert array is not None and isinstance(version, Version)
        if version.n != saved.at:
            raise modified_problem(self, array, version, saved.at, saved.edge, output is not None)
        return tensor_at(array, version, edge)

    # ---- recording ----------------------------------------------------------------------------

    def seal(self, outputs: tuple[Any, ...]) -> None:
        """Turn what forward asked to save into arrays and versions, after forward ended."""
        saved: list[tuple[Saved, int | None] | None] = []
        for t in self._to_save:
            if t is None:
                saved.append(None)
                continue
            output = next((i for i, o in enumerate(outputs) if o is t), None)
            is_input = t._edge is not None and (t._edge[0] is not self)
            edge = edge_of(t) if output is None or is_input else None
            value = Saved(t._array, counter_of(t), edge)
            if isinstance(mode.on, Keeper):
                mode.on.keep_saved(value, edge is None and output is not None)
            saved.append((value, output if edge is None else None))
        self._saved = saved
        self._to_save = self._dirty = self._constant = ()

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Call the user's backward on tensors that are not recorded."""
        given = [None if x is None else wrap(np.asarray(x)) for x in self._grads(g)]
        with no_grad():
            results = self._call(given, freed)
        return tuple(None if r is None else r._array for r in results)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Call the user's backward on tensors that are recorded."""
        with enable_grad():
            return self._call(self._grads(g), freed)

    def _grads(self, g: Any) -> list[Any]:
        return list(g) if self.multiple else [g]

    def _call(self, grads: list[Any], freed: Freed | None) -> tuple[Any, ...]:
        if self._materialize:
            shapes = self.shape if self.multiple else (self.shape,)
            kinds = self.dtype if self.multiple else (self.dtype,)
            grads = [
                wrap(np.zeros(s, k)) if x is None else x
                for x, s, k in zip(grads, shapes, kinds, strict=True)
            ]
        if isinstance(self._saved, Freed):
            raise freed_error(self.site, self._saved.site, locate(here()))
        results = self.function.derivative()(self, *grads)
        results = results if isinstance(results, tuple) else (results,)
        count = len(self._is_tensor)
        while len(results) > count and results[-1] is None:
            results = results[:-1]
        if len(results) != count:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {count}, got {len(results)})"
            )
        for i, (r, is_tensor) in enumerate(zip(results, self._is_tensor, strict=True)):
            if r is not None and not is_tensor:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{i + 1}, but the corresponding forward input was not a Variable"
                )
            if r is not None and not isinstance(r, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(r).__name__})")
            if r is not None and not _expands(self._shapes[i], r._array.shape):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got "
                    f"{list(r._array.shape)} but expected shape compatible with "
                    f"{list(self._shapes[i] or ())}"
                )
        if freed is not None and self._saved:
            self._saved = freed
        return tuple(r for r, keep in zip(results, self._is_tensor, strict=True) if keep)

    def __repr__(self) -> str:
        return f"<tinynet.autograd.function.{self.name()} object at {id(self):#x}>"


class Function:
    """A differentiable function with a forward and a backward of your own.

    Subclass it, write two static methods, and call ``apply``.

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

    _node: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._node = type(f"{cls.__name__}Backward", (FunctionNode,), {"function": cls})

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: functions are not instantiated."""
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
        """Save what backward needs, where ``forward`` does not take ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return one gradient (or None) per argument of forward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward  # another name for it

    @classmethod
    def derivative(cls) -> Callable[..., Any]:
        """Return ``backward``, or ``vjp`` where the subclass has that.

        Raises:
            RuntimeError: it has both.
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

        Keyword arguments take the places that they have in the signature of ``forward``.

        Returns:
            What ``forward`` returned.
        """
        if kwargs:
            args = _positional(cls, args, kwargs)
        node = cls._node(args)
        recorded = mode.grad and any(edge is not None for edge in node.edges)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                output = cls.forward(node, *args)
            else:
                output = cls.forward(*args)
                cls.setup_context(node, args, output)
        _warn_of_stored_tensors(node, args, output)
        several = isinstance(output, tuple)
        outputs = output if several else (output,)
        for t in node._dirty:
            if not any(t is o for o in outputs):
                raise RuntimeError(errors.DIRTY_NOT_RETURNED)
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
    known = {p.name for p in places[len(args) :]}
    for name in kwargs:
        if name not in known:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
    found = list(args)
    last = max(i for i, p in enumerate(places) if p.name in kwargs)
    for p in places[len(args) : last + 1]:
        if p.name not in kwargs and p.default is p.empty:
            raise TypeError(f"forward() missing a required argument: '{p.name}'")
        found.append(kwargs.get(p.name, p.default))
    return tuple(found)


def _unrecorded(node: FunctionNode, output: Any, args: tuple[Any, ...]) -> Any:
    """Return an output that is not recorded; an input comes back as another tensor, as ever."""
    if not isinstance(output, Tensor) or not any(output is a for a in args):
        return output
    if not mode.grad:
        return output.detach()
    if any(output is d for d in node._dirty):
        return output
    made = wrap(output._array)
    make_view(output, made, alias, (), True)
    return made


_warned: set[tuple[type, str]] = set()


def _warn_of_stored_tensors(node: FunctionNode, args: tuple[Any, ...], output: Any) -> None:
    """Warn, once per Function and name, of ``ctx.x = x`` for an input or output."""
    for name, value in vars(node).items():
        if not isinstance(value, Tensor) or (node.function, name) in _warned:
            continue
        outputs = output if isinstance(output, tuple) else (output,)
        if any(value is t for t in (*args, *outputs)):
            _warned.add((node.function, name))
            warnings.warn(
                f"{node.function.__name__}.forward stores a tensor on ctx outside "
                f"save_for_backward (attribute '{name}'): it is not checked for changes in place, "
                "and keeps its graph alive. Use ctx.save_for_backward for inputs and outputs.",
                UserWarning,
                stacklevel=3,
            )


def _output(node: FunctionNode, t: Tensor, number: int, args: tuple[Any, ...]) -> Tensor:
    """Give one output of forward its history."""
    if any(t is c for c in node._constant) or t._array.dtype.kind != "f":
        return t
    edge: Edge = (node, number)
    if any(t is d for d in node._dirty):
        node.sequence = count_nodes()
        rebase(t, node, number)
        return t
    if any(t is a for a in args):  # an input comes back as a view of it
        made = wrap(t._array)
        make_view(t, made, alias, (), True)
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


def _expands(shape: tuple[int, ...] | None, to: tuple[int, ...]) -> bool:
    """Return True if a gradient of shape ``to`` can be summed to ``shape``."""
    if shape is None or len(shape) > len(to):
        return False
    pairs = zip(shape[::-1], to[::-1], strict=False)
    return all(n in (1, m) for n, m in pairs)


def _describe(node: FunctionNode, outputs: tuple[Any, ...]) -> None:
    arrays = [o._array if isinstance(o, Tensor) else np.zeros(()) for o in outputs]
    node.multiple = len(outputs) > 1
    if node.multiple:
        node.shape = tuple(a.shape for a in arrays)
        node.dtype = tuple(a.dtype for a in arrays)
    else:
        node.shape, node.dtype = arrays[0].shape, arrays[0].dtype
    node.sequence = count_nodes()


class _Once(Function):
    """The history of gradients that have none, so that differentiating them is refused."""

    @staticmethod
    def forward(ctx: Any, *grads: Any) -> Any:
        """Pass the gradients on."""
        return tuple(None if g is None else g.clone() for g in grads)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Refuse."""
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that must not itself be differentiated.

    Under ``create_graph=True`` differentiating the gradients that it returns raises.

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
        found = _Once.apply(*fresh)
        return found if several else found[0]

    return wrapped
