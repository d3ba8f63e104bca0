"""Keepers, which take over the values saved for backward while they are active.

The fast path makes one check per recorded operation, ``m is not True``. Keepers are, among others,
the user's pack and unpack hooks and the checksums of ``autograd/modes.py``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.core.graph.node import Edge, Freed, Guard, Node, Saved
from tinynet.core.graph.recorded_backward import tensor_at
from tinynet.core.modes import mode, no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import NUMBER, Version, new_version
from tinynet.dtypes import Array


class Keeper:
    """Replaces saved arrays by other values, and their versions by guards.

    Attributes:
        outer: the keeper that was active before this one, or True.
    """

    outer: Any = True

    def enter(self) -> None:
        """Activate the keeper for the values that this thread saves for backward."""
        self.outer = mode.on
        mode.on = self
        mode.grad = mode.grad and self

    @staticmethod
    def leave() -> None:
        """Deactivate the active keeper."""
        mode.on = mode.on.outer
        mode.grad = mode.grad and mode.on

    def keep(self, node: Any) -> None:
        """Take over the arrays that a compiled node just saved."""
        for name in node.saved:
            self.keep_one(node, name)

    def keep_one(self, node: Any, name: str) -> None:
        """Take over one of the arrays that a compiled node saved."""
        version = getattr(node, f"saved_{name}_version")
        if version is None and isinstance(getattr(node, f"saved_{name}"), np.ndarray):
            version = new_version()  # a hidden output, which no user code can change
        if isinstance(version, Version) and version is not NUMBER:
            index = node.inputs.index(name) if name in node.inputs else None
            edge = (node, 0) if index is None else node.edges[index]
            array = getattr(node, f"saved_{name}")
            kept, guard = self.guard(array, version, edge, index is None)
            setattr(node, f"saved_{name}", kept)
            setattr(node, f"saved_{name}_version", guard)
            setattr(node, f"saved_{name}_at", 0)

    def keep_saved(self, saved: Saved, is_output: bool) -> None:
        """Take over a value that an ``autograd.Function`` saved."""
        if isinstance(saved.version, Version) and saved.array is not None:
            found = self.guard(saved.array, saved.version, saved.edge, is_output)
            saved.array, saved.version = found
            saved.at = 0

    def guard(
        self, array: Array, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Return the value to keep in place of the array, and the guard that restores it."""
        raise NotImplementedError


@contextlib.contextmanager
def keeping(keeper: Keeper) -> Iterator[None]:
    """Activate ``keeper`` for the values that this thread saves for backward."""
    keeper.enter()
    try:
        yield
    finally:
        keeper.leave()


# ---- pack and unpack hooks ----------------------------------------------------------------------


class Packing(Keeper):
    """Keeps the result of the user's pack hook for each saved tensor."""

    def __init__(self, pack: Callable[[Tensor], Any], unpack: Callable[[Any], Tensor]):
        self.pack = pack
        self.unpack = unpack

    def guard(
        self, array: Array, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Pack the tensor."""
        before = version.n
        with no_grad():
            packed = self.pack(tensor_at(array, version, None if is_output else edge))
        if version.n != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead "
                "to unexpected side-effects. Pack a copy instead: `t.clone()`."
            )
        return packed, Packed(self.unpack)


class Packed(Guard):
    """Unpacks a packed value."""

    __slots__ = ("unpack",)

    def __init__(self, unpack: Callable[[Any], Tensor]):
        self.unpack = unpack

    def restore(self, node: Node, kept: Any) -> Array:
        """Return the array of the unpacked tensor."""
        with no_grad():
            t = self.unpack(kept)
        if not isinstance(t, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(t).__name__}"
            )
        return t._array


class SavedTensor:
    """A handle on one saved value of a node: ``node._raw_saved_self``.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> y = x.exp()
        >>> y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy(), tn.from_numpy)
        >>> y.sum().backward()
    """

    def __init__(self, state: Callable[[], Any], keep: Callable[[Keeper], None]):
        self._state = state
        self._keep = keep

    def register_hooks(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        """Keep the result of ``pack_hook``; backward restores the value with ``unpack_hook``.

        Raises:
            RuntimeError: the value is None, freed, or has hooks already.
        """
        state = self._state()
        if isinstance(state, Freed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        if isinstance(state, Guard):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        if state is None or state is NUMBER:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        self._keep(Packing(pack_hook, unpack_hook))
