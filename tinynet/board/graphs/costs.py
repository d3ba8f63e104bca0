"""The cost of a recorded step by module and by source line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tinynet.board.graphs.graph import Graph, Node
from tinynet.board.graphs.names import scopes_of

OUTSIDE = "(no module)"


class OperationCost(NamedTuple):
    """The cost of one operation of a step: time in nanoseconds, new memory in bytes."""

    module: str
    """The path of its module, such as ``"body.0"``; empty for the model itself."""

    line: str
    """The source line of the user, such as ``"net.py:12 in forward: return self.head(x)"``."""

    phase: str
    """``"fwd"``, ``"bwd"`` or ``"opt"``."""

    time: int
    memory: int
    flops: int


@dataclass
class Total:
    """Summed costs.

    Example:
        >>> total = Total()
        >>> total.add(OperationCost("head", "net.py:3", "bwd", 500, 64, 200))
        >>> total.time, total.backward, total.flops
        (500, 500, 0)
    """

    forward: int = 0
    """Nanoseconds; so are the next two."""

    backward: int = 0
    update: int = 0
    memory: int = 0
    """Bytes of the results of the forward pass."""

    flops: int = 0
    """Floating-point operations of products in the forward pass."""

    @property
    def time(self) -> int:
        """The nanoseconds of all phases."""
        return self.forward + self.backward + self.update

    def add(self, cost: OperationCost) -> None:
        """Add an operation."""
        if cost.phase == "bwd":
            self.backward += cost.time
        elif cost.phase == "opt":
            self.update += cost.time
        else:
            self.forward += cost.time
            self.memory += cost.memory
            self.flops += cost.flops


def totals(costs: Iterable[OperationCost], by: Callable[[OperationCost], str]) -> dict[str, Total]:
    """Return the sums of costs by a key, in the order of its first use.

    Args:
        costs: the costs of operations.
        by: the key, such as ``lambda cost: cost.module``.
    """
    found: dict[str, Total] = {}
    for cost in costs:
        found.setdefault(by(cost), Total()).add(cost)
    return found


def operation_costs(graph: Graph, paths: Mapping[str, str]) -> list[OperationCost]:
    """Return the costs of all operations of a step.

    Args:
        graph: the graph of the whole step, not folded.
        paths: the module path of each scope.
    """
    return [
        OperationCost(
            _module(node, paths),
            node.attributes.get("source", ""),
            node.phase,
            node.cost.time,
            node.cost.memory,
            int(node.attributes.get("flops", 0)),
        )
        for node in graph.nodes
        if node.cost is not None
    ]


def _module(node: Node, paths: Mapping[str, str]) -> str:
    """Return the path of the innermost module around a node."""
    # Backward passes and optimizers have a scope of their own around those of the modules.
    name = node.name if node.phase == "fwd" else node.name.partition("/")[2]
    inside = (paths[scope] for scope in reversed(scopes_of(name)) if scope in paths)
    return next(inside, OUTSIDE)
