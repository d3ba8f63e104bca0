"""Hooks of a module that run before and after its forward, and on its gradients.

Functions with a ``self`` are methods of ``Module``, grouped here by topic.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tinynet.core.callsite import here, warn
from tinynet.core.graph.node import Freed, Node, RemovableHandle, count_nodes
from tinynet.core.graph.views import MULTIPLE, View, edge_of, requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, wrap
from tinynet.nn.base.registry import attributes

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module


class ModuleHooks:
    """All hooks of one module: number -> function, in execution order.

    The last three hold the numbers of hooks with a different calling convention.
    """

    __slots__ = (
        *("after", "backward", "before", "before_backward"),
        "on_node",  # PyTorch's older kind of backward hooks, "non-full"
        *("after_always", "after_with_kwargs", "before_with_kwargs"),
    )
    after: dict[int, Callable[..., Any]]
    backward: dict[int, Callable[..., Any]]
    before: dict[int, Callable[..., Any]]
    before_backward: dict[int, Callable[..., Any]]
    on_node: dict[int, Callable[..., Any]]
    after_always: dict[int, bool]
    after_with_kwargs: dict[int, bool]
    before_with_kwargs: dict[int, bool]

    def __init__(self) -> None:
        for stage in ModuleHooks.__slots__:
            setattr(self, stage, OrderedDict())


everywhere = ModuleHooks()  # the hooks of all modules; nn/modules/module.py registers them
NONE = ModuleHooks()  # used by modules while only global hooks exist; never changed


# ---- registering --------------------------------------------------------------------------------


def own(module: Module) -> ModuleHooks:
    """Return the module's own hooks, creating them if needed."""
    hooks: ModuleHooks | None = attributes(module).get("_hooks")
    if hooks is None:
        hooks = module._hooks = ModuleHooks()
    return hooks


def register(
    hooks: Any,
    stage: str,
    hook: Callable[..., Any],
    kind: type[RemovableHandle] = RemovableHandle,
    /,
    **how: bool,
) -> RemovableHandle:
    """Add a hook to one stage of ``hooks``, and its number to the stages ``how`` that are True."""
    marks = [getattr(hooks, mark) for mark, wanted in how.items() if wanted]
    made = kind(getattr(hooks, stage), hook, extra_dict=marks)
    for numbers in marks:
        numbers[made.id] = True
    return made


def _register(
    module: Module, stage: str, hook: Callable[..., Any], prepend: bool, **how: bool
) -> RemovableHandle:
    hooks = own(module)
    handle = register(hooks, stage, hook, **how)
    if prepend:
        getattr(hooks, stage).move_to_end(handle.id, last=False)
    return handle


def register_forward_pre_hook(
    self: Module,
    hook: Callable[..., Any],
    *,
    prepend: bool = False,
    with_kwargs: bool = False,
) -> RemovableHandle:
    """Call ``hook(module, args)`` before each forward; its return value replaces the arguments.

    Args:
        hook: returns None, new positional arguments, or (``with_kwargs``) ``(args, kwargs)``.
        prepend: run it before the existing hooks.
        with_kwargs: call ``hook(module, args, kwargs)``.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> net = nn.Identity()
        >>> handle = net.register_forward_pre_hook(lambda module, args: args[0] + 1)
        >>> net(tn.zeros(2))
        tensor([1., 1.])
    """
    return _register(self, "before", hook, prepend, before_with_kwargs=with_kwargs)


def register_forward_hook(
    self: Module,
    hook: Callable[..., Any],
    *,
    prepend: bool = False,
    with_kwargs: bool = False,
    always_call: bool = False,
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after each forward; its return value replaces the output.

    Args:
        hook: returns None or a new output.
        prepend: run it before the existing hooks.
        with_kwargs: call ``hook(module, args, kwargs, output)``.
        always_call: call it even if the forward raises, with None as the output.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> net = nn.Identity()
        >>> handle = net.register_forward_hook(lambda module, args, output: output * 2)
        >>> net(tn.ones(2))
        tensor([2., 2.])
    """
    return _register(
        self, "after", hook, prepend, after_with_kwargs=with_kwargs, after_always=always_call
    )


def register_full_backward_pre_hook(
    self: Module, hook: Callable[..., Any], prepend: bool = False
) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` when the gradients of the module's outputs are known.

    Args:
        hook: gets a tuple; returns None or new gradients of the outputs.
        prepend: run it before the existing hooks.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    return _register(self, "before_backward", hook, prepend)


def register_full_backward_hook(
    self: Module, hook: Callable[..., Any], prepend: bool = False
) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when the module's gradients are computed.

    Both gradients are tuples with one entry per positional argument and per output: None for values
    that are not tensors, zeros for arguments without a gradient. While such a hook exists, in-place
    operations on the module's inputs and outputs raise an error.

    Args:
        hook: returns None or new gradients of the inputs.
        prepend: run it before the existing hooks.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        RuntimeError: the module has a ``register_backward_hook`` hook.

    Example:
        >>> net = nn.Identity()
        >>> handle = net.register_full_backward_hook(lambda module, gi, go: print(gi, go))
        >>> net(tn.ones(1, requires_grad=True)).backward()
        (tensor([1.]),) (tensor([1.]),)
    """
    refuse_both_kinds("a single Module", self._hooks, "on_node")
    return _register(self, "backward", hook, prepend)


def register_backward_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the last operation of the forward.

    Deprecated: its gradients are those of one node, not of the module. Use
    ``register_full_backward_hook``.

    Args:
        hook: returns None or new gradients of the node's inputs.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        RuntimeError: the module has a ``register_full_backward_hook`` hook.
    """
    refuse_both_kinds("a single Module", self._hooks, "backward")
    return _register(self, "on_node", hook, prepend=False)


def refuse_both_kinds(where: str, hooks: ModuleHooks | None, other: str) -> None:
    """Raise if backward hooks of the other kind exist."""
    if hooks is not None and getattr(hooks, other):
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks on {where}. "
            "Please use only one of them."
        )


def table(own: Callable[[Module], Any], stage: str) -> property:
    """Return the property for one stage of hooks; programs for PyTorch clear these tables."""

    def replace(self: Module, hooks: dict[int, Any]) -> None:
        setattr(own(self), stage, hooks)

    return property(
        lambda self: getattr(own(self), stage), replace, lambda self: replace(self, OrderedDict())
    )


_forward_pre_hooks = table(own, "before")
_forward_pre_hooks_with_kwargs = table(own, "before_with_kwargs")
_forward_hooks = table(own, "after")
_forward_hooks_with_kwargs = table(own, "after_with_kwargs")
_forward_hooks_always_called = table(own, "after_always")
_backward_pre_hooks = table(own, "before_backward")
_backward_hooks = table(own, "backward")


@property  # type: ignore[misc]  # a method of Module
def _is_full_backward_hook(self: Module) -> bool | None:
    """True for full backward hooks, False for those of the old kind, None without any."""
    hooks = self._hooks
    return None if hooks is None else False if hooks.on_node else True if hooks.backward else None


# ---- calling ------------------------------------------------------------------------------------


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the forward of a module with hooks; global hooks come first."""
    hooks = module._hooks
    assert hooks is not None
    called: set[int] = set()
    result = None
    try:
        for number, hook in _both("before", module):
            args, kwargs = _before(module, hook, number in hooks.before_with_kwargs, args, kwargs)
        backward = _hook_nodes(module)
        if backward is not None:
            args = backward.enter(args)
        result = module.forward(*args, **kwargs)
        for number, hook in _both("after", module):
            called.add(number)
            result = _after(
                module, hook, _is("after_with_kwargs", number, hooks), args, kwargs, result
            )
        if on_node := _both("on_node", module):
            _hook_node(module, args, result, [hook for _, hook in on_node])
        return result if backward is None else backward.leave(result)
    except Exception:
        for number, hook in _both("after", module):
            if _is("after_always", number, hooks) and number not in called:
                with_kwargs = _is("after_with_kwargs", number, hooks)
                what = "global module" if number in everywhere.after else "module"
                result = _despite_error(what, module, hook, with_kwargs, args, kwargs, result)
        raise


def _both(stage: str, module: Module) -> list[tuple[int, Callable[..., Any]]]:
    """Return the global hooks of a stage, then the module's own, with their numbers."""
    shared = everywhere if module._takes_global_hooks else NONE
    return [*getattr(shared, stage).items(), *getattr(module._hooks, stage).items()]


def _is(mark: str, number: int, hooks: ModuleHooks) -> bool:
    return number in getattr(hooks, mark) or number in getattr(everywhere, mark)


def _hook_node(
    module: Module, args: tuple[Any, ...], result: Any, hooks: list[Callable[..., Any]]
) -> None:
    """Register hooks on the node of the first output."""
    first = result
    while not isinstance(first, Tensor):
        first = next(v for v in first.values()) if isinstance(first, dict) else first[0]
    node = first.grad_fn
    if node is None:
        return
    warn(_about_node(args, result, node), FutureWarning)
    for hook in hooks:
        node.register_hook(functools.partial(hook, module))


def _about_node(args: tuple[Any, ...], result: Any, node: Node) -> str:
    """Return PyTorch's warning if a node's gradients may not be the module's."""
    outputs = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(t, Tensor) for t in outputs):
        why = "on a Module that does not return a single Tensor or a tuple of Tensors is deprecated"
    elif not all(isinstance(t, Tensor) for t in args):
        why = (
            "on a Module that does not take as input a single Tensor or a tuple of Tensors is "
            "deprecated"
        )
    elif any(t.grad_fn is not node for t in outputs):
        why = "when outputs are generated by different autograd Nodes is deprecated"
    else:
        why = "when the forward contains multiple autograd Nodes is deprecated"
    return (
        f"Using a non-full backward hook {why} and will be removed in future versions. This hook "
        "will be missing some grad_input. Please use register_full_backward_hook to get the "
        "documented behavior."
    )


def _hook_nodes(module: Module) -> BackwardHooks | None:
    """Return the hook nodes of one call; None if there are no backward hooks."""
    before, after = _both("before_backward", module), _both("backward", module)
    if not before and not after:
        return None
    return BackwardHooks(module, [hook for _, hook in before], [hook for _, hook in after])


def _before(
    module: Module,
    hook: Callable[..., Any],
    with_kwargs: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not with_kwargs:
        new = hook(module, args)
        if new is None:
            return args, kwargs
        return (new if isinstance(new, tuple) else (new,)), kwargs
    new = hook(module, args, kwargs)
    if new is None:
        return args, kwargs
    if not isinstance(new, tuple) or len(new) != 2:
        raise RuntimeError(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
            f"but got {new}."
        )
    return new


def _after(
    module: Module,
    hook: Callable[..., Any],
    with_kwargs: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
) -> Any:
    given = (args, kwargs, result) if with_kwargs else (args, result)
    new = hook(module, *given)
    return result if new is None else new


def _despite_error(what: str, *call: Any) -> Any:
    try:
        return _after(*call)
    except Exception as error:
        warn(
            f"{what} forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}"
        )
        return call[-1]  # the result as it was


# ---- backward hooks -----------------------------------------------------------------------------
# Graph nodes at the inputs and outputs of a module, which see every gradient.


Grads = tuple[Tensor | None, ...]


class BackwardHookFunctionBackward(Node):
    """A node that passes gradients through, changed by ``call_hooks`` if it returns new ones."""

    __slots__ = ("call_hooks",)
    multiple = True

    def __init__(self, tensors: Sequence[Tensor], call_hooks: Callable[[Grads], Grads]):
        self.edges = tuple(edge_of(t) for t in tensors)
        self.sequence = count_nodes()
        self.hooks = None
        self.site = here()
        self.shape = tuple(t._array.shape for t in tensors)
        self.dtype = tuple(t._array.dtype for t in tensors)
        self.call_hooks = call_hooks

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Pass arrays through, showing them to the hooks as tensors."""
        shown = self.call_hooks(tuple(None if x is None else wrap(np.asarray(x)) for x in g))
        return tuple(None if x is None else x._array for x in shown)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Pass tensors through, showing them to the hooks."""
        return self.call_hooks(tuple(g))


class BackwardHooks:
    """The hook nodes at the inputs and outputs of one call of a module.

    Args:
        module: the module to pass to the hooks.
        before: hooks on the gradients of the outputs.
        hooks: hooks on the gradients of inputs and outputs.
    """

    def __init__(self, module: Any, before: list[Any], hooks: list[Any]):
        self.module = module
        self.before = before
        self.hooks = hooks
        self.inputs: list[int] | None = None  # the indices of the hooked arguments; None: no node
        self.zeros: dict[int, Any] = {}  # shape and dtype of the tensor arguments
        self.outputs: list[int] = []
        self.input_count = self.output_count = 0
        self.grad_outputs: Grads | None = None  # set between the two nodes

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, with tensors routed through a hook node."""
        self.input_count = len(args)
        self.zeros = {
            i: (a._array.shape, a._array.dtype) for i, a in enumerate(args) if isinstance(a, Tensor)
        }
        args, hooked = _hooked(args, self._leave_backward)
        self.inputs = hooked or None
        return args

    def leave(self, result: Any) -> Any:
        """Return the result of the forward, with tensors routed through a hook node."""
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}"
            )
        several = isinstance(result, tuple)
        results = result if several else (result,)
        self.output_count = len(results)
        results, self.outputs = _hooked(results, self._enter_backward)
        return results if several else results[0]

    def _enter_backward(self, grads: Grads) -> Grads:
        """Call the hooks on the gradients of the outputs."""
        grad_outputs = _spread(grads, self.outputs, self.output_count)
        for hook in self.before:
            new = hook(self.module, grad_outputs)
            if new is not None:
                grad_outputs = _same_count(new, grad_outputs, "Backward pre hook", "grad_output")
        if self.inputs is None:
            self._without_inputs(grad_outputs)
        else:
            self.grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in self.outputs)

    def _without_inputs(self, grad_outputs: Grads) -> None:
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients."
        )
        for hook in self.hooks:
            new = hook(self.module, (None,) * self.input_count, grad_outputs)
            if new is not None and not (isinstance(new, tuple) and all(x is None for x in new)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _leave_backward(self, grads: Grads) -> Grads:
        """Call the hooks on the gradients of inputs and outputs."""
        if self.grad_outputs is None:  # the gradient did not come through the outputs
            return grads
        assert self.inputs is not None
        found = _spread(grads, self.inputs, self.input_count)
        grad_inputs = tuple(
            wrap(np.zeros(*self.zeros[i])) if g is None and i in self.zeros else g
            for i, g in enumerate(found)
        )
        for hook in self.hooks:
            new = hook(self.module, grad_inputs, self.grad_outputs)
            if new is not None:
                grad_inputs = _same_count(new, grad_inputs, "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs)


def _hooked(
    values: tuple[Any, ...], call_hooks: Callable[[Grads], Grads]
) -> tuple[tuple[Any, ...], list[int]]:
    """Route tensors that require grad through a node; return all values and the hooked indices."""
    hooked = [i for i, v in enumerate(values) if isinstance(v, Tensor) and requires_grad(v)]
    if not hooked or not mode.grad:
        return values, []
    node = BackwardHookFunctionBackward([values[i] for i in hooked], call_hooks)
    behind = list(values)
    for number, i in enumerate(hooked):
        behind[i] = _behind(values[i], node, number)
    return (tuple(behind) if type(values) is tuple else type(values)(*behind)), hooked


def _behind(t: Tensor, node: Node, number: int) -> Tensor:
    """Return ``t`` with ``node`` as its history.

    It is a view that rejects in-place writes: they would be missing from the history of ``t``
    itself, which other code may still use.
    """
    behind = wrap(t._array)
    behind._counter = counter_of(t)
    base = t if t._view is None else t._view.base
    behind._view = View(base, (), behind._counter.n, MULTIPLE, node.site)
    behind._requires_grad = VIEW
    behind._edge = (node, number)
    return behind


def _spread(grads: Grads, places: list[int], count: int) -> Grads:
    """Return a tuple of ``count`` entries with the gradients at their indices."""
    found: list[Tensor | None] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        found[place] = grad
    return tuple(found)


def _same_count(new: Any, old: Grads, what: str, which: str) -> Grads:
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != len(old):
        raise RuntimeError(
            f"{what} returned an invalid number of {which}, got {len(new)}, but expected {len(old)}"
        )
    return new
