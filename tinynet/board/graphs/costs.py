"""The cost of a recorded step: operations, time and memory, by node, module and source line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tinynet.board.graphs.graph import Graph, Node, scopes_of

# ---- flops --------------------------------------------------------------------------------------
# Counting the floating-point operations of an operation from its shapes.
#
# A product of an n x k and a k x m matrix counts 2 n k m: a multiplication and an addition each.
# Only products are counted (matrices, convolutions, attention, recurrent layers), because they
# dominate. The derivative of a product is one more product for each factor that requires a
# gradient.


Shape = tuple[int, ...]
Count = Callable[[Sequence[Shape], Sequence[Shape]], int]


def flops(op: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
    """Return the count for an operation, by its internal name; 0 if it is not a product.

    Example:
        >>> from tinynet.board.graphs.costs import flops
        >>> flops("mm", [(2, 3), (3, 4)], [(2, 4)])
        48
        >>> flops("relu", [(2, 3)], [(2, 3)])
        0
    """
    count = _COUNTS.get(op)
    return 0 if count is None else count(inputs, outputs)


def _inner(first: int) -> Count:
    """Count a product along the last dimension of input number `first`."""
    return lambda ins, outs: 2 * math.prod(outs[0]) * ins[first][-1]


def _convolution(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count a sum over the kernel for each output: channels within the group times positions."""
    return 2 * math.prod(outs[0]) * math.prod(ins[1][1:])


def _transposed(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count a transposed convolution, which spreads each input over the kernel."""
    return 2 * math.prod(ins[0]) * math.prod(ins[1][1:])


def _correlation(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count the gradient of a convolution's weight: as many products as the convolution."""
    return 2 * math.prod(ins[1]) * math.prod(outs[0][1:])


def _attention(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count the scores and the weighted sum of the values."""
    query, key, value = ins[:3]
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _recurrent(ins: Sequence[Shape], outs: Sequence[Shape]) -> int:
    """Count the products with both weights at each step of each sequence."""
    weights = [shape for shape in ins[1:] if len(shape) == 2 and shape[0] % outs[0][-1] == 0]
    return 2 * math.prod(ins[0][:-1]) * sum(math.prod(shape) for shape in weights[-2:])


_COUNTS: dict[str, Count] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "linear_map", "affine_map"), _inner(0)),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), _inner(1)),
    "addbmm": lambda ins, outs: 2 * math.prod(ins[1]) * outs[0][-1],
    **dict.fromkeys(("convolve", "convolve_biased"), _convolution),
    **dict.fromkeys(("spread", "spread_biased"), _transposed),
    "correlate": _correlation,
    **dict.fromkeys(("attend", "attend_with_bias"), _attention),
    **dict.fromkeys(("rnn_sequence", "gru_sequence", "lstm_sequence"), _recurrent),
}


# ---- costs --------------------------------------------------------------------------------------
# The cost of a recorded step by module and by source line.


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
    # Backward passes and optimizers have a scope of their own around the modules' scopes.
    name = node.name if node.phase == "fwd" else node.name.partition("/")[2]
    inside = (paths[scope] for scope in reversed(scopes_of(name)) if scope in paths)
    return next(inside, OUTSIDE)
