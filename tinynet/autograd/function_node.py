"""The graph node of a call of an ``autograd.Function``, which is the ``ctx`` of its methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tinynet.core.callsite import here, locate, warn
from tinynet.core.graph.node import Freed, Guard, Node, Saved, unmodified
from tinynet.core.graph.recorded_backward import tensor_at
from tinynet.core.graph.saved_hooks import Keeper, SavedTensor
from tinynet.core.graph.views import edge_of, requires_grad
from tinynet.core.messages import freed_error
from tinynet.core.modes import enable_grad, mode, no_grad
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.core.tensors.version import Version

_TAKEN = [name for name in Node.__slots__ if not name.startswith("_")]
_TAKEN += "backward backward_recorded function multiple seal takes_missing".split()
_TAKEN += ["_call", "_grads", "_is_tensor", "_shapes", "_shown_to"]
_OWN = "attributes of the user"  # a key of a node's __dict__ that no attribute has


def _users(name: str) -> property:
    """Return the attribute of a ctx that has the name of one of the engine's."""

    def get(node: Any) -> Any:
        own = vars(node).get(_OWN, {})
        return own[name] if name in own else getattr(super(_Context, node), name)

    def put(node: Any, value: Any) -> None:
        vars(node).setdefault(_OWN, {})[name] = value

    return property(get, put)


class _Context:
    """A base of nodes while the user's methods run: no name is taken."""

    __slots__ = ()
    if not TYPE_CHECKING:
        vars().update({name: _users(name) for name in _TAKEN})


class FunctionNode(Node):
    """The graph node of a call of a Function, which is the ``ctx`` of its methods.

    Attributes:
        needs_input_grad: one bool per argument of ``apply``.
        saved_tensors: the tensors saved by ``save_for_backward``.
    """

    function: ClassVar[Any]  # the user's Function
    _context: ClassVar[type[Any]]
    takes_missing = True
    _materialize_non_diff_grads = True  # zeros for non-differentiable outputs, too

    if TYPE_CHECKING:  # a Function may set any attribute on its ctx

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, args: tuple[Any, ...]):
        self.hooks = None
        self.site = here()
        self.scope = mode.scope
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

    def _shown_to(self, method: Callable[..., Any], *args: Any) -> Any:
        """Call a method of the user's with this node as its ``ctx``."""
        kind = type(self)
        if "_context" not in vars(kind):
            kind._context = type(kind.__name__, (_Context, kind), {"__slots__": ()})
        self.__class__ = kind._context
        try:
            return method(self, *args)
        finally:
            self.__class__ = kind

    # ---- methods for forward ------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save inputs, outputs or intermediate tensors for backward, with version checks."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Accept tensors for ``jvp``: forward-mode derivatives come from ``backward`` here."""

    def mark_shared_storage(self, *pairs: tuple[Tensor, Tensor]) -> None:
        """Warn: tensors that share their memory are known."""
        warn(
            "mark_shared_storage is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
        )

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Mark the inputs that forward changes in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark the outputs that have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether backward receives zeros (default) or None for missing gradients."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The saved tensors, or None for a saved None.

        Raises:
            RuntimeError: one was changed in place, or they were freed.
        """
        if isinstance(self._saved, Freed):
            raise freed_error(self.site, self._saved.site, locate(here()))
        return tuple(self._unpack(item) for item in self._saved)

    @property
    def saved_variables(self) -> tuple[Tensor, ...]:
        """The old name of ``saved_tensors``, with a warning."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """The handles to set hooks on the saved tensors."""
        if isinstance(self._saved, Freed):
            raise freed_error(self.site, self._saved.site, locate(here()))
        return tuple(_raw(item) for item in self._saved)

    def _unpack(self, item: tuple[Saved, int | None] | None) -> Any:
        if item is None:
            return None
        saved, output = item
        array, version = saved.array, saved.version
        edge = saved.edge if output is None else (self, output)
        if isinstance(version, Guard):
            return tensor_at(version.restore(self, array), None, edge)
        assert array is not None and isinstance(version, Version)
        array = unmodified(self, array, version, saved.at, saved.edge, output is not None)
        return tensor_at(array, version, edge)

    # ---- recording ----------------------------------------------------------------------------

    def seal(self, outputs: tuple[Any, ...]) -> None:
        """Convert the tensors that forward saved to arrays and versions, after forward."""
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
        """Call the user's backward without recording."""
        given = [None if x is None else wrap(np.asarray(x)) for x in self._grads(g)]
        with no_grad():
            results = self._call(given, freed)
        return tuple(None if r is None else r._array for r in results)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Call the user's backward with recording."""
        with enable_grad():
            return self._call(self._grads(g), freed)

    def _grads(self, g: Any) -> list[Any]:
        return list(g) if self.multiple else [g]

    def _call(self, grads: list[Any], freed: Freed | None) -> tuple[Any, ...]:
        if self._materialize:
            shapes = self.shape if self.multiple else (self.shape,)
            kinds = self.dtype if self.multiple else (self.dtype,)
            grads = [
                wrap(np.zeros(s, k)) if x is None and s is not None else x
                for x, s, k in zip(grads, shapes, kinds, strict=True)
            ]
        if isinstance(self._saved, Freed):
            raise freed_error(self.site, self._saved.site, locate(here()))
        results = self._shown_to(self.function.derivative(), *grads)
        results = results if isinstance(results, tuple) else (results,)
        count = len(self._is_tensor)
        while len(results) > count and results[-1] is None:
            results = results[:-1]
        if len(results) != count:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {count}, got {len(results)})"
            )
        self._check_results(results)
        if freed is not None and self._saved:
            self._saved = freed
        return tuple(r for r, keep in zip(results, self._is_tensor, strict=True) if keep)

    def _check_results(self, results: tuple[Any, ...]) -> None:
        """Raise RuntimeError for gradients that do not belong to the inputs of forward."""
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

    def __repr__(self) -> str:
        return f"<tinynet.autograd.function.{self.name()} object at {id(self):#x}>"


def _raw(item: tuple[Saved, int | None] | None) -> SavedTensor:
    if item is None:
        return SavedTensor(lambda: None, lambda keeper: None)
    saved, output = item
    return SavedTensor(
        lambda: saved.version, lambda keeper: keeper.keep_saved(saved, output is not None)
    )


def _expands(shape: tuple[int, ...] | None, to: tuple[int, ...]) -> bool:
    """Return True if a gradient of shape ``to`` can be summed to ``shape``."""
    if shape is None or len(shape) > len(to):
        return False
    pairs = zip(shape[::-1], to[::-1], strict=False)
    return all(n in (1, m) for n, m in pairs)
