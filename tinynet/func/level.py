"""A level of nested differentiation: its own tensors and the tensors of outer levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.autograd.derivatives import grad
from tinynet.compat.pytree import tree_map
from tinynet.core.graph.engine import reachable
from tinynet.core.modes import enable_grad, is_grad_enabled
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops import zeros_like


class Level:
    """The inputs of one call of a differentiating transform.

    An input with a history is replaced by a view of itself, so that outer levels can differentiate
    through this one; an input without becomes a new leaf of the level. Values that depend only on
    leaves of this level and of closed levels are constants outside. Grad mode outside the call
    determines whether results have a history; inside it is on.

    Attributes:
        open: whether the differentiated function is still running.
    """

    def __init__(self) -> None:
        self.outside = is_grad_enabled()
        self.open = True

    def finish(self) -> None:
        """Close the level after its function has run: its leaves become constants for others."""
        self.open = False

    def lift(self, tree: Any) -> Any:
        """Return the tensors of a tree as inputs of this level; ValueError for anything else."""
        return tree_map(self._lift, tree)

    def _lift(self, x: Any) -> Tensor:
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if self.outside and x.requires_grad:
            with enable_grad():
                lifted = x.view_as(x)
        else:
            lifted = self.leaf(x.detach())
        return lifted

    def leaf(self, x: Tensor) -> Tensor:
        """Make a tensor a leaf of this level and return it."""
        vars(x)["_level"] = self
        return x.requires_grad_()

    def reaches_outside(self, tensors: Sequence[Any]) -> bool:
        """Return whether tensors depend on leaves that are not this level's own."""
        if not self.outside:
            return False
        roots = [t.grad_fn or t for t in tensors if isinstance(t, Tensor) and t.requires_grad]
        leaves = (leaf.tensor for leaf in reachable(roots)[1].values())
        levels = (vars(t).get("_level") for t in leaves)
        return any(level is None or (level.open and level is not self) for level in levels)

    def leave(self, tree: Any) -> Any:
        """Return results for the outside: without a history that leads to this level only."""
        return tree_map(self._leave, tree)

    def _leave(self, x: Any) -> Any:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
        return x if x.requires_grad and self.reaches_outside([x]) else x.detach()

    def gradients(
        self,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        directions: Sequence[Tensor] | None = None,
        create_graph: bool | None = None,
    ) -> list[Tensor]:
        """Return the gradients of outputs, zeros where there is none; the graph stays.

        The backward pass is recorded where enclosing differentiations need it, or where asked.
        """
        kept = [i for i, t in enumerate(outputs) if t.requires_grad]
        if not kept:
            return [zeros_like(t) for t in inputs]
        given = None if directions is None else [directions[i] for i in kept]
        roots = [outputs[i] for i in kept]
        if create_graph is None:
            create_graph = self.reaches_outside([*roots, *(given or ())])
        found = grad(
            roots, list(inputs), given, retain_graph=True, create_graph=create_graph,
            allow_unused=True,
        )  # fmt: skip
        return [zeros_like(t) if g is None else g for g, t in zip(found, inputs, strict=True)]


def with_aux(found: Any, has_aux: bool, function: str) -> tuple[Any, Any]:
    """Return the output of a function, and its auxiliary data."""
    if not has_aux:
        return found, None
    if not (isinstance(found, tuple) and len(found) == 2):
        raise RuntimeError(
            f"{function}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return found


def check_outputs(outputs: list[Any], function: str) -> None:
    """Raise RuntimeError unless there are outputs and all are tensors."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(
            f"{function}: Expected f to be a function that has non-empty output "
            f"(got output = {outputs})"
        )
    for out in outputs:
        if not isinstance(out, Tensor):
            raise RuntimeError(
                f"{function}: expected f(*primals) to return only tensors, "
                f"got unsupported type {type(out)}"
            )


# ---- which arguments ----------------------------------------------------------------------------


def positions(argnums: Any, count: int) -> tuple[int, ...]:
    """Return the positions of the arguments that ``argnums`` selects."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = []
    for n in argnums if isinstance(argnums, tuple) else (argnums,):
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -count <= n < count:
            raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
        found.append(n % count)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(found)}")
    return tuple(found)


def lifted(level: Level, args: tuple[Any, ...], argnums: Any) -> tuple[Sequence[Any], Any]:
    """Return the arguments with those of ``argnums`` (None: all) lifted, and these as a tree."""
    if argnums is None:
        found = tuple(level.lift(a) for a in args)
        return found, found
    chosen = positions(argnums, len(args))
    whole = list(args)
    for n in chosen:
        whole[n] = level.lift(args[n])
    several = isinstance(argnums, tuple)
    return whole, tuple(whole[n] for n in chosen) if several else whole[chosen[0]]
